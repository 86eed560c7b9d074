"""Ownership of fields in match play, and the arithmetic of selling (docs/RULES.md 6). No game is played here.

A row is the F fields of one player, counted from that player's left. Between rounds a field may be *pawned* (half its
leftovers go to the other player) or *sold* (all of them). Sowing rights never change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Points
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import NotationError, quoted
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.match.rules import MatchMeasure, MatchRules

OWN, PAWNED, SOLD = 0, 1, 2
"""Codes of `Ownership.owners`."""

FIELD_PRICE = 10
"""Points for which a field is sold, or bought back."""
PAWN_PRICE = 5
"""A rest of at least this many points pawns a field."""

Row: TypeAlias = tuple[int, ...]
Rows: TypeAlias = tuple[Row, Row]

SIDE_LETTERS = "SN"
_FIELD_NAME = re.compile(r"([SN])([1-9])")


def debt(scores: Sequence[int], half: int, measure: MatchMeasure) -> int:
    """The points for which the loser of a round sells and pawns fields, at least 0, by its two final scores.

    `half` is half of all points at the start of a round (35 by default); for `measure` see `MatchRules`.
    """
    winner, loser = max(scores), min(scores)
    if measure == "margin":
        return winner - loser
    return max(0, min(half - loser, winner - half))


@dataclass(frozen=True)
class Ownership:
    """Which fields of the two rows are sold and which are pawned; immutable.

    Attributes:
        fields: F, fields a row.
        sold: for South's and for North's row, the fields sold to the other player, 0 .. F-1, in the order of sale.
        pawned: the same for the pawned ones.
    """

    fields: int
    sold: Rows = ((), ())
    pawned: Rows = ((), ())

    def __post_init__(self) -> None:
        for sold, pawned in zip(self.sold, self.pawned, strict=True):
            named = [*sold, *pawned]
            if len(set(named)) < len(named) or any(not 0 <= field < self.fields for field in named):
                raise ValueError(f"no row of {self.fields} fields has sold {sold} and pawned {pawned}")

    def after_round(self, scores: Sequence[int], rules: Rules, match_rules: MatchRules) -> Ownership:
        """The ownership after a round that was neither drawn nor truncated (docs/RULES.md 6).

        First the winner gets back fields for the margin, then the loser sells and pawns for the debt. Equal scores
        change nothing.
        """
        if scores[0] == scores[1]:
            return self
        winner = int(scores[1] > scores[0])
        margin = abs(scores[0] - scores[1])
        owed = debt(scores, rules.total // 2, match_rules.match_measure)
        return self._bought_back(winner, margin // FIELD_PRICE)._given_up(1 - winner, owed)

    def _bought_back(self, player: int, count: int) -> Ownership:
        """The latest pawned fields come back first, then the latest sold ones."""
        sold, pawned = self.sold[player], self.pawned[player]
        redeemed = min(count, len(pawned))
        returned = min(count - redeemed, len(sold))
        return self._with_row(player, sold[: len(sold) - returned], pawned[: len(pawned) - redeemed])

    def _given_up(self, player: int, owed: int) -> Ownership:
        """The leftmost unsold fields are sold, and for a rest of 5-9 the leftmost free one is pawned."""
        sales, rest = divmod(owed, FIELD_PRICE)
        unsold = [field for field in range(self.fields) if field not in self.sold[player]]
        sold = (*self.sold[player], *unsold[:sales])
        pawned = tuple(field for field in self.pawned[player] if field not in sold)
        free = [field for field in range(self.fields) if field not in sold and field not in pawned]
        if rest >= PAWN_PRICE and free:
            pawned = (*pawned, free[0])
        return self._with_row(player, sold, pawned)

    def _with_row(self, player: int, sold: Row, pawned: Row) -> Ownership:
        others = self.sold[1 - player], self.pawned[1 - player]
        if player == 0:
            return Ownership(self.fields, (sold, others[0]), (pawned, others[1]))
        return Ownership(self.fields, (others[0], sold), (others[1], pawned))

    def owners(self) -> npt.NDArray[np.int8]:
        """(2, F) int8 codes of the fields, a row from its player's left: 0 the player's own, 1 pawned, 2 sold."""
        codes = np.zeros((2, self.fields), dtype=np.int8)
        for player in (0, 1):
            codes[player, list(self.pawned[player])] = PAWNED
            codes[player, list(self.sold[player])] = SOLD
        return codes

    # ---- text ------------------------------------------------------------------------------------------------------

    def sold_text(self) -> str:
        """The sold fields such as `"S1 N1 N2"`: South's row first, each row in the order of sale."""
        return _names(self.sold)

    def pawned_text(self) -> str:
        """The pawned fields in the same form."""
        return _names(self.pawned)

    @classmethod
    def parse(cls, sold: str, pawned: str, fields: int) -> Ownership:
        """The ownership that these texts describe; inverse of `sold_text` and `pawned_text`.

        Raises `NotationError` for a word that names no field of a row of `fields`, or a field named twice.
        """
        seen: set[str] = set()
        return cls(fields, _rows(sold, fields, seen), _rows(pawned, fields, seen))


def _names(rows: Rows) -> str:
    return " ".join(f"{SIDE_LETTERS[player]}{field + 1}" for player, row in enumerate(rows) for field in row)


def _rows(text: str, fields: int, seen: set[str]) -> Rows:
    rows: tuple[list[int], list[int]] = ([], [])
    for word in re.finditer(r"\S+", text):
        name = _FIELD_NAME.fullmatch(word[0])
        if not name or int(name[2]) > fields:
            wanted = f"S1 to S{fields} or N1 to N{fields}"
            raise NotationError(f"a field is {wanted}; got {quoted(word[0])}", column=word.start() + 1)
        if word[0] in seen:
            raise NotationError(f"the field {word[0]} is named twice", column=word.start() + 1)
        seen.add(word[0])
        rows[SIDE_LETTERS.index(name[1])].append(int(name[2]) - 1)
    return tuple(rows[0]), tuple(rows[1])


# ---- the result of a round -------------------------------------------------------------------------------------------


def match_standings(core: Core, positions: Positions, owners: npt.ArrayLike) -> Points:
    """(N, 2) int32, points as `Core.standings`, where the leftovers of finished games go by ownership.

    The seeds on a sold field go to the other player; those on a pawned one are halved, the odd seed to the owner of
    the row; the rest go as the rules say (docs/RULES.md 6). `owners` are (2, F) or (N, 2, F) codes as of
    `Ownership.owners`.
    """
    fields = core.rules.fields
    codes = np.broadcast_to(np.asarray(owners), (len(positions), 2, fields))
    seeds = core.seeds(positions).reshape(len(positions), 2, fields + 1)[:, :, :fields].astype(np.int32)
    halves = seeds // 2
    to_other = (seeds * (codes == SOLD) + halves * (codes == PAWNED)).sum(axis=2)
    kept = ((seeds - halves) * (codes == PAWNED)).sum(axis=2)
    rest = positions.copy()
    field_bytes = core.tables.ring_bytes.reshape(2, fields + 1)[:, :fields].reshape(-1)
    rest.squares[:, field_bytes] *= (codes == OWN).reshape(len(positions), -1)
    shares: Points = core.standings(rest)
    shares += ((kept + to_other[:, ::-1]) * positions.over[:, None]).astype(np.int32)
    return shares
