"""TD(lambda) on afterstates by self-play, in one file to read and change: a value net from random weights.

    python -m examples.td_lambda --save td.npz --plot regret.png
    python evaluate.py minimax:nodes=2000,net=td.npz minimax:nodes=2000

Training takes about two minutes of one core.

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

import argparse
import copy
import math
import shlex
import sys
import time
from collections import deque
from pathlib import Path

import numpy as np
import torch

from agents.td import ValueModule
from oanquan_env import Core, Positions, evaluate
from oanquan_env.arrays import Floats, Ints, Mask
from oanquan_env.benchmark.curves import LearningCurve, draw_curves
from oanquan_env.engine.core import relative_points
from oanquan_env.files import write_atomically
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.playing import random_openings
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import ManySearch
from oanquan_env.search.value_net import ValueNet, embedding_rows

DEPTHS = 1, 2
"""Plies of the searches whose regret is measured."""
OPTIONS = {
    "plies": (4_000_000, "plies of self-play, rounded up to whole rollouts"),
    "every": (500_000, "plies between two measurements"),
    "seed": (0, "seed of all random numbers"),
    "games": (512, "games played side by side"),
    "steps": (8, "plies of each game in a rollout; targets look ahead within a rollout"),
    "starts": (10, "games begin after 0 to this many random plies"),
    "temperature": (1.0, "of the softmax that draws moves, in points; falls to a third"),
    "random-moves": (0.05, "share of the moves that are drawn uniformly from the legal ones"),
    "lam": (0.4, "lambda, the weight of later plies in targets; with 0 they look one move ahead"),
    "bad-move": (1.0, "a move this many points or more below the best one ends the look ahead"),
    "replay": (16, "minibatches are drawn from this many newest rollouts"),
    "uses": (8, "times that a position is used, on average"),
    "minibatch": (1024, "positions of a gradient step"),
    "learning-rate": (4e-3, "step size of Adam; falls as a cosine to a twentieth"),
    "averaging": (0.99, "decay, in a rollout, of the mean of the weights that is saved"),
}


def parse(arguments: list[str]) -> argparse.Namespace:
    """The settings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="mancala-world", help="rules for two players (default: %(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE.npz", help="write the value net at each measurement")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the regret here, as PNG or SVG")
    for name, (default, text) in OPTIONS.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{text} (default: %(default)s)")
    config = parser.parse_args(arguments)
    if Core(config.rules).rules.players != 2:
        parser.error(f"--rules: this example is for two players; got '{config.rules}'")
    return config


def random_starts(core: Core, plies: int, rng: np.random.Generator, n: int = 20_000) -> Positions:
    """`n` running positions, 0 to `plies` random plies after the set-up."""
    return Positions.concatenate([random_openings(core, n // (plies + 1) + 1, k, rng) for k in range(plies + 1)])


def draw_moves(values: Floats, temperature: float, random_share: float, rng: np.random.Generator) -> Ints:
    """(N,) actions, drawn by a softmax over the values of the moves, and in a share of the games uniformly.

    `values` (N, A) are those of the moves in points, -inf where illegal.
    """
    uniform = rng.random((len(values), 1)) < random_share
    logits = np.where(uniform & np.isfinite(values), 0.0, values / temperature)
    actions: Ints = (logits + rng.gumbel(size=values.shape)).argmax(axis=1)  # the largest is a draw by softmax
    return actions


def lambda_returns(best: Floats, won: Floats, over: Mask, followed: Mask, lam: float) -> Floats:
    """(T, N) targets of T plies of N games, in points for the mover of each ply.

    G[t] = (1 - lam) * best[t] + lam * (won[t] - G[t + 1]); the sign changes because the next mover is the opponent.
    G[t] = best[t] at the last ply, and where the move was not `followed`, much worse than the best one. All are (T, N):
    values of the best moves; points that the moves won at once, less those for the opponent; whether the game is over.
    """
    returns = best.copy()
    for ply in reversed(range(len(best) - 1)):
        later = won[ply] - np.where(over[ply], 0.0, returns[ply + 1])
        returns[ply] += np.where(followed[ply], lam * (later - best[ply]), 0.0)
    return returns


def measure(core: Core, net: ValueNet) -> dict[str, float]:
    """The regret of max^n of one ply and of two over the development part of the suite, in points."""
    found = {}
    for depth in DEPTHS:
        player = SearchPlayer(ManySearch(core, net=net), Limits(depth=depth))
        result = evaluate(player, core.rules, opponents=[], part="development", progress=False)
        if result.regret:  # there is a suite for the rules
            found[f"regret_depth_{depth}"] = round(result.regret.mean, 3)
    return found


def main(arguments: list[str]) -> ValueNet:
    """Train a value net, print its learning curve, and return it."""
    config = parse(arguments)
    core = Core(config.rules)
    rng = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)
    origin = {"command": shlex.join(["python", "-m", "examples.td_lambda", *arguments])}

    module = ValueModule(core.rules)  # learns and plays
    torch.nn.init.zeros_(module.output.weight)  # at first, the value of a move is the points that it wins at once
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
        search = ManySearch(core, net=module.export(origin), threads=1)
        temperature = config.temperature * (1 - done * 2 / 3)
        best, won, over, followed, rows = [], [], [], [], []
        for _ in range(config.steps):
            values = search.values(games, 1)[each, :, games.mover]
            actions = draw_moves(values, temperature, config.random_moves, rng)
            best.append(values.max(axis=1))
            followed.append(values[each, actions] > best[-1] - config.bad_move)
            rows.append(embedding_rows(core.rules, games))
            mover, before = games.mover.copy(), core.standings(games)
            core.play(games, actions)
            won.append(relative_points(core.standings(games) - before)[each, mover])
            over.append(games.over.copy())
            games[over[-1]] = starts[rng.integers(len(starts), size=np.count_nonzero(over[-1]))]
        targets = lambda_returns(np.stack(best), np.stack(won), np.stack(over), np.stack(followed), config.lam)
        replay.append((np.concatenate(rows), targets.ravel()))

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
            net, error = averaged.export(origin), math.sqrt(float(np.mean(losses)))
            curve.append({"plies": rollout * size, "processor_seconds": round(seconds, 1), "error": round(error, 2)})
            curve[-1] |= measure(core, net)
            print(", ".join(f"{name} {number:,}" for name, number in curve[-1].items()), flush=True)
            if config.save:
                write_atomically(config.save, net.to_bytes())
    if config.plot and "regret_depth_1" in curve[-1]:
        plies = [row["plies"] for row in curve]
        found = {
            f"search of {depth} plies": LearningCurve.of(plies, [[row[f"regret_depth_{depth}"] for row in curve]])
            for depth in DEPTHS
        }
        draw_curves({"plies": found}).savefig(config.plot)
    return net


if __name__ == "__main__":
    main(sys.argv[1:])
