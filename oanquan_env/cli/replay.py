"""Draw each position of the games in a record file, or only check the games."""

import argparse
import dataclasses
import sys

from oanquan_env import render
from oanquan_env.cli.options import whole
from oanquan_env.engine.notation import seat_name
from oanquan_env.match.match import Round
from oanquan_env.records.games import GameRecord, parse_records, read_records
from oanquan_env.records.match_records import rounds_of_matches

HELP = "replay the games of a record file"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("record", metavar="RECORD", help="a file of game records; - reads standard input")
    parser.add_argument("--game", type=whole(1), metavar="N", help="replay only the Nth game of the file")
    parser.add_argument("--stories", action="store_true", help="describe every move step by step")
    parser.add_argument("--check", action="store_true", help="only check the games; print one line per game")


def run(options: argparse.Namespace) -> None:
    """Draw the games, or check them."""
    records = parse_records(sys.stdin.read()) if options.record == "-" else read_records(options.record)
    if options.game and options.game > len(records):
        raise ValueError(f"there is no game {options.game}: the file holds {len(records)}")
    rounds = rounds_of_matches(records)
    for number, record in enumerate(records, 1):
        if options.game in (None, number):
            if options.check:
                print(f"game {number}: {len(record.moves)} plies, {record.result} {record.termination}".rstrip())
            else:
                _replay(number, record, rounds.get(number), stories=options.stories)


def _replay(number: int, record: GameRecord, played: Round | None, *, stories: bool) -> None:
    print(f"Game {number}: {record.rules}")
    for name, value in record.headers.items():
        print(f"  {name}: {value}")
    owners = None if played is None else played.ownership.owners().tolist()
    board = record.start()
    print(f"\n{render.text(board, owners=owners)}")
    _comment(record, 0)
    for ply, move in enumerate(record.moves, 1):
        number = -(-ply // record.rules.players)  # as in records: each player moves once in a round
        print(f"\n{number}. {seat_name(record.rules, board.mover)} {move}\n")
        trace = board.sowing(move)
        board.push(move)
        if stories and played is not None and board.outcome is not None:  # the buyers get the leftovers on sold fields
            trace = dataclasses.replace(trace, standings=played.scores)
        if stories:
            print(trace, end="\n\n")
        print(render.text(board, last=board.last_mark, owners=owners))
        _comment(record, ply)
    print(f"\nResult: {record.result} {record.termination}".rstrip(), end="\n\n")


def _comment(record: GameRecord, ply: int) -> None:
    if ply in record.comments:
        print(f"\n  {record.comments[ply]}")
