"""Shared parts of compiled searches: rules as records, a two-player move, and the memory.

A two-player position is seen from the mover: `own` and `other` are the two sides as words (see
`oanquan_env.engine.positions`), the mover's first; a move swaps them. A word is never negative, so int64 is used
throughout (Numba turns a mixture of int64 and uint64 into floats). Values are future margins: the points that the mover
will win minus the points that the opponent will win, including refills and the leftovers of a finished game.
"""

from collections.abc import MutableSequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from oanquan_env.engine import move
from oanquan_env.engine.compiled import SHAPES, compiled, record, rule_record, zeros
from oanquan_env.engine.core import Core
from oanquan_env.engine.move import RUNNING, RuleNumbers, can_play
from oanquan_env.engine.positions import MANDARIN_BYTE, Positions
from oanquan_env.errors import UnavailableError
from oanquan_env.search.value_net import HIDDEN, SECOND, side_rows

# ---- rules and nets as records ---------------------------------------------------------------------------------------


def net_record(sides: int, hidden: int, outputs: int) -> np.dtype[Any]:
    """Return the dtype of a net's weights, with these numbers of sides, first-layer units and outputs, for `leaf`."""
    return np.dtype(
        [
            ("embedding", np.int16, (sides, side_rows(MANDARIN_BYTE), hidden)),
            ("hidden_weight", np.int16, (hidden // 2, SECOND, 2)),
            ("hidden_bias", np.float32, (SECOND,)),
            ("output_weight", np.float32, (outputs, SECOND)),
            ("output_bias", np.float32, (outputs,)),
        ]
    )


class SearchRules(RuleNumbers):
    """The rules as compiled functions take them: the fields of `RuleNumbers`, and the value net for the leaves."""

    has_net: int
    net: Any  # `net_record`
    unit: int  # number of parts into which max^n divides a point


TWO_PLAYER_RULES = record(SearchRules, **SHAPES, net=(net_record(2, HIDDEN, 1),))


def compile_rules(core: Core) -> SearchRules:
    """Return the core's tables and rules as the record that compiled functions take.

    Raises `UnavailableError` if the future margin does not depend only on the squares and the mover: with more than two
    players, or under refill=forfeit, where the scores decide whether a game continues.
    """
    rules = core.rules
    if rules.players != 2:
        raise UnavailableError(f"minimax needs rules for two players, and these have {rules.players}; use maxn")
    if rules.refill == "forfeit":
        raise UnavailableError(
            "search needs refill=borrow: under refill=forfeit a position's value depends on the scores"
        )
    return cast(SearchRules, rule_record(rules, TWO_PLAYER_RULES))


def mover_first(positions: Positions) -> npt.NDArray[np.int64]:
    """Return the (N, 2) sides of N two-player positions as words, the mover's first."""
    return positions.sides_in_turn().view(np.int64)


# ---- a move ----------------------------------------------------------------------------------------------------------


@compiled
def apply_move(rules: SearchRules, own: int, other: int, action: int, plies_left: int = 1) -> tuple[int, int, int, int]:
    """Play a legal action as `Core.play` does. `plies_left` counts the plies after the action; with 0, the game ends.

    Returns:
        The next mover's side and the other side, after any refills; the margin that the mover gained, with refills and
        the leftovers of a finished game; and RUNNING or another `Termination`.
    """
    moved = move.play(rules, 2, (own, other, 0, 0), (0, 0, 0, 0), plies_left, action, None)
    own, other, _, _ = moved.sides
    margin = moved.scores[0] - moved.scores[1]
    if moved.ended != RUNNING:
        own_row, other_row, _, _ = move.leftovers(rules, 2, moved.sides, moved.ended)
        margin += own_row - other_row
    return other, own, margin, moved.ended


# ---- the memory of a search ------------------------------------------------------------------------------------------

MAX_DEPTH = 127  # plies for which the stack has room
MAX_ACTIONS = 2 * MANDARIN_BYTE
UNLIMITED = 1 << 62  # more moves than any search plays
MIN_BUCKET_BITS = 8
_LEAST_BITS = 10
"""Minimum base-2 logarithm of the number of buckets if the depth is limited, so that the principal variation fits."""
ENTRIES = 4  # entries of a bucket
NO_ACTION = -1
"""Placeholder for an unknown action. Entries hold `action + 1`, which is then 0."""
INFINITY = 16_000
"""A number greater than every value, even with stones of 1,000 points and in lines with debts."""


class Child(Protocol):
    """A move on the stack."""

    own: int
    other: int  # the sides of the position after the move
    gain: int  # points won
    state: int  # RUNNING or another `Termination`
    action: int
    order: int  # moves with a greater order are tried first
    guess: int  # the move's value by a net, if there is one
    is_open: int  # at the root: whether the value may depend on the horizon


Children: TypeAlias = MutableSequence[Child]
Table: TypeAlias = npt.NDArray[Any]  # (B, ENTRIES) entries


class Memory(Protocol):
    """The state of a search.

    The caller clears `stop` before a search; after that, another thread may set it at any time.
    """

    nodes: int  # moves played so far
    node_limit: int
    stop: int  # nonzero once the search has to stop
    generation: int  # number of the search: entries of other generations are ignored
    bucket_bits: int  # base-2 logarithm of the number of buckets in use; 0 for no table
    dirty_bits: int  # maximum of `bucket_bits` since the table was cleared
    guess_depth: int  # maximum plies of a search that a net's guess may replace
    to_the_end: int  # whether the ply limit ends the game after the last ply
    plies_left: int  # plies from the root to the ply limit
    every_move: int  # whether to value every move of the root, not only the best moves
    root_moves: int  # number of moves of the root, which are first on the stack
    root_valued: int  # number of moves of the root that the last search has valued
    history: Any  # number of times that each action cut off a search, weighted by depth
    children: MutableSequence[Children]  # the stack: the moves of each ply, with one spare slot for swaps


CHILD = record(Child)
MEMORY = record(Memory, history=(np.int64, MAX_ACTIONS), children=(CHILD, (MAX_DEPTH + 1, MAX_ACTIONS + 1)))


def bucket_bits(megabytes: float, entry: np.dtype[Any]) -> int:
    """Return the base-2 logarithm of the number of buckets in a table of `megabytes` MiB, at least MIN_BUCKET_BITS."""
    return max(int(np.log2(max(megabytes * 2**20 / (ENTRIES * entry.itemsize), 1))), MIN_BUCKET_BITS)


def bits_to_use(most: int, depth: int, nodes: int) -> int:
    """Return log2 of the number of buckets to use, at most `most`. A `depth` or `nodes` of 0 means no limit.

    A small search is faster with a table that fits into the processor's caches.
    """
    if depth:
        most = min(most, max(depth + 4, _LEAST_BITS))
    if nodes:
        bits = 0
        while nodes >> 4 + bits:
            bits += 1
        most = min(most, bits)
    return max(most, MIN_BUCKET_BITS)


def new_memory(megabytes: float, entry: np.dtype[Any]) -> tuple[Memory, Table]:
    """Return the state of a search and an empty table of at most `megabytes` MiB."""
    buckets = 1 << bucket_bits(megabytes, entry)
    return cast(Memory, zeros(MEMORY, 1)[0]), zeros(entry, ENTRIES * buckets).reshape(buckets, ENTRIES)


@compiled
def play_all(
    rules: SearchRules, memory: Memory, own: int, other: int, first: int, ply: int, plies_left: int = 1
) -> int:
    """Push every move onto the stack at `ply`, and return the number of moves.

    `first` is the action to try first. `plies_left` counts the plies after these moves; with 0, the game ends.
    """
    children, count = memory.children[ply], 0
    for action in range(2 * rules.fields):
        if can_play(rules, own, action):
            child = children[count]
            child.own, child.other, child.gain, child.state = apply_move(rules, own, other, action, plies_left)
            child.action = action
            child.order = INFINITY << 32 if action == first else (child.gain << 32) + memory.history[action]
            count += 1
    memory.nodes += count
    return count


@compiled
def next_child(children: MutableSequence[Any], place: int, count: int) -> None:
    """Move the child with the greatest order among indices `place` to `count` - 1 to index `place`, by a swap."""
    chosen = place
    for other in range(place + 1, count):
        if children[other].order > children[chosen].order:
            chosen = other
    if chosen != place:
        children[MAX_ACTIONS] = children[place]
        children[place] = children[chosen]
        children[chosen] = children[MAX_ACTIONS]


@compiled
def drop_mirrored(rules: SearchRules, children: Children, count: int) -> int:
    """Keep one move of each mirrored pair in a symmetric position, and return the number of moves that remain."""
    kept = 0
    for place in range(count):
        if children[place].action < rules.fields:
            children[kept] = children[place]
            kept += 1
    return kept
