"""A game as JSON: all that the page shows of it beside the drawing."""

from __future__ import annotations

from oanquan_env.engine.move_trace import Frame
from oanquan_env.play.game import Game
from oanquan_env.play.hints import Hint
from oanquan_env.play.levels import Seated
from oanquan_env.play.line import Line
from oanquan_env.play.picture import Json, frame_json, owners_json


def game_json(game: Game, line: Line, first: int) -> Json:
    """The game, with its moves from serial number `first` on."""
    serials, board, start = line.serials(), game.board, line.start
    return {
        "rules": str(board.rules),
        "position": board.text(),
        "start": frame_json(Frame(tuple(start.seeds), tuple(start.stones), tuple(start.scores))),
        "starter": start.mover,
        "line": serials,
        "moves": {serial: move for serial, move in line.moves.items() if serial >= first},
        "mover": board.mover,
        "ply": board.ply,
        "legal": [] if game.over else [str(move) for move in board.legal_moves],
        "seats": [_seat(seat) for seat in game.seats],
        "turn": "over" if game.over else "person" if game.player is None else "player",
        "resigned": game.resigned,
        "outcome": _outcome(game),
        "can_undo": game.can_undo,
        "can_redo": game.can_redo,
        "match": _match(game),
    }


def hint_json(advice: Hint) -> Json:
    """What each move is worth; `search` is None where that is only what the move wins at once."""
    analysis, search = advice.analysis, None
    if analysis is not None:
        search = {"value": round(analysis.value, 1), "proved": analysis.proved, "depth": analysis.depth}
    values = {str(move): round(value, 1) for move, value in advice.values.items()}
    return {"player": advice.player, "best": str(advice.best), "values": values, "search": search}


def _seat(seat: Seated) -> Json:
    return {"name": seat.name, "person": seat.policy is None}


def _outcome(game: Game) -> Json | None:
    outcome = game.board.outcome
    if outcome is None:
        return None
    scores = game.standings(game.board)
    winners = [seat for seat, score in enumerate(scores) if score == max(scores)]
    return {"scores": scores, "winners": winners, "termination": str(outcome.termination)}


def _match(game: Game) -> Json | None:
    if game.match is None:
        return None
    settled = game.settled()
    outcome, shown = None if settled is None else settled.outcome, settled or game.match
    return {
        "number": game.match.round_number,
        "rounds": [{"scores": played.scores, "winner": played.winner} for played in shown.rounds],
        "owners": owners_json(game.match.rules, game.match.ownership.owners().tolist()),
        "sold": [len(row) for row in shown.ownership.sold],
        "pawned": [len(row) for row in shown.ownership.pawned],
        "fields_to_lose": game.match.match_rules.fields_to_lose,
        "settled": settled is not None,
        "over": outcome is not None,
        "winner": None if outcome is None else outcome.winner,
    }
