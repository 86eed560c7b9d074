"""Build the modules: Numba compiles entry points to LLVM code, LLVM emits WebAssembly, and `wasm-ld` links it.

Numba must compile for a generic processor (see `__main__`), whose vectors are as wide as WebAssembly's.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba import types

from tools.webassembly import entries, searches
from tools.webassembly.entries import EntryPoint
from tools.webassembly.instructions import INSTRUCTION, STAND_IN

MODULES = {"engine.wasm": {**entries.EXPORTS, **searches.EXPORTS}, "moves.wasm": entries.EXPORTS}
"""The exports of each file. The page first loads `moves.wasm`; computer players need `engine.wasm`."""
RECORDS = {**entries.RECORDS, **searches.RECORDS}

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+nontrapping-fptoint,+sign-ext,+simd128"
STACK = 2**20
"""Size of the stack in bytes, large enough for the recursion of a search to 127 plies."""


def build(exports: Mapping[str, EntryPoint]) -> bytes:
    """Return the bytes of a WebAssembly module with these exports."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=3, features=FEATURES)
    modules = [llvm.parse_assembly(_retargeted(name, entry, target)) for name, entry in exports.items()]
    for other in modules[1:]:
        modules[0].link_in(other)
    modules[0].verify()
    return _linked(target.emit_object(modules[0]), exports)


def _retargeted(name: str, entry: EntryPoint, target: Any) -> str:
    """Return LLVM code for WebAssembly of `entry`, under the name `name`, and of all functions that it calls."""
    kinds = tuple(numba.from_dtype(RECORDS[record]) for record in entry.records)
    njit: Any = numba.njit
    function = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(entry.function)
    function.compile(types.void(*kinds))
    compiled = function.overloads[kinds]
    text = compiled.library.get_llvm_str().replace(compiled.fndesc.llvm_func_name, name).replace(STAND_IN, INSTRUCTION)
    text = re.sub("target datalayout = .*", f'target datalayout = "{target.target_data}"', text)
    text = re.sub("target triple = .*", f'target triple = "{TRIPLE}"', text)
    text = re.sub("^@.* = common .*\n", "", text, flags=re.MULTILINE)  # environments of interpreted code, unused here
    # Messages of Python exceptions contain the source's folder. Nothing reads them here, so we drop them.
    text = re.sub(r"(?m)^(@\.const\.picklebuf\.[\w.]+ = internal constant \{.*?\}) .*", r"\1 zeroinitializer", text)
    text = re.sub(r"(?m)^@\.const\.pickledata\..*\n", "", text)
    counting = re.compile(r"^(define [^\n]* void @NRT_\w+\([^\n]*\{)$.*?^\}", flags=re.MULTILINE | re.DOTALL)
    return counting.sub(r"\1\nret void\n}", text)  # empties Numba's reference counting, as no memory is freed


def _linked(code: bytes, names: Iterable[str]) -> bytes:
    exports = [f"--export={name}" for name in names]
    with tempfile.TemporaryDirectory() as folder:
        file, module = Path(folder) / "engine.o", Path(folder) / "engine.wasm"
        file.write_bytes(code)
        options = [
            "--no-entry",
            "--gc-sections",
            "--strip-all",
            "--stack-first",
            "-z",
            f"stack-size={STACK}",
            "--export=__heap_base",
            *exports,
        ]
        subprocess.run([sys.executable, "-m", "ziglang", "wasm-ld", *options, file, "-o", module], check=True)
        return module.read_bytes()
