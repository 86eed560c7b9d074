"""The rules of Ô Ăn Quan as data: one frozen dataclass of orthogonal fields, named presets, a text form.

Sources, by the short names used throughout the package:

- **MW**: Mancala World, "Ô Ăn Quan" (after Ngô Quý Sơn 1944 and Wikipedia user Neweco).
- **SON**: Ngô Quý Sơn, *Activité de la société enfantine annamite du Tonkin* (1944), pp. 31-32 of the 1985 reprint.
- **LUDII**: the text of the Ludii portal's page "O An Quan" (DLP.Games.418).
- **APP**: the mobile game "mandarin square capturing" (timid561991, 2021) and the text that it quotes.
- **VI**: the Vietnamese rule texts after Vietnamese Wikipedia.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

from oanquan_env.errors import UsageError

Sowing: TypeAlias = Literal["either", "counterclockwise", "anticlockwise", "clockwise"]

MAX_SEEDS = 255
"""Most seeds that a game may set up: a square's count is one byte of the core's packed rows."""
MAX_TEXT = 1000
"""Most characters of a text of rules; one that names every field has half as many."""

DEFAULT_MAX_PLIES = {2: 200, 3: 1000, 4: 1000}
"""Ply limit by number of players, where `Rules.max_plies` is left out."""

RANGES: dict[str, tuple[int, int]] = {
    "players": (2, 4),
    "fields": (2, 5),
    "seeds": (1, MAX_SEEDS),
    "stone_value": (1, 1000),
    "mandarin_seeds": (0, MAX_SEEDS),
    "quan_non": (0, MAX_SEEDS),
    "max_plies": (1, 1_000_000),
}
"""The lowest and the highest value of the fields of `Rules` that are numbers."""

NEEDS: tuple[tuple[str, object, str, object, str], ...] = (
    ("mandarin_ahead", "take_one", "players", 2, "with more, relays can be endless"),
    ("stones", False, "end", "squares_empty", "with end=stones_captured the game is over after one move"),
    ("stones", False, "mandarin_seeds_capturable", True, "nothing on a mandarin square could be captured"),
    ("mandarin_seeds_capturable", False, "end", "stones_captured", "with squares_empty, games hardly end"),
    ("mandarin_seeds", 0, "stones", True, "nothing would lie on the mandarin squares"),
)
"""A field and its value, another field and the value that it then must have, and the reason."""


class RulesError(UsageError):
    """A value, a combination of values or a text that makes no rules; the message names the field."""


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise `RulesError` for a field's value that is not among the choices."""
    if value not in choices:
        raise RulesError(f"{name} must be one of {', '.join(choices)}; got {value!r}")


def check_number(name: str, value: object, low: int, high: int) -> None:
    """Raise `RulesError` for a field's value that is no whole number, or out of range."""
    if type(value) is not int or not low <= value <= high:
        raise RulesError(f"{name} must be a whole number from {low} to {high}; got {value!r}")


def number_of(text: str) -> int | str:
    """The whole number that a text is; any other text itself, for `check_number` to refuse."""
    return int(text) if re.fullmatch(r"-?[0-9]+", text) else text


def _check_value(name: str, value: object) -> None:
    if name in CHOICES:
        check_choice(name, value, CHOICES[name])
    elif name in RANGES:
        check_number(name, value, *RANGES[name])
    elif type(value) is not bool:
        raise RulesError(f"{name} must be True or False; got {value!r}")


def _parse_value(name: str, text: str) -> object:
    value: object = text
    if name in RANGES:
        value = number_of(text)
    elif name not in CHOICES:
        value = {"True": True, "False": False}.get(text, text)
    _check_value(name, value)  # before the constructor, to which 0 for `max_plies` is no number of plies
    return value


def words_of(text: str) -> list[str]:
    """The words of a text of rules; raises `RulesError` for one that is far too long, before anything reads it."""
    if len(text) > MAX_TEXT:
        raise RulesError(f"rules are written in at most {MAX_TEXT:,} characters; got {len(text):,}")
    return text.split()


def unknown_name(kind: str, name: str, known: tuple[str, ...]) -> str:
    """The message for a name that is not among the `known` ones, with the nearest of them."""
    close = difflib.get_close_matches(name, known, n=1)
    meant = f" (did you mean {close[0]}?)" if close else ""
    return f"unknown {kind} {name!r}{meant}; known: {', '.join(known)}"


def field_texts(words: list[str], kind: str, names: tuple[str, ...]) -> dict[str, str]:
    """Name -> value of words such as `seeds=4`; raises `RulesError` for other words, and for a name given twice."""
    texts: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise RulesError(f"cannot read {word!r}: expected field=value")
        if name not in names:
            raise RulesError(unknown_name(kind, name, names))
        if name in texts:
            raise RulesError(f"{name} is given twice")
        texts[name] = value
    return texts


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One set of rules. Equal fields mean equal rules; the defaults are the preset `mancala-world`.

    Raises `RulesError` for a value out of range and for combinations that make no game.

    Attributes:
        players: number of sides, 2-4. South is player 0 and moves first; turns pass anticlockwise.
        fields: fields (ô dân) a side, 2-5; a side is followed on the ring by one mandarin square.
        seeds: seeds (dân, one point each) in each field at the start.
        stones: whether each mandarin square (ô quan) starts with a mandarin stone (quan).
        stone_value: points of a stone: 10 in all sources, 5 in a common house rule.
        mandarin_seeds: seeds in each mandarin square at the start; SON plays ten seeds for a stone.
        sowing: direction of play; SON sows only `counterclockwise`. `anticlockwise` means the same and becomes it.
        mandarin_ahead: what a non-empty mandarin square after the last seed does. `stop` ends the turn
            (MW, LUDII, VI); `take_one` lifts one seed of it into the next field and goes on (SON).
        empty_mandarin: an empty mandarin square after the last seed ends the turn (`stop`: MW, LUDII,
            APP) or is a gap over which one captures (`gap`: VI, SON).
        capture: `chain` goes on capturing across gaps (MW, LUDII, SON, VI), `single` does not (APP).
        quan_non: "unripe mandarin" (VI): a stone with fewer seeds than this on its square is safe.
        mandarin_seeds_capturable: if false, only the stone of a mandarin square can be taken and the
            seeds on it stay (MW's Neweco, APP).
        refill: a player without points borrows to refill its row, or the game ends (`forfeit`).
        refill_when: a row is refilled when its owner is to move (`turn`: VI, APP) or `at_once` (MW, LUDII).
        end: the game ends when all stones are captured (LUDII, APP, MW's puzzle) or when all mandarin
            squares are empty (MW's sentence, SON, VI).
        leftovers: seeds left on the fields go to the fields' `owner` (MW, LUDII, APP, VI) or are
            `split` evenly (SON).
        mandarin_leftovers: seeds left on mandarin squares go to `nobody` or are `split` evenly.
        max_plies: plies after which an unfinished game is truncated. Left out (0), it becomes 200 for two
            players and 1,000 for more; it never reads 0 afterwards.
    """

    players: int = 2
    fields: int = 5
    seeds: int = 5
    stones: bool = True
    stone_value: int = 10
    mandarin_seeds: int = 0
    sowing: Sowing = "either"
    mandarin_ahead: Literal["stop", "take_one"] = "stop"
    empty_mandarin: Literal["stop", "gap"] = "stop"
    capture: Literal["chain", "single"] = "chain"
    quan_non: int = 0
    mandarin_seeds_capturable: bool = True
    refill: Literal["borrow", "forfeit"] = "borrow"
    refill_when: Literal["turn", "at_once"] = "turn"
    end: Literal["stones_captured", "squares_empty"] = "stones_captured"
    leftovers: Literal["owner", "split"] = "owner"
    mandarin_leftovers: Literal["nobody", "split"] = "nobody"
    max_plies: int = 0

    def __post_init__(self) -> None:
        for name in FIELD_NAMES:
            value = getattr(self, name)
            if (name, value, type(value)) != ("max_plies", 0, int):
                _check_value(name, value)
        if self.sowing == "anticlockwise":
            object.__setattr__(self, "sowing", "counterclockwise")
        if self.max_plies == 0:
            object.__setattr__(self, "max_plies", DEFAULT_MAX_PLIES[self.players])
        self._check_combinations()

    def _check_combinations(self) -> None:
        if self.total_seeds > MAX_SEEDS:
            raise RulesError(
                f"players * (fields * seeds + mandarin_seeds) is {self.total_seeds} seeds; at most {MAX_SEEDS}"
            )
        for name, value, other, needed, reason in NEEDS:
            if getattr(self, name) == value and getattr(self, other) != needed:
                raise RulesError(f"{name}={value} needs {other}={needed}: {reason}")

    @property
    def squares(self) -> int:
        """Squares of the ring, players * (fields + 1)."""
        return self.players * (self.fields + 1)

    @property
    def total_seeds(self) -> int:
        """Seeds at the start."""
        return self.players * (self.fields * self.seeds + self.mandarin_seeds)

    @property
    def total(self) -> int:
        """Points in the game: seeds and stones at the start (70 by default)."""
        return self.total_seeds + self.players * self.stone_value * self.stones

    @property
    def actions(self) -> int:
        """Size of the action space, 2 * fields; action = 2 * field + direction (0 = A, 1 = C)."""
        return 2 * self.fields

    @property
    def numbers(self) -> dict[str, int]:
        """The fields as whole numbers: of a value with a name its place among the choices, from 0."""
        values = {name: getattr(self, name) for name in FIELD_NAMES}
        return {name: CHOICES[name].index(value) if name in CHOICES else int(value) for name, value in values.items()}

    @property
    def slug(self) -> str:
        """The rules' text as a part of a file's name."""
        return str(self).replace(" ", "-").replace("=", "-")

    @property
    def is_symmetric(self) -> bool:
        """Whether a game and its mirror image are played by the same rules: two players, both directions of sowing."""
        return self.players == 2 and self.mirrored() == self

    def replace(self, **changes: Any) -> Rules:
        """A copy with some fields changed. A ply limit that was the default for the number of players stays so."""
        unknown = set(changes) - set(FIELD_NAMES)
        if unknown:
            raise RulesError(unknown_name("rules field", sorted(unknown)[0], FIELD_NAMES))
        if self.max_plies == DEFAULT_MAX_PLIES[self.players]:
            changes.setdefault("max_plies", 0)
        return dataclasses.replace(self, **changes)

    def mirrored(self) -> Rules:
        """The rules of the mirrored board: the two sowing directions exchanged."""
        exchange: dict[Sowing, Sowing] = {"counterclockwise": "clockwise", "clockwise": "counterclockwise"}
        return self.replace(sowing=exchange.get(self.sowing, self.sowing))

    def differences(self, base: Rules) -> dict[str, Any]:
        """The fields, in order, that `base` needs changed to become these rules."""
        expected = {name: getattr(base, name) for name in FIELD_NAMES}
        if base.max_plies == DEFAULT_MAX_PLIES[base.players]:
            expected["max_plies"] = DEFAULT_MAX_PLIES[self.players]
        return {name: getattr(self, name) for name in FIELD_NAMES if getattr(self, name) != expected[name]}

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Read `[preset] [field=value ...]`, as in `"vietnamese stone_value=5 quan_non=5"`; inverse of `str`.

        Without a preset the fields change `mancala-world`. Raises `RulesError` naming the word that is wrong.
        """
        words = words_of(text)
        name = words.pop(0) if words and "=" not in words[0] else DEFAULT_PRESET
        if name not in PRESETS:
            raise RulesError(unknown_name("preset", name, tuple(PRESETS)))
        texts = field_texts(words, "rules field", FIELD_NAMES)
        changes = {field: _parse_value(field, texts[field]) for field in FIELD_NAMES if field in texts}
        return PRESETS[name].rules.replace(**changes)

    def __str__(self) -> str:
        name, changes = min(
            ((name, self.differences(preset.rules)) for name, preset in PRESETS.items()), key=lambda item: len(item[1])
        )
        return " ".join([name, *(f"{field}={value}" for field, value in changes.items())])


FIELD_NAMES: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(Rules))
CHOICES = {name: choices for name, kind in get_type_hints(Rules).items() if (choices := get_args(kind))}
"""The values of the fields that have names."""


@dataclass(frozen=True)
class Preset:
    """Named rules and the source that they follow."""

    rules: Rules
    source: str


DEFAULT_PRESET = "mancala-world"
PRESETS: dict[str, Preset] = {
    "mancala-world": Preset(Rules(), "MW: Mancala World, decided by the worked puzzle on its page"),
    "tonkin": Preset(
        Rules(
            stones=False,
            mandarin_seeds=10,
            sowing="counterclockwise",
            mandarin_ahead="take_one",
            empty_mandarin="gap",
            end="squares_empty",
            leftovers="split",
        ),
        "SON: Ngô Quý Sơn 1944, the children's game of Tonkin",
    ),
    "vietnamese": Preset(
        Rules(empty_mandarin="gap", end="squares_empty"), "VI: Vietnamese rule texts after Vietnamese Wikipedia"
    ),
    "ludii": Preset(Rules(refill_when="at_once"), "LUDII: the text of the Ludii portal, DLP.Games.418"),
    "app": Preset(Rules(capture="single"), 'APP: the mobile game "mandarin square capturing" (2021)'),
    "three-player": Preset(Rules(players=3), "MW's rules on a triangle of 18 squares"),
    "four-player": Preset(Rules(players=4), "MW's rules on a square of 24 squares"),
}


def as_rules(rules: Rules | str) -> Rules:
    """`rules` itself, or the rules that its text names."""
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return Rules.parse(rules)
    raise TypeError(f"rules must be a Rules or a text such as 'mancala-world', not {type(rules).__name__}")
