"""Play agents against each other.

    python evaluate.py ppo:runs/quick greedy random --pairs 200

Every pairing plays every opening twice, seats swapped; a score counts wins, and draws by half.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import agents
from agents.arena import PairResults, mean_interval, play_pairs, random_openings, score_interval
from agents.files import write_atomically
from oanquan_env import Core, Rules, RulesError


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="evaluate.py",
        description=__doc__,
        epilog=f"players:\n{agents.usage()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="players by name, two or more")
    parser.add_argument("--pairs", type=int, default=200, help="game pairs of each pairing (default: %(default)s)")
    parser.add_argument(
        "--opening-plies", type=int, default=4, help="random plies of an opening (default: %(default)s)"
    )
    parser.add_argument(
        "--rules", default="mancala-world", help="rules by name, with changed fields (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of openings and players (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results as JSON")
    options = parser.parse_args(arguments)
    if len(options.agents) < 2:
        parser.error(f"two agents or more are needed for a match; got only {options.agents[0]}")
    if options.pairs < 1 or options.opening_plies < 0:
        parser.error("--pairs must be 1 or more and --opening-plies 0 or more")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.parent}")
    return options


def summarize(name: str, opponent: str, results: PairResults) -> dict[str, Any]:
    """One pairing as JSON: score and margin of `name` with 95 % intervals, over pairs."""
    score, margin = score_interval(results), mean_interval(results.margin.mean(axis=1))
    wins, draws = int((results.score == 1).sum()), int((results.score == 0.5).sum())
    return {
        "agent": name,
        "opponent": opponent,
        "pairs": len(results.score),
        "wins": wins,
        "draws": draws,
        "losses": int(results.score.size) - wins - draws,
        "score": score._asdict(),
        "margin": margin._asdict(),
        "plies": float(results.plies.mean()),
    }


def table(rows: list[dict[str, Any]]) -> Table:
    """The results for people: scores in percent and margins in points, with 95 % intervals."""
    shown = Table()
    for heading in ("agent", "opponent"):
        shown.add_column(heading)
    for heading in ("wins", "draws", "losses", "score, %", "margin", "plies"):
        shown.add_column(heading, justify="right")
    for row in rows:
        score, margin = row["score"], row["margin"]
        shown.add_row(
            row["agent"],
            row["opponent"],
            *(str(row[kind]) for kind in ("wins", "draws", "losses")),
            f"{100 * score['mean']:.1f} ± {100 * (score['high'] - score['mean']):.1f}",
            f"{margin['mean']:+.1f} ± {margin['high'] - margin['mean']:.1f}",
            f"{row['plies']:.1f}",
        )
    return shown


def main(arguments: list[str]) -> int:
    """Evaluate; returns the exit status."""
    options = parse(arguments)
    console = Console(highlight=False)
    try:
        rules = Rules.parse(options.rules)
        if rules.players != 2:
            raise RulesError(f"evaluate.py plays pairs of two players; '{rules}' has {rules.players}")
        players = [agents.make(name, rules) for name in options.agents]
    except ValueError as error:
        print(f"evaluate.py: {error}", file=sys.stderr)
        return 2
    core = Core(rules)
    openings = random_openings(core, options.pairs, options.opening_plies, np.random.default_rng(options.seed))
    pairings = list(itertools.combinations(range(len(players)), 2))
    rows = []
    for number, (a, b) in enumerate(track(pairings, "playing", console=console, transient=True)):
        rng = np.random.default_rng([options.seed, number])
        played = play_pairs(core, players[a], players[b], openings, rng)
        rows.append(summarize(options.agents[a], options.agents[b], played))
    console.print(
        f"{rules}, {options.pairs} pairs, openings of {options.opening_plies} random plies, seed {options.seed}"
    )
    console.print(table(rows))
    if options.json is not None:
        settings = {"rules": str(rules), "opening_plies": options.opening_plies, "seed": options.seed}
        write_atomically(options.json, (json.dumps({"settings": settings, "results": rows}, indent=1) + "\n").encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
