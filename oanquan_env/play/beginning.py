"""The beginning of a game: rules, a position and moves, or a record. Faulty ones are a `SessionError`."""

from typing import NamedTuple

from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.engine.core import RunawayGameError
from oanquan_env.engine.notation import NotationError
from oanquan_env.engine.rules import Rules, RulesError, as_rules
from oanquan_env.match.match import Match
from oanquan_env.play.files import board_of_single
from oanquan_env.play.refusal import SessionError, refusing
from oanquan_env.records.games import parse_records
from oanquan_env.records.match_records import MATCH, is_resigned, resume_match

UNPLAYABLE = NotationError, IllegalMoveError, RunawayGameError  # of a move


class Beginning(NamedTuple):
    """A board with the moves that were played on it, its match, and whether the player to move resigned."""

    board: Board
    match: Match | None = None
    resigned: bool = False


def read_rules(rules: Rules | str) -> Rules:
    """The rules, or those of a text."""
    with refusing("rules", RulesError):
        return as_rules(rules)


def begin_match(rules: Rules, text: str) -> Beginning:
    """The first round of a match by the match rules of a text."""
    with refusing("rules", RulesError):
        match = Match(rules, text)
    return Beginning(Board.from_positions(match.core, match.positions), match)


def begin_game(rules: Rules, starter: int, position: str | None, moves: str) -> Beginning:
    """A game from the set-up, where `starter` moves first, or from a position, with moves such as `5A3A` played."""
    try:
        board = Board(rules) if position is None else Board.parse(position, rules)
    except NotationError as error:
        raise SessionError("position", error.reason, column=error.column) from None
    if type(starter) is not int or not 0 <= starter < rules.players:
        wrong = f"starter must be 0 to {rules.players - 1}; got {starter!r}"
        raise SessionError("request", wrong)
    if position is None and starter:
        start = board.positions
        start.mover[:] = starter
        board = Board.from_positions(board.core, start)
    push_all(board, moves)
    return Beginning(board)


def push_all(board: Board, moves: str) -> None:
    """Play moves of two letters each."""
    for at in range(0, len(moves), 2):
        with refusing("move", *UNPLAYABLE):
            board.push(moves[at : at + 2])


def read_record(text: str, number: int | None) -> Beginning:
    """A game, or a match, that was written down; of several games one of them."""
    try:
        records = parse_records(text)
        if not records:
            raise SessionError("record", "the file is empty")
        if MATCH in records[0].headers:
            match, board = resume_match(records)
            return Beginning(board, match, is_resigned(records[-1]))
        if number is None and len(records) > 1:
            raise SessionError("games", f"it holds {len(records)} games", games=len(records))
        if number is not None and not 1 <= number <= len(records):
            raise SessionError("record", f"there is no game {number}")
        record = records[0 if number is None else number - 1]
        return Beginning(board_of_single(record), None, is_resigned(record))
    except SessionError:
        raise
    except ValueError as error:
        raise SessionError("record", error) from None
