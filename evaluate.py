"""Evaluate players: games against each other, and regret, the distance to perfect play.

    python evaluate.py ppo:runs/quick greedy random --pairs 200
    python evaluate.py greedy mine=ppo:runs/quick --suite arena,regret
    python evaluate.py --config configs/evaluate.yaml --output out
    python evaluate.py --rules three-player greedy maxn:depth=2 maxn:depth=3

--suite names what to measure:

    arena       games: every pairing plays every opening in every seating. A
                score is the share of wins; a draw counts as half a win. With
                three or four players one player meets copies of another, and
                its fair share is a third or a quarter.
    regret      the points that a player's moves lose compared with the best
                moves, in a suite, a fixed set of positions
    exploit     the points that a player gives up to the best response found in
                --minutes, in each seat
    pairs       the shares of moves that are best under the given rules, and
                under the others, in rule pairs: positions whose best moves
                differ between two rule sets, whatever --rules says
    rule-sets   regret under 96 rule sets that no training may use, whatever
                --rules says, in percent of the regret of random moves

--output writes report.json, report.md and scores.png to a folder; the same command resumes an interrupted evaluation.
LABEL=PLAYER sets a label. With --ray a Ray cluster plays the pairings; the results are the same, except for players
with a time limit.

MODULE:NAME names a player of your own, such as my_package.players:Careful. THIS IMPORTS AND RUNS THAT MODULE.
Its code may read files that we do not know, so the same command measures such a player again, unless --reuse is given.
"""

import contextlib
import dataclasses
import re
import shlex
import sys
from dataclasses import dataclass
from typing import Any

from oanquan_env.errors import INTERRUPTED, UsageError, needing_extra

with needing_extra("train", "evaluate.py" if __name__ == "__main__" else None):
    import tyro
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Markdown, TableElement
    from rich.table import Table

    from agents import config
    from agents.config import OptionalFile, OptionalFolder, RayAddress, parse_options, read_yaml, validated
    from agents.evaluation.evaluation_run import EvaluationRun, EvaluationRunSettings
    from agents.folders import lock_folder
    from agents.reports.tournaments import write_report
    from oanquan_env.benchmark.report import markdown
    from oanquan_env.files import check_place, write_atomically
    from oanquan_env.players import usage
    from oanquan_env.records.games import format_records


UNSET = EvaluationRunSettings([""])  # placeholder for settings without players
REUSE = "add --reuse to keep what was measured with the same code"
FILE_WIDTH = 160  # width of a line in characters if the output is not a terminal


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    settings: tyro.conf.OmitArgPrefixes[EvaluationRunSettings] = UNSET
    config: OptionalFile = None  # settings as YAML; the command line overrides them
    output: OptionalFolder = None  # folder for report, picture and finished parts
    json: OptionalFile = None  # also write the report as JSON
    save_games: OptionalFile = None  # also write all games as records
    reuse: bool = False  # also reuse finished parts of players of your own, if their code is the same
    ray: RayAddress = None


def parse(arguments: list[str]) -> Options:
    """Parse the options, which override the settings of --config. Raises `UsageError` if they are invalid."""
    words: Any = {"prog": "evaluate.py", "description": f"{__doc__}\nplayers:\n{usage()}"}
    options: Options = parse_options(Options, arguments, **words)
    if options.config:
        values = {"players": UNSET.players, **read_yaml(options.config)}
        default = Options(validated(EvaluationRunSettings, values, str(options.config)))
        options = parse_options(Options, arguments, default=default, **words)
    settings = dataclasses.asdict(options.settings)
    if settings["players"] == UNSET.players:
        raise UsageError("no players given; try: python evaluate.py greedy random (or --help)")
    return dataclasses.replace(options, settings=validated(EvaluationRunSettings, settings, "command line"))


def check_places(options: Options) -> None:
    """Raise `ValueError` if an output file cannot be written, or an option needs games but the arena is not played."""
    for option, path in (("--json", options.json), ("--save-games", options.save_games)):
        if path is not None:
            check_place(option, path)
    if (options.save_games or options.ray) and "arena" not in options.settings.suites:
        raise UsageError("--save-games and --ray need --suite arena, which plays games")


def run_evaluation(run: EvaluationRun, options: Options, command: str, console: Console) -> None:
    """Run the evaluation, print its report (with `command` as its origin), and write the files that options name."""
    if run.finished.again and run.finished.folder and run.finished.folder.exists():
        console.print(f"measuring again: {', '.join(run.finished.again)}; {REUSE}", markup=False)
    with config.progress_bar(console=console, transient=True, disable=not console.is_terminal) as progress:
        report = run.run(command, progress, options.ray)
    console.print(Page(narrow(markdown(report))))
    if options.json:
        write_atomically(options.json, report.to_json().encode())
    if options.save_games:
        games = [record for pairing in run.pairings for record in run.tournament.records(pairing)]
        write_atomically(options.save_games, format_records(games).encode())
    if options.output:
        write_report(report, options.output)


class FoldedTable(TableElement):
    """A table that wraps long words, which Rich would truncate; on narrow screens, names leave room for intervals."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                slim = options.max_width < 100
                if slim:
                    table.padding = 0
                for column in table.columns:
                    column.overflow = "fold"
                    if slim:
                        intervals = re.findall(r"\S+\.\.\S+", " ".join(map(str, column.cells)))
                        column.max_width = max(map(len, intervals), default=11)
            yield table


class Page(Markdown):
    """Markdown whose tables wrap long words."""

    elements = {**Markdown.elements, "table_open": FoldedTable}  # noqa: RUF012


def narrow(text: str) -> str:
    """Return Markdown whose tables break lines between a value and its interval, but not within them.

    Rich also breaks lines at no-break spaces, so intervals lose their spaces.
    """
    interval = re.compile(r"\([^()|]* to [^()|]*\)")

    def shortened(row: re.Match[str]) -> str:
        cells = row[0].replace("won/drawn/lost", "won/ drawn/ lost").replace("(95 %)", "(95%)")
        return interval.sub(lambda found: found[0].replace(" to ", ".."), cells)

    return re.sub(r"(?m)^\|.*\|$", shortened, text)


def main(arguments: list[str]) -> int:
    """Evaluate, and return the exit status."""
    console, options, run = Console(highlight=False), None, None
    if not console.is_terminal:
        console.width = FILE_WIDTH
    try:
        options = parse(arguments)
        check_places(options)
        with lock_folder(options.output) if options.output else contextlib.nullcontext():
            run = EvaluationRun(options.settings, options.output, reuse=options.reuse)
            run_evaluation(run, options, shlex.join(["python", "evaluate.py", *arguments]), console)
    except KeyboardInterrupt:
        then = f"; the same command continues in {options.output}" if options and options.output else ""
        if then and run and run.finished.again:
            then += f", and measures again: {', '.join(run.finished.again)}; {REUSE}"
        print(f"evaluate.py: interrupted{then}", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        return config.refused("evaluate.py", error)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
