"""PQN, parallelised Q-learning, by self-play on the native vector environment, in one file to read and change.

    python -m examples.pqn

A network learns Q(s, a), the future margin of the mover if it plays a: the points that it wins from this move on, minus
the opponent's points, as a fraction of all points. PQN (Gallici et al., ICLR 2025) needs neither replay buffer nor
target network: LayerNorm keeps the values bounded, and many games in parallel make the newest plies a varied batch.

1. N games are played for T plies. Each move is the legal move with the largest Q or, with probability epsilon, random.
2. The target of a ply is its lambda-return, a weighted mean of n-step returns, which sum rewards and a later value.
3. Gradient steps fit Q of the played moves to these targets; then the plies are discarded.

A step is one ply of the player to move (opponent=None). So in the next position the opponent is to move, and the value
of that position counts against the mover. Illegal moves have a Q of minus infinity, so no play or target uses them.

Shapes: N games, T plies of each in a rollout, A actions, D numbers in an observation.
"""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from typing import Any

import gymnasium
import numpy as np

from oanquan_env import Core, Rules
from oanquan_env.benchmark.curves import TrainingCurve
from oanquan_env.errors import needing_extra
from oanquan_env.observation import Encoder

with needing_extra("train", "examples.pqn" if __name__ == "__main__" else None):
    import torch
    from torch import Tensor, nn

COUNTS = 16  # each count from 0 to 14 has its own vector; 15 or more share one

# fmt: off
OPTIONS = {
    "rules": "mancala-world",  # for two players
    "steps": 4_000_000, "minutes": 60.0,  # plies and time of training, whichever ends first
    "every": 250_000, "pairs": 200, "seed": 0,  # plies between measurements; game pairs against each baseline
    "num_envs": 512, "num_steps": 8, "opening_plies": 8,  # N, T, and maximum number of random plies before a game
    "width": 256, "epochs": 4, "minibatch": 1024, "lam": 0.4,  # lambda, the weight of later plies in targets
    "max_gradient": 10.0, "learning_rate": 3e-3,  # norm limit; step size, falls linearly to a twentieth
    "epsilon": 1.0, "epsilon_end": 0.1, "exploration": 0.2,  # epsilon falls linearly over this share of the budget
}
# fmt: on


def parse_options(arguments: list[str]) -> Namespace:
    """Parse the command line."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    for name, default in OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default, help=f"({default})")
    return parser.parse_args(arguments)


class QNetwork(nn.Module):
    """A network, usable as a player, that maps observations (N, D) and masks (N, A) to Q (N, A), -inf if illegal."""

    def __init__(self, rules: Rules, width: int) -> None:
        super().__init__()
        self.rules, self.layout = rules, Encoder(Core(rules)).layout
        self.counts = nn.Embedding(rules.squares * COUNTS, width)  # a vector for each count of each square
        nn.init.normal_(self.counts.weight, std=rules.squares**-0.5)
        self.numbers = nn.Linear(rules.squares + rules.players + 1, width)
        middle = (nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU())
        output = nn.Linear(width, rules.actions)
        nn.init.zeros_(output.weight)
        self.trunk = nn.Sequential(*middle, output)

    def forward(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return Q. The scores so far are not used: unless `refill=forfeit`, future points do not depend on them."""
        seeds, stones, plies = (observations[:, self.layout[name]] for name in ("seeds", "stones", "plies"))
        rows = seeds.long().clamp(max=COUNTS - 1) + torch.arange(0, self.counts.num_embeddings, COUNTS)
        numbers = torch.cat([seeds / 10, stones, plies / self.rules.max_plies], dim=1)
        hidden = nn.functional.embedding_bag(rows, self.counts.weight, mode="sum") + self.numbers(numbers)
        q: Tensor = self.trunk(hidden)
        return q.masked_fill(~masks, -torch.inf)


def epsilon_greedy(q: Tensor, masks: Tensor, epsilon: float) -> Tensor:
    """Choose legal actions (N,): the action with the largest Q or, with probability `epsilon`, a random one."""
    random = torch.multinomial(masks.float(), 1).squeeze(1)
    return torch.where(torch.rand(len(q)) < epsilon, random, q.argmax(dim=1))


def lambda_returns(rewards: Tensor, dones: Tensor, next_values: Tensor, lam: float) -> Tensor:
    """Return (T, N) targets of T plies of N games, each from the view of the mover of its ply.

    G[t] = rewards[t] - ((1 - lam) * next_values[t] + lam * G[t + 1]), or rewards[t] if the ply ended the game. The sign
    is minus because both terms belong to the opponent: `next_values` (T, N) are the largest Q at the next positions, as
    their movers see them. After the last ply of a rollout, the largest Q replaces G.

    Example: South wins 3 points, then North wins 5, and South's largest Q afterwards is 2. North's largest Q before its
    move was 4. With lam = 0.5, North's target is 5 - 2 = 3, and South's is 3 - (0.5 * 4 + 0.5 * 3) = -0.5.
    """
    returns, later = torch.empty_like(rewards), next_values[-1]
    for t in reversed(range(len(rewards))):
        returns[t] = later = rewards[t] - ((1 - lam) * next_values[t] + lam * later).masked_fill(dones[t], 0)
    return returns


class TensorGames:
    """N self-play games as tensors. SAME_STEP restarts a game in the step that ends it, so every step is a ply."""

    def __init__(self, options: Namespace) -> None:
        settings = {"reward": "margin", "opening_plies": options.opening_plies, "autoreset_mode": "SameStep"}
        self.env = gymnasium.make_vec("OAnQuan-v0", options.num_envs, rules=options.rules, opponent=None, **settings)
        self._see(*self.env.reset(seed=options.seed))

    def _see(self, observations: np.ndarray, info: dict[str, Any]) -> None:
        self.seen = torch.as_tensor(observations), torch.as_tensor(info["action_mask"]).bool()

    @torch.no_grad()
    def collect(self, net: QNetwork, epsilon: float, options: Namespace) -> list[Tensor]:
        """Play T plies in each game; return their observations, masks, actions and targets, (T * N, ...)."""
        plies = []
        for _ in range(options.num_steps):
            q, (observations, masks) = net(*self.seen), self.seen
            actions = epsilon_greedy(q, masks, epsilon)
            after, rewards, terminated, truncated, info = self.env.step(actions.numpy())
            outcome = torch.as_tensor(rewards).float(), torch.as_tensor(terminated | truncated)
            plies.append((observations, masks, actions, q.amax(dim=1), *outcome))
            self._see(after, info)
        *played, values, rewards, dones = (torch.stack(column) for column in zip(*plies, strict=True))
        next_values = torch.cat([values[1:], net(*self.seen).amax(dim=1)[None]])
        targets = lambda_returns(rewards, dones, next_values, options.lam)
        return [column.flatten(end_dim=1) for column in (*played, targets)]


def learn(net: QNetwork, optimizer: torch.optim.Optimizer, games: TensorGames, done: float, options: Namespace) -> None:
    """Collect plies and take gradient steps towards their targets; `done` is the share of training that is finished."""
    optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - 0.95 * done)
    epsilon = options.epsilon + (options.epsilon_end - options.epsilon) * min(done / options.exploration, 1.0)
    plies = games.collect(net, epsilon, options)
    for _ in range(options.epochs):
        for rows in torch.randperm(len(plies[0])).split(options.minibatch):
            observations, masks, actions, targets = (column[rows] for column in plies)
            q = net(observations, masks).gather(1, actions[:, None]).squeeze(1)
            optimizer.zero_grad()
            (q - targets).square().mean().backward()
            nn.utils.clip_grad_norm_(net.parameters(), options.max_gradient)
            optimizer.step()


def main(arguments: list[str]) -> TrainingCurve:
    """Train with regular evaluations; return the learning curve."""
    options = parse_options(arguments)
    rules = Rules.parse(options.rules)
    if rules.players != 2:
        raise SystemExit(f"--rules: this example needs rules for two players; got '{options.rules}'")
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)  # fastest on a busy machine
    net, games, steps = QNetwork(rules, options.width), TensorGames(options), 0
    curve = TrainingCurve(options.steps, options.minutes, options.every, options.pairs, options.seed, options.rules)
    optimizer = torch.optim.RAdam(net.parameters(), lr=options.learning_rate)
    while curve.update(steps, net):
        learn(net, optimizer, games, curve.progress, options)
        steps += options.num_envs * options.num_steps
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
