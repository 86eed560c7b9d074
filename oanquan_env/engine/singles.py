"""Batches of one position, where two play: carried to the whole numbers of `scalar` and back."""

from functools import cached_property
from typing import Any

from oanquan_env.engine.positions import Positions, occupied_bytes
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.scalar import RUNAWAY, RUNNING, RuleNumbers, can_play, leftovers_margin, play, rule_numbers
from oanquan_env.engine.tables import Tables


class Singles:
    """Moves of single games by one `Rules` for two players; `Core` hands batches of one to it.

    Errors are left to the batch: such a call returns None and changes nothing.
    """

    def __init__(self, rules: Rules, tables: Tables) -> None:
        self.rules = rules
        self.tables = tables

    def __reduce__(self) -> tuple[Any, ...]:
        return Singles, (self.rules, self.tables)  # the numbers are made anew: faster than copied one by one

    @cached_property
    def numbers(self) -> RuleNumbers:
        """The rules as `scalar` takes them."""
        return rule_numbers(self.rules)

    def play(self, positions: Positions, action: int, *, checked: bool) -> tuple[int, int] | None:
        """Play one action: points captured and laps. None for an illegal action, if `checked`, and for a runaway."""
        numbers, sides, scores, mover = self.numbers, positions.sides, positions.scores, positions.mover.item()
        own, other = sides.item(mover), sides.item(1 - mover)
        if checked and not (action >= 0 and positions.ended.item() == RUNNING and can_play(numbers, own, action)):
            return None
        ply = positions.ply.item() + 1
        own, other, own_score, other_score, captured, laps, ended = play(
            numbers, own, other, scores.item(mover), scores.item(1 - mover), self.rules.max_plies - ply, action
        )
        if ended == RUNAWAY:
            return None
        scores[0, mover], scores[0, 1 - mover] = own_score, other_score
        sides[0, mover], sides[0, 1 - mover] = own, other
        positions.mover[0], positions.ply[0], positions.ended[0] = 1 - mover, ply, ended
        return captured, laps

    @cached_property
    def legal(self) -> list[list[int]]:
        """The legal actions of each bit set of occupied fields."""
        return [row.nonzero()[0].tolist() for row in self.tables.legal]

    def gains(self, positions: Positions) -> dict[int, int] | None:
        """`move_gains` of a batch of one, of each legal action. None for a runaway."""
        gains: dict[int, int] = {}
        if positions.ended.item() != RUNNING:
            return gains
        numbers, scores, sides, mover = self.numbers, positions.scores, positions.sides, positions.mover.item()
        own, other = sides.item(mover), sides.item(1 - mover)
        own_score, other_score = scores.item(mover), scores.item(1 - mover)
        margin, plies_left = own_score - other_score, self.rules.max_plies - positions.ply.item() - 1
        for action in self.legal[occupied_bytes(own)]:
            new_own, new_other, new_own_score, new_other_score, _, _, ended = play(
                numbers, own, other, own_score, other_score, plies_left, action
            )
            gains[action] = new_own_score - new_other_score - margin
            if ended != RUNNING:
                if ended == RUNAWAY:
                    return None
                gains[action] += leftovers_margin(numbers, new_own, new_other)
        return gains
