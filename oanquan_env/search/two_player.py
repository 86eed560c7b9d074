"""The move of `oanquan_env.engine.move`, compiled for the search: one two-player position at a time.

Positions are seen from the mover: `own` and `other` are the two sides as words (see `oanquan_env.engine.positions`),
the mover's first; a move swaps them. A word is never negative, so int64 is used throughout (Numba turns a mixture of
int64 and uint64 into floats).

Values are future margins: the points that the mover will win minus the points that the opponent will win, including
refills and the leftovers of a finished game.
"""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from oanquan_env.engine import move
from oanquan_env.engine.compiled import SHAPES, compiled, record, rule_record
from oanquan_env.engine.core import Core
from oanquan_env.engine.move import RUNNING, RuleNumbers
from oanquan_env.engine.positions import MANDARIN_BYTE, Positions
from oanquan_env.errors import UnavailableError
from oanquan_env.search.value_net import HIDDEN, SECOND, side_rows

# ---- records ---------------------------------------------------------------------------------------------------------


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
        raise UnavailableError(f"this search needs rules for two players; got {rules.players} players")
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
