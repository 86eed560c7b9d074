"""Value nets: small networks that evaluate positions. They are `.npz` files and need only NumPy.

A net sees the board from the mover's side, in the canonical form that a board and its mirror image share (see
`oanquan_env.engine.symmetry.canonical_sides`), so both have the same value. Each square has its own table, in which its
seeds (and a mandarin's stone) select a row. The first layer is the sum of P * (F + 1) rows for P players with F fields:

    rows of P * (F + 1) squares --sum--> units, ReLU --> SECOND units, ReLU --> future margins in points

A player's future margin is the points that it wins from here on minus the mean of the other players' points. With two
players the net outputs the mover's margin (the other margin is its negative; see `oanquan_env.search.deepening`); with
more players it outputs all P margins, the mover's first, for max^n search (`oanquan_env.search.maxn`).

    >>> from oanquan_env import Core
    >>> net = read_value_net("pretrained", "mancala-world")
    >>> net.values(Core().start()).shape
    (1,)
    >>> net.margins(Core().start()).shape
    (1, 2)
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints
from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, STONE_BYTE, Positions, turn_places
from oanquan_env.engine.rules import DEFAULT_PRESET, PRESETS, Rules, as_rules
from oanquan_env.engine.symmetry import canonical_sides
from oanquan_env.errors import UnavailableError, UsageError
from oanquan_env.files import DATA, FileError, check_format, check_readable, npz_bytes, parse_json, read_arrays

HIDDEN = 256
MULTIPLAYER_HIDDEN = 64
SECOND = 32
"""Units of the first layer for two players, of the first layer for more players, and of the second layer."""
FIELD_ROWS = 18
"""Rows of a field's table, for 0 to 17 seeds; more seeds count as 17."""
MANDARIN_ROWS = 24
"""Rows of a mandarin square's table for each number of stones, 0 or 1: 0 to 23 seeds; more seeds count as 23."""
LARGEST = 1e4
"""Largest absolute value of a weight in a file, so that all computed values are finite."""
PRETRAINED = "pretrained"
"""Name that selects the package's net for the rules, instead of a file."""
VALUE_NET_NAME = "value.npz"
"""Name of the net's file in a run's folder."""
_FORMAT = 3
_PART = 512
"""Number of positions evaluated at once, so small that intermediate results stay in a processor's cache."""

Weights = npt.NDArray[np.float32]


def side_rows(fields: int) -> int:
    """Return the number of rows in one side's tables, which are the tables of its fields and its mandarin square."""
    return fields * FIELD_ROWS + 2 * MANDARIN_ROWS


def hidden_units(players: int) -> int:
    """Return the number of units in the first layer."""
    return HIDDEN if players == 2 else MULTIPLAYER_HIDDEN


def shapes(fields: int, players: int = 2) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a net's arrays, all float32, for rules with `fields` fields per side."""
    hidden = hidden_units(players)
    return {
        "embedding": (players * side_rows(fields), hidden),
        "hidden_weight": (hidden, SECOND),
        "hidden_bias": (SECOND,),
        "output_weight": (SECOND,) if players == 2 else (SECOND, players),
        "output_bias": (1,) if players == 2 else (players,),
    }


def embedding_rows(rules: Rules, positions: Positions) -> Ints:
    """Return the (N, P * (F + 1)) row of `ValueNet.embedding` for each square, the mover's squares first."""
    sides = canonical_sides(positions, rules).view(np.uint8).reshape(len(positions), rules.players, SIDE_BYTES)
    fields, columns = rules.fields, []
    for place in range(rules.players):
        side = sides[:, place].astype(np.intp)
        begin = place * side_rows(fields)
        columns.append(begin + np.arange(fields) * FIELD_ROWS + np.minimum(side[:, :fields], FIELD_ROWS - 1))
        seeds = np.minimum(side[:, MANDARIN_BYTE], MANDARIN_ROWS - 1)
        columns.append((begin + fields * FIELD_ROWS + MANDARIN_ROWS * side[:, STONE_BYTE] + seeds)[:, None])
    return np.concatenate(columns, axis=1)


def check_weights(net: object, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise `ValueError` unless the attributes of `net` in `shapes` are float32 arrays of these shapes, in range."""
    for name, shape in shapes.items():
        array = getattr(net, name)
        if array.dtype != np.float32 or array.shape != shape:
            raise ValueError(f"{name} must be float32 of shape {shape}; got {array.dtype} of shape {array.shape}")
        if not (np.abs(array) <= LARGEST).all():
            raise ValueError(f"{name} must hold numbers from {-LARGEST:g} to {LARGEST:g}")


@dataclass(frozen=True, eq=False)
class ValueNet:
    """A net for the rules of P players with F fields each; H is `hidden_units(P)`.

    Attributes:
        rules: rules for which the net was trained.
        embedding: (P * side_rows(F), H) float32, contributions of the squares to the first layer; see `embedding_rows`.
        hidden_weight: (H, SECOND) float32.
        hidden_bias: (SECOND,) float32.
        output_weight: (SECOND,) float32, with more than two players (SECOND, P); the output is in points.
        output_bias: (1,) float32, with more than two players (P,).
        origin: how the net was made, and its measured strength; not used by evaluations.
        any_rules: whether the net was folded from a net for any rules.
    """

    rules: Rules
    embedding: Weights
    hidden_weight: Weights
    hidden_bias: Weights
    output_weight: Weights
    output_bias: Weights
    origin: dict[str, Any]
    any_rules: bool = False

    def __post_init__(self) -> None:
        check_weights(self, shapes(self.rules.fields, self.rules.players))

    def values(self, positions: Positions) -> Weights:
        """Return (N,) future margins of the movers in N running positions, in points."""
        return self._outputs(positions)[:, 0]

    def margins(self, positions: Positions) -> Weights:
        """Return the (N, P) future margins of all players in N running positions, in points, by seat."""
        margins, players = self._outputs(positions), self.rules.players
        if players == 2:
            margins = np.concatenate([margins, -margins], axis=1)
        return np.take_along_axis(margins, turn_places(positions.mover, players), axis=1)

    @functools.cached_property
    def _tables(self) -> "_Tables":
        return _Tables(self)

    def _outputs(self, positions: Positions) -> Weights:
        """Return (N, 1) margins of the movers for two players, else all (N, P) margins, the mover's first."""
        weight = self.output_weight.reshape(SECOND, -1)
        outputs, tables = np.empty((len(positions), weight.shape[1]), dtype=np.float32), self._tables
        for begin in range(0, len(positions), _PART):
            part = slice(begin, begin + _PART)
            rows = tables.rows(positions[part])
            first = tables.sums.take(rows[0], axis=0)
            for group in rows[1:]:
                first += tables.sums.take(group, axis=0)
            second = np.maximum(first, 0) @ self.hidden_weight + self.hidden_bias
            outputs[part] = np.maximum(second, 0) @ weight + self.output_bias
        return outputs

    def check_rules(self, rules: Rules) -> None:
        """Raise `UsageError` unless the net is for `rules`; the ply limit may differ."""
        if self.rules.replace(max_plies=rules.max_plies) != rules:
            raise UsageError(f"the net was trained for the rules '{self.rules}', not for '{rules}'")

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Return the net in a file's content; raise `FileError` if it is invalid."""
        try:
            data = read_arrays(content)
            rules = Rules.parse(str(data["rules"]))
            check_format(data, _FORMAT)
            arrays: dict[str, Any] = {name: data[name] for name in shapes(rules.fields, rules.players)}
            return cls(rules=rules, **arrays, origin=dict(parse_json(str(data["origin"]))))
        except KeyError as error:
            raise FileError(f"not a value net: it has no array {error}") from None
        except (ValueError, TypeError) as error:
            raise FileError(f"not a value net: {error}") from None

    def to_bytes(self) -> bytes:
        """Return the content of the net's file."""
        arrays: dict[str, Any] = {name: getattr(self, name) for name in shapes(self.rules.fields, self.rules.players)}
        arrays |= {
            "format": np.array(_FORMAT),
            "rules": np.array(str(self.rules)),
            "origin": np.array(json.dumps(self.origin)),
        }
        return npz_bytes(**arrays)


class _Tables:
    """The first layer's rows, added up for pairs of squares to halve the number of lookups.

    Attributes:
        sums: (R, H), for each pair of squares the sum of each row of the first with each row of the second.
    """

    def __init__(self, net: ValueNet) -> None:
        self._rules = net.rules
        fields, players = net.rules.fields, net.rules.players
        squares: list[tuple[dict[int, int], Weights]] = []  # rows skipped per unit of each byte, and the table
        for place in range(players):
            side = net.embedding[place * side_rows(fields) : (place + 1) * side_rows(fields)]
            own = np.split(side, FIELD_ROWS * np.arange(1, fields + 1))
            byte = place * SIDE_BYTES
            squares += [({byte + field: 1}, own[field]) for field in range(fields)]
            squares.append(({byte + MANDARIN_BYTE: 1, byte + STONE_BYTE: MANDARIN_ROWS}, own[fields]))
        if len(squares) % 2:
            squares.append(({}, np.zeros_like(net.embedding[:1])))
        tables: list[Weights] = []
        self._skips = np.zeros((players * SIDE_BYTES, len(squares) // 2), dtype=np.float32)
        self._begins = np.zeros(len(squares) // 2, dtype=np.float32)
        for group, (first, second) in enumerate(zip(squares[::2], squares[1::2], strict=True)):
            self._begins[group] = sum(map(len, tables))
            tables.append((first[1][:, None] + second[1]).reshape(-1, first[1].shape[1]))
            for byte, skip in first[0].items():
                self._skips[byte, group] = skip * len(second[1])
            for byte, skip in second[0].items():
                self._skips[byte, group] = skip
        self.sums = np.concatenate(tables)
        limits = np.zeros(SIDE_BYTES, dtype=np.uint8)
        limits[:fields], limits[MANDARIN_BYTE], limits[STONE_BYTE] = FIELD_ROWS - 1, MANDARIN_ROWS - 1, 1
        self._limits = np.tile(limits, players)

    def rows(self, positions: Positions) -> Ints:
        """Return the (G, N) row of `sums` for each pair of squares of N positions, the mover's first."""
        counts = canonical_sides(positions, self._rules).view(np.uint8)
        # A float32 product is exact for integers below 2 ** 24; 512 positions take 5 us, and 120 us as integers.
        rows: Ints = (self._skips.T @ np.minimum(counts, self._limits).T.astype(np.float32)).astype(np.intp)
        return rows + self._begins.astype(np.intp)[:, None]


def read_value_net(name: str | Path, rules: Rules | str = DEFAULT_PRESET) -> ValueNet:
    """Read a net for `rules`. Loading a file runs no code.

    `name` is a file, a run's folder that contains `VALUE_NET_NAME`, or `pretrained` for the package's own net. The ply
    limit may differ from the net's limit. Raises `FileError` if the file is missing, damaged or for other rules, and
    `UnavailableError` if the package has no `pretrained` net for the rules.
    """
    rules = as_rules(rules)
    path = value_net_path(name, rules)
    try:
        net = ValueNet.from_bytes(path.read_bytes())
        net.check_rules(rules)
    except (OSError, FileError, UsageError) as error:
        raise FileError(f"{path}: {error}") from None
    return net


def value_net_path(name: str | Path, rules: Rules) -> Path:
    """Return the path of the file that `read_value_net` reads; raise its errors if no such file exists."""
    if name != PRETRAINED:
        path = Path(name) / VALUE_NET_NAME if Path(name).is_dir() else Path(name)
        if not path.exists():
            raise FileError(f"{path}: no such file; a value net is a file, or a run's folder with {VALUE_NET_NAME}")
        check_readable(path)
        return path
    own = pretrained_path(rules)
    if not own.is_file():
        exist = ", ".join(name for name, preset in PRESETS.items() if pretrained_path(preset.rules).is_file())
        raise UnavailableError(f"the package has no value net for the rules '{rules}'; it has nets for: {exist}")
    return own


def pretrained_path(rules: Rules) -> Path:
    """Return the path of the package's net for `rules`, whatever their ply limit; the file need not exist."""
    return DATA / f"value-{rules.replace(max_plies=0).slug}.npz"
