"""A value net where alpha-beta ends: `oanquan_env.players.value_net` for one position, compiled.

Its weights lie as float32 behind the words of `compile_rules`, so that compiled functions still take one array of
rules. What it computes is written down as vector instructions: left to itself, LLVM makes loops of these sums that take
ten times as long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from agents.search.compiled import Int64s, compiled
from oanquan_env.players.value_net import FIELD_ROWS, HIDDEN, MANDARIN_ROWS, SECOND, ValueNet, side_rows
from oanquan_env.positions import MANDARIN_BYTE, STONE_BYTE
from oanquan_env.scalar import END

NET = END + 1
"""Place in the array of rules: where the net's weights begin, 0 without a net."""
LIMIT = 8_000
"""The largest value that a net may give: below the search's infinity."""

# Places in the array of weights, in floats. Every side has room for five fields; fields that the rules do not have are
# empty, and add zeros.
_SIDE_ROWS = side_rows(MANDARIN_BYTE)
_HIDDEN_WEIGHT = 2 * _SIDE_ROWS * HIDDEN
_HIDDEN_BIAS = _HIDDEN_WEIGHT + HIDDEN * SECOND
_OUTPUT_WEIGHT = _HIDDEN_BIAS + SECOND
_OUTPUT_BIAS = _OUTPUT_WEIGHT + SECOND
_WORDS = (_OUTPUT_BIAS + SECOND) // 2
_CHAINS = 4
"""Sums of the second layer that are added up side by side, as each addition waits for the one before."""


def with_net(rules: Int64s, net: ValueNet) -> Int64s:
    """The array of `compile_rules` for a search with `net`, aligned to cache lines, as the tables' rows are."""
    fields, begin = net.rules.fields, -(-len(rules) // 8) * 8
    spare = np.zeros(begin + _WORDS + 8, dtype=np.int64)
    words: Int64s = spare[-(spare.ctypes.data // 8) % 8 :][: begin + _WORDS]
    words[: len(rules)] = rules
    words[NET] = begin
    floats = words[begin:].view(np.float32)
    tables = floats[:_HIDDEN_WEIGHT].reshape(2, _SIDE_ROWS, HIDDEN)
    own = net.embedding.reshape(2, side_rows(fields), HIDDEN)
    tables[:, : fields * FIELD_ROWS] = own[:, : fields * FIELD_ROWS]
    tables[:, MANDARIN_BYTE * FIELD_ROWS :] = own[:, fields * FIELD_ROWS :]
    floats[_HIDDEN_WEIGHT:_HIDDEN_BIAS] = net.hidden_weight.ravel()
    floats[_HIDDEN_BIAS:_OUTPUT_WEIGHT] = net.hidden_bias
    floats[_OUTPUT_WEIGHT:_OUTPUT_BIAS] = net.output_weight
    floats[_OUTPUT_BIAS] = net.output_bias[0]
    return words


@intrinsic
def _evaluate_code(typing: Any, words: Any, begin: Any, own: Any, other: Any) -> Any:
    """float32(words, begin, own, other): the net's output; its weights begin at `words[begin]`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        weights = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.FloatType().as_pointer())
        return _Instructions(builder, weights).output(*arguments[2:])

    return types.float32(words, types.int64, types.int64, types.int64), generate


_evaluate: Any = _evaluate_code  # called without what Numba fills in


class _Instructions:
    """Writes the instructions of one evaluation; `weights` is a pointer to floats."""

    def __init__(self, builder: Any, weights: Any) -> None:
        self.builder = builder
        self.weights = weights

    def output(self, own: Any, other: Any) -> Any:
        """The net's output for the mover's side and the other's."""
        build = self.builder
        first = None
        for place, side in enumerate((own, other)):
            for byte in range(MANDARIN_BYTE + 1):
                at = self._place(side, byte, (place * _SIDE_ROWS + byte * FIELD_ROWS) * HIDDEN)
                row = self._load(at, HIDDEN)
                first = row if first is None else build.fadd(first, row)
        first = self._relu(first, HIDDEN)
        sums: list[Any] = [self._load(_int64(_HIDDEN_BIAS), SECOND)] + [None] * (_CHAINS - 1)
        for unit in range(HIDDEN):
            weights = self._load(_int64(_HIDDEN_WEIGHT + unit * SECOND), SECOND)
            part = build.fmul(self._spread(build.extract_element(first, _int32(unit))), weights, flags=("contract",))
            chain = unit % _CHAINS
            sums[chain] = part if sums[chain] is None else build.fadd(sums[chain], part, flags=("contract",))
        while len(sums) > 1:
            sums = [build.fadd(*pair) for pair in zip(sums[::2], sums[1::2], strict=True)]
        parts = build.fmul(self._relu(sums[0], SECOND), self._load(_int64(_OUTPUT_WEIGHT), SECOND))
        bias = build.load(build.gep(self.weights, [_int64(_OUTPUT_BIAS)]), align=4)
        return build.fadd(self._sum(parts, SECOND), bias)

    def _place(self, side: Any, byte: int, table: int) -> Any:
        """Where the row of a square begins, whose table begins at `table`."""
        build = self.builder
        most = _int64(FIELD_ROWS - 1 if byte < MANDARIN_BYTE else MANDARIN_ROWS - 1)
        seeds = build.and_(build.lshr(side, _int64(8 * byte)), _int64(255))
        row = build.select(build.icmp_unsigned("<", seeds, most), seeds, most)
        if byte == MANDARIN_BYTE:
            stone = build.lshr(side, _int64(8 * STONE_BYTE))
            row = build.add(row, build.mul(stone, _int64(MANDARIN_ROWS)))
        return build.add(build.mul(row, _int64(HIDDEN)), _int64(table))

    def _load(self, at: Any, length: int) -> Any:
        pointer = self.builder.gep(self.weights, [at])
        return self.builder.load(self.builder.bitcast(pointer, _vector(length).as_pointer()), align=4)

    def _relu(self, values: Any, length: int) -> Any:
        zeros = ir.Constant(_vector(length), [0.0] * length)
        return self.builder.select(self.builder.fcmp_ordered(">", values, zeros), values, zeros)

    def _spread(self, value: Any) -> Any:
        """A vector of SECOND times `value`."""
        nothing = ir.Constant(_vector(SECOND), ir.Undefined)
        one = self.builder.insert_element(nothing, value, _int32(0))
        return self.builder.shuffle_vector(one, nothing, _indices(range(1), SECOND))

    def _sum(self, values: Any, length: int) -> Any:
        """The sum of a vector whose length is a power of two."""
        build = self.builder
        while length > 1:
            length //= 2
            halves = [
                build.shuffle_vector(values, values, _indices(range(begin, begin + length))) for begin in (0, length)
            ]
            values = build.fadd(*halves)
        return build.extract_element(values, _int32(0))


def _int64(value: int) -> Any:
    return ir.Constant(ir.IntType(64), value)


def _int32(value: int) -> Any:
    return ir.Constant(ir.IntType(32), value)


def _vector(length: int) -> Any:
    return ir.VectorType(ir.FloatType(), length)


def _indices(places: range, times: int = 1) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(places) * times), list(places) * times)


@compiled
def horizon(rules: Int64s, own: int, other: int) -> int:
    """What a running position at the horizon is worth to its mover: nothing, or what the net says, in whole points."""
    if rules[NET] == 0:
        return 0
    value: int = math.floor(min(max(_evaluate(rules, rules[NET], own, other), -LIMIT), LIMIT) + 0.5)
    return value


@compiled
def net_values(rules: Int64s, sides: Int64s, values: npt.NDArray[np.float32]) -> None:
    """What the net says of M positions, not rounded: (M, 2) sides, the mover's first; (M,) values."""
    for row in range(len(sides)):
        values[row] = _evaluate(rules, rules[NET], sides[row, 0], sides[row, 1])
