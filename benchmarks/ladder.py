"""The levels for people but the last, each against the one below it, in pairs of games.

    python -m benchmarks.ladder
    python -m benchmarks.ladder --publish  # also writes benchmarks/results/ladder.json

Games begin from the package's balanced openings. The levels search as many moves as on the page, and no time limits
them: another run plays the same games.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.newcomer import untimed
from benchmarks.page import BEGIN
from oanquan_env import Core, Rules
from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.markdown import interval
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.pairs import chance, play_pairs, score_interval
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.play.levels import LEVELS, player_at

MEASURED = list(LEVELS)[:-1]
"""The search of the last one takes up to a second a move."""
HEADS = ("level", "against", *(f"score by `{rules}`, % (95 %)" for rules in (BEGIN, DEFAULT_PRESET)))


def score(rules: Rules, level: str, below: str, pairs: int) -> dict[str, float]:
    """The score of a level against another."""
    core = Core(rules)
    player, opponent = (player_at(untimed(LEVELS[name]), rules) for name in (level, below))
    openings = load_openings(core, "balanced", pairs, 0, np.random.default_rng(0)).positions
    return vars(score_interval(play_pairs(core, player, opponent, openings, chance(0, level, below))))


def table_rows(results: dict[str, Any]) -> list[list[str]]:
    """The lines of the table of all results."""
    rows = []
    for below, level in itertools.pairwise(MEASURED):
        found = (Estimate(**results["results"][rules][level]) for rules in (BEGIN, DEFAULT_PRESET))
        rows.append([f"`{level}`", f"`{below}`", *(interval(one, ".0f", 100) for one in found)])
    return rows


@dataclass(frozen=True)
class Options(report.Options):
    """The command line."""

    pairs: int = 300
    """openings, each played from both seats"""


def main() -> None:
    """Play by the rules with which the page begins, and by the default rules."""
    options = report.read_options(Options, __doc__, "ladder")
    results: dict[str, Any] = {}
    for preset in (BEGIN, DEFAULT_PRESET):
        results[preset] = {}
        for below, level in itertools.pairwise(MEASURED):
            results[preset][level] = score(Rules.parse(preset), level, below, options.pairs)
            print(preset, level, below, results[preset][level], sep="  ", flush=True)
    found = {"pairs": options.pairs, "results": results}
    report.show("The levels", HEADS, table_rows(found))
    report.write(options, "ladder", found)


if __name__ == "__main__":
    main()
