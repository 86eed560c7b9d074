"""Ownership of fields in match play, and its effect on the points of a round (docs/RULES.md 6).

A row is the F fields of one player, counted from that player's left. Between rounds a field may be *pawned* (half of
its leftovers go to the other player) or *sold* (all of its leftovers do). Sowing rights never change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import NotationError, quoted
from oanquan_env.engine.positions import PAWNED, SOLD, Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.match.rules import MatchRules
from oanquan_env.match.settling import change_hands, settled_points

Row: TypeAlias = tuple[int, ...]
Rows: TypeAlias = tuple[Row, Row]

SIDE_LETTERS = "SN"
_FIELD_NAME = re.compile(r"([SN])([1-9])")


@dataclass(frozen=True)
class Ownership:
    """The sold and the pawned fields of the two rows; immutable. Raises `ValueError` for a repeated or unknown field.

    Attributes:
        fields: F, the number of fields per row.
        sold: for South's row and for North's row, the fields (0 .. F-1) sold to the other player, in the order of sale.
        pawned: the pawned fields, in the same form.
    """

    fields: int
    sold: Rows = ((), ())
    pawned: Rows = ((), ())

    def __post_init__(self) -> None:
        for sold, pawned in zip(self.sold, self.pawned, strict=True):
            named = [*sold, *pawned]
            if len(set(named)) < len(named) or any(not 0 <= field < self.fields for field in named):
                raise ValueError(f"a row of {self.fields} fields cannot have {sold} sold and {pawned} pawned")

    def after_round(self, scores: Sequence[int], rules: Rules, match_rules: MatchRules) -> Ownership:
        """Return the ownership after a round that was neither drawn nor truncated (docs/RULES.md 6).

        First the winner buys back fields for the margin, then the loser sells and pawns fields for its debt. Equal
        scores change nothing.
        """
        if scores[0] == scores[1]:
            return self
        south, north = marks = self.marks()
        by_margin = match_rules.match_measure == "margin"
        change_hands(self.fields, rules.total // 2, by_margin, scores[0], scores[1], marks)
        sold, pawned = (_marked(south, 1), _marked(north, 1)), (_marked(south, -1), _marked(north, -1))
        return Ownership(self.fields, sold, pawned)

    def marks(self) -> list[list[int]]:
        """Return two new lists of F marks, South's row first; `oanquan_env.match.settling` explains marks."""
        rows = [[0] * self.fields, [0] * self.fields]
        for row, sold, pawned in zip(rows, self.sold, self.pawned, strict=True):
            for number, field in enumerate(sold, 1):
                row[field] = number
            for number, field in enumerate(pawned, 1):
                row[field] = -number
        return rows

    def owners(self) -> npt.NDArray[np.int8]:
        """Return (2, F) int8 codes of the fields, each row from its player's left: 0 own, 1 pawned, 2 sold."""
        marks = np.array(self.marks())
        return (SOLD * (marks > 0) + PAWNED * (marks < 0)).astype(np.int8)

    # ---- text ------------------------------------------------------------------------------------------------------

    def sold_text(self) -> str:
        """Return the sold fields as a string such as `"S1 N1 N2"`: South's row first, each row in the order of sale."""
        return _names(self.sold)

    def pawned_text(self) -> str:
        """Return the pawned fields as a string in the form of `sold_text`."""
        return _names(self.pawned)

    @classmethod
    def parse(cls, sold: str, pawned: str, fields: int) -> Ownership:
        """Return the ownership that two strings describe; the inverse of `sold_text` and `pawned_text`.

        Raises `NotationError` if a word names no field of a row with `fields` fields, or a field is repeated.
        """
        names: set[str] = set()
        return cls(fields, _rows(sold, fields, names), _rows(pawned, fields, names))


def _marked(marks: Sequence[int], sign: int) -> Row:
    """Return the fields whose marks have the given sign, in the order in which they were sold or pawned."""
    return tuple(sorted((field for field, mark in enumerate(marks) if mark * sign > 0), key=lambda at: abs(marks[at])))


def _names(rows: Rows) -> str:
    return " ".join(f"{SIDE_LETTERS[player]}{field + 1}" for player, row in enumerate(rows) for field in row)


def _rows(text: str, fields: int, names: set[str]) -> Rows:
    rows: tuple[list[int], list[int]] = ([], [])
    for word in re.finditer(r"\S+", text):
        name = _FIELD_NAME.fullmatch(word[0])
        if not name or int(name[2]) > fields:
            valid = f"S1 to S{fields} or N1 to N{fields}"
            raise NotationError(f"a field must be {valid}; got {quoted(word[0])}", column=word.start() + 1)
        if word[0] in names:
            raise NotationError(f"the field {word[0]} is named twice", column=word.start() + 1)
        names.add(word[0])
        rows[SIDE_LETTERS.index(name[1])].append(int(name[2]) - 1)
    return tuple(rows[0]), tuple(rows[1])


# ---- the result of a round -------------------------------------------------------------------------------------------


def match_standings(core: Core, positions: Positions, ownership: Ownership) -> tuple[int, int]:
    """Return the final points of the game in `positions` (a batch of one), or its scores so far if it is running.

    Leftovers are divided by ownership. A player that resigned scores less than half of all points (docs/RULES.md 6).
    """
    south_score, north_score = positions.scores[0].tolist()
    if not positions.over[0]:
        return south_score, north_score
    south, north = positions.words[0].tolist()
    mover, ended = int(positions.mover[0]), int(positions.ended[0])
    return settled_points(core.numbers, south, north, south_score, north_score, mover, ended, ownership.marks())
