"""A value net where alpha-beta ends: `oanquan_env.players.value_net` for one position, compiled.

Its weights lie behind the words of `compile_rules`, so that compiled functions still take one array of rules. Those of
the first two layers are rounded to int16, which takes half the memory and a third of the time of float32.

One evaluation takes some 0.22 microseconds with the vector instructions written down here, and 3.1, fourteen times as
long, as the same sums in plain Numba, whose loops LLVM does not turn into such instructions. Numba compiles for the
processor that it finds, or for `NUMBA_CPU_NAME`; without AVX-512 the same code becomes shorter vectors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from agents.search.compiled import Int64s, compiled
from oanquan_env.engine.positions import MANDARIN_BYTE, STONE_BYTE
from oanquan_env.engine.scalar import END, FIELDS, PLAYABLE
from oanquan_env.players.value_net import FIELD_ROWS, HIDDEN, MANDARIN_ROWS, SECOND, ValueNet, side_rows

NET = END + 1
"""Place in the array of rules: where the net's weights begin, 0 without a net."""
LIMIT = 8_000
"""The largest value that a net may give: below the search's infinity."""

# Places in the array of weights: first int16, then, from _FLOATS on, float32. Every side has room for five fields;
# fields that the rules do not have are empty, and add zeros.
_SIDE_ROWS = side_rows(MANDARIN_BYTE)
_HIDDEN_WEIGHT = 2 * _SIDE_ROWS * HIDDEN
_FLOATS = _HIDDEN_WEIGHT + HIDDEN * SECOND
_HIDDEN_BIAS, _OUTPUT_WEIGHT, _OUTPUT_BIAS = 0, SECOND, 2 * SECOND
_WORDS = _FLOATS // 4 + (_OUTPUT_BIAS + 2) // 2
_LANES = 16
"""Units of the second layer that one instruction adds to."""
_CHAINS = 2
"""Sums of the second layer that are added up side by side, as each addition waits for the one before."""


def with_net(rules: Int64s, net: ValueNet) -> Int64s:
    """The array of `compile_rules` for a search with `net`, aligned to cache lines, as the tables' rows are."""
    fields, begin = net.rules.fields, -(-len(rules) // 8) * 8
    spare = np.zeros(begin + _WORDS + 8, dtype=np.int64)
    words: Int64s = spare[-(spare.ctypes.data // 8) % 8 :][: begin + _WORDS]
    words[: len(rules)] = rules
    words[NET] = begin
    integers = words[begin:].view(np.int16)
    tables = integers[:_HIDDEN_WEIGHT].reshape(2, _SIDE_ROWS, HIDDEN)
    own = net.embedding.reshape(2, side_rows(fields), HIDDEN)
    own_fields, own_mandarins = np.split(np.abs(own), [fields * FIELD_ROWS], axis=1)
    largest = own_fields.reshape(2 * fields, FIELD_ROWS, HIDDEN).max(axis=1).sum(axis=0)
    largest += own_mandarins.max(axis=1).sum(axis=0)  # no sum of rows, one a square, is larger
    first_scale = _scale(largest.max(), _INT16)
    tables[:, : fields * FIELD_ROWS] = np.rint(own[:, : fields * FIELD_ROWS] * first_scale)
    tables[:, MANDARIN_BYTE * FIELD_ROWS :] = np.rint(own[:, fields * FIELD_ROWS :] * first_scale)
    weight = net.hidden_weight
    sums = largest * first_scale @ np.abs(weight)
    second_scale = min(_scale(np.abs(weight).max(), _INT16), _scale(sums.max(), _INT32))
    pairs = np.rint(weight * second_scale).reshape(HIDDEN // 2, 2, SECOND).swapaxes(1, 2)
    integers[_HIDDEN_WEIGHT:_FLOATS] = pairs.ravel()
    floats = integers[_FLOATS:].view(np.float32)
    floats[_HIDDEN_BIAS:_OUTPUT_WEIGHT] = net.hidden_bias * (first_scale * second_scale)
    floats[_OUTPUT_WEIGHT:_OUTPUT_BIAS] = net.output_weight / (first_scale * second_scale)
    floats[_OUTPUT_BIAS] = net.output_bias[0]
    return words


_INT16, _INT32 = 2**15 - 64, 2**31 - 2**20
"""Below the largest integers, by more than what rounding can add."""


def _scale(largest: float, limit: int) -> float:
    """The greatest power of two by which `largest` may be multiplied so that it stays below `limit`."""
    return 2.0 ** math.floor(math.log2(limit / max(float(largest), 1e-9)))


def _pair_instruction(module: Any) -> Any | None:
    """The processor's instruction that multiplies 2 * _LANES int16 by as many and adds neighbours; None without one."""
    if "+avx512bw" not in cpu_target.target_context.codegen()._customize_tm_features():
        return None
    name, product = (
        "llvm.x86.avx512.pmaddw.d.512",
        ir.FunctionType(_vector(_INT, _LANES), [_vector(_SHORT, 2 * _LANES)] * 2),
    )
    return module.globals.get(name) or ir.Function(module, product, name)


@intrinsic
def _evaluate_code(typing: Any, words: Any, begin: Any, own: Any, other: Any) -> Any:
    """float32(words, begin, own, other): the net's output; its weights begin at `words[begin]`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        weights = builder.bitcast(builder.gep(array.data, [arguments[1]]), _SHORT.as_pointer())
        return _Instructions(builder, weights).output(*arguments[2:])

    return types.float32(words, types.int64, types.int64, types.int64), generate


_evaluate: Any = _evaluate_code  # called without what Numba fills in
_SHORT, _INT, _LONG, _FLOAT = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()


class _Instructions:
    """Writes the instructions of one evaluation; `weights` is a pointer to int16."""

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
                row = self._load(self.weights, at, _SHORT, HIDDEN)
                first = row if first is None else build.add(first, row)
        zeros = ir.Constant(_vector(_SHORT, HIDDEN), [0] * HIDDEN)
        first = build.select(build.icmp_signed(">", first, zeros), first, zeros)
        floats = build.bitcast(build.gep(self.weights, [_int64(_FLOATS)]), _FLOAT.as_pointer())
        output = build.load(build.gep(floats, [_int64(_OUTPUT_BIAS)]), align=4)
        for part, sums in enumerate(self._second(first)):
            bias = self._load(floats, _int64(_HIDDEN_BIAS + part * _LANES), _FLOAT, _LANES)
            weights = self._load(floats, _int64(_OUTPUT_WEIGHT + part * _LANES), _FLOAT, _LANES)
            second = build.fadd(build.sitofp(sums, _vector(_FLOAT, _LANES)), bias)
            nothing = ir.Constant(_vector(_FLOAT, _LANES), [0.0] * _LANES)
            second = build.select(build.fcmp_ordered(">", second, nothing), second, nothing)
            output = build.fadd(output, self._sum(build.fmul(second, weights), _LANES))
        return output

    def _second(self, first: Any) -> list[Any]:
        """The sums of the second layer, _LANES of them in each vector, from the HIDDEN units of the first."""
        build = self.builder
        as_pairs = build.bitcast(first, _vector(_INT, HIDDEN // 2))
        units = cgutils.alloca_once_value(build, as_pairs)  # type: ignore[no-untyped-call]
        pairs = build.bitcast(units, _INT.as_pointer())
        parts = SECOND // _LANES
        sums: list[list[Any]] = [[None] * _CHAINS for _ in range(parts)]
        for pair in range(HIDDEN // 2):
            both = self._spread(build.load(build.gep(pairs, [_int64(pair)])))
            for part in range(parts):
                at = _int64(_HIDDEN_WEIGHT + 2 * (pair * SECOND + part * _LANES))
                products = self._add_pairs(both, self._load(self.weights, at, _SHORT, 2 * _LANES))
                before = sums[part][pair % _CHAINS]
                sums[part][pair % _CHAINS] = products if before is None else build.add(before, products)
        return [functools.reduce(build.add, chains) for chains in sums]

    def _add_pairs(self, left: Any, right: Any) -> Any:
        """(_LANES,) int32: products of two vectors of 2 * _LANES int16, neighbours added."""
        build = self.builder
        instruction = _pair_instruction(build.module)
        if instruction is not None:
            return build.call(instruction, [left, right])
        products = []
        for begin in (0, 1):
            places = _indices(range(begin, 2 * _LANES, 2))
            factors = [build.sext(build.shuffle_vector(v, v, places), _vector(_INT, _LANES)) for v in (left, right)]
            products.append(build.mul(*factors))
        return build.add(*products)

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

    def _load(self, begin: Any, at: Any, kind: Any, length: int) -> Any:
        pointer = self.builder.gep(begin, [at])
        return self.builder.load(self.builder.bitcast(pointer, _vector(kind, length).as_pointer()), align=4)

    def _spread(self, pair: Any) -> Any:
        """A vector of _LANES times a pair of int16."""
        nothing = ir.Constant(_vector(_INT, _LANES), ir.Undefined)
        one = self.builder.insert_element(nothing, pair, ir.Constant(_INT, 0))
        spread = self.builder.shuffle_vector(one, nothing, _indices([0] * _LANES))
        return self.builder.bitcast(spread, _vector(_SHORT, 2 * _LANES))

    def _sum(self, values: Any, length: int) -> Any:
        """The sum of a vector whose length is a power of two."""
        build = self.builder
        while length > 1:
            length //= 2
            halves = [
                build.shuffle_vector(values, values, _indices(range(begin, begin + length))) for begin in (0, length)
            ]
            values = build.fadd(*halves)
        return build.extract_element(values, ir.Constant(_INT, 0))


def _int64(value: int) -> Any:
    return ir.Constant(_LONG, value)


def _vector(kind: Any, length: int) -> Any:
    return ir.VectorType(kind, length)


def _indices(places: Sequence[int]) -> Any:
    return ir.Constant(_vector(_INT, len(places)), list(places))


_FIELD_BITS = (1 << 8 * MANDARIN_BYTE) - 1


@compiled
def reversed_fields(side: int, fields: int) -> int:
    """The fields of a side in the opposite order, without its mandarin square."""
    turned = (side & 0xFF) << 32 | (side & 0xFF00) << 16 | side & 0xFF0000 | side >> 16 & 0xFF00 | side >> 32 & 0xFF
    return turned >> 8 * (MANDARIN_BYTE - fields)


@compiled
def canonical(rules: Int64s, own: int, other: int) -> tuple[int, int]:
    """The sides of the position or of its mirror image: `engine.symmetry.canonical_sides` of one position."""
    if rules[PLAYABLE] != (1 << 2 * rules[FIELDS]) - 1:  # a mirror would turn the direction of sowing
        return own, other
    own_mirrored = reversed_fields(own, rules[FIELDS]) | other & ~_FIELD_BITS
    other_mirrored = reversed_fields(other, rules[FIELDS]) | own & ~_FIELD_BITS
    if own_mirrored < own or (own_mirrored == own and other_mirrored < other):
        return own_mirrored, other_mirrored
    return own, other


@compiled
def horizon(rules: Int64s, own: int, other: int) -> int:
    """What a running position at the horizon is worth to its mover: nothing, or what the net says, in whole points."""
    if rules[NET] == 0:
        return 0
    own, other = canonical(rules, own, other)
    value: int = math.floor(min(max(_evaluate(rules, rules[NET], own, other), -LIMIT), LIMIT) + 0.5)
    return value
