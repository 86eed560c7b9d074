"""TD(lambda) on afterstates by self-play, in one file to read and change: a value net from random weights.

    python -m examples.td_lambda --save td.npz
    python evaluate.py maxn:depth=2,net=td.npz minimax:nodes=2000,net=td.npz minimax:nodes=2000

Training takes about two minutes of one core. `examples/results/td_lambda.json` holds its learning curve.

The value of a position is its mover's future margin: the points that the mover will win from here on, less the
opponent's. The value of a move is the points that it wins at once, less the net's value of the position after it
(the afterstate), whose mover is the opponent. The net learns as TD-Gammon did (Sutton 1988; Tesauro 1992):

1. Many games are played side by side. A softmax over the values of the moves draws each move.
2. The target of a position is its lambda-return, a mean of the values found at this ply and at later plies.
3. Gradient steps fit the net to minibatches of the newest targets.

Two things differ from TD-Gammon. A target uses the value of the best move, not of the move played, and looks no further
than the next bad move (Watkins 1989), so exploration does not bias it. And each target is used several times.

Shapes: N games, T plies of each game in a rollout, A actions, B positions of a minibatch, P * (F + 1) squares.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import shlex
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from oanquan_env import Core, Positions, Rules
from oanquan_env.arrays import Floats, Ints, Mask
from oanquan_env.benchmark.regret import Suite, judge
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.engine.core import relative_points
from oanquan_env.files import check_place, write_atomically
from oanquan_env.players import MaxnPolicy, Policy
from oanquan_env.playing import play_randomly
from oanquan_env.search.numpy_maxn import MaxnSearch
from oanquan_env.search.value_net import ValueNet, embedding_rows, shapes

POINTS = 10.0
"""Targets and outputs of the torch module are in units of this many points, so weights of usual size fit them."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """The settings; a bad one ends the program before any game."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def add(name: str, default: Any, text: str, low: float = 1, high: float = math.inf) -> None:
        def number(word: str) -> float:
            value: float = type(default)(word)
            if not low <= value <= high:
                raise argparse.ArgumentTypeError(f"must be {low} to {high}; got {word}")
            return value

        parser.add_argument(name, type=number, default=default, help=f"{text} (default: %(default)s)")

    parser.add_argument("--rules", default="mancala-world", help="rules for two players (default: %(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE.npz", help="write the value net at each measurement")
    parser.add_argument("--results", type=Path, metavar="FILE.json", help="write the curve at each measurement")
    add("--plies", 4_000_000, "plies of self-play, rounded up to whole rollouts")
    add("--every", 500_000, "plies between two measurements")
    add("--seed", 0, "seed of all random numbers", low=0)
    add("--games", 512, "games played side by side")
    add("--steps", 8, "plies of each game in a rollout; targets look ahead within a rollout")
    add("--starts", 10, "games begin after 0 to this many random plies", low=0, high=100)
    add("--temperature", 1.0, "of the softmax that draws moves, in points; falls to a third", low=0.01, high=100)
    add("--random-moves", 0.05, "share of the moves that are drawn uniformly from the legal ones", low=0, high=1)
    add("--lam", 0.4, "lambda, the weight of later plies in targets; with 0 they look one move ahead", low=0, high=1)
    add("--slip", 1.0, "a move this many points or more below the best one ends the look ahead", low=0)
    add("--replay", 16, "minibatches are drawn from this many newest rollouts")
    add("--uses", 8, "times that a position is used, on average")
    add("--minibatch", 1024, "positions of a gradient step")
    add("--learning-rate", 4e-3, "step size of Adam; falls as a cosine to a twentieth", low=0, high=1)
    add("--averaging", 0.99, "decay, in a rollout, of the mean of the weights that is saved", low=0, high=1)
    config = parser.parse_args(arguments)
    try:
        if (players := Core(config.rules).rules.players) != 2:
            raise ValueError(f"--rules: this example is for two players; '{config.rules}' has {players}")
        for name in ("save", "results"):
            if path := getattr(config, name):
                check_place(f"--{name}", path)
    except ValueError as error:
        parser.error(str(error))
    return config


class ValueModule(nn.Module):
    """The torch form of a `ValueNet` for two players: sum of embedding rows, ReLU, linear, ReLU, linear."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.rules = rules
        rows, _ = shapes(rules.fields)["embedding"]
        first, second = shapes(rules.fields)["hidden_weight"]
        self.embedding = nn.EmbeddingBag(rows, first, mode="sum")
        self.hidden = nn.Linear(first, second)
        self.output = nn.Linear(second, 1)
        nn.init.normal_(self.embedding.weight, std=(2 * (rules.fields + 1)) ** -0.5)
        nn.init.zeros_(self.output.weight)  # at first, the value of a move is the points that it wins at once

    def forward(self, rows: Tensor) -> Tensor:
        """(B,) values, in units of `POINTS`, of positions with (B, P * (F + 1)) `embedding_rows`."""
        values: Tensor = self.output(self.hidden(self.embedding(rows).relu()).relu())
        return values[:, 0]

    def export(self, origin: dict[str, Any]) -> ValueNet:
        """The same net for NumPy, with values in points; `origin` tells its readers how it was trained."""
        tensors = {
            "embedding": self.embedding.weight,
            "hidden_weight": self.hidden.weight.T,
            "hidden_bias": self.hidden.bias,
            "output_weight": self.output.weight[0] * POINTS,
            "output_bias": self.output.bias * POINTS,
        }
        arrays = {name: tensor.detach().contiguous().numpy().copy() for name, tensor in tensors.items()}
        return ValueNet(rules=self.rules, **arrays, origin=origin)


def random_starts(core: Core, plies: int, rng: np.random.Generator, n: int = 20_000) -> Positions:
    """At most `n` running positions, each 0 to `plies` random plies after the set-up."""
    positions = core.start(n)
    play_randomly(core, positions, rng.integers(0, plies + 1, n), rng)
    return positions[~positions.over]


def draw_moves(values: Floats, temperature: float, random_share: float, rng: np.random.Generator) -> Ints:
    """(N,) actions, drawn by a softmax over the values of the moves, and in a share of the games uniformly.

    Args:
        values: (N, A) values of the moves in points, -inf where illegal.
        temperature: of the softmax, in points.
        random_share: share of the games whose move is drawn uniformly from the legal ones.
        rng: draws the random numbers.
    """
    uniform = rng.random((len(values), 1)) < random_share
    logits = np.where(uniform & np.isfinite(values), 0.0, values / temperature)
    actions: Ints = (logits + rng.gumbel(size=values.shape)).argmax(axis=1)  # the largest is a draw by softmax
    return actions


def lambda_returns(best: Floats, won: Floats, over: Mask, followed: Mask, lam: float) -> Floats:
    """(T, N) targets of T plies of N games, in points for the mover of each ply.

    G[t] = (1 - lam) * best[t] + lam * (won[t] - G[t + 1]); the sign changes because the next mover is the opponent.
    G[t] = best[t] at the last ply, and where the move was not `followed`.

    Args:
        best: (T, N) values of the best moves, in points.
        won: (T, N) points that the moves played won at once, less those that they won for the opponent.
        over: (T, N) whether the move ended the game.
        followed: (T, N) whether the move was about as good as the best one.
        lam: lambda, 0 to 1.
    """
    returns = best.copy()
    for ply in reversed(range(len(best) - 1)):
        later = won[ply] - np.where(over[ply], 0.0, returns[ply + 1])
        returns[ply] += np.where(followed[ply], lam * (later - best[ply]), 0.0)
    return returns


def regrets(core: Core, net: ValueNet, suite: Suite) -> dict[str, float]:
    """Mean regret over a suite, in points: by max^n of one ply and of two."""
    players: dict[str, Policy] = {
        "regret_one_ply": MaxnPolicy(core, 1, net=net),
        "regret_two_plies": MaxnPolicy(core, 2, net=net),
    }
    rng = np.random.default_rng(0)
    chosen = {name: player.choose(suite.positions.copy(), rng) for name, player in players.items()}
    return {name: round(float(judge(suite, actions).regret.mean()), 3) for name, actions in chosen.items()}


def commit() -> str | None:
    """The commit of the clone, marked `-dirty` if files differ from it; None outside a clone."""
    command, folder = ["git", "describe", "--always", "--abbrev=12", "--dirty"], Path(__file__).parent
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def main(arguments: list[str]) -> ValueNet:
    """Train a value net, print its learning curve, and return it."""
    config = parse(arguments)
    core = Core(config.rules)
    rng = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)
    origin = {"command": shlex.join(["python", "-m", "examples.td_lambda", *arguments]), "commit": commit()}
    suite = find_suite(core.rules)  # None for rules without a suite: then no regret is measured
    development = suite.part("development") if suite else None

    module = ValueModule(core.rules)  # learns and plays
    averaged = copy.deepcopy(module)  # the mean of its weights, which is measured and saved
    optimizer = torch.optim.Adam(module.parameters(), lr=config.learning_rate, fused=True)
    starts = random_starts(core, config.starts, rng)
    games = starts[rng.integers(len(starts), size=config.games)]
    replay: deque[tuple[Ints, Floats]] = deque(maxlen=config.replay)
    curve: list[dict[str, float]] = []
    size, each, seconds = config.games * config.steps, np.arange(config.games), 0.0
    rollouts = math.ceil(config.plies / size)

    for rollout in range(1, rollouts + 1):
        began, done = time.process_time(), (rollout - 1) / rollouts

        # Play T plies in N games. A game that ends is replaced by a start.
        search = MaxnSearch(core, 1, net=module.export(origin))
        temperature = config.temperature * (1 - done * 2 / 3)
        best, won, over, followed, rows = [], [], [], [], []
        for _ in range(config.steps):
            values = search.movers_values(games)
            actions = draw_moves(values, temperature, config.random_moves, rng)
            best.append(values.max(axis=1))
            followed.append(values[each, actions] > best[-1] - config.slip)
            rows.append(embedding_rows(core.rules, games))
            mover, before = games.mover.copy(), core.standings(games)
            core.play(games, actions)
            won.append(relative_points(core.standings(games) - before)[each, mover])
            over.append(games.over.copy())
            games[over[-1]] = starts[rng.integers(len(starts), size=np.count_nonzero(over[-1]))]
        targets = lambda_returns(np.stack(best), np.stack(won), np.stack(over), np.stack(followed), config.lam)
        replay.append((np.concatenate(rows), targets.ravel() / POINTS))

        # Fit the net to the targets of the newest rollouts.
        all_rows = torch.from_numpy(np.concatenate([part for part, _ in replay]))
        all_targets = torch.from_numpy(np.concatenate([part for _, part in replay])).float()
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * (0.05 + 0.95 * (1 + math.cos(math.pi * done)) / 2)
        losses = []
        for _ in range(math.ceil(config.uses * size / config.minibatch)):
            drawn = torch.from_numpy(rng.integers(len(all_rows), size=config.minibatch))
            loss = (module(all_rows[drawn]) - all_targets[drawn]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

        # Average the weights: a plain mean at first, then an exponential one.
        share = max(1 - config.averaging, 1 / rollout)
        with torch.no_grad():
            for mean, weight in zip(averaged.parameters(), module.parameters(), strict=True):
                mean.lerp_(weight, share)
        seconds += time.process_time() - began

        # Measure and save.
        if rollout * size % config.every < size or rollout == rollouts:
            net, error = averaged.export(origin), POINTS * math.sqrt(float(np.mean(losses)))
            curve.append({"plies": rollout * size, "processor_seconds": round(seconds, 1), "error": round(error, 2)})
            if development:
                curve[-1] |= regrets(core, net, development)
            print(", ".join(f"{name} {number:,}" for name, number in curve[-1].items()), flush=True)
            if config.save:
                write_atomically(config.save, net.to_bytes())
            if config.results:
                content = {**origin, "rules": str(core.rules), "curve": curve}
                write_atomically(config.results, (json.dumps(content, indent=1) + "\n").encode())
    return net


if __name__ == "__main__":
    main(sys.argv[1:])
