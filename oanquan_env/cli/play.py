"""Play against a program or another person, in the terminal or on a page in the browser."""

import argparse

import numpy as np

from oanquan_env.cli.options import add_position, board_of, whole
from oanquan_env.engine.notation import SEAT_NAMES
from oanquan_env.engine.rules import Rules
from oanquan_env.play.levels import LEVELS, PERSON, player_of
from oanquan_env.play.terminal import TerminalGame, language_of_system

FIRST_PRESET = "vietnamese"
"""The rules of a new player's first game, as on the page."""
HELP = "play against a program or another person"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_position(parser, FIRST_PRESET)
    parser.add_argument(
        "--opponent",
        metavar="NAME",
        help=f"{', '.join(LEVELS)} (default: beginner), or a player such as greedy, random, minimax:depth=8, "
        f"ppo:pretrained, or {PERSON} for another person at this keyboard",
    )
    parser.add_argument("--seat", help="your seat: South (the default, begins), North, …, or the seat's number")
    parser.add_argument("--browser", action="store_true", help="play on a page in the browser instead of the terminal")
    parser.add_argument(
        "--port", type=whole(0, 65535), metavar="N", help="port of the page (default: 8765, or a free one)"
    )
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="this machine's address, for phones")
    parser.add_argument(
        "--language", choices=("en", "vi"), default=language_of_system(), help="for the terminal (default: from LANG)"
    )
    parser.add_argument("--seed", type=whole(0), metavar="N", help="seed of all random choices (default: a new one)")


def run(options: argparse.Namespace) -> None:
    """Play in the terminal, or serve the page."""
    board = board_of(options)
    seats = [name.lower() for name in SEAT_NAMES[options.rules.players]]
    seats_by_word = {**{name: k for k, name in enumerate(seats)}, **{str(k + 1): k for k in range(len(seats))}}
    seat = seats_by_word.get((options.seat or seats[0]).lower())
    if seat is None:
        raise ValueError(f"no seat {options.seat!r}; seats are {', '.join(SEAT_NAMES[options.rules.players])}")
    opponent = options.opponent or next(iter(LEVELS))
    names = [opponent] * len(seats)
    names[seat] = PERSON
    rng = np.random.default_rng(options.seed)
    if not options.browser:
        TerminalGame(board, names, rng, options.language).run()
        return
    from oanquan_env.play.choosing import Chooser
    from oanquan_env.play.server import PlayServer  # http.server takes a tenth of a second to import

    additional = [] if opponent in (PERSON, *LEVELS) else [opponent]
    for name in additional:
        player_of(name, options.rules)  # an unknown player fails here, not on the page
    link: dict[str, str] = {}  # an empty link continues the page's previous game
    if options.opponent or options.seat or options.position or options.rules != Rules.parse(FIRST_PRESET):
        link = {"rules": str(options.rules)} | ({"from": board.text()} if options.position else {})
        link |= dict(zip(seats, names, strict=True))
    PlayServer(Chooser(additional, rng), options.host, options.port, link).run()
