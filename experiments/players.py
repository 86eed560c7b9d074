r"""Measure a row of the benchmark in docs/comparing-players.md: a player, or several runs of a trained player.

    python -m experiments.players maxn:depth=3 --uses search --learned-from nothing
    python -m experiments.players ppo:runs/seed-0 ppo:runs/seed-1 ... --label ppo-mine --uses afterstates \
        --learned-from self-play --budget "10 M plies, 60 processor minutes"

The command writes `experiments/results/players/LABEL.json`; then `python -m tools.write_docs` updates the page.
MODULE:NAME names a player of your own. THIS IMPORTS AND RUNS THAT MODULE.
"""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro
from pydantic import TypeAdapter
from rich.progress import track

from agents.config import command
from experiments.common import RESULTS, Cells, head_of_results, over_runs, program, table_of
from oanquan_env import Rules
from oanquan_env.benchmark.evaluation import evaluate
from oanquan_env.benchmark.results import Evaluation
from oanquan_env.benchmark.statistics import Estimate, as_record
from oanquan_env.benchmark.tables import interval
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import read_json, write_atomically

PROG = program("players")
FOLDER = RESULTS / "players"
SHOWN = ("greedy", "maxn:depth=3")
"""Opponents whose scores are shown in the table."""
REGRET = "regret, points (95 %)"
"""Heading of the column by which the table is sorted."""


@dataclass(frozen=True)
class Row:
    """One row of the table, which is stored in a file of its own."""

    label: str  # name of the row
    uses: str  # information that the player uses, in the terms of docs/comparing-players.md
    learned_from: str  # information that its training used, in the same terms
    budget: str  # training budget, in words
    measured_on: dict[str, str]  # processor, commit and versions
    command: str  # the command that measured the row, without options
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
    return Row(
        label, options.uses, options.learned_from, options.budget, **head_of_results(PROG), evaluations=evaluations
    )


def rows() -> str:
    """Return the tables of all rows in `FOLDER`, and a sentence with the commands and commits that measured them."""
    entries = [TypeAdapter(Row).validate_python(read_json(path)) for path in sorted(FOLDER.glob("*.json"))]
    commits: dict[str, set[str]] = {}
    for row in entries:
        commits.setdefault(row.command, set()).add(f"`{row.measured_on['commit']}`")
    origins = [f"by `{command}` at commit {', '.join(sorted(commits[command]))}" for command in sorted(commits)]
    return f"{tables(entries)}\n\nMeasured {' and '.join(origins)}."


def tables(measured: Sequence[Row]) -> str:
    """Return one Markdown table per set of rules; its rows are sorted by regret, with the lowest first."""
    parts = []
    for rules in dict.fromkeys(row.evaluations[0].rules for row in measured):
        own = [row for row in measured if row.evaluations[0].rules == rules]
        rows = sorted(map(_cells, own), key=lambda row: float(row[REGRET].partition(" ")[0] or "inf"))
        parts.append(f"Rules `{rules}`:\n\n{table_of(rows, left=3)}")
    return "\n\n".join(parts)


def _cells(row: Row) -> Cells:
    regrets = [evaluation.regret for evaluation in row.evaluations if evaluation.regret]
    games = [pairing for evaluation in row.evaluations for pairing in evaluation.pairings]
    cells = {
        "player": f"`{row.label}`" + f" ({row.budget})" * bool(row.budget),
        "uses": row.uses,
        "learned from": row.learned_from,
        "runs": str(len(row.evaluations)),
        REGRET: _interval(regrets, ".2f"),
        "blunders, %": _interval([regret.blunders for regret in regrets], ".1f", 100, ends=False),
    }
    for name in SHOWN:
        scores = [pairing.score for pairing in games if pairing.opponent == name]
        cells[f"score against `{name}`, %"] = _interval(scores, ".1f", 100, ends=False)
    return cells


def _interval(runs: Sequence[Estimate], form: str, factor: float = 1.0, *, ends: bool = True) -> str:
    if not runs:
        return ""
    estimate = over_runs(runs)
    return interval(estimate, form, factor) if ends else f"{factor * estimate.mean:{form}}"


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Measure a row, write its file and print the evaluations."""
    row = measure(options)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{re.sub(r'[^A-Za-z0-9.]+', '-', row.label)}.json"
    write_atomically(path, (json.dumps(as_record(row), indent=1) + "\n").encode())
    print(*row.evaluations, f"written to {path}", sep="\n\n")


if __name__ == "__main__":
    raise SystemExit(main())
