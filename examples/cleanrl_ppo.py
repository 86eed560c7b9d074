"""PPO by self-play on the native vector environment, in one file to copy and change.

    python -m examples.cleanrl_ppo --minutes 10 --plot regret.png

The script needs only oanquan_env and PyTorch. With `--device cuda` games and network stay on the device (extra `cuda`;
docs/how-to/gpu.md suggests options). It differs from PPO for one player in four points:

- A step is one ply of the player to move (opponent=None), so in the next position the other player is to move. The
  value of that position counts against the mover. In the advantages, signs therefore alternate from ply to ply.
- Illegal actions are masked in the network's output, never punished.
- Games begin with some random plies (`opening_plies`). Without them, all games would follow a few lines.
- Each count of seeds has its own vector (an embedding), because one more seed changes where a sowing ends.

Shapes: N games, T plies of each in a rollout, A actions, D numbers in an observation.
"""

import argparse
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from oanquan_env.benchmark.curves import TrainingCurve, draw_curves
from oanquan_env.errors import needing_extra
from oanquan_env.files import check_place

with needing_extra("train", "examples.cleanrl_ppo" if __name__ == "__main__" else None):
    import torch
    from torch import nn
    from torch.distributions import Categorical

Rollout = dict[str, torch.Tensor]
SQUARES, STONES = 12, 2  # two players: an observation begins with the seeds and then the stones
COUNTS = 16  # each count from 0 to 14 has its own vector; 15 or more share one
ACTIONS, MOST_PLIES = 10, 200
CLIP, VALUE_WEIGHT, MAX_GRADIENT = 0.2, 10.0, 0.5  # value errors are small, as rewards are shares of all points
# fmt: off
OPTIONS = {
    "steps": 20_000_000, "minutes": 10.0,  # plies and time of training, whichever ends first
    "every": 250_000, "pairs": 200, "seed": 0,  # plies between evaluations; game pairs against each baseline
    "num_envs": 512, "num_steps": 32, "opening_plies": 8,  # N, T, and maximum number of random plies before a game
    "width": 256, "epochs": 4, "minibatch": 1024, "gae_lambda": 0.8,
    "learning_rate": 1e-3, "entropy": 0.01,  # both fall linearly to a tenth
}
# fmt: on


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default, help=f"({default})")
    parser.add_argument("--device", default="cpu", help="cpu or a CUDA device (%(default)s)")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the regret over time to this PNG or SVG")
    return parser.parse_args(arguments)


class Agent(nn.Module):
    """A network that maps observations (N, D) and masks (N, A) to the mover's masked logits (N, A) and values (N,)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.counts = nn.EmbeddingBag(SQUARES * COUNTS, width, mode="sum")
        nn.init.normal_(self.counts.weight, std=SQUARES**-0.5)
        self.numbers = nn.Linear(SQUARES + STONES + 1, width)
        self.trunk = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy, self.value = nn.Linear(width, ACTIONS), nn.Linear(width, 1)
        for head, size in ((self.policy, 0.01), (self.value, 0.1)):
            nn.init.orthogonal_(head.weight, size)
            nn.init.zeros_(head.bias)
        self.register_buffer("first", torch.arange(SQUARES) * COUNTS, persistent=False)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and values. The scores so far are not used, because future points do not depend on them."""
        seeds, stones = observations[:, : SQUARES + STONES].split([SQUARES, STONES], dim=1)
        seeds_of = seeds.clamp(max=COUNTS - 1)
        if seeds.is_cuda:  # on a GPU, a matrix product is faster than the bag's gradient
            one_hot = (seeds_of[:, :, None] == torch.arange(COUNTS, device=seeds.device)).flatten(1)
            counts = one_hot.float() @ self.counts.weight
        else:
            counts = self.counts(seeds_of + self.first)
        numbers = self.numbers(torch.cat([seeds / 10, stones, observations[:, -1:] / MOST_PLIES], dim=1))
        hidden = self.trunk(counts + numbers)
        return self.policy(hidden).masked_fill(~masks, -1e9), self.value(hidden).squeeze(1)


class TensorGames:
    """N self-play games as tensors. SAME_STEP restarts a game in the step that ends it, so every step is a ply."""

    def __init__(self, options: argparse.Namespace) -> None:
        settings = {"reward": "margin", "opening_plies": options.opening_plies, "autoreset_mode": "SameStep"}
        self.env = gymnasium.make_vec("OAnQuan-v0", options.num_envs, opponent=None, **settings)
        self._see(*self.env.reset(seed=options.seed))

    def _see(self, observations: np.ndarray, info: dict[str, Any]) -> None:
        self.observations, self.masks = torch.as_tensor(observations), torch.as_tensor(info["action_mask"]).bool()

    def step(self, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Play actions (N,); return the movers' rewards (N,) and the flags (N,) of finished games."""
        observations, rewards, terminated, truncated, info = self.env.step(actions.numpy())
        self._see(observations, info)
        return torch.as_tensor(rewards).float(), torch.as_tensor(terminated | truncated)


class DeviceGames:
    """N self-play games on a CUDA device, with the methods of `TensorGames`."""

    def __init__(self, options: argparse.Namespace) -> None:
        from oanquan_env.cuda import CudaGames

        settings = {"reward": "margin", "opening_plies": options.opening_plies, "device": options.device}
        self.env = CudaGames(options.num_envs, **settings)
        self._see(*self.env.reset(seed=options.seed))

    def _see(self, observations: torch.Tensor, masks: torch.Tensor) -> None:
        self.observations, self.masks = observations.clone(), masks.bool()  # the next step overwrites them

    def step(self, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Play actions (N,); return the movers' rewards (N,) and the flags (N,) of finished games."""
        observations, masks, rewards, terminated, truncated = self.env.step(actions)
        self._see(observations, masks)
        return rewards.clone(), terminated | truncated


def advantages_of(
    rewards: torch.Tensor, dones: torch.Tensor, values: torch.Tensor, next_value: torch.Tensor, lam: float
) -> torch.Tensor:
    """Return the movers' (T, N) generalised advantages from (T, N) tensors and the (N,) values after the last ply."""
    advantages, advantage = torch.zeros_like(values), torch.zeros_like(next_value)
    for t in reversed(range(len(rewards))):
        goes_on = (~dones[t]).float()
        surprise = rewards[t] - goes_on * next_value - values[t]
        advantage = surprise - lam * goes_on * advantage
        advantages[t], next_value = advantage, values[t]
    return advantages


def collect(games: TensorGames | DeviceGames, agent: Agent, options: argparse.Namespace) -> Rollout:
    """Collect a rollout of T plies in each of N games; return it as one flat batch of T * N rows."""
    plies: dict[str, list[torch.Tensor]] = {}
    with torch.no_grad():
        for _ in range(options.num_steps):
            logits, values = agent(games.observations, games.masks)
            policy = Categorical(logits=logits, validate_args=False)
            actions = policy.sample()
            ply = {"observations": games.observations, "masks": games.masks, "values": values, "actions": actions}
            rewards, dones = games.step(actions)
            ply |= {"logprobs": policy.log_prob(actions), "rewards": rewards, "dones": dones}
            for name, column in ply.items():
                plies.setdefault(name, []).append(column)
        _, next_value = agent(games.observations, games.masks)
    rollout = {name: torch.stack(columns) for name, columns in plies.items()}
    rewards, dones, values = (rollout[name] for name in ("rewards", "dones", "values"))
    rollout["advantages"] = advantages_of(rewards, dones, values, next_value, options.gae_lambda)
    return {name: column.flatten(end_dim=1) for name, column in rollout.items()}


def learn(agent: Agent, optimizer: torch.optim.Optimizer, rollout: Rollout, options: argparse.Namespace) -> None:
    """Take several epochs of clipped policy-gradient steps; the entropy weight falls with the learning rate."""
    returns = rollout["advantages"] + rollout["values"]
    entropy_weight = options.entropy * optimizer.param_groups[0]["lr"] / options.learning_rate
    for _ in range(options.epochs):
        for rows in torch.randperm(len(returns), device=returns.device).split(options.minibatch):
            logits, values = agent(rollout["observations"][rows], rollout["masks"][rows])
            policy = Categorical(logits=logits, validate_args=False)
            ratio = (policy.log_prob(rollout["actions"][rows]) - rollout["logprobs"][rows]).exp()
            advantages = rollout["advantages"][rows]
            advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            value_loss = 0.5 * (values - returns[rows]).square().mean()
            loss = policy_loss + VALUE_WEIGHT * value_loss - entropy_weight * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRADIENT)
            optimizer.step()


def main(arguments: list[str] | None = None) -> list[dict[str, float]]:
    """Train with regular evaluations; return the rows of the learning curve."""
    options = parse_options(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)  # fastest on a busy machine
    on_device = options.device != "cpu"
    torch.set_float32_matmul_precision("high" if on_device else "highest")
    games = DeviceGames(options) if on_device else TensorGames(options)
    agent, steps = Agent(options.width).to(options.device), 0
    optimizer = torch.optim.Adam(agent.parameters(), lr=options.learning_rate, eps=1e-5, fused=on_device)

    @torch.no_grad()
    def choose(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        inputs = (torch.as_tensor(array, device=options.device) for array in (observations, masks))
        actions: np.ndarray = agent(*inputs)[0].argmax(dim=1).numpy(force=True)
        return actions

    if options.plot:
        check_place("--plot", options.plot)
    curve = TrainingCurve(options.steps, options.minutes, options.every, options.pairs, options.seed)
    while curve.update(steps, choose):
        optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - 0.9 * curve.progress)
        learn(agent, optimizer, collect(games, agent, options), options)
        steps += options.num_envs * options.num_steps
    if options.plot:
        draw_curves({"plies": {"PPO": curve.regrets()}}).savefig(options.plot)
    return curve.rows


if __name__ == "__main__":
    main()
