"""Write the README's tables from the committed results: `python -m benchmarks.readme [--check]`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.report import RESULTS

README = RESULTS.parent.parent / "README.md"
CORE_BATCHES = ("1", "1024", "4096", "16384", "65536")


def table(headings: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; the first column to the left, numbers to the right."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def measured(name: str, results: dict[str, Any]) -> str:
    """Where the numbers come from."""
    machine = results["measured_on"]
    return f"`python -m benchmarks.{name}` at commit `{machine['commit']}`, {machine['processor']}, one core busy."


def core_section() -> str:
    """Moves a second of the core."""
    results = json.loads((RESULTS / "core.json").read_text())
    rows = [
        [rules, *(f"{speeds[batch] / 1e6:.2f}" for batch in CORE_BATCHES)]
        for rules, speeds in results["speeds"].items()
    ]
    headings = ["rules", *(f"{int(batch):,} game{'s' if int(batch) > 1 else ''}" for batch in CORE_BATCHES)]
    title = "Millions of moves a second of the core: random play, legality, refill, end test and resets included."
    return f"{title}\n{measured('core', results)}\n\n{table(headings, rows)}"


def aec_section() -> str:
    """Turns a second of the environment."""
    results = json.loads((RESULTS / "aec.json").read_text())
    rows = [[name, f"{speed:,.0f}"] for name, speed in results["speeds"].items()]
    title = "Turns a second through PettingZoo's AEC interface, beside PettingZoo's own games in the same run."
    return f"{title}\n{measured('aec', results)}\n\n{table(['environment', 'turns/s'], rows)}"


def vector_section() -> str:
    """Steps a second of the vector environment."""
    results = json.loads((RESULTS / "vector.json").read_text())
    rows = [[name, f"{speed:,.0f}"] for name, speed in results["speeds"].items()]
    title = (
        "Steps a second (a ply in one game: observation, mask, reward and reset included) of the native `VectorEnv`."
    )
    return f"{title}\n{measured('vector', results)}\n\n{table(['random play', 'steps/s'], rows)}"


def search_section() -> str:
    """Time and moves a second of alpha-beta."""
    results = json.loads((RESULTS / "search.json").read_text())
    rows = [
        [f"{kind}, depth {row['depth']}", f"{row['milliseconds']:,.2f}", f"{row['moves_per_second'] / 1e6:.1f}"]
        for kind in ("opening", "middle")
        for row in results[kind]
    ]
    title = "Alpha-beta from the opening, and on average over positions of the middle game."
    headings = ["search", "ms", "million moves/s"]
    return f"{title}\n{measured('search', results)}\n\n{table(headings, rows)}"


def solve_section() -> str:
    """What the solver proves."""
    results = json.loads((RESULTS / "solve.json").read_text())
    rows = []
    for rules, row in results["results"].items():
        value = f"{row['lower']:+d}" if row["solved"] else f"{row['lower']:+d} to {row['upper']:+d}"
        rows.append([rules, value, " ".join(row["line"][:6]), f"{row['nodes']:,}", f"{row['seconds']:.0f}"])
    title = "Value of the opening with best play, in points for South who moves first; proved, or the bounds reached."
    headings = ["rules", "value", "best line begins", "moves played", "seconds"]
    return f"{title}\n{measured('solve', results)}\n\n{table(headings, rows)}"


def training_section() -> str:
    """Plies a second of training."""
    results = json.loads((RESULTS / "training.json").read_text())
    rows = [
        [
            name,
            f"{row['collecting plies/s']:,.0f}",
            f"{row['plies/s']:,.0f}",
            *(f"{100 * row[part]:.0f} %" for part in ("stepping", "network while collecting", "learning")),
        ]
        for name, row in results["results"].items()
    ]
    headings = ["network", "collecting, plies/s", "in all, plies/s", "stepping", "network", "learning"]
    title = "Self-play training, and where its time goes; stepping includes features and masks."
    return f"{title}\n{measured('training', results).replace(', one core busy', '')}\n\n{table(headings, rows)}"


def speed_block() -> str:
    """All that was measured of speed."""
    sections = (core_section, aec_section, vector_section, search_section, solve_section, training_section)
    return "\n\n".join(section() for section in sections)


def peers_block() -> str:
    """The table against the alternatives."""
    headings = ["", "Ô Ăn Quan", "interface", "batched", "to play against", "million moves/s"]
    lines = [headings, ["---"] * len(headings), *peers.peers()]
    rows = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{rows}\n\n{peers.note()}"


def replaced(text: str, name: str, block: str) -> str:
    """The text with what stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->` replaced."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{README.name} must hold {begin} and, after it, {end}")
    return f"{before}{begin}\n{block}\n{end}{after}"


def main() -> int:
    """Replace the blocks, or with --check say whether they are current."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="change nothing; fail if the README is stale")
    options = arguments.parse_args()
    text = README.read_text(encoding="utf-8")
    current = replaced(replaced(text, "peers", peers_block()), "speed", speed_block())
    if options.check and current != text:
        print("README.md is stale: run python -m benchmarks.readme", file=sys.stderr)
        return 1
    if not options.check:
        Path(README).write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
