"""First games of a newcomer against each level: how long they last, and how they end.

    python -m benchmarks.newcomer
    python -m benchmarks.newcomer --publish  # also writes benchmarks/results/newcomer.json
    python -m benchmarks.newcomer --level medium --publish  # after a change of this level; keeps the others

The newcomer begins: with a move of the largest badge, the most points captured at once, and then with random legal
moves. The levels search as many moves as on the page, and no time limits them: another run plays the same games.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from benchmarks import report
from benchmarks.page import BEGIN
from oanquan_env import Board, Core, Positions, Rules, Termination
from oanquan_env.arrays import Ints
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import read_json
from oanquan_env.play.levels import LEVELS, Level, player_at
from oanquan_env.players import RandomPolicy
from oanquan_env.playing import advance, seated

NODES_PER_MS = 1000
"""As on the page, for a search with a value net."""
SOON = 4
"""Plies: a game that ends so early has hardly begun."""
HEADS = ("rules", "level", "mean", "fewest", f"over by ply {SOON}", "ended by the level", "won", "points")


class Newcomer:
    """Plays a move with the largest badge at the set-up, and later any."""

    def __init__(self, core: Core) -> None:
        board = Board(core.rules)
        badges = {move.action: board.sowing(move).captured for move in board.legal_moves}
        self._first = [action for action, badge in badges.items() if badge == max(badges.values())]
        self._random = RandomPolicy(core)

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        first = rng.choice(self._first, len(positions))
        return np.where(positions.ply == 0, first, self._random.choose(positions, rng))


def untimed(level: Level) -> Level:
    """The level without a clock: where that alone limits it, with as many moves as on the page."""
    name = re.sub(r"(depth=\d+),ms=\d+", r"\1", level.players[0])
    name = re.sub(r"ms=(\d+)", lambda found: f"nodes={NODES_PER_MS * int(found[1])}", name)
    return level._replace(players=(name,))


def first_games(rules: Rules, level: Level, games: int) -> dict[str, Any]:
    """Games of the newcomer, South, against a level: their plies, who made the last move, results and points."""
    core, rng = Core(rules), np.random.default_rng(0)
    finals, seating, last = core.start(games), np.tile([0, 1], (games, 1)), np.zeros(games, dtype=np.intp)
    choose = seated([Newcomer(core), player_at(untimed(level), rules)], seating, rng)
    for ply, (rows, _) in enumerate(advance(core, finals, choose)):
        last[rows] = ply % 2  # South begins, and no player ever passes
    points, cut = core.standings(finals), finals.ended == Termination.MAX_PLIES
    margins = points[:, 0] - points[:, 1]
    return {
        "games": games,
        "plies": {"mean": finals.ply.mean().item(), "fewest": finals.ply.min().item(), "most": finals.ply.max().item()},
        "over_soon": int((finals.ply <= SOON).sum()),
        "ended_by": [int((~cut & (last == seat)).sum()) for seat in (0, 1)],
        "won": int((margins > 0).sum()),
        "drawn": int((margins == 0).sum()),
        "points": points.mean(axis=0).tolist(),
    }


def row(rules: str, level: str, found: dict[str, Any]) -> list[str]:
    """One line of the table."""
    games, plies = found["games"], found["plies"]
    shares = (f"{found[name] / games:.0%}" for name in ("over_soon", "won"))
    soon, won = (share.replace("%", " %") for share in shares)
    ended = f"{found['ended_by'][1] / games:.0%}".replace("%", " %")
    points = "–".join(f"{mean:.0f}" for mean in found["points"])
    return [f"`{rules}`", f"`{level}`", f"{plies['mean']:.1f}", str(plies["fewest"]), soon, ended, won, points]


def table_rows(results: dict[str, Any]) -> list[list[str]]:
    """The lines of the table of all results."""
    return [row(rules, level, found) for rules, levels in results["results"].items() for level, found in levels.items()]


@dataclass(frozen=True)
class Options(report.Options):
    """The command line."""

    games: int = 100
    """games against each level"""
    level: Literal["all", *LEVELS] = "all"  # type: ignore[valid-type]
    """one level alone; the published results of the others are kept"""


def main() -> None:
    """Play the first games by the rules with which the page begins, and by the default rules."""
    options = report.read_options(Options, __doc__, "newcomer")
    levels = [name for name in LEVELS if options.level in ("all", name)]
    kept = {} if options.level == "all" else read_json(report.RESULTS / "newcomer.json")["results"]
    results: dict[str, Any] = {preset: dict(kept.get(preset, {})) for preset in (BEGIN, DEFAULT_PRESET)}
    for preset in results:
        for name in levels:
            results[preset][name] = first_games(Rules.parse(preset), LEVELS[name], options.games)
            print(*row(preset, name, results[preset][name]), sep="  ", flush=True)
    report.show("First games", HEADS, table_rows({"results": results}))
    report.write(options, "newcomer", {"results": results})


if __name__ == "__main__":
    main()
