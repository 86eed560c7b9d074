"""Command lines from dataclasses: each field is an option, and the field's docstring is its help."""

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import tyro
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from agents.support.extras import INTERRUPTED, USAGE_ERROR
from agents.support.parallel import HELP

Options = TypeVar("Options")
OptionalFile: TypeAlias = Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")]
OptionalFolder: TypeAlias = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")]
Flag: TypeAlias = tyro.conf.FlagCreatePairsOff[bool]
"""An option that is given or not; it has no `--no-` form."""
RayAddress: TypeAlias = Annotated[str | None, tyro.conf.arg(metavar="ADDRESS", help=HELP, help_behavior_hint="")]


def parse_options(
    options: type[Options],
    arguments: Sequence[str],
    *,
    prog: str,
    description: str | None,
    epilog: str = "",
    default: Options | None = None,
) -> Options:
    """The options in `arguments`, the command line without the program's name, as a dataclass.

    `--help` says `description`, the options and `epilog`. Where the command line gives none, the options of `default`
    hold, or else the defaults of the fields. Raises `SystemExit` after `--help` (status 0), and for an option or a
    value that cannot be read (status 2).
    """
    start = tyro.MISSING_NONPROP if default is None else default
    config = (tyro.conf.DisallowNone,)
    try:
        return tyro.cli(options, args=arguments, prog=prog, description=description, default=start, config=config)
    except SystemExit as end:
        if not end.code and epilog:
            print(epilog)
        raise


def command(
    options: type[Options], prog: str, description: str | None, epilog: str = ""
) -> Callable[[Callable[[Options], int | None]], Callable[..., int]]:
    """Make a command's `main` from a function of its options; both return the exit status, None for 0.

    `main` takes the arguments of the command line, those of the program if left out.

    Ctrl-C ends it with status 130. An error of use or of the operating system is one line, with status 2.
    """

    def decorate(work: Callable[[Options], int | None]) -> Callable[..., int]:
        def main(arguments: Sequence[str] = sys.argv[1:]) -> int:
            given = parse_options(options, arguments, prog=prog, description=description, epilog=epilog)
            try:
                return work(given) or 0
            except KeyboardInterrupt:
                return INTERRUPTED
            except (ValueError, OSError) as error:
                return refused(prog, error)

        return main

    return decorate


def command_of(prog: str, recipe: Any) -> str:
    """The command that carries out a recipe, a dataclass of options; those that are None are left out."""

    def shown(name: str, value: Any) -> str:
        return f"'{value}'" if name == "rules" else " ".join(map(str, value if isinstance(value, tuple) else [value]))

    given = {name: value for name, value in dataclasses.asdict(recipe).items() if value is not None}
    return " ".join([prog, *(f"--{name.replace('_', '-')} {shown(name, value)}" for name, value in given.items())])


def progress_bar(**settings: Any) -> Progress:
    """A bar for each task: what it is, how much is done, the time that it took and will take."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, TextColumn("ETA"), TimeRemainingColumn(), **settings)


def refused(prog: str, error: Exception) -> int:
    """Say on the error stream why a command does not do what it was asked; returns its exit status.

    An error of the operating system is said without its number, the file first.
    """
    said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else error
    print(f"{prog}: {said}", file=sys.stderr)
    return USAGE_ERROR
