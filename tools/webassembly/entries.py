"""The functions that engine.wasm exports, and the records through which they communicate with JavaScript.

Each function takes only records of `RECORDS`, so that every argument is an address. JavaScript reads and writes the
records' fields, most of which are 32-bit integers, at the offsets given in engine.json.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numba
import numpy as np
from numba import types
from numba.extending import overload_method

from oanquan_env.engine import move, tables
from oanquan_env.engine.compiled import RULES, inline_marked, inlined, record
from oanquan_env.engine.move import MAX_PLIES, RUNNING, SEATS, Four, RuleNumbers
from oanquan_env.engine.positions import MANDARIN_BYTE, STONE_BYTE
from oanquan_env.engine.rules import LAP_LIMIT
from oanquan_env.match import settling

MOST_SQUARES = SEATS * (MANDARIN_BYTE + 1)
MOST_STEPS = LAP_LIMIT + MOST_SQUARES + 1 + SEATS
"""Maximum number of steps of one move: laps, captures, the end and refills."""


class PageGame(Protocol):
    """A position, with the inputs and outputs of the functions below."""

    seeds: Any
    stones: Any
    scores: Any
    mover: int
    ply: int
    ended: int
    action: int  # the action to play
    legal: int  # one bit for each legal action
    captured: int  # points that the move captured
    laps: int
    points: Any  # filled by `find_standings`
    step_count: int
    steps: Any  # (MOST_STEPS, 4)


GAME = record(
    PageGame,
    **dict.fromkeys(PageGame.__annotations__, (np.int32,))
    | {
        "seeds": (np.int32, MOST_SQUARES),
        "stones": (np.int32, SEATS),
        "scores": (np.int32, SEATS),
        "points": (np.int32, SEATS),
        "steps": (np.int32, (MOST_STEPS, 4)),
    },
)

inline_marked(settling)
_sowings: Any = numba.njit(error_model="numpy")(tables.sowings)
_walks: Any = numba.njit(error_model="numpy")(tables.walks)


@overload_method(types.Record, "append")
def _append(game: Any, step: Any) -> Any:
    """Give records a method `append`, so that `move.play` can append steps to a record as to a list."""

    def append(game: Any, step: Any) -> None:
        place = game.steps[game.step_count]
        place[0], place[1], place[2], place[3] = step
        game.step_count += 1

    return append


@inlined
def side(rules: RuleNumbers, game: PageGame, turn: int) -> int:
    """Pack the side of the player `turn` seats after the mover into a word; return 0 if there is no such player."""
    if turn >= rules.players:
        return 0
    seat = (game.mover + turn) % rules.players
    begin = seat * (rules.fields + 1)
    word: int = (game.seeds[begin + rules.fields] << 8 * MANDARIN_BYTE) | (game.stones[seat] << 8 * STONE_BYTE)
    for field in range(rules.fields):
        word |= game.seeds[begin + field] << 8 * field
    return word


@inlined
def score(rules: RuleNumbers, game: PageGame, turn: int) -> int:
    """Return the points of the player `turn` seats after the mover, or 0 if there is no such player."""
    if turn >= rules.players:
        return 0
    points: int = game.scores[(game.mover + turn) % rules.players]
    return points


@inlined
def write_side(rules: RuleNumbers, game: PageGame, turn: int, word: int, score: int) -> None:
    """Set the score and, from `word` (see `side`), the squares of the player `turn` seats after the mover."""
    seat = (game.mover + turn) % rules.players
    begin = seat * (rules.fields + 1)
    for field in range(rules.fields):
        game.seeds[begin + field] = (word >> 8 * field) & 255
    game.seeds[begin + rules.fields] = (word >> 8 * MANDARIN_BYTE) & 255
    game.stones[seat] = word >> 8 * STONE_BYTE
    game.scores[seat] = score


@inlined
def sides(rules: RuleNumbers, game: PageGame) -> Four:
    """Return the sides in turn order, the mover's first."""
    return side(rules, game, 0), side(rules, game, 1), side(rules, game, 2), side(rules, game, 3)


@inlined
def scores(rules: RuleNumbers, game: PageGame) -> Four:
    """Return the scores in turn order, the mover's first."""
    return score(rules, game, 0), score(rules, game, 1), score(rules, game, 2), score(rules, game, 3)


def fill_rules(rules: Any) -> None:
    """Fill in the parts of a rules record that follow from the fields of `Rules`, as `move.rule_numbers` does."""
    players, fields = rules.players, rules.fields
    rules.total = players * (fields * rules.seeds + rules.mandarin_seeds + rules.stones * rules.stone_value)
    rules.field_bytes, rules.unfinished, rules.one_each = tables.side_masks(fields, rules.end)
    rules.playable = tables.playable(fields, rules.sowing)
    for action in range(2 * fields):
        rules.origins[action] = tables.origin_code(action)
    for gap, gap_seeds, gap_stone, behind_seeds, behind_stone, next_gap in _walks(
        players, fields, rules.empty_mandarin
    ):
        walk = rules.walks[gap]
        walk.a, walk.b, walk.c, walk.d, walk.behind, walk.behind_mandarin, walk.next_gap = tables.walk_numbers(
            gap_seeds, gap_stone, behind_seeds, behind_stone, next_gap
        )
    for key, a, b, c, d, code in _sowings(players, fields):
        near, far = rules.sowings[key], rules.far[key]
        near.a, near.b, near.code, near.shift = a, b, code, tables.shift_of(code)
        far.c, far.d = c, d


def start(rules: Any, game: Any) -> None:
    """Write the set-up into `game`, keeping `game.mover`."""
    for square in range(rules.players * (rules.fields + 1)):
        game.seeds[square] = rules.mandarin_seeds if square % (rules.fields + 1) == rules.fields else rules.seeds
    for seat in range(rules.players):
        game.stones[seat], game.scores[seat] = rules.stones, 0
    game.ply, game.ended = 0, RUNNING


def find_legal(rules: Any, game: Any) -> None:
    """Set the bit of each legal action in `game.legal`, and clear all other bits."""
    own = side(rules, game, 0)
    game.legal = 0
    for action in range(2 * rules.fields):
        if game.ended == RUNNING and move.can_play(rules, own, action):
            game.legal |= 1 << action


def set_up(rules: Any, game: Any) -> None:
    """Set `game.ended` for a position that a user has set up, as `Core.setup` does."""
    plies_left = rules.max_plies - game.ply
    game.ended = move.end_of_setup(rules, rules.players, sides(rules, game), scores(rules, game), plies_left)


def play(rules: Any, game: Any) -> None:
    """Play `game.action` and record its steps.

    An illegal action sets `laps` to 0 and changes nothing else. A move that cannot be completed has no steps.
    """
    before = sides(rules, game)
    game.laps = 0
    if game.ended != RUNNING or not 0 <= game.action < 2 * rules.fields:
        return
    if not move.can_play(rules, before[0], game.action):
        return
    game.step_count = 0
    game.ply += 1
    left = rules.max_plies - game.ply
    moved = move.play(rules, rules.players, before, scores(rules, game), left, game.action, game)
    for turn in range(rules.players):
        write_side(rules, game, turn, moved.sides[turn], moved.scores[turn])
    game.captured, game.laps, game.ended = moved.captured, moved.laps, moved.ended
    if game.ended > MAX_PLIES:
        game.step_count = 0
    game.mover = (game.mover + 1) % rules.players


def find_standings(rules: Any, game: Any) -> None:
    """Set `game.points` to each player's points, including the leftovers of a finished game."""
    left = move.leftovers(rules, rules.players, sides(rules, game), game.ended)
    for turn in range(rules.players):
        seat = (game.mover + turn) % rules.players
        game.points[seat] = game.scores[seat] + (left[turn] if game.ended != RUNNING else 0)


class Settlement(Protocol):
    """The settings of a match and its state, which `settle` updates at the end of a round."""

    match_measure: int  # 1: `margin`
    fields_to_lose: int
    max_rounds: int
    round: int  # number of the round that has ended, from 1
    starter: int
    winner: int  # winner of the round
    owed: int  # points for which the loser sells and pawns fields
    match_end: int
    match_winner: int
    marks: Any  # (2, MANDARIN_BYTE): see `oanquan_env.match.settling`


SETTLEMENT = record(
    Settlement,
    **dict.fromkeys(Settlement.__annotations__, (np.int32,)) | {"marks": (np.int32, (2, MANDARIN_BYTE))},
)


def settle(rules: Any, game: Any, match: Any) -> None:
    """Set a finished round's points and update `match`, as `Match.close_round` does."""
    south, north, _, _ = sides(rules, game)
    if game.mover == 1:
        south, north = north, south
    game.points[0], game.points[1] = settling.settled_points(
        rules, south, north, game.scores[0], game.scores[1], game.mover, game.ended, match.marks
    )
    match.winner = settling.round_winner(game.points[0], game.points[1], game.ended)
    match.owed = 0
    if match.winner != settling.NOBODY:
        match.owed = settling.change_hands(
            rules.fields, rules.total // 2, match.match_measure, game.points[0], game.points[1], match.marks
        )
    match.match_end, match.match_winner = settling.match_end(
        rules.fields, match.fields_to_lose, match.max_rounds, match.round, match.marks
    )
    match.starter = settling.next_starter(match.starter, match.winner)


class EntryPoint:
    """A function to export, and the names of the records that it takes."""

    def __init__(self, function: Callable[..., None], *records: str) -> None:
        self.function = function
        self.records = records


RECORDS = {"rules": RULES, "game": GAME, "match": SETTLEMENT}
EXPORTS = {
    "fill_rules": EntryPoint(fill_rules, "rules"),
    **{
        entry.__name__: EntryPoint(entry, "rules", "game")
        for entry in (start, set_up, find_legal, play, find_standings)
    },
    "settle": EntryPoint(settle, "rules", "game", "match"),
}
