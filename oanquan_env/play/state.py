"""A game as JSON: all that the page shows of it beside the drawing."""

from collections.abc import Mapping, Sequence

from oanquan_env.board import Board
from oanquan_env.engine.move_trace import Frame, MoveTrace
from oanquan_env.engine.notation import Move
from oanquan_env.play.game import Game
from oanquan_env.play.hints import Hint, final_margin
from oanquan_env.play.line import Line
from oanquan_env.play.picture import Json, frame_json, owners_json
from oanquan_env.play.puzzles import Puzzle
from oanquan_env.play.warming import Warming
from oanquan_env.players.book import BookPolicy


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
        "previews": {}
        if game.over or game.player
        else {str(move): _preview(board, move) for move in board.legal_moves},
        "seats": [_seat(game, number) for number in range(len(game.seats))],
        "turn": "over" if game.over else "person" if game.player is None else "player",
        "resigned": game.resigned,
        "outcome": _outcome(game),
        "can_undo": game.can_undo,
        "can_redo": game.can_redo,
        "match": _match(game),
    }


def hint_json(advice: Hint, board: Board) -> Json:
    """The value of each move of `board`: the final margin of the mover over the mean of its opponents, in points."""
    search = None if advice.analysis is None else {"proved": advice.analysis.proved, "depth": advice.analysis.depth}
    return {
        "player": advice.player,
        "best": str(advice.best),
        "values": {str(move): round(final_margin(board, value), 1) for move, value in advice.values.items()},
        "captured": _captured(board.sowing(advice.best)),
        "search": search,
    }


def puzzle_json(puzzle: Puzzle, puzzles: Mapping[str, Sequence[Puzzle]], game: Game) -> Json:
    """The puzzle that is shown; its `answer` comes after the person's move."""
    played = game.board.history[:1]
    return {
        "level": puzzle.level,
        "name": puzzle.name,
        "number": puzzles[puzzle.level].index(puzzle),
        "counts": {level: len(members) for level, members in puzzles.items()},
        "answer": None
        if not played
        else {
            "move": str(played[0]),
            "best": str(puzzle.best),
            "right": played[0] == puzzle.best,
            "values": {str(move): value for move, value in puzzle.values.items()},
        },
    }


def _preview(board: Board, move: Move) -> Json:
    """The effect of a legal move: the squares that get a seed, and the captured ones with their pieces."""
    trace = board.sowing(move)
    return {
        "path": [square for lap in trace.laps for square in lap.squares],
        "taken": [taking.square for taking in trace.takings],
        "captured": _captured(trace),
    }


def _captured(trace: MoveTrace) -> list[int]:
    """Points and mandarin stones that a move captures."""
    return [trace.captured, sum(taking.stones for taking in trace.takings)]


def _seat(game: Game, number: int) -> Json:
    """`proved` says that the bound of a certificate holds for this seat, whatever the others play."""
    seat = game.seats[number]
    policy = seat.policy.playing if isinstance(seat.policy, Warming) else seat.policy
    followed = isinstance(policy, BookPolicy) and policy.follows(game.board, number)
    proved = followed and not game.fields_changed_hands
    return {"name": seat.name, "person": seat.policy is None, "proved": proved}


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
