"""A value net for any rules: it *folds* into an ordinary value net when the rules are known.

The net is the one of `oanquan_env.search.value_net` for two players with five fields, and a small network that reads
`oanquan_env.rule_sets.vector`. The small network outputs a factor and an offset for each unit of the first and of the
second layer, and an offset of the output:

    rules --CONTEXT units, ReLU--> factors and offsets of HIDDEN units, of SECOND units, and one offset in points

`AnyRulesNet.for_rules` computes them once and returns a `ValueNet`, so a node of a search costs the same as with a net
for fixed rules. With fewer than five fields, squares in the middle of a row are missing: they contribute nothing, which
differs from an empty square. Rules that sow clockwise play as anticlockwise rules on the mirrored board.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints
from oanquan_env.engine.positions import MANDARIN_BYTE, Positions
from oanquan_env.engine.rules import Rules, as_rules
from oanquan_env.errors import UnavailableError
from oanquan_env.files import DATA, FileError, check_format, npz_bytes, parse_json, read_arrays
from oanquan_env.rule_sets import LENGTH, canonical, layout, vector
from oanquan_env.search.value_net import (
    FIELD_ROWS,
    HIDDEN,
    MANDARIN_ROWS,
    PRETRAINED,
    SECOND,
    ValueNet,
    Weights,
    check_weights,
    embedding_rows,
    pretrained_path,
    read_value_net,
    side_rows,
    value_net_path,
)

ANY_RULES_NAME = "any-rules.npz"
"""Name of the net's file in a run's folder."""
ANY = "any"
"""Name that selects the package's net for any rules."""
FALLBACK_FIELDS = 3, 5
"""Numbers of fields with which `pretrained` falls back to the net for any rules. With two fields, a search sees to the
end of most games without it; with four, on which it was not trained, it can do harm."""
PRETRAINED_PATH = DATA / ANY_RULES_NAME
CONTEXT = 64
"""Number of units of the network that reads the rules."""
MISSING = 2 * side_rows(MANDARIN_BYTE)
"""The row that stands for a missing square; `AnyRulesNet.embedding` has one row less."""
PLACES = {2: (0, 4), 3: (0, 2, 4), 4: (0, 1, 3, 4), 5: (0, 1, 2, 3, 4)}
"""For each number of fields per side, the tables of the net with five fields that they use, from left to right."""
READ = (
    *("fields", "seeds", "stones", "stone_value", "mandarin_seeds", "sowing", "mandarin_ahead", "empty_mandarin"),
    *("capture", "quan_non", "first_move_captures_mandarin", "mandarin_seeds_capturable", "refill_when", "end"),
    *("leftovers", "mandarin_leftovers"),
)
"""The fields of `Rules` that the net reads: all of format 1 except those with one value, and the ply limit."""
INPUTS: Ints = np.concatenate([np.arange(LENGTH)[layout[name]] for name in READ])
"""The places in `vector` of the numbers that the net reads. A field that is added to `Rules` leaves them valid."""
PARTS = np.cumsum([HIDDEN, HIDDEN, SECOND, SECOND])
"""Where the outputs of the network that reads the rules are split: factors and offsets of both layers, and the last."""
SHAPES: dict[str, tuple[int, ...]] = {
    "embedding": (MISSING, HIDDEN),
    "hidden_weight": (HIDDEN, SECOND),
    "hidden_bias": (SECOND,),
    "output_weight": (SECOND,),
    "output_bias": (1,),
    "context_weight": (len(INPUTS), CONTEXT),
    "context_bias": (CONTEXT,),
    "change_weight": (CONTEXT, int(PARTS[-1]) + 1),
    "change_bias": (int(PARTS[-1]) + 1,),
}
_FORMAT = 1


def is_supported(rules: Rules) -> bool:
    """Return whether the rules are for two players with `refill=borrow`."""
    return rules.players == 2 and rules.refill == "borrow"


def check_supported(rules: Rules) -> None:
    """Raise `UnavailableError` unless the rules are for two players with `refill=borrow`."""
    if not is_supported(rules):
        raise UnavailableError(f"the net for any rules needs two players and refill=borrow; got the rules '{rules}'")


def inputs_of(rules: Rules) -> Weights:
    """Return the (len(INPUTS),) float32 numbers that the net reads. Equivalent and mirrored rules have the same."""
    return vector(canonical(rules))[INPUTS]


def table_rows(rules: Rules) -> Ints:
    """Return, for each row of the embedding of a `ValueNet` for `rules`, the row of `AnyRulesNet.embedding` to use."""
    fields, exchanged = PLACES[rules.fields], rules.sowing == "clockwise"
    begins = [(field * FIELD_ROWS, FIELD_ROWS) for field in (fields[::-1] if exchanged else fields)]
    parts = []
    for side in range(2):
        parts += [side * side_rows(MANDARIN_BYTE) + begin + np.arange(length) for begin, length in begins]
        mandarin = side ^ exchanged
        parts.append(mandarin * side_rows(MANDARIN_BYTE) + MANDARIN_BYTE * FIELD_ROWS + np.arange(2 * MANDARIN_ROWS))
    return np.concatenate(parts)


def any_rules_rows(rules: Rules, positions: Positions) -> npt.NDArray[np.int16]:
    """Return the (N, 12) int16 rows of `AnyRulesNet.embedding` for N positions; `MISSING` fills unused columns."""
    rows = table_rows(rules)[embedding_rows(rules, positions)]
    padded = np.full((len(rows), 2 * MANDARIN_BYTE + 2), MISSING, dtype=np.int16)
    padded[:, : rows.shape[1]] = rows
    return padded


@dataclass(frozen=True, eq=False)
class AnyRulesNet:
    """A net for all rules for two players with `refill=borrow`; `SHAPES` has the shapes of its float32 arrays.

    Attributes:
        embedding, hidden_weight, hidden_bias, output_weight, output_bias: as in `ValueNet` for five fields.
        context_weight, context_bias: the first layer of the network that reads the rules.
        change_weight, change_bias: its second layer. The outputs are split at `PARTS`.
        origin: how the net was made.
    """

    embedding: Weights
    hidden_weight: Weights
    hidden_bias: Weights
    output_weight: Weights
    output_bias: Weights
    context_weight: Weights
    context_bias: Weights
    change_weight: Weights
    change_bias: Weights
    origin: dict[str, Any]

    def __post_init__(self) -> None:
        check_weights(self, SHAPES)

    def for_rules(self, rules: Rules | str) -> ValueNet:
        """Return the net for `rules`. Raises `UnavailableError` unless they have two players and `refill=borrow`."""
        rules = as_rules(rules)
        check_supported(rules)
        context = np.maximum(inputs_of(rules) @ self.context_weight + self.context_bias, 0)
        factor, offset, second_factor, second_offset, last = np.split(
            context @ self.change_weight + self.change_bias, PARTS
        )
        embedding = self.embedding[table_rows(rules)] * (1 + factor)
        embedding[:FIELD_ROWS] += offset  # every sum has exactly one row of the first square
        return ValueNet(
            rules=rules,
            embedding=embedding,
            hidden_weight=self.hidden_weight * (1 + second_factor),
            hidden_bias=self.hidden_bias * (1 + second_factor) + second_offset,
            output_weight=self.output_weight,
            output_bias=self.output_bias + last,
            origin=self.origin,
            any_rules=True,
        )

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Return the net in a file's content; raise `FileError` if it is invalid."""
        try:
            data = read_arrays(content)
            check_format(data, _FORMAT)
            arrays = {name: data[name].astype(np.float32) for name in SHAPES}
            return cls(**arrays, origin=dict(parse_json(str(data["origin"]))))
        except KeyError as error:
            raise FileError(f"not a net for any rules: it has no array {error}") from None
        except (ValueError, TypeError) as error:
            raise FileError(f"not a net for any rules: {error}") from None

    def to_bytes(self) -> bytes:
        """Return the content of the net's file; weights are rounded to float16."""
        arrays: dict[str, Any] = {name: getattr(self, name).astype(np.float16) for name in SHAPES}
        return npz_bytes(**arrays, format=np.array(_FORMAT), origin=np.array(json.dumps(self.origin)))


def read_any_rules_net(name: str | Path = PRETRAINED) -> AnyRulesNet:
    """Read a net for any rules. Loading a file runs no code.

    `name` is a file, a run's folder that contains `ANY_RULES_NAME`, or `pretrained` for the package's own net. Raises
    `FileError` if the file is missing or damaged.
    """
    path = PRETRAINED_PATH if name == PRETRAINED else Path(name)
    path = path / ANY_RULES_NAME if path.is_dir() else path
    try:
        return AnyRulesNet.from_bytes(path.read_bytes())
    except (OSError, FileError) as error:
        raise FileError(f"{path}: {error}") from None


def net_path(name: str | Path, rules: Rules) -> Path:
    """Return the path of the file that `read_net` reads; raise its errors if no such file exists."""
    if name == ANY:
        return PRETRAINED_PATH
    helps = is_supported(rules) and rules.fields in FALLBACK_FIELDS
    if name == PRETRAINED and helps and not pretrained_path(rules).is_file():
        return PRETRAINED_PATH
    if name != PRETRAINED and (path := Path(name) / ANY_RULES_NAME).is_file():
        return path
    return Path(name) if Path(name).name == ANY_RULES_NAME else value_net_path(name, rules)


def read_net(name: str | Path, rules: Rules | str) -> ValueNet:
    """Read a value net for `rules`, which may be folded from a net for any rules. Loading a file runs no code.

    `name` is a file or a run's folder, with a net for any rules if the file's name is `ANY_RULES_NAME`; `any` for the
    package's net for any rules; or `pretrained` for the package's net for the rules or, if these have no net of their
    own but one of `FALLBACK_FIELDS`, for any rules. Raises `FileError` if the file is missing, damaged or for other
    rules, and `UnavailableError` if the package has no net for the rules.
    """
    rules = as_rules(rules)
    if name == ANY:
        check_supported(rules)
    path = net_path(name, rules)
    return read_any_rules_net(path).for_rules(rules) if path.name == ANY_RULES_NAME else read_value_net(name, rules)
