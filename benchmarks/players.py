r"""Measure a row of the benchmark of players (docs/benchmark.md): a player, or several runs of a trained player.

    python -m benchmarks.players maxn:depth=3 --uses search --learned-from nothing
    python -m benchmarks.players ppo:runs/seed-0 ppo:runs/seed-1 ... --label ppo-mine --uses afterstates \
        --learned-from self-play --budget "10 M plies, 60 processor minutes"

The command writes `benchmarks/results/players/LABEL.json`; then `python -m tools.readme` updates the page.
MODULE:NAME names a player of your own. THIS IMPORTS AND RUNS THAT MODULE.
"""

import dataclasses
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro
from pydantic import TypeAdapter
from rich.progress import track

from agents.config import parse_options, refused
from benchmarks.report import RESULTS, describe_machine, over_runs
from oanquan_env import Rules
from oanquan_env.benchmark.evaluation import evaluate
from oanquan_env.benchmark.report import Evaluation, interval, table
from oanquan_env.benchmark.statistics import Estimate
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import read_json, write_atomically

PROG = "python -m benchmarks.players"
FOLDER = RESULTS / "players"
SHOWN = ("greedy", "maxn:depth=3")
"""Opponents whose scores are shown in the table."""


@dataclass(frozen=True)
class Row:
    """One row of the table, which is stored in a file of its own."""

    label: str  # name of the row
    uses: str  # information that the player uses, in the terms of docs/benchmark.md
    learned_from: str  # information that its training used, in the same terms
    budget: str  # training budget, in words
    measured_on: dict[str, str]  # processor, commit and versions
    evaluations: list[Evaluation]  # one for each run


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    # the player, or one player for each training seed
    players: Annotated[tyro.conf.Positional[list[str]], tyro.conf.arg(metavar="PLAYER", help_behavior_hint="")]
    # information that the player uses: the observation (or `moves`), positions after moves and replies, or a search
    uses: Literal["observation", "moves", "afterstates", "search"]
    learned_from: Literal["nothing", "self-play", "search"]  # information that its training used
    label: Annotated[str, tyro.conf.arg(help_behavior_hint="")] = ""  # the row's name (default: the player)
    budget: Annotated[str, tyro.conf.arg(help_behavior_hint="")] = ""  # training budget, in words
    rules: str = DEFAULT_PRESET  # rules by name
    pairs: int = 200  # number of openings, each played in every seating


def measure(options: Options) -> Row:
    """Evaluate every player in `options`, using its index as the seed, and return the row of the table."""
    rules, label = Rules.parse(options.rules), options.label or options.players[0]
    evaluations = [
        evaluate(name, rules, pairs=options.pairs, seed=seed, label=name, progress=False)
        for seed, name in enumerate(track(options.players, "runs", transient=True, disable=not sys.stderr.isatty()))
    ]
    machine = {name: str(value) for name, value in describe_machine().items()}
    return Row(label, options.uses, options.learned_from, options.budget, machine, evaluations)


def rows() -> str:
    """Return the tables of all rows in `FOLDER`, and a sentence with the commits at which they were measured."""
    entries = [TypeAdapter(Row).validate_python(read_json(path)) for path in sorted(FOLDER.glob("*.json"))]
    commits = ", ".join(sorted({f"`{row.measured_on['commit']}`" for row in entries}))
    return f"{tables(entries)}\n\nMeasured by `python -m benchmarks.players` at commit {commits}."


def tables(found: Sequence[Row]) -> str:
    """Return one Markdown table per set of rules; its rows are sorted by regret, with the lowest first."""
    parts = []
    for rules in dict.fromkeys(row.evaluations[0].rules for row in found):
        own = [row for row in found if row.evaluations[0].rules == rules]
        cells = sorted((_cells(row) for row in own), key=lambda cell: float(cell[4].partition(" ")[0] or "inf"))
        heads = ["player", "uses", "learned from", "runs", "regret, points (95 %)", "blunders, %"]
        heads += [f"score against `{name}`, %" for name in SHOWN]
        parts.append(f"Rules `{rules}`:\n\n{table(heads, cells, left=3)}")
    return "\n\n".join(parts)


def _cells(row: Row) -> list[str]:
    regrets = [one.regret for one in row.evaluations if one.regret]
    label = f"`{row.label}`" + f" ({row.budget})" * bool(row.budget)
    games = [pairing for one in row.evaluations for pairing in one.pairings]
    scores = {name: [one.score for one in games if one.opponent == name] for name in SHOWN}
    return [
        label,
        row.uses,
        row.learned_from,
        str(len(row.evaluations)),
        _interval(regrets, ".2f"),
        _interval([one.blunders for one in regrets], ".1f", 100, ends=False),
        *(_interval(estimates, ".1f", 100, ends=False) for estimates in scores.values()),
    ]


def _interval(runs: Sequence[Estimate], form: str, factor: float = 1.0, *, ends: bool = True) -> str:
    if not runs:
        return ""
    one = over_runs(runs)
    return interval(one, form, factor) if ends else f"{factor * one.mean:{form}}"


def main(arguments: list[str]) -> int:
    """Measure a row and write its file; return the exit status."""
    options = parse_options(Options, arguments, prog=PROG, description=__doc__)
    try:
        row = measure(options)
        FOLDER.mkdir(exist_ok=True)
        path = FOLDER / f"{re.sub(r'[^A-Za-z0-9.]+', '-', row.label)}.json"
        write_atomically(path, (json.dumps(dataclasses.asdict(row), indent=1) + "\n").encode())
    except (ValueError, OSError) as error:
        return refused(PROG, error)
    print(*row.evaluations, f"written to {path}", sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
