"""The command line, with the commands play, evaluate, exploit, solve, verify, perft, show, replay and rules.

This module has the parser and all short commands. Beside it stand `solve` and `exploit`, the two commands that search,
and `numbers`, which reads numbers.
"""

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from oanquan_env import __version__, render
from oanquan_env.benchmark.evaluation import evaluate, reference_players
from oanquan_env.benchmark.pairs import MOST_PAIRS
from oanquan_env.benchmark.regret import Part
from oanquan_env.board import Board
from oanquan_env.cli import exploit as exploiting
from oanquan_env.cli import solve as solving
from oanquan_env.cli.numbers import whole
from oanquan_env.engine.notation import SEAT_NAMES, seat_name
from oanquan_env.engine.rules import DEFAULT_PRESET, PRESETS, Rules, RulesError
from oanquan_env.errors import INTERRUPTED, USAGE_ERROR
from oanquan_env.files import check_place, write_atomically
from oanquan_env.match.match import Round
from oanquan_env.perft import divide, perft
from oanquan_env.play.levels import LEVELS, PERSON, player_of
from oanquan_env.play.terminal import TerminalGame, advise, language_of_system
from oanquan_env.progress import ProgressLine
from oanquan_env.proofs.certificate_checking import verify
from oanquan_env.proofs.certificates import read_certificate
from oanquan_env.records.games import GameRecord, parse_records, read_records
from oanquan_env.records.match_records import rounds_of_matches
from oanquan_env.text import rules_in_words


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


def _rules(text: str) -> Rules:
    try:
        return Rules.parse(text)
    except RulesError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


FIRST_PRESET = "vietnamese"
"""The rules of a new player's first game, as on the page."""
_COUNT, _PAIRS, _SEED, _PORT = whole(1), whole(1, MOST_PAIRS), whole(0), whole(0, 65535)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oanquan" if Path(sys.argv[0]).stem == "oanquan" else "python -m oanquan_env",
        description="Ô Ăn Quan, the Vietnamese mancala, in the terminal and in the browser.",
    )
    parser.add_argument("--version", action="version", version=f"oanquan {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    ruled, placed = _ruled(DEFAULT_PRESET), _placed(DEFAULT_PRESET)

    play = commands.add_parser(
        "play",
        parents=[_placed(FIRST_PRESET)],
        help="play against a program or another person",
        description="Play against a program or another person, in the terminal or on a page in the browser.",
    )
    play.set_defaults(run=_play)
    play.add_argument(
        "--opponent",
        metavar="NAME",
        help=f"{', '.join(LEVELS)} (default: beginner), or a player such as greedy, random, minimax:depth=8, "
        f"ppo:pretrained, or {PERSON} for another person at this keyboard",
    )
    play.add_argument("--seat", help="your seat: South (the default, begins), North, …, or the seat's number")
    play.add_argument("--browser", action="store_true", help="play on a page in the browser instead of the terminal")
    play.add_argument("--port", type=_PORT, metavar="N", help="port of the page (default: 8765, or a free one)")
    play.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="this machine's address, for phones")
    play.add_argument(
        "--language", choices=("en", "vi"), default=language_of_system(), help="for the terminal (default: from LANG)"
    )
    play.add_argument("--seed", type=_SEED, metavar="N", help="seed of all random choices (default: a new one)")

    judge = commands.add_parser(
        "evaluate",
        parents=[ruled],
        help="evaluate a player by games and by regret",
        description="Measure a player by games, and by regret: the points that its moves lose compared with the best "
        "ones. Each opening is played in every seating. A player is a name, such as greedy or maxn:depth=3, or "
        "MODULE:NAME for a player of your own, such as my_package.players:Careful. THIS IMPORTS AND RUNS THAT MODULE.",
    )
    judge.set_defaults(run=_evaluate)
    judge.add_argument("player", metavar="PLAYER", help="the player to evaluate")
    judge.add_argument("opponents", nargs="*", metavar="OPPONENT", help="its opponents (default: reference players)")
    judge.add_argument("--pairs", type=_PAIRS, default=100, metavar="N", help="openings per opponent (default: 100)")
    judge.add_argument("--openings", metavar="SOURCE", help="balanced, fair, random or a file of game records")
    judge.add_argument("--regret-suite", metavar="FILE", help="a regret suite (default: the package's)")
    judge.add_argument(
        "--part", choices=get_args(Part), default="test", help="part of the regret suite (default: test)"
    )
    judge.add_argument("--seed", type=_SEED, default=0, metavar="N", help="seed of all randomness (default: 0)")
    judge.add_argument("--json", type=Path, metavar="FILE", help="also write all numbers, as JSON")

    beat = commands.add_parser(
        "exploit", parents=[ruled], help="find how to beat a player", description=exploiting.__doc__
    )
    beat.set_defaults(run=exploiting.run)
    exploiting.add_options(beat)

    prove = commands.add_parser(
        "solve", parents=[placed], help="prove the value of a position", description=solving.__doc__
    )
    prove.set_defaults(run=lambda options: solving.solve(_board(options), options))
    solving.add_options(prove)

    check = commands.add_parser(
        "verify",
        help="check a certificate, a proof of a position's value",
        description="Play the strategies of a certificate against every reply. This proves the position's value.",
    )
    check.set_defaults(run=_verify)
    check.add_argument("file", type=Path, metavar="FILE", help="the certificate")

    count = commands.add_parser(
        "perft",
        parents=[placed],
        help="count move sequences, to check an engine",
        description="Count the move sequences from a position by depth. Engines with the same rules count the same.",
    )
    count.set_defaults(run=_perft)
    count.add_argument("--depth", type=_COUNT, default=5, metavar="N", help="maximum depth in plies (default: 5)")
    count.add_argument("--divide", action="store_true", help="count for each first move")

    show = commands.add_parser(
        "show",
        parents=[placed],
        help="draw a position and list its moves",
        description="Draw a position in the terminal, and list its moves.",
    )
    show.set_defaults(run=_show)
    show.add_argument("--values", action="store_true", help="also print each move's value, searched for a second")
    show.add_argument("--svg", type=Path, metavar="FILE", help="also draw the position as an SVG file")

    replay = commands.add_parser(
        "replay",
        help="replay the games of a record file",
        description="Draw each position of the games in a record file, or only check the games.",
    )
    replay.set_defaults(run=_replay)
    replay.add_argument("record", metavar="RECORD", help="a file of game records; - reads standard input")
    replay.add_argument("--game", type=_COUNT, metavar="N", help="replay only the Nth game of the file")
    replay.add_argument("--stories", action="store_true", help="describe every move step by step")
    replay.add_argument("--check", action="store_true", help="only check the games; print one line per game")

    rules = commands.add_parser(
        "rules",
        help="list the presets, or all fields of one set of rules, or say them in words",
        description="List the presets with their sources. With TEXT, list all fields of these rules.",
    )
    rules.set_defaults(run=_list_rules)
    rules.add_argument("text", nargs="*", metavar="TEXT", help='rules whose fields to list, such as "tonkin seeds=4"')
    rules.add_argument("--in-words", action="store_true", help=f"print the rules in words (default: {DEFAULT_PRESET})")
    rules.add_argument("--language", choices=("en", "vi"), default="en", help="for --in-words (default: en)")
    return parser


def _ruled(default: str) -> argparse.ArgumentParser:
    """Return a parser with the option --rules."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--rules",
        type=_rules,
        default=Rules.parse(default),
        metavar="TEXT",
        help=f'a preset ({", ".join(PRESETS)}), also with changed fields: "vietnamese stone_value=5" '
        f"(default: {default})",
    )
    return parser


def _placed(default: str) -> argparse.ArgumentParser:
    """Return a parser with the options --rules and --position."""
    parser = argparse.ArgumentParser(add_help=False, parents=[_ruled(default)])
    parser.add_argument("--position", metavar="TEXT", help="begin at this position instead of the set-up")
    return parser


def _board(options: argparse.Namespace) -> Board:
    return Board(options.rules) if options.position is None else Board.parse(options.position, options.rules)


def _play(options: argparse.Namespace) -> None:
    board = _board(options)
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


def _evaluate(options: argparse.Namespace) -> None:
    if options.json:
        check_place("--json", options.json)
    names = options.opponents or reference_players(options.rules)
    result = evaluate(
        options.player,
        options.rules,
        names,
        options.pairs,
        options.seed,
        openings=options.openings,
        suite=options.regret_suite,
        part=options.part,
    )
    print(result)
    if options.json:
        write_atomically(options.json, result.to_json().encode())


def _verify(options: argparse.Namespace) -> None:
    begin = time.perf_counter()
    print(verify(read_certificate(options.file), ProgressLine()))
    print(f"({time.perf_counter() - begin:.1f} s)")


def _perft(options: argparse.Namespace) -> None:
    board, begin = _board(options), time.perf_counter()
    if options.divide:
        by_move = divide(board, options.depth)
        for move, paths in by_move.items():
            print(f"{move} {paths:>14,}")
        print(f"all {sum(by_move.values()):>13,}")
    else:
        for depth in range(1, options.depth + 1):
            print(f"{depth:>2} {perft(board, depth):>14,}", flush=True)
    print(f"({options.rules}, {time.perf_counter() - begin:.2f} s)")


def _show(options: argparse.Namespace) -> None:
    board = _board(options)
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


def _replay(options: argparse.Namespace) -> None:
    records = parse_records(sys.stdin.read()) if options.record == "-" else read_records(options.record)
    if options.game and options.game > len(records):
        raise ValueError(f"there is no game {options.game}: the file holds {len(records)}")
    rounds = rounds_of_matches(records)
    for number, record in enumerate(records, 1):
        if options.game in (None, number):
            if options.check:
                print(f"game {number}: {len(record.moves)} plies, {record.result} {record.termination}".rstrip())
            else:
                _replay_one(number, record, rounds.get(number), stories=options.stories)


def _replay_one(number: int, record: GameRecord, played: Round | None, *, stories: bool) -> None:
    print(f"Game {number}: {record.rules}")
    for name, value in record.headers.items():
        print(f"  {name}: {value}")
    owners = None if played is None else played.ownership.owners().tolist()
    board = record.start()
    print(f"\n{render.text(board, owners=owners)}")
    _comment(record, 0)
    for ply, move in enumerate(record.moves, 1):
        print(f"\n{ply}. {seat_name(record.rules, board.mover)} {move}\n")
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


def _list_rules(options: argparse.Namespace) -> None:
    default = PRESETS[DEFAULT_PRESET].rules
    if options.in_words:
        print(rules_in_words(" ".join(options.text) or default, options.language))
        return
    if options.text:
        rules = Rules.parse(" ".join(options.text))
        changed = rules.differences(default)
        print(f"{rules}\n")
        for field in dataclasses.fields(rules):
            mark = "*" if field.name in changed else " "
            print(f"{mark} {field.name:29}{getattr(rules, field.name)}")
        print(f"\n* differs from {DEFAULT_PRESET}. docs/RULES.md says what each field means.")
        return
    for name, preset in PRESETS.items():
        print(f"{name}\n  after    {preset.source}")
        changes = preset.rules.differences(default)
        listed = " ".join(f"{field}={value}" for field, value in changes.items()) or "(the default)"
        print(f"  changes  {listed}\n")
