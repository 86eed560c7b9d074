"""Count the move sequences from a position by depth. Engines with the same rules count the same."""

import argparse
import time

from oanquan_env.cli.options import add_position, board_of, whole
from oanquan_env.perft import divide, perft

HELP = "count move sequences, to check an engine"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_position(parser)
    parser.add_argument("--depth", type=whole(1), default=5, metavar="N", help="maximum depth in plies (default: 5)")
    parser.add_argument("--divide", action="store_true", help="count for each first move")


def run(options: argparse.Namespace) -> None:
    """Print the counts by depth, or by first move."""
    board, begin = board_of(options), time.perf_counter()
    if options.divide:
        by_move = divide(board, options.depth)
        for move, paths in by_move.items():
            print(f"{move} {paths:>14,}")
        print(f"all {sum(by_move.values()):>13,}")
    else:
        for depth in range(1, options.depth + 1):
            print(f"{depth:>2} {perft(board, depth):>14,}", flush=True)
    print(f"({options.rules}, {time.perf_counter() - begin:.2f} s)")
