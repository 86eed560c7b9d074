"""Generate pages: parts of docs/ and of the README, reports, and the cards of the trained agents.

    python -m tools.readme            # write the pages from the committed results and the code
    python -m tools.readme --check    # write nothing; fail if a page is out of date

Each generated part is between the lines `<!-- NAME:begin -->` and `<!-- NAME:end -->`.
"""

import argparse
import functools
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.evaluation.evaluation import read_evaluation
from agents.reports.cards import cards
from agents.support.markdown import renew, replace_between
from benchmarks import any_rules, beams, methods, players, search, solve, training, workers
from benchmarks import exploit as exploits
from benchmarks.report import RESULTS, by_size
from oanquan_env import Rules
from oanquan_env.benchmark.regret import Regret
from oanquan_env.benchmark.report import Evaluation, interval, markdown, plus_minus, summary, summary_cells, table
from oanquan_env.engine.rules import DEFAULT_PRESET, PRESETS
from oanquan_env.files import read_json
from oanquan_env.records.games import GameRecord
from tools import generated, peers
from tools import puzzles as puzzle_making
from tools.pictures import RESPONSES, best_response

PROG = "python -m tools.readme"
ROOT = RESULTS.parent.parent
README_PLAYERS = ("minimax-20k-net", "minimax-20k", "ppo", "greedy")
README_COLUMNS = ("Elo", "regret, points (95 %)", "blunders, %", "ms a move")
"""Rows and columns of the README's table of strength."""
PROVED_PRESETS = ("ludii", "app")
"""Rules for the additional columns of regret in the README's table of strength."""
WORST_PRESETS = ("mancala-world", "ludii", "tonkin")
"""Presets that are the columns of the short table of worst cases."""


def measured(name: str, heads: Sequence[str], rows: Callable[[dict[str, Any]], list[list[str]]], left: int = 1) -> str:
    """Return a table of the benchmark `name`, whose first `left` columns are left-aligned, and a line on its origin."""
    results = read_json(RESULTS / f"{name}.json")
    machine = results["measured_on"]
    origin = f"Measured by `python -m benchmarks.{name}` at commit `{machine['commit']}` ({machine['processor']})."
    return f"{table(heads, rows(results), left=left)}\n\n{origin}"


def core() -> str:
    """Return the table of moves per second of the core."""
    return _by_size("core")


def vector() -> str:
    """Return the table of steps per second of the vector environment."""
    return _by_size("vector")


def _by_size(table: str) -> str:
    heads, rows = by_size(read_json(RESULTS / "speed.json")[table])
    return measured("speed", heads, lambda _: rows)


def puzzles() -> str:
    """Return the table of puzzles by preset and level: lengths of lines, and shares of trials that find them."""
    heads = ["rules", "level", "puzzles", "two moves", "three moves", "solved, % of trials: median (range)", "no theme"]
    rows = []
    for name in puzzle_making.NAMES:
        for level, members in read_json(puzzle_making.FOLDER / f"puzzles-{name}.json").items():
            lengths = Counter((len(puzzle["line"]) + 1) // 2 for puzzle in members)
            percentages = [100 * puzzle["found"] for puzzle in members]
            shares = f"{statistics.median(percentages):.1f} ({min(percentages):.1f} to {max(percentages):.1f})"
            counts = len(members), lengths[2], lengths[3]
            plain = sum(not puzzle["themes"] for puzzle in members)
            rows.append([f"`{name}`", level, *map(str, counts), shares, str(plain)])
    return table(heads, rows, left=2)


def presets() -> str:
    """Return the table of search with and without a value net, from the reports of all two-player presets."""
    heads = ["rules", "nodes", "regret, plain", "regret, with the net", "score of the net against plain, %"]
    rows = (_by_net(report, nodes) for report in _reports_of_presets() for nodes in (2_000, 20_000))
    return table(heads, [row for row in rows if row], left=2)


def _by_net(report: Evaluation, nodes: int) -> list[str] | None:
    """Return the row of searches with this number of nodes, or None if the report lacks them."""
    plain, net = (f"minimax:nodes={nodes}{options}" for options in ("", ",net=pretrained"))
    regret = {name: plus_minus(row, ".2f") for name, row in _regret_rows(report).items()}
    if not {plain, net} <= regret.keys():
        return None
    return [f"`{report.rules}`", f"{nodes:,}", regret[plain], regret[net], _score(report, net, plain)]


def trained() -> str:
    """Return the table of trained agents, from the reports of all two-player presets."""
    searches = "minimax:depth=6", "minimax:nodes=2000,net=pretrained"
    heads = [
        "rules",
        "regret",
        "best moves, %",
        "blunders, %",
        "score against six plies, %",
        "against 2,000 nodes with the net, %",
    ]
    rows = []
    for report in _reports_of_presets():
        regret = _regret_rows(report).get("ppo:pretrained")
        if regret:
            shares = [f"{100 * share.mean:.1f}" for share in (regret.optimal, regret.blunders)]
            scores = [_score(report, "ppo:pretrained", search) for search in searches]
            rows.append([f"`{report.rules}`", plus_minus(regret, ".2f"), *shares, *scores])
    return table(heads, rows, left=1)


def _reports_of_presets() -> Iterator[Evaluation]:
    """Yield the reports of the two-player presets that have one."""
    for name in PRESETS:
        folder = RESULTS if name == DEFAULT_PRESET else RESULTS / name
        if Rules.parse(name).players == 2 and folder.is_dir():
            yield read_evaluation(folder / "report.json")


def _regret_rows(report: Evaluation) -> dict[str, Regret]:
    """Return the players' regret by name."""
    return {one.name: one.regret for one in report.players if one.regret}


def _score(report: Evaluation, player: str, opponent: str) -> str:
    """Return the score of `player` against `opponent` in percent, as text that is empty if they did not meet."""
    labels = {one.name: one.label for one in report.players}
    score = report.score_of(labels[player], labels[opponent])
    return plus_minus(score, ".1f", 100) if score else ""


def exploit() -> str:
    """Return the table of points that players give up to the best responses found."""
    return measured("exploit", exploits.HEADINGS, lambda results: exploits.rows(results["results"]), left=2)


def responses() -> str:
    """Return an animation and the game record for each best response in `tools.pictures`."""
    parts = []
    for rules, seat in RESPONSES:
        board = best_response(rules, seat)
        picture = f"![The network as {seat.capitalize()} under {rules} loses](img/response-{rules}-{seat}.svg)"
        parts.append(f"{picture}\n\n```text\n{GameRecord.from_board(board)}```")
    return "\n\n".join(parts)


def worst() -> str:
    """Return the short table of points that players give up to the best responses, as South / as North."""
    cells = dict[str, dict[str, str]]()
    for south, north in exploits.by_seat(read_json(RESULTS / "exploit.json")["results"]):
        exact = " (exact)" * (south["exact"] and north["exact"])
        cells.setdefault(south["player"], {})[south["rules"]] = f"{south['given_up']} / {north['given_up']}{exact}"
    rows = [[f"`{player}`", *(points.get(rules, "") for rules in WORST_PRESETS)] for player, points in cells.items()]
    return table(["player", *(f"`{name}`" for name in WORST_PRESETS)], rows, left=1)


def more_players(preset: str) -> str:
    """Return the table of wins, margins and regret for a preset for more than two players."""
    report = read_evaluation(RESULTS / preset / "report.json")
    games = f"{report.pairings[0].pairs} openings in each pairing and seating; "
    headings = ("wins", "margin", "regret")
    return f"{summary(report, headings=headings)}\n\n{games}[report](../benchmarks/results/{preset}/report.md)."


def strength() -> str:
    """Return the table of players in the main report, with regret also under rules with nearly all values proved."""
    whole = read_evaluation(RESULTS / "report.json")
    heads, rows = summary_cells(whole, README_PLAYERS, README_COLUMNS)
    place, ranked = heads.index(README_COLUMNS[1]), [one for one in whole.ranked() if one.label in README_PLAYERS]
    heads[place] = f"regret, {_proved(whole)}"
    for preset in PROVED_PRESETS:
        place, report = place + 1, read_evaluation(RESULTS / preset / "report.json")
        regrets = _regret_rows(report)
        heads.insert(place, f"regret, {_proved(report)}")
        for row, one in zip(rows, ranked, strict=True):
            row.insert(place, interval(regrets[one.name], ".2f"))
    note = (
        f"`{whole.command}` writes the [report](benchmarks/results/report.md); the other rules have their own reports."
    )
    return f"{table(heads, rows)}\n\n{note}"


def _proved(report: Evaluation) -> str:
    assert report.suite
    return f"`{report.rules}` ({100 * report.suite.proved_moves / report.suite.moves:.4g} % of moves proved)"


def cuda_games() -> str:
    """Return the table of speeds on a CUDA device, in millions of steps per second, by the number of games."""
    results = read_json(RESULTS / "cuda.json")
    speeds = results["speed"]
    sizes = [f"{int(size):,}" for size in next(iter(speeds.values()))]
    rows = [[name, *(f"{speed:,.0f}" for speed in row.values())] for name, row in speeds.items()]
    checked = results["check"]
    return (
        f"Million steps a second on one {results['device']}, by the number of games "
        f"(`python -m benchmarks.cuda --speed`):\n\n{table(['games', *sizes], rows, left=1)}\n\n"
        f"We compared {checked['steps']:,} steps of all presets with the same steps on the CPU and found "
        f"{checked['differences']} differences (`--check 10_000_000`)."
    )


def cuda_ppo() -> str:
    """Return the text on PPO on a CUDA device: options, speed and regret."""
    results = read_json(RESULTS / "cuda.json")
    parts, after = results["ppo"], results["ppo_after_two_minutes"]
    whole = parts["games_ms"] + parts["network_that_plays_ms"] + parts["learning_ms"]
    shares = [f"{100 * parts[name] / whole:.0f} %" for name in ("games_ms", "network_that_plays_ms", "learning_ms")]
    options = " ".join(parts["options"])
    return (
        f"```sh\npython -m examples.cleanrl_ppo {options} --minutes 2 --steps 5000000000\n```\n\n"
        f"One {results['device']} plays {parts['million_plies_per_second']:.1f} million plies a second and learns from "
        f"them (`python -m benchmarks.cuda --ppo`). The games take {shares[0]} of the time, the choice of moves by "
        f"the network {shares[1]}, and learning {shares[2]}. After two minutes and {after['plies'] / 1e6:,.0f} million "
        f"plies, the network's regret is "
        f"{after['regret']:.2f} points (one run)."
    )


PAGES: dict[Path, Mapping[str, Callable[[], str]]] = {
    ROOT / "README.md": {
        "benchmark": strength,
        "speed": peers.speed_section,
    },
    ROOT / "docs" / "alternatives.md": {"peers": peers.peers_table},
    ROOT / "docs" / "benchmarks.md": {
        "core": core,
        "vector": vector,
        "one-game": peers.one_game,
        **{
            name: functools.partial(measured, name, benchmark.HEADS, benchmark.table_rows)
            for name, benchmark in {"search": search, "solve": solve, "training": training}.items()
        },
    },
    ROOT / "docs" / "benchmark.md": {"methods": methods.tables, "rows": players.rows},
    ROOT / "docs" / "more-players.md": {
        preset: functools.partial(more_players, preset) for preset in ("three-player", "four-player")
    },
    ROOT / "docs" / "how-to" / "cluster.md": {
        "workers": functools.partial(
            measured, "workers", workers.HEADINGS, lambda results: workers.rows(results["results"])
        ),
    },
    ROOT / "docs" / "how-to" / "gpu.md": {"cuda": cuda_games, "cuda-ppo": cuda_ppo},
    ROOT / "docs" / "strength.md": {
        "worst": worst,
        "beams": functools.partial(measured, "beams", beams.HEADINGS, lambda results: beams.rows(results["results"])),
        "exploit": exploit,
        "any-rules": functools.partial(
            measured, "any_rules", any_rules.HEADINGS, lambda results: any_rules.rows(results["results"])
        ),
        "responses": responses,
        "presets": presets,
        "trained": trained,
    },
    **generated.PAGES,
    ROOT / "docs" / "play.md": {
        **generated.PAGES[ROOT / "docs" / "play.md"],
        "puzzles": puzzles,
    },
}
"""Functions that generate the named parts of each page."""


def stale(*, check: bool) -> list[Path]:
    """Update the pages, or with `check` only compare them; return the pages that were out of date."""
    pages = cards()
    for path in RESULTS.glob("**/report.json"):
        pages[path.with_name("report.md")] = markdown(read_evaluation(path), picture=True)
    for path, parts in PAGES.items():
        pages[path] = path.read_text(encoding="utf-8")
        for name, part in parts.items():
            pages[path] = replace_between(pages[path], name, part())
    return [path for path, text in pages.items() if not renew(path, text, check=check)]


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
