"""Evaluate players: games against each other, and regret, the distance to perfect play.

    python evaluate.py ppo:runs/quick greedy random --pairs 200
    python evaluate.py greedy minimax:depth=6 quick=ppo:runs/quick --suite arena,regret --openings balanced --output out
    python evaluate.py --config configs/evaluate.yaml --output out
    python evaluate.py --rules three-player greedy maxn:depth=2 maxn:depth=3

The suite arena: every pairing plays every opening in every seating. A score is the share of wins; a draw counts as half
a win. With three or four players one player meets copies of another; equal players score a third or a quarter.

The suite tables, for three and four players: every multiset of the players in every order, with places and points.

The suite regret: the points that a player's moves lose against the best ones, over a fixed set of positions.

--output writes report.json, report.md and pictures to a folder; the same command resumes an interrupted evaluation.
LABEL=PLAYER sets a label. With --ray a Ray cluster plays the pairings; the results are the same, except those of
players with a time limit.

MODULE:NAME is your own player, as in my_package.players:Careful. THIS IMPORTS AND RUNS THAT MODULE.
"""

import dataclasses
import functools
import shlex
import sys
from dataclasses import dataclass

from agents.support.extras import needing_extras

with needing_extras("evaluate.py" if __name__ == "__main__" else None):
    import tyro
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.table import Table

    import agents
    from agents.config import (
        OptionalFile,
        OptionalFolder,
        RayAddress,
        parse_options,
        progress_bar,
        read_yaml,
        refused,
        validated,
    )
    from agents.evaluation.results import ArenaResult, RegretResult, Report
    from agents.evaluation.run import EvaluationRun, EvaluationSettings
    from agents.reports.report import tables_in_words, write_report
    from agents.support.folder_lock import lock_folder
    from oanquan_env.benchmark.evaluation import plus_minus
    from oanquan_env.errors import UsageError
    from oanquan_env.files import check_place, write_atomically
    from oanquan_env.records.games import format_records

PROG = "evaluate.py"
UNSET = EvaluationSettings([""])
"""Settings whose agents are still to be given."""
FILE_WIDTH = 160
"""Characters of a line of output that goes to a file."""
NUMBERS_WIDTH = 54
"""Characters of the columns of numbers in the widest table, and of the lines beside them."""


@dataclass(frozen=True)
class Options:
    """The command line."""

    settings: tyro.conf.OmitArgPrefixes[EvaluationSettings] = UNSET
    config: OptionalFile = None  # settings as YAML; the command line overrides them
    output: OptionalFolder = None  # folder for report, pictures and finished parts
    json: OptionalFile = None  # also write the report as JSON
    save_games: OptionalFile = None  # also write all games as records
    ray: RayAddress = None


def parse(arguments: list[str]) -> Options:
    """The options; settings of --config hold where the command line has none. Raises `UsageError`."""
    read = functools.partial(
        parse_options, Options, arguments, prog=PROG, description=__doc__, epilog=f"agents:\n{agents.usage()}"
    )
    options = read()
    if options.config:
        values = {"agents": UNSET.agents, **read_yaml(options.config)}
        options = read(default=Options(validated(EvaluationSettings, values, str(options.config))))
    settings = dataclasses.asdict(options.settings)
    if settings["agents"] == UNSET.agents:
        raise UsageError("which players? try: python evaluate.py greedy random (or --help)")
    return dataclasses.replace(options, settings=validated(EvaluationSettings, settings, "command line"))


def check_places(options: Options) -> None:
    """Check, before hours of play, that its results can be written. Raises `ValueError`."""
    for option, path in (("--json", options.json), ("--save-games", options.save_games)):
        if path is not None:
            check_place(option, path)
    if options.save_games and "arena" not in options.settings.suites:
        raise UsageError("--save-games: no games are played without --suite arena")
    if options.ray and "arena" not in options.settings.suites:
        raise UsageError("--ray: there is nothing to spread over a cluster without --suite arena")
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)


# ---- the results for people ------------------------------------------------------------------------------------------


def _table(left: list[str], right: list[str]) -> Table:
    shown = Table()
    for heading in left:
        shown.add_column(heading, overflow="fold")
    for heading in right:
        shown.add_column(heading, justify="right", no_wrap=True)
    return shown


def _narrow(name: str, console: Console) -> str:
    """A player's name, which goes on in another line after each comma where the columns of numbers leave no room."""
    return name if len(name) <= console.width - NUMBERS_WIDTH else name.replace(",", ",\n  ")


def show_arena(console: Console, settings: EvaluationSettings, arena: ArenaResult) -> None:
    """Scores in percent, margins in points, Elo; with 95 % intervals. The report has more."""
    openings = f"openings of {settings.opening_plies} random plies" if arena.openings == "random" else arena.openings
    games = "pairs" if arena.players == 2 else f"openings in {arena.players} seatings"
    console.print(f"{settings.rules}, {settings.pairs} {games}, {openings}, seed {settings.seed}")
    if arena.players > 2:
        console.print(
            f"score: wins of one agent among opponents of one kind; its even share is {arena.even_share:.1f} %"
        )
    shown = _table(["agent, and its opponent"], ["won/drawn/lost", "score, %", "margin, points"])
    for row in arena.pairings:
        counts = f"{row.wins}/{row.draws}/{row.losses}"
        shown.add_row(
            f"{_narrow(row.agent, console)}\n– {_narrow(row.opponent, console)}",
            counts,
            plus_minus(row.score, ".1f", 100),
            plus_minus(row.margin, "+.1f"),
        )
    console.print(shown)
    if arena.ratings and len(arena.ratings) > 2:
        console.print(f"Elo, {arena.anchor} = 0")
        shown = _table(["agent"], ["Elo", "95 % interval", "score, %"])
        for rating in arena.ratings:
            elo, score = rating.elo, f"{100 * rating.score:.1f}"
            found = f"{elo.mean:+.0f}", f"{elo.low:+.0f} to {elo.high:+.0f}"
            if rating.agent == arena.anchor:
                found = "0", ""
            shown.add_row(_narrow(rating.agent, console), *found, score)
        console.print(shown)


def show_regret(console: Console, regret: RegretResult) -> None:
    """Regret in points, shares in percent, with 95 % intervals."""
    proved = f"{100 * regret.proved_moves / regret.moves:.0f} % of their moves proved"
    console.print(f"{regret.suite}, {regret.part} part: {regret.positions} positions, {proved}")
    shown = _table(["agent"], ["regret, points", "best moves, %", "blunders, %"])
    for row in regret.agents:
        found = row.overall
        shares = plus_minus(found.optimal, ".1f", 100), plus_minus(found.blunders, ".1f", 100)
        shown.add_row(_narrow(row.agent, console), plus_minus(found.regret, ".2f"), *shares)
    console.print(shown)


def show(console: Console, settings: EvaluationSettings, report: Report) -> None:
    """All tables."""
    if report.arena:
        show_arena(console, settings, report.arena)
    if report.tables:
        console.print(Markdown("\n\n".join(tables_in_words(report.tables))))
    if report.regret:
        show_regret(console, report.regret)
    if any(agent.ms_per_move for agent in report.agents):
        shown = _table(["agent"], ["ms a move"])
        for agent in report.agents:
            shown.add_row(agent.label, f"{agent.ms_per_move or 0:.3g}")
        console.print(shown)


def write(options: Options, report: Report, run: EvaluationRun) -> None:
    """Write the files that the options name."""
    if options.json:
        write_atomically(options.json, report.to_json().encode())
    if options.save_games and run.tournament:
        games = [record for pairing in run.pairings for record in run.tournament.records(pairing)]
        write_atomically(options.save_games, format_records(games).encode())
    if options.output:
        write_report(report, options.output)


def main(arguments: list[str]) -> int:
    """Evaluate; returns the exit status."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    try:
        options = parse(arguments)
        check_places(options)
        lock = lock_folder(options.output) if options.output else None  # held to the end
        run = EvaluationRun(options.settings, options.output)
        with progress_bar(console=console, transient=True, disable=not console.is_terminal) as progress:
            report = run.run(shlex.join(["python", "evaluate.py", *arguments]), progress, options.ray)
        show(console, options.settings, report)
        write(options, report, run)
        if lock:
            lock.lock.release()
    except KeyboardInterrupt:
        then = f"; the same command continues in {options.output}" if options.output else ""
        print(f"evaluate.py: interrupted{then}", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        return refused("evaluate.py", error)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
