"""Train a league of former selves on the vector environment, and show its payoff matrix.

    python -m examples.league out/league --generations 6
    python -m examples.league out/league --generations 12  # also continues after an interruption

The learner plays against `random`, `greedy` and its former selves, which draw their moves from their policies. After
each generation, a copy of it joins, and new games draw opponents that it beats less often more often. The folder holds
the selves, the results of all game pairs, and the matrix as a picture.
"""

import argparse
import io
import sys
from pathlib import Path

import numpy as np

from oanquan_env.benchmark import charts
from oanquan_env.benchmark.league import Payoffs, nash, payoffs, prioritised
from oanquan_env.errors import needing_extra
from oanquan_env.files import write_atomically
from oanquan_env.players import as_policy

with needing_extra("train", "examples.league" if __name__ == "__main__" else None):
    import torch
    from sb3_contrib import MaskablePPO

    from oanquan_env.sb3 import HYPERPARAMETERS, OAnQuanVecEnv

WEIGHTS = {
    "prioritised": lambda matrix: prioritised(matrix.mean[-1]),
    "nash": lambda matrix: nash(matrix.mean),
    "equal": lambda matrix: np.ones(len(matrix.names)),
}
"""Functions that return the weights of the opponents for a payoff matrix whose last player is the newest self."""


def parse_options(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the league; a league in it is continued")
    for name, value, meaning in (
        ("generations", 6, "number of former selves"),
        ("plies", 131_072, "plies of training between two of them"),
        ("envs", 128, "number of games at a time"),
        ("pairs", 100, "openings of each pairing, each played in both seatings"),
        ("seed", 0, "seed of training and games"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{meaning} (default: %(default)s)")
    words = "weights of the opponents (default: %(default)s)"
    parser.add_argument("--weights", choices=WEIGHTS, default="prioritised", help=words)
    return parser.parse_args(arguments)


def former_self(path: Path) -> object:
    """Return a stored self as a player that draws its moves as in training."""
    return as_policy(MaskablePPO.load(path, device="cpu"), temperature=1.0)


def picture(matrix: Payoffs) -> bytes:
    """Draw the payoff matrix as PNG."""
    figure, axes = charts.chart("Share of games won against the column's player", 7.5, 6.5, grid=None)
    axes.imshow(matrix.mean, cmap=charts.DIVERGING, vmin=0, vmax=1)
    for (row, column), share in np.ndenumerate(matrix.mean):
        axes.text(column, row, f"{100 * share:.0f}", ha="center", va="center", color=charts.INK, fontsize=charts.SMALL)
    axes.set_xticks(range(len(matrix.names)), matrix.names, rotation=45, ha="right")
    axes.set_yticks(range(len(matrix.names)), matrix.names)
    return charts.png(figure)


def main(arguments: list[str]) -> Payoffs:
    """Train the missing generations, and return the payoff matrix."""
    options = parse_options(arguments)
    torch.set_num_threads(1)
    options.folder.mkdir(parents=True, exist_ok=True)
    paths = [options.folder / f"self-{number}.zip" for number in range(1, options.generations + 1)]
    done = [path for path in paths if path.exists()]
    players = {"random": "random", "greedy": "greedy", **{path.stem: former_self(path) for path in done}}
    games = OAnQuanVecEnv(options.envs, opponent=list(players.values()))
    if done:
        model = MaskablePPO.load(done[-1], games, seed=options.seed + len(done), device="cpu")
    else:
        constant = {**HYPERPARAMETERS, "learning_rate": 1e-3}
        model = MaskablePPO("MlpPolicy", games, **constant, seed=options.seed)

    def measured() -> Payoffs:
        matrix = payoffs(players, pairs=options.pairs, seed=options.seed, cache=options.folder / "payoffs.json")
        games.set_opponent(list(players.values()))
        games.set_opponent_weights(WEIGHTS[options.weights](matrix))
        return matrix

    matrix = measured()
    for path in paths[len(done) :]:
        model.learn(options.plies, reset_num_timesteps=False)
        file = io.BytesIO()
        model.save(file)
        write_atomically(path, file.getvalue())
        players[path.stem] = former_self(path)
        matrix = measured()
        print(f"{path.stem} joins after {model.num_timesteps:,} plies", flush=True)
    print(f"\n{matrix}\n\nNash equilibrium: ", end="")
    print(", ".join(f"{name} {share:.2f}" for name, share in zip(matrix.names, nash(matrix.mean), strict=True)))
    write_atomically(options.folder / "payoffs.png", picture(matrix))
    return matrix


if __name__ == "__main__":
    main(sys.argv[1:])
