"""The leaf's sums by an instruction of WebAssembly, which makes the net three times as fast.

Numba also compiles what LLVM turns to WebAssembly for the processor at hand, which lacks that instruction, so it calls
a function by a name that `build` exchanges. `use` comes before anything that has a leaf is imported, and the process
must search nothing.
"""

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

STAND_IN = "stand_in_for_dot"
INSTRUCTION = "llvm.wasm.dot"
_LANES = 4  # sums of the instruction, each of two products


def use() -> None:
    """Let every leaf that is compiled from here on use the instruction."""
    from oanquan_env.search import leaf

    llvm.add_symbol(STAND_IN, 1)  # nobody calls it
    leaf._Instructions._add_pairs = _add_pairs  # type: ignore[method-assign]


def _add_pairs(self: Any, left: Any, right: Any) -> Any:
    """As the method that it replaces: products of two vectors of int16, neighbours added."""
    build = self.builder
    length = left.type.count
    sums = ir.VectorType(ir.IntType(32), _LANES)
    product = ir.FunctionType(sums, [ir.VectorType(ir.IntType(16), 2 * _LANES)] * 2)
    function = build.module.globals.get(STAND_IN) or ir.Function(build.module, product, STAND_IN)
    parts = []
    for begin in range(0, length, 2 * _LANES):
        places = _indices(begin, 2 * _LANES)
        parts.append(build.call(function, [build.shuffle_vector(vector, vector, places) for vector in (left, right)]))
    while len(parts) > 1:
        joined = _indices(0, 2 * parts[0].type.count)
        parts = [build.shuffle_vector(*pair, joined) for pair in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _indices(begin: int, count: int) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(begin, begin + count)))
