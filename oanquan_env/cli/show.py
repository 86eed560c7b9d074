"""Draw a position in the terminal, and list its moves."""

import argparse
from pathlib import Path

from oanquan_env import render
from oanquan_env.cli.options import add_position, board_of
from oanquan_env.files import check_place, write_atomically
from oanquan_env.play.terminal import advise

HELP = "draw a position and list its moves"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_position(parser)
    parser.add_argument("--values", action="store_true", help="also print each move's value, searched for a second")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also draw the position as an SVG file")


def run(options: argparse.Namespace) -> None:
    """Print the board and its moves, and write the picture of --svg, if one is given."""
    board = board_of(options)
    if options.svg:
        check_place("--svg", options.svg)
    print(board)
    print(f"\nposition  {board.text()}\nrules     {options.rules}")
    if board.legal_moves:
        print(f"moves     {' '.join(map(str, board.legal_moves))}")
        if options.values:
            print(f"\n{advise(board)[1]}")
    if options.svg:
        write_atomically(options.svg, render.svg(board, last=board.last_mark).encode())
