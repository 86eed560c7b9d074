"""AlphaZero by self-play: a network gives the search its priors and values, and learns from the search.

    python -m examples.alphazero

N games are played for T plies in one batch. Each move is drawn in proportion to the visits of a tree search (PUCT). The
targets of the priors are the shares of visits. The targets of the values are lambda-returns: weighted means of the
search's values at later positions. The network reads the position after each of the A moves; one call of the core
plays all these moves. Games begin after random plies, so no noise is added at the root of the search. At the end, the
script measures regret on the test part of the suite.
"""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import deque
from typing import Any

import numpy as np

from oanquan_env import Core, Positions
from oanquan_env.array_types import Floats
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.benchmark.tables import interval
from oanquan_env.engine.core import relative_points
from oanquan_env.errors import needing_extra
from oanquan_env.observation import Encoder
from oanquan_env.players.basic import points_won
from oanquan_env.players.search_player import MCTSPlayer
from oanquan_env.rollouts import restart

with needing_extra("train", "examples.alphazero" if __name__ == "__main__" else None):
    import torch
    from torch import Tensor, nn

# fmt: off
OPTIONS = {
    "iterations": 120, "simulations": 16, "exploration": 0.3, "seed": 0,  # simulations per search, PUCT weight
    "games": 256, "plies": 16, "opening_plies": 8, "lam": 0.7,  # N, T; random plies before a game; lambda
    "width": 128, "minibatch": 256, "learning_rate": 2e-3, "replay": 6, "value_weight": 20.0,  # replay: iterations kept
}
# fmt: on
MEASURED = (1, 16, 128)  # numbers of simulations for which regret is measured
SHARPNESS = 20.0  # a prior grows by a factor of e if its move is expected to win 1/20 of all points more


class Network(nn.Module):
    """A network that maps running positions to a logit and an expected margin for each action of the mover."""

    def __init__(self, core: Core, width: int) -> None:
        super().__init__()
        self.core, self.encoder, output = core, Encoder(core, "planes"), nn.Linear(width, 2, bias=False)
        nn.init.zeros_(output.weight)  # initially, a move's value is its immediate gain
        middle = (nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.layers = nn.Sequential(nn.Linear(self.encoder.size, width), *middle, output)

    def forward(self, positions: Positions) -> tuple[Tensor, Tensor]:
        """Return (N, A) logits, -1e9 if illegal, and (N, A) margins as shares of all points, 0 if illegal."""
        children, rows, actions = expanded = self.core.expand(positions)
        at_once = torch.from_numpy(points_won(self.core, positions, expanded) / self.core.rules.total).float()
        outputs = self.layers(torch.from_numpy(self.encoder.encode(children)))
        margins = torch.zeros(len(positions), self.core.rules.actions)
        margins[rows, actions] = at_once - outputs[:, 0] * torch.from_numpy(~children.over)  # the opponent's value
        logits = torch.full(margins.shape, -1e9)
        logits[rows, actions] = outputs[:, 1] + SHARPNESS * margins[rows, actions].detach()
        return logits, margins

    @torch.no_grad()
    def evaluate_with_priors(self, positions: Positions, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return values and priors, as `oanquan_env.search.mcts.PriorEvaluator` describes; `rng` is not used."""
        logits, margins = self(positions)
        priors, signs = logits.softmax(dim=1), np.where(np.arange(2) == positions.mover[:, None], 1, -1)
        expected = signs * (priors * margins).sum(dim=1, keepdim=True).numpy()
        return relative_points(positions.scores) / self.core.rules.total + expected, priors.double().numpy()


def lambda_returns(rewards: Floats, dones: Floats, values: Floats, lam: float) -> Floats:
    """Return the movers' (T, N) lambda-returns from their rewards (T, N) and values (T + 1, N), and dones (T, N)."""
    returns, later = np.empty_like(rewards), values[-1]
    for t in reversed(range(len(rewards))):  # the next mover is the opponent, so the sign changes
        returns[t] = later = rewards[t] - (1 - dones[t]) * ((1 - lam) * values[t + 1] + lam * later)
    return returns


def self_play(player: MCTSPlayer, positions: Positions, options: Namespace, rng: np.random.Generator) -> list[Any]:
    """Play T plies in place; return T * N positions, visit shares (T * N, A), actions (T * N,) and targets (T * N,)."""
    core, rows, visited, plies = player.evaluator.core, np.arange(len(positions)), [], []
    for _ in range(options.plies + 1):
        visited.append(positions.copy())
        visits, means = player.search(positions, rng)
        shares, mover, total = visits / options.simulations, positions.mover.copy(), core.rules.total
        actions = torch.multinomial(torch.from_numpy(shares), 1).squeeze(1).numpy()
        core.play(positions, actions)
        won = relative_points(core.standings(positions) - visited[-1].scores)[rows, mover] / total
        expected = (shares * means).sum(axis=1) - relative_points(visited[-1].scores)[rows, mover] / total
        plies.append((shares, actions, won, positions.over.astype(float), expected))
        restart(core, positions, rng, rng.integers(0, options.opening_plies + 1, int(positions.over.sum())))
    positions[:] = visited.pop()  # the last search was only needed for its values
    shares, actions, won, dones, values = (np.stack(column) for column in zip(*plies, strict=True))
    columns = shares[:-1], actions[:-1], lambda_returns(won[:-1], dones[:-1], values, options.lam)
    return [Positions.concatenate(visited), *(torch.from_numpy(column).flatten(end_dim=1) for column in columns)]


def main(arguments: list[str]) -> None:
    """Train a network; print its regret and share of best moves for each number of simulations in `MEASURED`."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    for name, default in OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default, help=f"({default})")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    core, rng, replay = Core(), np.random.default_rng(options.seed), deque[list[Any]](maxlen=options.replay)
    network, positions = Network(core, options.width), core.start(options.games)
    optimizer = torch.optim.Adam(network.parameters())
    for iteration in range(options.iterations):
        optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - iteration / options.iterations)
        player = MCTSPlayer(network, options.simulations, exploration=options.exploration)
        replay.append(self_play(player, positions, options, rng))
        batches, *columns = zip(*replay, strict=True)
        played, (shares, actions, targets) = Positions.concatenate(batches), map(torch.cat, columns)
        for rows in torch.randperm(len(played))[: len(batches[-1])].split(options.minibatch):
            logits, margins = network(played[rows.numpy()])
            errors = margins.gather(1, actions[rows, None]).squeeze(1) - targets[rows].float()
            loss = nn.functional.cross_entropy(logits, shares[rows].float())
            optimizer.zero_grad()
            (loss + options.value_weight * errors.square().mean()).backward()
            optimizer.step()
    suite = load_suite(core.rules).part("test")
    print("| simulations | regret, points | best moves, % |\n| ---: | --- | ---: |")
    for simulations in MEASURED:
        player = MCTSPlayer(network, simulations, exploration=options.exploration)
        measured = regret(player, suite, np.random.default_rng(0), by_phase=False)
        print(f"| {simulations} | {interval(measured, '.2f')} | {100 * measured.optimal.mean:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
