"""The settings of a match (docs/RULES.md 6)."""

import dataclasses
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias, get_args

from oanquan_env.engine.rules import Rules, RulesError, check_choice, field_texts, words_of
from oanquan_env.errors import as_whole, read_whole

MatchMeasure: TypeAlias = Literal["lack", "margin"]

RANGES = {"fields_to_lose": (1, 5), "max_rounds": (1, 1_000_000)}
"""The lowest and highest value of each numeric setting."""


@dataclass(frozen=True, kw_only=True)
class MatchRules:
    """The settings of a match. Raises `RulesError` for an invalid value.

    Attributes:
        match_measure: the debt for which the loser of a round sells fields. `lack` (MW, SON): by how many points the
            loser is below half of all points, or the winner above half, whichever is less. `margin` (LUDII's wording):
            the difference of the scores.
        fields_to_lose: number of sold fields with which a player loses the match, 1-5; 3 or 4 in MW.
        max_rounds: number of rounds after which a match is drawn.
    """

    match_measure: MatchMeasure = "lack"
    fields_to_lose: int = 3
    max_rounds: int = 50

    def __post_init__(self) -> None:
        check_choice("match_measure", self.match_measure, get_args(MatchMeasure))
        for name, bounds in RANGES.items():
            object.__setattr__(self, name, as_whole(name, getattr(self, name), *bounds, error=RulesError))

    def check(self, rules: Rules) -> None:
        """Raise `RulesError` if no match can be played under `rules`."""
        if rules.players != 2:
            raise RulesError(f"match play needs players=2, not {rules.players}")
        if self.fields_to_lose > rules.fields:
            raise RulesError(f"fields_to_lose must be at most fields={rules.fields}; got {self.fields_to_lose}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a text such as `"fields_to_lose=4"`; omitted settings get their defaults. Inverse of `str`."""
        names = tuple(field.name for field in dataclasses.fields(cls))
        texts = field_texts(words_of(text), "match rule", names)
        values = {name: read_whole(value) if name in RANGES else value for name, value in texts.items()}
        return cls(**values)  # type: ignore[arg-type]  # the class checks the values

    def __str__(self) -> str:
        return " ".join(f"{field.name}={getattr(self, field.name)}" for field in dataclasses.fields(self))


def as_match_rules(rules: MatchRules | str) -> MatchRules:
    """Return `rules` itself, or the match rules that a text describes."""
    return MatchRules.parse(rules) if isinstance(rules, str) else rules
