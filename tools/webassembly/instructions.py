"""Compute the sums at leaves with a WebAssembly instruction, which makes the net three times as fast.

Numba also compiles the same code for the local processor, which lacks that instruction. The code therefore calls a
stand-in function, and `build` replaces the function's name. Call `use` before importing any module that evaluates
leaves; afterwards, this process must not run a search.
"""

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

STAND_IN = "stand_in_for_dot"
INSTRUCTION = "llvm.wasm.dot"
_LENGTH = 8  # int16 values in each of the two operands


def use() -> None:
    """Use WebAssembly's dot-product instruction in all leaf code that is compiled from now on."""
    from oanquan_env.search import leaf

    llvm.add_symbol(STAND_IN, 1)  # never called
    leaf._pair_instruction = _pair_instruction


def _pair_instruction(module: Any) -> tuple[Any, int]:
    """Return the stand-in for the dot-product instruction, and the number of int16 values in each operand."""
    sums = ir.VectorType(ir.IntType(32), _LENGTH // 2)
    product = ir.FunctionType(sums, [ir.VectorType(ir.IntType(16), _LENGTH)] * 2)
    return module.globals.get(STAND_IN) or ir.Function(module, product, STAND_IN), _LENGTH
