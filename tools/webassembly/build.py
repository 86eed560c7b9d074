"""Makes modules of the entries: Numba compiles them, LLVM turns its code to WebAssembly, `wasm-ld` links it.

Numba must compile for a generic processor (see `__main__`), whose vectors are as wide as those of WebAssembly.
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
from tools.webassembly.entries import Entry
from tools.webassembly.instructions import INSTRUCTION, STAND_IN

MODULES = {"engine.wasm": {**entries.EXPORTS, **searches.EXPORTS}, "moves.wasm": entries.EXPORTS}
"""The exports of each file. The page begins with the smaller one; players of the page need the other."""
RECORDS = {**entries.RECORDS, **searches.RECORDS}

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+nontrapping-fptoint,+sign-ext,+simd128"
STACK = 2**20
"""Bytes: a search of 127 plies calls itself as often."""


def build(exports: Mapping[str, Entry]) -> bytes:
    """The content of a module."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=3, features=FEATURES)
    modules = [llvm.parse_assembly(_retargeted(name, entry, target)) for name, entry in exports.items()]
    for other in modules[1:]:
        modules[0].link_in(other)
    modules[0].verify()
    return _linked(target.emit_object(modules[0]), exports)


def _retargeted(name: str, entry: Entry, target: Any) -> str:
    """The code of an entry, under that name, and of all that it calls, for WebAssembly."""
    kinds = tuple(numba.from_dtype(RECORDS[record]) for record in entry.records)
    njit: Any = numba.njit
    function = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(entry.function)
    function.compile(types.void(*kinds))
    compiled = function.overloads[kinds]
    text = compiled.library.get_llvm_str().replace(compiled.fndesc.llvm_func_name, name).replace(STAND_IN, INSTRUCTION)
    text = re.sub("target datalayout = .*", f'target datalayout = "{target.target_data}"', text)
    text = re.sub("target triple = .*", f'target triple = "{TRIPLE}"', text)
    text = re.sub("^@.* = common .*\n", "", text, flags=re.MULTILINE)  # the environments of interpreted code
    # Errors for Python name the folder of their source. Nobody reads them.
    text = re.sub(r"(?m)^(@\.const\.picklebuf\.[\w.]+ = internal constant \{.*?\}) .*", r"\1 zeroinitializer", text)
    text = re.sub(r"(?m)^@\.const\.pickledata\..*\n", "", text)
    counting = re.compile(r"^(define [^\n]* void @NRT_\w+\([^\n]*\{)$.*?^\}", flags=re.MULTILINE | re.DOTALL)
    return counting.sub(r"\1\nret void\n}", text)  # of references to memory that nobody frees


def _linked(code: bytes, names: Iterable[str]) -> bytes:
    exports = [f"--export={name}" for name in names]
    with tempfile.TemporaryDirectory() as folder:
        file, made = Path(folder) / "engine.o", Path(folder) / "engine.wasm"
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
        subprocess.run([sys.executable, "-m", "ziglang", "wasm-ld", *options, file, "-o", made], check=True)
        return made.read_bytes()
