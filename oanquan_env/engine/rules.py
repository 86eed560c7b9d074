"""The rules of Ô Ăn Quan as data: a frozen dataclass of independent fields, named presets and a text form.

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
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

from oanquan_env.errors import UsageError, as_whole, read_whole

Sowing: TypeAlias = Literal["either", "counterclockwise", "anticlockwise", "clockwise"]

MAX_SEEDS = 255
"""Maximum number of seeds in play at once. The core stores the seeds of a square in one byte."""
LAP_LIMIT = 10_000
"""Laps after which a relay counts as endless (docs/RULES.md 2.2)."""
MAX_TEXT = 1000
"""The maximum length of a rules text in characters; a text with every field is about half as long."""

DEFAULT_MAX_PLIES = {2: 200, 3: 1000, 4: 1000}
"""Default of `Rules.max_plies` by number of players."""

RANGES: dict[str, tuple[int, int]] = {
    "players": (2, 4),
    "fields": (2, 5),
    "seeds": (1, MAX_SEEDS),
    "stone_value": (1, 1000),
    "mandarin_seeds": (0, MAX_SEEDS),
    "quan_non": (0, MAX_SEEDS),
    "max_plies": (1, 1_000_000),
}
"""The lowest and highest value of each numeric field of `Rules`."""

NEEDS: tuple[tuple[str, object, str, object, str], ...] = (
    ("mandarin_ahead", "take_one", "players", 2, "with more, relays can be endless"),
    ("stones", False, "end", "squares_empty", "with end=stones_captured the game is over after one move"),
    ("stones", False, "mandarin_seeds_capturable", True, "nothing on a mandarin square could be captured"),
    ("first_move_captures_mandarin", False, "stones", True, "only a stone is protected"),
    ("mandarin_seeds_capturable", False, "end", "stones_captured", "with squares_empty, games hardly end"),
    ("mandarin_seeds", 0, "stones", True, "nothing would lie on the mandarin squares"),
)
"""Requirements: a field, its value, a second field, the value that the second field must then have, and the reason."""


class RulesError(UsageError):
    """Raised for an invalid value, combination of values or rules text; the message says what is wrong."""


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise `RulesError` if the value of a field is not one of the choices."""
    if value not in choices:
        raise RulesError(f"{name} must be one of {', '.join(choices)}; got {value!r}")


def _checked(name: str, value: object) -> object:
    """Return the value of a field, a number as an int; raise `RulesError` if it is invalid."""
    if name in RANGES:
        return as_whole(name, value, *RANGES[name], error=RulesError)
    if name in CHOICES:
        check_choice(name, value, CHOICES[name])
    elif type(value) is not bool:
        raise RulesError(f"{name} must be True or False; got {value!r}")
    return value


def _parse_value(name: str, text: str) -> object:
    value: object = text
    if name in RANGES:
        value = read_whole(text)
    elif name not in CHOICES:
        value = {"True": True, "False": False}.get(text, text)
    return _checked(name, value)  # checked here, because the constructor replaces `max_plies=0` with the default


def words_of(text: str) -> list[str]:
    """Return the words of a rules text; raise `RulesError` if it has more than `MAX_TEXT` characters."""
    if len(text) > MAX_TEXT:
        raise RulesError(f"a text of rules must have at most {MAX_TEXT:,} characters; got {len(text):,}")
    return text.split()


def unknown_name(kind: str, name: str, known: tuple[str, ...]) -> str:
    """Return the error message for a name that is not in `known`; it suggests a similar known name, if any."""
    close = difflib.get_close_matches(name, known, n=1)
    meant = f" (did you mean {close[0]}?)" if close else ""
    return f"unknown {kind} {name!r}{meant}; known: {', '.join(known)}"


def field_texts(words: list[str], kind: str, names: tuple[str, ...]) -> dict[str, str]:
    """Return a dict from words like `seeds=4`; raise `RulesError` for malformed words and unknown or repeated names."""
    texts: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise RulesError(f"cannot read {word!r}: expected field=value")
        if name not in names:
            raise RulesError(unknown_name(kind, name, names))
        if name in texts:
            raise RulesError(f"the field {name} is given twice")
        texts[name] = value
    return texts


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A set of rules. The defaults are the preset `mancala-world`.

    Raises `RulesError` for a value out of range and for a combination that gives no playable game.

    Attributes:
        players: number of sides, 2-4. South is player 0 and moves first; turns pass anticlockwise.
        fields: fields (ô dân) per side, 2-5; on the ring, one mandarin square follows each side.
        seeds: seeds (dân, one point each) in each field at the start.
        stones: whether each mandarin square (ô quan) starts with a mandarin stone (quan).
        stone_value: points for a stone: 10 in all sources, 5 in a common house rule.
        mandarin_seeds: seeds in each mandarin square at the start; SON has ten seeds instead of a stone.
        sowing: allowed directions; SON sows only `counterclockwise`, for which `anticlockwise` is a synonym.
        mandarin_ahead: the effect of a non-empty mandarin square after the last seed. `stop` ends the turn
            (MW, LUDII, VI); `take_one` sows one of its seeds into the next field, and the relay goes on (SON).
        empty_mandarin: an empty mandarin square after the last seed ends the turn (`stop`: MW, LUDII,
            APP) or is a gap, behind which the mover captures (`gap`: VI, SON).
        capture: `chain` continues to capture across gaps (MW, LUDII, SON, VI), `single` does not (APP).
        quan_non: "unripe mandarin" (VI): a stone with fewer seeds than this on its square cannot be captured.
        first_move_captures_mandarin: if False, no player's first move captures a stone (requested by players).
        mandarin_seeds_capturable: if False, only the stone of a mandarin square can be captured and the
            seeds on it stay (MW's Neweco, APP).
        refill: a player that lacks points borrows to refill its row (`borrow`), or the game ends (`forfeit`).
        refill_when: a row is refilled when its owner is to move (`turn`: VI, APP) or `at_once` (MW, LUDII).
        end: the game ends when all stones are captured (`stones_captured`: LUDII, APP, MW's puzzle) or when all
            mandarin squares are empty (`squares_empty`: a sentence on MW's page, SON, VI).
        leftovers: seeds left on the fields go to the fields' `owner` (MW, LUDII, APP, VI) or are
            `split` evenly (SON).
        mandarin_leftovers: seeds left on mandarin squares go to `nobody` or are `split` evenly.
        max_plies: plies after which an unfinished game is truncated. The default 0 is replaced by 200 for two
            players and by 1,000 for more.
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
    first_move_captures_mandarin: bool = True
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
                object.__setattr__(self, name, _checked(name, value))
        if self.sowing == "anticlockwise":
            object.__setattr__(self, "sowing", "counterclockwise")
        if self.max_plies == 0:
            object.__setattr__(self, "max_plies", DEFAULT_MAX_PLIES[self.players])
        self._check_combinations()

    def _check_combinations(self) -> None:
        if self.total_seeds > MAX_SEEDS:
            raise RulesError(
                f"players * (fields * seeds + mandarin_seeds) must be at most {MAX_SEEDS} seeds; got {self.total_seeds}"
            )
        for name, value, other, needed, reason in NEEDS:
            if getattr(self, name) == value and getattr(self, other) != needed:
                raise RulesError(f"{name}={value} needs {other}={needed}: {reason}")

    @property
    def squares(self) -> int:
        """The number of squares on the ring, players * (fields + 1)."""
        return self.players * (self.fields + 1)

    @property
    def total_seeds(self) -> int:
        """The number of seeds at the start."""
        return self.players * (self.fields * self.seeds + self.mandarin_seeds)

    @property
    def total(self) -> int:
        """The total points of all seeds and stones at the start (70 by default)."""
        return self.total_seeds + self.players * self.stone_value * self.stones

    @property
    def actions(self) -> int:
        """The size of the action space, 2 * fields; action = 2 * field + direction (0 = A, 1 = C)."""
        return 2 * self.fields

    @property
    def numbers(self) -> dict[str, int]:
        """A dict of the fields with their values as integers; a named value becomes its index in `CHOICES`."""
        values = {name: getattr(self, name) for name in FIELD_NAMES}
        return {name: CHOICES[name].index(value) if name in CHOICES else int(value) for name, value in values.items()}

    @property
    def slug(self) -> str:
        """The text of the rules, adapted for use in file names."""
        return str(self).replace(" ", "-").replace("=", "-")

    @property
    def is_symmetric(self) -> bool:
        """Whether mirrored games follow the same rules, which is so for two players with `sowing="either"`."""
        return self.players == 2 and self.mirrored() == self

    def replace(self, **changes: Any) -> Rules:
        """Return a copy with some fields changed. A default ply limit changes with the number of players."""
        unknown = set(changes) - set(FIELD_NAMES)
        if unknown:
            raise RulesError(unknown_name("rules field", sorted(unknown)[0], FIELD_NAMES))
        if self.max_plies == DEFAULT_MAX_PLIES[self.players]:
            changes.setdefault("max_plies", 0)
        return dataclasses.replace(self, **changes)

    def mirrored(self) -> Rules:
        """Return the rules of the mirrored board, with the two sowing directions exchanged."""
        exchange: dict[Sowing, Sowing] = {"counterclockwise": "clockwise", "clockwise": "counterclockwise"}
        return self.replace(sowing=exchange.get(self.sowing, self.sowing))

    def differences(self, base: Rules) -> dict[str, Any]:
        """Return the fields that differ from `base`, with their values here; two default ply limits count as equal."""
        expected = {name: getattr(base, name) for name in FIELD_NAMES}
        if base.max_plies == DEFAULT_MAX_PLIES[base.players]:
            expected["max_plies"] = DEFAULT_MAX_PLIES[self.players]
        return {name: getattr(self, name) for name in FIELD_NAMES if getattr(self, name) != expected[name]}

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Read `[preset] [field=value ...]`, as in `"vietnamese stone_value=5 quan_non=5"`; inverse of `str`.

        Without a preset, the fields change `mancala-world`. Raises `RulesError` if the text is invalid.
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
"""The allowed values of each field whose values have names."""


@dataclass(frozen=True)
class Preset:
    """A named set of rules, and the source that it follows."""

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
    """Return `rules` itself, or the rules that a text describes."""
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return Rules.parse(rules)
    raise TypeError(f"rules must be a Rules or a text such as 'mancala-world', not {type(rules).__name__}")
