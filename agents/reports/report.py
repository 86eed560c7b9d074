"""A report for people: report.json as Markdown with pictures, and the benchmark table of the README.

    python -m agents.reports.report benchmarks/results/report.json
    python -m agents.reports.report benchmarks/results/report.json --readme README.md [--check]

The first writes report.md and pictures beside it, the second renews the README's table.

The table stands in the README between two comments, `<!-- benchmark:begin -->` and `<!-- benchmark:end -->`. With
--check nothing is written: the exit status is 1 if the README does not show what the report says.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.evaluation.ratings import PENTANOMIAL
from agents.evaluation.regret import PHASES
from agents.evaluation.results import (
    ArenaResult,
    Estimate,
    PairingResult,
    RegretMeasures,
    RegretResult,
    Report,
    ReportError,
    order_of_agents,
    origin,
    read_report,
)
from agents.support.files import write_atomically

DEFAULT_REPORT = Path("benchmarks/results/report.json")
BEGIN, END = "<!-- benchmark:begin -->", "<!-- benchmark:end -->"
PICTURES = {
    "scores.png": "Scores of all pairings",
    "elo.png": "Elo ratings with 95 % intervals",
    "regret.png": "Regret by phase of the game",
}


# ---- numbers as text -------------------------------------------------------------------------------------------------


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; all columns but the first `left` are set to the right."""
    rule = ["---" if number < left else "---:" for number in range(len(heads))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))


def _range(estimate: Estimate, form: str = "+.0f", factor: float = 1.0) -> str:
    """`mean (low to high)`, each a multiple of the estimate."""
    mean, low, high = (format(factor * value, form) for value in (estimate.mean, estimate.low, estimate.high))
    return f"{mean} ({low} to {high})"


def _time(milliseconds: float | None) -> str:
    return "" if milliseconds is None else f"{milliseconds:.3g}"


# ---- the README's table ----------------------------------------------------------------------------------------------


def summary(report: Report) -> str:
    """One row a player, with whatever was measured."""
    arena, regret = report.arena, report.regret
    columns: dict[str, dict[str, str]] = {}
    if arena and arena.ratings:
        columns["Elo (95 %)"] = {
            row.agent: "0" if row.agent == arena.anchor else _range(row.elo) for row in arena.ratings
        }
        columns["score, %"] = {row.agent: f"{100 * row.score:.1f}" for row in arena.ratings}
    if regret:
        overall = {row.agent: row.overall for row in regret.agents}
        columns["regret, points (95 %)"] = {name: _range(row.regret, ".2f") for name, row in overall.items()}
        columns["best moves, %"] = {name: f"{100 * row.optimal.mean:.1f}" for name, row in overall.items()}
        columns["blunders, %"] = {name: f"{100 * row.blunders.mean:.1f}" for name, row in overall.items()}
    if any(agent.ms_per_move is not None for agent in report.agents):
        columns["ms a move"] = {agent.label: _time(agent.ms_per_move) for agent in report.agents}
    rows = [[f"`{agent}`", *(column[agent] for column in columns.values())] for agent in order_of_agents(report)]
    return table(["agent", *columns], rows)


def explanation(report: Report) -> str:
    """What the numbers of `summary` mean."""
    parts = []
    if report.arena:
        pairs = max(pairing.pairs for pairing in report.arena.pairings)
        begun = (
            "games from the set-up" if report.arena.openings == "set-up" else f"openings of {openings(report.arena)}"
        )
        parts.append(f"{pairs} {begun}, each played in every seating, in every pairing.")
    if report.arena and report.arena.ratings:
        parts.append(
            f"Elo: Bradley-Terry ratings, `{report.arena.anchor}` = 0, intervals bootstrapped over openings; score "
            "against all others."
        )
    if report.regret:
        parts.append(
            f"Regret: points lost a move against the best one, over the {report.regret.positions} positions of the "
            f"{report.regret.part} part of `{report.regret.suite}`; a blunder changes the final result."
        )
    if any(agent.ms_per_move is not None for agent in report.agents):
        where = "the regret suite's positions" if report.regret else "all games of a pairing"
        parts.append(f"Times: wall time where {where} are asked at once, and searches use every processor.")
    return " ".join(parts)


def openings(arena: ArenaResult) -> str:
    """Where the games of a tournament began, in words."""
    words = {"random": "random play", "set-up": "the set-up"}
    return words.get(arena.openings, f"`{arena.openings}`")


def readme_section(report: Report, pictures: dict[str, str]) -> str:
    """What stands between the README's two comments.

    Args:
        report: the numbers.
        pictures: their place, as seen from the README, by file name.
    """
    images = [f"![{PICTURES[name]}]({place})" for name, place in pictures.items()]
    parts = [BEGIN, summary(report), explanation(report), f"Made {origin(report)}.", *images, END]
    return "\n\n".join(parts)


def insert_section(readme: str, section: str) -> str:
    """The README with the section in its place. Raises `ReportError` unless both comments are there once, in order."""
    begin, end = readme.find(BEGIN), readme.find(END)
    if readme.count(BEGIN) != 1 or readme.count(END) != 1 or begin > end:
        raise ReportError(f"the README must hold {BEGIN} and, after it, {END}, each once")
    return readme[:begin] + section + readme[end + len(END) :]


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
    if report.regret:
        parts += ["## Regret", *_regret(report.regret, order_of_agents(report))]
        parts += [shown[name] for name in ("regret.png",) if name in shown]
    names = [[f"`{agent.label}`", f"`{agent.name}`"] for agent in report.agents if agent.label != agent.name]
    if names:
        parts += ["## Players", table(["label", "player"], names, left=2)]
    return "\n\n".join(parts) + "\n"


def _arena(arena: ArenaResult, order: list[str]) -> list[str]:
    parts = []
    if arena.first:
        parts.append(f"Moving first from the opening is worth {_range(arena.first)} Elo.")
    rows = [_pairing(pairing) for pairing in sorted(arena.pairings, key=lambda one: order.index(one.agent))]
    heads = ["agent", "opponent", "won", "drawn", "lost", "score, % (95 %)", "margin, points (95 %)", "plies"]
    if arena.ratings:
        heads += ["first, %", "margin", "second, %", "margin"]
        heads += [f"pairs {'/'.join(PENTANOMIAL)}".replace("DD/WL", "DD+WL"), "Elo difference", "LOS, %"]
    parts.append(table(heads, rows, left=2))
    if arena.ratings:
        parts.append("First, second: the games in which the agent moved first from the opening, or second.")
    return parts


def _pairing(pairing: PairingResult) -> list[str]:
    cells = [f"`{pairing.agent}`", f"`{pairing.opponent}`"]
    cells += [str(count) for count in (pairing.wins, pairing.draws, pairing.losses)]
    cells += [_range(pairing.score, ".1f", 100), _range(pairing.margin, "+.1f"), f"{pairing.plies:.1f}"]
    if pairing.pentanomial is not None and pairing.los is not None:
        for order in (pairing.first, pairing.second):
            cells += [f"{100 * order.score.mean:.1f}", f"{order.margin.mean:+.1f}"] if order else ["", ""]
        cells += ["/".join(map(str, pairing.pentanomial)), _difference(pairing), f"{100 * pairing.los:.1f}"]
    return cells


def _difference(pairing: PairingResult) -> str:
    """The Elo difference; a match won by all games has none."""
    if pairing.elo is None:
        return "∞" if pairing.wins else "−∞"
    return f"{pairing.elo:+.0f}" + ("" if pairing.elo_error is None else f" ± {pairing.elo_error:.0f}")


def _regret(regret: RegretResult, order: list[str]) -> list[str]:
    rows = {row.agent: row for row in regret.agents}
    measured = [(agent, "all", rows[agent].overall) for agent in order]
    measured += [
        (agent, phase, rows[agent].phases[phase]) for phase in PHASES for agent in order if phase in rows[agent].phases
    ]
    heads = ["agent", "phase", "positions", "regret, points (95 %)", "best moves, % (95 %)", "blunders, % (95 %)"]
    proved = (
        f"Of the {regret.moves} moves in {regret.positions} positions {regret.proved_moves} have proved values, the "
        f"others searched ones; all moves are proved in {regret.proved} positions."
    )
    return [
        proved,
        table(heads, [[f"`{agent}`", phase, *_measures(found)] for agent, phase, found in measured], left=2),
    ]


def _measures(found: RegretMeasures) -> list[str]:
    shares = [_range(share, ".1f", 100) for share in (found.optimal, found.blunders)]
    return [str(found.positions), _range(found.regret, ".2f"), *shares]


# ---- files -----------------------------------------------------------------------------------------------------------


def write_report(report: Report, folder: Path) -> None:
    """Write report.json, its pictures and report.md into a folder that exists."""
    write_atomically(folder / "report.json", report.to_json().encode())
    render(report, folder)


def render(report: Report, folder: Path) -> None:
    """Write the pictures and report.md of a report into a folder that exists."""
    from agents.reports.pictures import draw_all  # matplotlib takes a second to import, and --check needs none

    pictures = draw_all(report)
    for name, content in pictures.items():
        write_atomically(folder / name, content)
    write_atomically(folder / "report.md", markdown(report, list(pictures)).encode())


def _section_of(report: Report, folder: Path, readme: Path) -> str:
    """The README's section, with the pictures that lie beside the report."""
    place = Path(os.path.relpath(folder.resolve(), readme.resolve().parent))
    pictures = {name: (place / name).as_posix() for name in ("elo.png", "scores.png", "regret.png")}
    return readme_section(report, {name: where for name, where in pictures.items() if (folder / name).is_file()})


def update_readme(report: Report, folder: Path, readme: Path, *, check: bool) -> bool:
    """Renew the README's section, or with `check` only compare; returns whether it was right already.

    Raises:
        ReportError: if the README has no place for it.
    """
    old = readme.read_text(encoding="utf-8")
    new = insert_section(old, _section_of(report, folder, readme))
    if new != old and not check:
        write_atomically(readme, new.encode())
    return new == old


def main(arguments: list[str]) -> int:
    """Write what is asked for; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.reports.report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "report", nargs="?", type=Path, default=DEFAULT_REPORT, help="the report.json (default: %(default)s)"
    )
    parser.add_argument("--readme", type=Path, metavar="FILE", help="renew the table of this README, and nothing else")
    parser.add_argument("--check", action="store_true", help="with --readme: write nothing, fail if they disagree")
    options = parser.parse_args(arguments)
    if options.check and not options.readme:
        parser.error("--check needs --readme")
    try:
        report = read_report(options.report)
        if options.readme is None:
            render(report, options.report.parent)
            return 0
        right = update_readme(report, options.report.parent, options.readme, check=options.check)
    except (ReportError, OSError) as error:
        print(f"python -m agents.reports.report: {error}", file=sys.stderr)
        return 2
    if options.check and not right:
        print(
            f"{options.readme} does not show what {options.report} says; renew it with: "
            f"python -m agents.reports.report {options.report} --readme {options.readme}",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
