"""How far the proof reaches: in games of strong play, from which ply on the solver settles every position.

The budget is in moves of the search, so that it is the same on any machine; a core plays some four million a second,
which makes the three budgets about 1, 10 and 60 seconds. Games begin after two random plies.

    python -m benchmarks.reach --publish
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.progress import Progress

from agents.config import progress_bar
from benchmarks import report
from oanquan_env import PRESETS, Board, Core
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.engine.positions import Positions
from oanquan_env.players import make
from oanquan_env.playing import choose_move
from oanquan_env.search.solver import Solver

BUDGETS = {"1 s": 4_000_000, "10 s": 40_000_000, "60 s": 240_000_000}
"""Moves of the search for one position, by the time that they take about."""
HEADS = ("rules", "plies", *BUDGETS)
PLAYER = "minimax:nodes=20000,net=pretrained"
PICTURE = report.RESULTS / "reach.png"


class Game:
    """One game, and how many moves of the search settle the position at each of its plies."""

    def __init__(self, core: Core, opening: Positions) -> None:
        player, rng = make(PLAYER, core.rules), np.random.default_rng(0)
        board = Board.from_positions(core, opening)
        self._core, self._positions = core, [opening]
        while board.outcome is None:
            board.push(choose_move(player, board, rng))
            self._positions.append(board.positions)
        self.first, self.plies = int(opening.ply[0]), board.ply
        self.moves = functools.cache(self._moves)

    def _moves(self, ply: int) -> float:
        """Moves of the search until the value is proved; infinity past the largest budget."""
        position = self._positions[ply - self.first]
        if position.over[0]:
            return 0
        for found in Solver(self._core, position, megabytes=512).rounds():
            if found.solved:
                return found.nodes
            if found.nodes > max(BUDGETS.values()):
                break
        return float("inf")

    def settled_from(self, budget: int) -> int:
        """The ply from which on a position is settled within a budget, by halving: later positions are easier."""
        low, high = self.first, self.plies
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.moves(middle) <= budget else (middle + 1, high)
        return high


def measure(rules: str, games: int, progress: Progress) -> list[dict[str, Any]]:
    """First ply, length, and the ply from which each budget settles the position, of each game."""
    core, found = Core(rules), []
    openings = load_openings(core, "random", games, 2, np.random.default_rng(0))
    task = progress.add_task(rules, total=games)
    for row in range(games):
        game = Game(core, openings.positions[row : row + 1])
        settled = {name: game.settled_from(budget) for name, budget in reversed(BUDGETS.items())}
        found.append({"first": game.first, "plies": game.plies, "settled": settled})
        progress.advance(task)
    return found


def table_rows(results: dict[str, Any]) -> list[list[str]]:
    """For each preset the median length of the games, and of the plies from which each budget settles them."""
    rows = []
    for name, games in results["results"].items():
        plies = [[game["plies"], *(game["settled"][budget] for budget in BUDGETS)] for game in games]
        rows.append([f"`{name}`", *(f"{median:.0f}" for median in np.median(plies, axis=0))])
    return rows


def draw(results: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """For each preset the share of games that are settled at each ply, a line for each budget."""
    figure = Figure(figsize=(2.4 * len(results), 2.6), layout="constrained")
    for axes, (name, games) in zip(figure.subplots(1, len(results), sharey=True), results.items(), strict=True):
        plies = np.arange(max(game["plies"] for game in games) + 1)
        for budget in BUDGETS:
            settled = np.array([game["settled"][budget] for game in games])
            axes.plot(plies, 100 * (settled[:, None] <= plies).mean(axis=0), drawstyle="steps-post", label=budget)
        axes.set(title=name, xlabel="ply", xlim=(0, 40))
    figure.axes[0].set_ylabel("games settled, %")
    figure.axes[-1].legend(loc="lower right")
    figure.savefig(path, dpi=110)


@dataclass(frozen=True)
class Options(report.Options):
    """The command line."""

    games: int = 20
    """games of each preset"""


def main() -> None:
    """Play the games, settle their positions, and report the median plies."""
    options = report.read_options(Options, __doc__, "reach")
    names = [name for name, preset in PRESETS.items() if preset.rules.players == 2]
    with progress_bar() as progress:
        results = {name: measure(name, options.games, progress) for name in names}
    report.show("Ply from which on the solver settles the position, median", HEADS, table_rows({"results": results}))
    report.write(options, "reach", {"player": PLAYER, "budgets": BUDGETS, "results": results})
    if options.publish:
        draw(results, PICTURE)
        print(f"drawn in {PICTURE}")


if __name__ == "__main__":
    main()
