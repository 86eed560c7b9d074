"""Proved bounds of a value, and the limit of values in files."""

from __future__ import annotations

import math
from typing import NamedTuple

MOST_POINTS = 100_000
"""Limit on the absolute value of a number in the file of a suite or of opening values; no margin comes near it."""


class Bounds(NamedTuple):
    """Proved bounds of a value in points, from the mover's view; a bound that is not proved is infinite."""

    lower: float = -math.inf
    upper: float = math.inf

    @property
    def meet(self) -> bool:
        """Whether the value is proved."""
        return self.lower == self.upper

    def before(self, gain: float) -> Bounds:
        """Return the mover's bounds for a move that gains `gain` points, if these are the bounds of the next mover."""
        return Bounds(gain - self.upper, gain - self.lower)

    def within(self, other: Bounds) -> Bounds:
        """Return the intersection: the greater lower bound and the smaller upper bound."""
        return Bounds(max(self.lower, other.lower), min(self.upper, other.upper))

    def __str__(self) -> str:
        if self.meet:
            return f"{self.lower:+.0f}"
        if math.isinf(self.lower) and math.isinf(self.upper):
            return "unknown"
        if math.isinf(self.upper):
            return f"{self.lower:+.0f} or more"
        return f"{self.upper:+.0f} or less" if math.isinf(self.lower) else f"{self.lower:+.0f} to {self.upper:+.0f}"
