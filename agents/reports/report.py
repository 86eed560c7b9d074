"""A report for people: report.json as Markdown with pictures, which are written beside it.

python -m agents.reports.report benchmarks/results/report.json
"""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from agents.config import command
from agents.evaluation.results import (
    ORDINALS,
    ArenaResult,
    PairingResult,
    RegretResult,
    Report,
    TablesResult,
    order_of_agents,
    origin,
    read_report,
)
from agents.support.markdown import table
from oanquan_env import Rules
from oanquan_env.benchmark.elo import PENTANOMIAL
from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.regret import PHASES, PROVED
from oanquan_env.files import write_atomically

PROG = "python -m agents.reports.report"
DEFAULT_REPORT = Path("benchmarks/results/report.json")
PICTURES = {
    "scores.png": "Scores of all pairings",
    "elo.png": "Elo ratings with 95 % intervals",
    "regret.png": "Regret by phase of the game",
}


def _range(estimate: Estimate, form: str = "+.0f", factor: float = 1.0) -> str:
    """`mean (low to high)`, each a multiple of the estimate."""
    mean, low, high = (format(factor * value, form) for value in (estimate.mean, estimate.low, estimate.high))
    return f"{mean} ({low} to {high})"


# ---- the beginning of all reports ------------------------------------------------------------------------------------


def summary(report: Report, players: Collection[str] | None = None, headings: Collection[str] | None = None) -> str:
    """A table of whatever was measured: all players or these, all columns or these."""
    arena, regret = report.arena, report.regret
    columns: dict[str, dict[str, str]] = {}
    if arena and arena.ratings:
        columns["Elo (95 %)"] = {
            row.agent: "0" if row.agent == arena.anchor else _range(row.elo) for row in arena.ratings
        }
        columns["score, %"] = {row.agent: f"{100 * row.score:.1f}" for row in arena.ratings}
    if report.tables:
        columns["at mixed tables, % (95 %)"] = {row.agent: _range(row.score, ".1f", 100) for row in report.tables.rows}
    if regret:
        overall = {row.agent: row.overall for row in regret.agents}
        columns["regret, points (95 %)"] = {name: _range(row.regret, ".2f") for name, row in overall.items()}
        columns["best moves, %"] = {name: f"{100 * row.optimal.mean:.1f}" for name, row in overall.items()}
        columns["blunders, %"] = {name: f"{100 * row.blunders.mean:.1f}" for name, row in overall.items()}
    times = {agent.label: agent.ms_per_move for agent in report.agents}
    if any(time is not None for time in times.values()):
        columns["ms a move"] = {name: "" if time is None else f"{time:.3g}" for name, time in times.items()}
    columns = {heading: cells for heading, cells in columns.items() if headings is None or heading in headings}
    agents = [agent for agent in order_of_agents(report) if players is None or agent in players]
    rows = [[f"`{agent}`", *(cells[agent] for cells in columns.values())] for agent in agents]
    return table(["agent", *columns], rows)


def explanation(report: Report) -> str:
    """The meaning of the numbers of `summary`."""
    parts = []
    if report.arena:
        pairs = max(pairing.pairs for pairing in report.arena.pairings)
        begun = (
            "games from the set-up" if report.arena.openings == "set-up" else f"openings of {openings(report.arena)}"
        )
        parts.append(f"{pairs} {begun}, each played in every seating, in every pairing.")
    if report.arena and report.arena.ratings:
        parts.append(_ratings_explained(report.arena))
    if report.tables:
        parts.append(f"Mixed tables: every multiset of the agents in every order, {report.tables.games:,} games.")
    if report.regret:
        two = Rules.parse(report.rules).players == 2
        blundered = (
            "the final result" if two else "on which side of the others' mean the agent ends by the suite's search"
        )
        parts.append(
            f"Regret: points lost a move against the best one, over the {report.regret.positions} positions of the "
            f"{report.regret.part} part of `{report.regret.suite}`; a blunder changes {blundered}."
        )
    if any(agent.ms_per_move is not None for agent in report.agents):
        where = "the regret suite's positions" if report.regret else "all games of a pairing"
        parts.append(f"Times: wall time where {where} are asked at once, and searches use every processor.")
    return " ".join(parts)


def _ratings_explained(arena: ArenaResult) -> str:
    said = f"`{arena.anchor}` = 0, intervals bootstrapped over openings"
    if arena.players == 2:
        return f"Elo: Bradley-Terry ratings, {said}; score against all others."
    return (
        f"Score: the share of wins (a shared one divided) of one agent among {arena.players - 1} opponents of one "
        f"kind, {arena.even_share:.1f} % among equals; in this table its mean over all kinds. Elo: Bradley-Terry "
        f"ratings over places, {said}; a difference of d means a chance of 1 / (1 + 10^(-d/400)) to end ahead of the "
        "other one."
    )


def openings(arena: ArenaResult) -> str:
    """The openings of a tournament, in words."""
    words = {"random": "random play", "set-up": "the set-up"}
    return words.get(arena.openings, f"`{arena.openings}`")


# ---- report.md -------------------------------------------------------------------------------------------------------


def markdown(report: Report, pictures: Sequence[str]) -> str:
    """The whole report; `pictures` are the file names of pictures beside it."""
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    shown = {name: f"![{PICTURES[name]}]({name})" for name in pictures}
    parts = [
        "# Evaluation",
        f"Made {origin(report)}. Rules `{report.rules}`, seed {report.seed}; {versions}.",
        summary(report),
        explanation(report),
    ]
    if report.arena:
        parts += ["## Arena", *_arena(report.arena, order_of_agents(report))]
        parts += [shown[name] for name in ("elo.png", "scores.png") if name in shown]
    if report.tables:
        parts += ["## Mixed tables", *tables_in_words(report.tables)]
    if report.regret:
        parts += ["## Regret", *_regret(report.regret, order_of_agents(report))]
        parts += [shown[name] for name in ("regret.png",) if name in shown]
    names = [[f"`{agent.label}`", f"`{agent.name}`"] for agent in report.agents if agent.label != agent.name]
    if names:
        parts += ["## Players", table(["label", "player"], names, left=2)]
    return "\n\n".join(parts) + "\n"


def _arena(arena: ArenaResult, order: list[str]) -> list[str]:
    parts = []
    if arena.orders:
        over = "" if arena.players == 2 else " over moving last"
        worth = f"Moving first from the opening is worth {_range(arena.orders[0])} Elo{over}"
        later = [f"moving {name} {_range(value)}" for name, value in zip(ORDINALS, arena.orders, strict=False)][1:]
        parts.append(", ".join([worth, *later]) + ".")
    orders = ORDINALS[: max(len(pairing.orders) for pairing in arena.pairings)]
    pairings = sorted(arena.pairings, key=lambda one: order.index(one.agent))
    rows = [_pairing(pairing, len(orders)) for pairing in pairings]
    heads = ["agent", "opponent", "won", "drawn", "lost", "score, % (95 %)", "margin, points (95 %)", "plies"]
    if arena.players > 2:
        heads[1], heads[3] = "opponents", "shared"
    heads += [head for name in orders for head in (f"{name}, %", "margin")]
    if arena.players == 2:
        heads += [
            f"pairs {'/'.join(PENTANOMIAL)}".replace("DD/WL", "DD+WL"),
            "Elo difference",
            "normalised Elo",
            "LOS, %",
        ]
    parts.append(table(heads, rows, left=2))
    if orders:
        moved = f"first from the opening, or {' or '.join(orders[1:])}"
        parts.append(f"{', '.join(orders).capitalize()}: the games in which the agent moved {moved}.")
    return parts


def _pairing(pairing: PairingResult, orders: int) -> list[str]:
    cells = [f"`{pairing.agent}`", f"`{pairing.opponent}`"]
    cells += [str(count) for count in (pairing.wins, pairing.draws, pairing.losses)]
    cells += [_range(pairing.score, ".1f", 100), _range(pairing.margin, "+.1f"), f"{pairing.plies:.1f}"]
    for order in pairing.orders:
        cells += [f"{100 * order.score.mean:.1f}", f"{order.margin.mean:+.1f}"]
    cells += ["", ""] * (orders - len(pairing.orders))
    if pairing.pentanomial is not None and pairing.los is not None:
        error = "" if pairing.elo_error is None else f" ± {pairing.elo_error:.0f}"
        never = "∞" if pairing.wins else "−∞"  # a match won by all games has no Elo difference
        difference = never if pairing.elo is None else f"{pairing.elo:+.0f}{error}"
        normal = pairing.normalised_elo
        normalised = f"{normal.elo:+.0f} ± {normal.error:.0f}" if normal and math.isfinite(normal.elo) else ""
        cells += ["/".join(map(str, pairing.pentanomial)), difference, normalised, f"{100 * pairing.los:.1f}"]
    return cells


def tables_table(tables: TablesResult) -> str:
    """The players at mixed tables, and beside each its null run."""
    shares = f"alone: {' / '.join(ORDINALS[: tables.players])}"
    heads = ["agent", "score, % (95 %)", "margin, points (95 %)", "place (95 %)", "Elo (95 %)", f"{shares}, %"]
    rows = [
        [
            f"`{row.agent}`",
            _range(row.score, ".1f", 100),
            _range(row.margin, "+.1f"),
            _range(row.place, ".2f"),
            _range(row.elo),
            " / ".join(f"{100 * score.mean:.0f}" for score in row.alone),
        ]
        for row in tables.rows
    ]
    return table(heads, rows)


def tables_in_words(tables: TablesResult) -> list[str]:
    """Two paragraphs of Markdown: how the tables were played, and their numbers."""
    orders = ", ".join(f"{name} {_range(value)}" for name, value in zip(ORDINALS, tables.orders, strict=False))
    return [
        f"Every multiset of the agents in every order, {tables.number} openings of `{tables.openings}`: "
        f"{tables.games:,} games. Even: {100 / tables.players:.1f} %, place {(tables.players + 1) / 2:g}. Alone: "
        "the score of the agent among itself, by who moves first from the opening. "
        f"Moving {orders} Elo over moving last.",
        tables_table(tables),
    ]


def _regret(regret: RegretResult, order: list[str]) -> list[str]:
    rows = {row.agent: row for row in regret.agents}
    shares_heads = ["best moves, % (95 %)", "blunders, % (95 %)"]
    heads = ["agent", "positions", "number", "regret, points (95 %)", *shares_heads, "regret by proved bounds"]
    proved = (
        f"Of the {regret.moves} moves in {regret.positions} positions {regret.proved_moves} have proved values, the "
        f"others searched ones; all moves are proved in {regret.proved} positions."
    )
    cells = []
    for phase, agent in itertools.product(("all", *PHASES, PROVED), order):
        found = {"all": rows[agent].overall, **rows[agent].phases}.get(phase)
        if found:
            shares = [_range(share, ".1f", 100) for share in (found.optimal, found.blunders)]
            bounds = "" if not found.least else f"{found.least:.2f} or more"
            if found.most is not None:
                bounds = f"{found.least:.2f} to {found.most:.2f}"
            cells.append([f"`{agent}`", phase, str(found.positions), _range(found.regret, ".2f"), *shares, bounds])
    return [proved, table(heads, cells, left=2)]


# ---- files -----------------------------------------------------------------------------------------------------------


def write_report(report: Report, folder: Path) -> None:
    """Write report.json, its pictures and report.md into a folder that exists."""
    write_atomically(folder / "report.json", report.to_json().encode())
    render(report, folder)


def render(report: Report, folder: Path) -> None:
    """Write the pictures and report.md of a report into a folder that exists."""
    from agents.reports.pictures import draw_all  # matplotlib takes a second to import

    pictures = draw_all(report)
    for name, content in pictures.items():
        write_atomically(folder / name, content)
    write_atomically(folder / "report.md", markdown(report, list(pictures)).encode())


@dataclass(frozen=True)
class Options:
    """The command line."""

    report: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="[REPORT]")] = DEFAULT_REPORT  # the report.json


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Write report.md and its pictures."""
    render(read_report(options.report), options.report.parent)


if __name__ == "__main__":
    raise SystemExit(main())
