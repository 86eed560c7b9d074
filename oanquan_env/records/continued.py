"""Games that were read from a record and go on."""

from collections.abc import Sequence
from dataclasses import replace

from oanquan_env.board import Board
from oanquan_env.engine.notation import seat_name
from oanquan_env.engine.positions import Termination
from oanquan_env.records.games import GameRecord


def continued(
    opened: GameRecord | None, board: Board, players: Sequence[str], person: str, resigned: int | None = None
) -> GameRecord:
    """Return the record of a game that may have been read from another one.

    Moves that were read keep their comments and players. A player who made a later move is named, but a person keeps
    the name that is written for the seat.

    Args:
        opened: the record that was read; None for a new game, which names all players.
        board: the game as it stands.
        players: the name of the player on each seat.
        person: the name of those players who are persons.
        resigned: the seat of a player who gave up, or None.
    """
    seats = [seat_name(board.rules, seat) for seat in range(board.rules.players)]
    if opened is None:
        record = GameRecord.from_board(board, dict(zip(seats, players, strict=True)))
    else:
        moves = tuple(board.history)
        if moves == opened.moves and resigned is None:
            return opened
        kept = next(n for n in range(len(moves) + 1) if moves[n : n + 1] != opened.moves[n : n + 1] or n == len(moves))
        comments = {number: text for number, text in opened.comments.items() if number <= kept}
        headers = dict(opened.headers)
        for ply in range(kept, len(moves)):
            seat = (board.start().mover + ply) % len(seats)
            if players[seat] != person or seats[seat] not in headers:
                headers[seats[seat]] = players[seat]
        record = GameRecord.from_board(board, headers, comments)
    if resigned is None:
        return record
    end, said = len(record.moves), f"{seats[resigned]} resigns"
    comments = {**record.comments, end: f"{record.comments.get(end, '').removesuffix(said)} {said}".strip()}
    return replace(record, termination=str(Termination.RESIGNED), comments=comments)
