"""Generate pages: parts of docs/ and of the README, reports, and the cards of the trained agents.

    python -m tools.write_docs            # write the pages from the committed results and the code
    python -m tools.write_docs --check    # write nothing; fail if a page is out of date

Each generated part is between the lines `<!-- NAME:begin -->` and `<!-- NAME:end -->`.
"""

import argparse
import functools
import itertools
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from agents.reports.cards import cards
from agents.reports.tournaments import read_report
from experiments import (
    any_rules,
    beams,
    coverage,
    exploit,
    generalisation,
    methods,
    players,
    rule_pairs,
    search,
    solve,
    speed,
    training,
    workers,
)
from experiments.common import RESULTS, Cells, program, published, table_of
from oanquan_env import Rules
from oanquan_env.benchmark.regret import Regret
from oanquan_env.benchmark.report import markdown, origin_phrase, summary, summary_cells
from oanquan_env.benchmark.results import Evaluation
from oanquan_env.benchmark.tables import interval, plus_minus
from oanquan_env.engine.rules import DEFAULT_PRESET, PRESETS
from oanquan_env.files import read_json
from oanquan_env.records.games import GameRecord
from tools import docs_alternatives, docs_croissant, docs_from_code, write_puzzles
from tools.write_pictures import RESPONSES, best_response

PROG = "python -m tools.write_docs"
ROOT = RESULTS.parent.parent
README_PLAYERS = ("minimax-20k-net", "minimax-20k", "ppo", "greedy")
README_COLUMNS = ("Elo", "regret, points (95 %)", "blunders, %", "ms a move")
"""Rows and columns of the README's table of strength."""
PROVED_PRESETS = ("ludii", "app")
"""Rules for the additional columns of regret in the README's table of strength."""
WORST_PRESETS = ("mancala-world", "ludii", "tonkin")
"""Presets that are the columns of the short table of worst cases."""


def puzzles() -> str:
    """Return the table of puzzles by preset and level: lengths of lines, and shares of trials that find them."""
    rows = []
    for name in write_puzzles.NAMES:
        for level, members in read_json(write_puzzles.FOLDER / f"puzzles-{name}.json").items():
            lengths = Counter((len(puzzle["line"]) + 1) // 2 for puzzle in members)
            solved = [100 * puzzle["found"] for puzzle in members]
            shares = f"{statistics.median(solved):.1f} ({min(solved):.1f} to {max(solved):.1f})"
            cells = {"rules": f"`{name}`", "level": level, "puzzles": str(len(members))}
            cells |= {"two moves": str(lengths[2]), "three moves": str(lengths[3])}
            cells |= {"solved, % of trials: median (range)": shares}
            rows.append({**cells, "no theme": str(sum(not puzzle["themes"] for puzzle in members))})
    return table_of(rows, left=2)


def presets() -> str:
    """Return the table of search with and without a value net, from the reports of all two-player presets."""
    rows = []
    for report, nodes in itertools.product(_reports_of_presets(), (2_000, 20_000)):
        plain, net = (f"minimax:nodes={nodes}{options}" for options in ("", ",net=pretrained"))
        regret = {name: plus_minus(row, ".2f") for name, row in _regret_rows(report).items()}
        if {plain, net} <= regret.keys():
            cells = {
                "rules": f"`{report.rules}`",
                "nodes": f"{nodes:,}",
                "regret, plain": regret[plain],
                "regret, with the net": regret[net],
                "score of the net against plain, %": _score(report, net, plain),
            }
            rows.append(cells)
    return table_of(rows, left=2)


def trained() -> str:
    """Return the table of trained agents, from the reports of all two-player presets."""
    searches = {
        "score against six plies, %": "minimax:depth=6",
        "against 2,000 nodes with the net, %": "minimax:nodes=2000,net=pretrained",
    }
    rows = []
    for report in _reports_of_presets():
        regret = _regret_rows(report).get("ppo:pretrained")
        if regret:
            cells = {
                "rules": f"`{report.rules}`",
                "regret": plus_minus(regret, ".2f"),
                "best moves, %": f"{100 * regret.optimal.mean:.1f}",
                "blunders, %": f"{100 * regret.blunders.mean:.1f}",
            }
            scores = {heading: _score(report, "ppo:pretrained", search) for heading, search in searches.items()}
            rows.append(cells | scores)
    return table_of(rows)


def _reports_of_presets() -> Iterator[Evaluation]:
    """Yield the reports of the two-player presets that have one."""
    for name in PRESETS:
        folder = RESULTS / name
        if Rules.parse(name).players == 2 and folder.is_dir():
            yield read_report(folder / "report.json")


def _regret_rows(report: Evaluation) -> dict[str, Regret]:
    """Return the players' regret by name."""
    return {player.name: player.regret for player in report.players if player.regret}


def _score(report: Evaluation, player: str, opponent: str) -> str:
    """Return the score of `player` against `opponent` in percent, as text that is empty if they did not meet."""
    labels = {player.name: player.label for player in report.players}
    score = report.score_of(labels[player], labels[opponent])
    return plus_minus(score, ".1f", 100) if score else ""


def responses() -> str:
    """Return an animation and the game record for each best response in `tools.write_pictures`."""
    parts = []
    for rules, seat in RESPONSES:
        board = best_response(rules, seat)
        picture = f"![The network as {seat.capitalize()} under {rules} loses](img/response-{rules}-{seat}.svg)"
        parts.append(f"{picture}\n\n```text\n{GameRecord.from_board(board)}```")
    return "\n\n".join(parts)


def worst() -> str:
    """Return the short table of points that players give up to the best responses, as South / as North."""
    rows = dict[str, Cells]()
    for south, north in exploit.by_seat(published("exploit")["results"]):
        if south["rules"] in WORST_PRESETS:
            row = rows.setdefault(south["player"], {"player": f"`{south['player']}`"})
            exact = " (exact)" * (south["exact"] and north["exact"])
            row[f"`{south['rules']}`"] = f"{south['given_up']} / {north['given_up']}{exact}"
    return table_of(rows.values())


def more_players(preset: str) -> str:
    """Return the table of wins, margins and regret for a preset for more than two players."""
    report = read_report(RESULTS / preset / "report.json")
    games = f"{report.pairings[0].pairs} openings in each pairing and seating; "
    headings = ("wins", "margin", "regret")
    return f"{summary(report, headings=headings)}\n\n{games}[report](../experiments/results/{preset}/report.md)."


def strength() -> str:
    """Return the table of players in the main report, with regret also under rules with nearly all values proved."""
    whole = read_report(RESULTS / DEFAULT_PRESET / "report.json")
    reports = [whole, *(read_report(RESULTS / preset / "report.json") for preset in PROVED_PRESETS)]
    heads, rows = summary_cells(whole, README_PLAYERS, README_COLUMNS)
    place = heads.index(README_COLUMNS[1])
    heads[place : place + 1] = [f"regret, {_proved(report)}" for report in reports]
    ranked = [player.name for player in whole.ranked() if player.label in README_PLAYERS]
    for row, player in zip(rows, ranked, strict=True):
        row[place : place + 1] = [interval(_regret_rows(report)[player], ".2f") for report in reports]
    report = f"[report](experiments/results/{DEFAULT_PRESET}/report.md)"
    note = f"Measured {origin_phrase(whole)}: {report}; the other rules have their own."
    return f"{table_of(dict(zip(heads, row, strict=True)) for row in rows)}\n\n{note}"


def _proved(report: Evaluation) -> str:
    assert report.suite
    return f"`{report.rules}` ({100 * report.suite.proved_moves / report.suite.moves:.4g} % of moves proved)"


def cuda_games() -> str:
    """Return the table of speeds on a CUDA device, in millions of steps per second, by the number of games."""
    results = published("cuda")
    checked = results["check"]
    return (
        f"Million steps a second on one {results['device']}, by the number of games "
        f"(`{program('cuda')} --speed`):\n\n{table_of(speed.by_size(results['speed'], '{:,.0f}'.format))}\n\n"
        f"We compared {checked['steps']:,} steps of all presets with the same steps on the CPU and found "
        f"{checked['differences']} differences (`--check 10_000_000`)."
    )


def cuda_ppo() -> str:
    """Return the text on PPO on a CUDA device: options, speed and regret."""
    results = published("cuda")
    parts, after = results["ppo"], results["ppo_after_two_minutes"]
    whole = parts["games_ms"] + parts["network_that_plays_ms"] + parts["learning_ms"]
    shares = [f"{100 * parts[name] / whole:.0f} %" for name in ("games_ms", "network_that_plays_ms", "learning_ms")]
    options = " ".join(parts["options"])
    return (
        f"```sh\npython -m examples.cleanrl_ppo {options} --minutes 2 --steps 5000000000\n```\n\n"
        f"One {results['device']} plays {parts['million_plies_per_second']:.1f} million plies a second and learns from "
        f"them (`{program('cuda')} --ppo`). The games take {shares[0]} of the time, the choice of moves by the network "
        f"{shares[1]}, and learning {shares[2]}. After two minutes and {after['plies'] / 1e6:,.0f} million plies, the "
        f"network's regret is {after['regret']:.2f} points (one run)."
    )


DOCS = ROOT / "docs"
PAGES: dict[Path, Mapping[str, Callable[[], str]]] = {
    **docs_from_code.PAGES,
    ROOT / "README.md": {"benchmark": strength, "speed": docs_alternatives.speed_section},
    DOCS / "alternatives.md": {"peers": docs_alternatives.peers_table},
    DOCS / "speed.md": {
        **speed.EXPERIMENT.parts(),
        "one-game": docs_alternatives.one_game,
        **search.EXPERIMENT.parts(),
        **solve.EXPERIMENT.parts(),
        **training.EXPERIMENT.parts(),
    },
    DOCS / "comparing-players.md": {
        "methods": methods.tables,
        "rows": players.rows,
        **coverage.EXPERIMENT.parts(),
    },
    DOCS / "more-players.md": {name: functools.partial(more_players, name) for name in ("three-player", "four-player")},
    DOCS / "generalisation.md": {"labels": generalisation.labels, **generalisation.EXPERIMENT.parts()},
    DOCS / "language-models.md": rule_pairs.EXPERIMENT.parts(),
    DOCS / "how-to" / "cluster.md": workers.EXPERIMENT.parts(),
    DOCS / "how-to" / "gpu.md": {"cuda": cuda_games, "cuda-ppo": cuda_ppo},
    DOCS / "strength.md": {
        "worst": worst,
        **beams.EXPERIMENT.parts(),
        **exploit.EXPERIMENT.parts(),
        **any_rules.EXPERIMENT.parts(),
        "responses": responses,
        "presets": presets,
        "trained": trained,
    },
    DOCS / "play.md": {**docs_from_code.PAGES[DOCS / "play.md"], "puzzles": puzzles},
}
"""Functions that generate the named parts of each page."""


def stale(*, check: bool) -> list[Path]:
    """Update the pages, or with `check` only compare them; return the pages that were out of date."""
    pages = cards()
    for path in RESULTS.glob("**/report.json"):
        pages[path.with_name("report.md")] = markdown(read_report(path), picture=True)
    pages[DOCS / "rule-sets.croissant.json"] = docs_croissant.card()
    for path, parts in PAGES.items():
        pages[path] = path.read_text(encoding="utf-8")
        for name, part in parts.items():
            pages[path] = docs_from_code.replace_between(pages[path], name, docs_from_code.wrapped(part()))
    return [path for path, text in pages.items() if not docs_from_code.renew(path, text, check=check)]


def main(arguments: list[str]) -> int:
    """Update the pages, or with `--check` return 1 if a page is out of date; otherwise return 0."""
    parser = argparse.ArgumentParser(prog=PROG, description=__doc__.partition("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    check = parser.parse_args(arguments).check
    outdated = stale(check=check)
    for path in outdated if check else ():
        print(f"{path} is out of date; renew it with: {PROG}", file=sys.stderr)
    return int(check and bool(outdated))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
