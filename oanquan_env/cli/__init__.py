"""The command line. Each command is a module of its name: `HELP`, `add_options` and `run`; its docstring is the help.

In the order of the help: `play`, `evaluate`, `exploit`, `solve`, `verify`, `perft`, `show`, `replay`, `rules`. Beside
them stands `options`: options that several commands share.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from oanquan_env import __version__
from oanquan_env.cli import evaluate, exploit, perft, play, replay, rules, show, solve, verify
from oanquan_env.errors import INTERRUPTED, USAGE_ERROR


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in `arguments` (default: `sys.argv[1:]`). Return its exit status, 2 after a printed error."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the calling program closed it
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):  # print ? for characters that a terminal lacks, such as ◉
            stream.reconfigure(errors="replace")
    options = _parser().parse_args(arguments)
    try:
        status: int | None = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print()
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE_ERROR
    return status or 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oanquan" if Path(sys.argv[0]).stem == "oanquan" else "python -m oanquan_env",
        description="Ô Ăn Quan, the Vietnamese mancala, in the terminal and in the browser.",
    )
    parser.add_argument("--version", action="version", version=f"oanquan {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (play, evaluate, exploit, solve, verify, perft, show, replay, rules):
        name = command.__name__.rpartition(".")[2]
        command_parser = commands.add_parser(name, help=command.HELP, description=command.__doc__)
        command_parser.set_defaults(run=command.run)
        command.add_options(command_parser)
    return parser
