"""Write observations of one position; `oanquan_env.observation` describes their layouts.

Like `step`, these are plain functions that Numba compiles.
"""

import functools
from typing import Any

import numpy as np

from oanquan_env.engine.move import RuleNumbers, can_play
from oanquan_env.engine.positions import MANDARIN_BYTE, STONE_BYTE
from oanquan_env.engine.scoring import in_turn, look_ahead
from oanquan_env.engine.tables import inline

COUNTS = 16
"""Number of one-hot planes per square: one for each number from 0 to COUNTS - 2, and one for all greater numbers."""
SCALE = 10
"""Divisor of seeds and points in the layouts `planes` and `moves`."""

_BYTE = 255


@functools.cache
def vector_type(length: int) -> np.dtype[Any]:
    """Return the data type of a record that holds the numbers of a rule set in the field `numbers`."""
    return np.dtype((np.record, [("numbers", np.float32, length)]))


@functools.cache
def row_type(kind: type[Any], length: int, tail: int = 0) -> np.dtype[Any]:
    """Return the data type of a record that holds one row of an array in the field `row`.

    If the row ends with the `tail` numbers of a rule set, the field `vector` is an array of one record of these.

    The loops take the rows of observations and masks as such records. Numba passes a record as a pointer; for an array
    it would also count references, which takes 15 ns per game.
    """
    if not tail:
        return np.dtype((np.record, [("row", kind, length)]))
    formats, offsets = [(kind, length), (vector_type(tail), 1)], [0, 4 * (length - tail)]
    fields: Any = {"names": ["row", "vector"], "formats": formats, "offsets": offsets, "itemsize": 4 * length}
    return np.dtype((np.record, np.dtype(fields)))


@inline
def observe(
    rules: RuleNumbers, players: int, sides: Any, scores: Any, turn: tuple[int, int, int], observation: Any
) -> None:
    """Write a player's observation into a record of `row_type`.

    `turn` is the viewer's seat, the mover's seat and the ply. `oanquan_env.observation` describes the layout.
    """
    viewer, mover, ply = turn
    ordered, points = in_turn(players, sides, viewer), in_turn(players, scores, viewer)
    row, fields, stones = observation.row, rules.fields, players * (rules.fields + 1)
    for place in range(players):
        side, at = ordered[place], place * (fields + 1)
        for field in range(fields):
            row[at + field] = (side >> 8 * field) & _BYTE
        row[at + fields] = (side >> 8 * MANDARIN_BYTE) & _BYTE
        row[stones + place] = side >> 8 * STONE_BYTE
        row[stones + players + place] = points[place]
    row[stones + 2 * players] = mover - viewer if mover >= viewer else mover - viewer + players
    row[stones + 2 * players + 1] = rules.max_plies - ply


@inline
def observe_rules(rules_array: Any, games: Any, rows: Any, observations: Any) -> None:
    """Write the `vector` of each game's rules at the end of its observation. Copying a record is faster than a loop."""
    for row in rows:
        observations[row].vector[0] = rules_array[games[row].rules].vector[0]


@inline
def observe_planes(
    rules: RuleNumbers,
    players: int,
    sides: Any,
    scores: Any,
    turn: tuple[int, int, int],
    moves: bool,
    running: bool,
    observation: Any,
) -> None:
    """Write a player's observation in the layout `planes`, or in the layout `moves` if `moves` is True.

    See `observe` for the other arguments. In the layout `moves`, the gains are zero unless the game is `running` and
    the viewer is to move.
    """
    viewer, mover, ply = turn
    ordered, points = in_turn(players, sides, viewer), in_turn(players, scores, viewer)
    fields, actions, squares = rules.fields, 2 * rules.fields, players * (rules.fields + 1)
    seeds, stones = squares * COUNTS, squares * (COUNTS + 1)
    wins = stones + 2 * players + 1
    for at in range(seeds):
        observation.row[at] = 0
    for place in range(players):
        side, at = ordered[place], place * (fields + 1)
        for field in range(fields + 1):
            count = (side >> 8 * (field if field < fields else MANDARIN_BYTE)) & _BYTE
            observation.row[(at + field) * COUNTS + min(count, COUNTS - 1)] = 1
            observation.row[seeds + at + field] = count / SCALE
        observation.row[stones + place] = side >> 8 * STONE_BYTE
        observation.row[stones + players + place] = points[place] / rules.total
    observation.row[stones + 2 * players] = (rules.max_plies - ply) / rules.max_plies
    if moves:
        for action in range(actions):
            won, remains = 0, 0
            if running and viewer == mover and can_play(rules, ordered[0], action):
                won, remains = look_ahead(rules, players, ordered, points, rules.max_plies - ply - 1, action)
            observation.row[wins + action] = won / (SCALE * (players - 1))
            observation.row[wins + actions + action] = remains / (SCALE * (players - 1))
