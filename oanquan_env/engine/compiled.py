"""Compile functions and make rule records with Numba. The core imports this module only if needed: Numba loads slowly.

Compiled functions are cached on disk, next to the sources or in NUMBA_CACHE_DIR, until a source of the engine, the
environments, the search or the proofs changes.
"""

import contextlib
import functools
import hashlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, cast, get_type_hints

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.typeinfer import register_dispatcher
from numba.extending import intrinsic, overload, register_jitable

from oanquan_env.engine import move, observe, scoring, step, tables
from oanquan_env.engine.move import Far, RuleNumbers, Sowing, Walk, plain_numbers, rule_numbers
from oanquan_env.engine.observe import vector_type
from oanquan_env.engine.positions import MANDARIN_BYTE
from oanquan_env.engine.rules import RANGES, Rules
from oanquan_env.engine.tables import COUNT_STRIDE, DIRECTION_STRIDE

Int64s: TypeAlias = npt.NDArray[np.int64]
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


# ---- compiling -------------------------------------------------------------------------------------------------------


def compiled(function: FunctionT) -> FunctionT:
    """Compile a function with `numba.njit`, caching it on disk and releasing the GIL. Its static type is unchanged."""
    return _compiled((), function)


def inlined(function: FunctionT) -> FunctionT:
    """Let Numba inline a function into its compiled callers; it stays a plain Python function elsewhere."""
    # Without a wrapper for calls from C, which nobody makes, the engine compiles in 7 % less time
    inline: Any = register_jitable(error_model="numpy", forceinline=True, no_cfunc_wrapper=True)
    return cast(FunctionT, inline(function))


def compiled_recursion(signature: Any) -> Callable[[FunctionT], FunctionT]:
    """Return a decorator like `compiled` for a recursive function; caching it needs a signature (numba #6061)."""
    return functools.partial(_compiled, (signature,))


def _compiled(signature: tuple[Any, ...], function: FunctionT) -> FunctionT:
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    if hasattr(dispatcher, "_cache"):  # under NUMBA_DISABLE_JIT it is the function itself
        try:
            dispatcher._cache = _Cache(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            _say_once("no cache folder is writable, so each program compiles the engine again: set NUMBA_CACHE_DIR")
        with register_dispatcher(dispatcher):  # a recursive function can then look itself up while it is compiled
            for kinds in signature:
                dispatcher.compile(kinds)
                dispatcher.disable_compile()
    return cast(FunctionT, dispatcher)


class _CacheFile(IndexDataCacheFile):
    """Numba's cache files, with names that depend on the signature.

    Numba itself numbers the files. If two processes compile different signatures at once, both use the same number, and
    a program that later follows the index may load the code of the other signature and crash.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save the compiled code for a signature."""
        overloads = self._load_index()  # type: ignore[no-untyped-call]
        number = int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:6])
        overloads[key] = self._data_name(number)  # type: ignore[no-untyped-call]
        self._save_index(overloads)  # type: ignore[no-untyped-call]
        self._save_data(overloads[key], data)  # type: ignore[no-untyped-call]


class _Cache(FunctionCache):
    """A Numba cache that also notices changes in other sources; Numba itself checks only the function's own file.

    It compares file contents, because the modification times change with every checkout.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file.__class__ = _CacheFile
        self._cache_file._source_stamp = _digest() + _digest_of(function.__code__.co_filename)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached code for a signature, or None; a damaged file counts as missing and is rewritten."""
        try:
            overload = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # unpickling damaged bytes can raise anything
            overload = None
            with contextlib.suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
        if overload is None:
            _say_once("compiling, which can take half a minute; later runs reuse the result")
        return overload


def _symbol_of(kind: types.Record) -> tuple[str, tuple[str]]:
    """Return the name and arguments that identify a record type in linker symbols; they depend only on its fields.

    Numba numbers record types in the order in which a program meets them. Two programs can therefore cache code for
    different records under the same symbols, and a third program that loads both calls the wrong code.
    """
    return "Record", (hashlib.sha256(kind.name.encode()).hexdigest()[:16],)


types.Record.mangling_args = property(_symbol_of)  # type: ignore[method-assign, assignment]


@functools.cache
def _digest() -> str:
    """Return the hash of all sources of the package that hold compiled functions."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parents[1].rglob("*.py")):
        if source.parent.name in ("engine", "envs", "proofs", "search"):
            digest.update(source.read_bytes())
    return digest.hexdigest()


@functools.cache
def _digest_of(file: str) -> str:
    """Return the hash of a function's own file, which may lie outside the package."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


@functools.cache
def _say_once(text: str) -> None:
    print(f"oanquan: {text}", file=sys.stderr)


def inline_marked(module: ModuleType) -> None:
    """Let Numba inline the functions of a module that `tables.inline` marks."""
    for function in vars(module).values():
        if getattr(function, "__module__", "") == module.__name__ and hasattr(function, "inline"):
            inlined(function)


for _module in tables, move, scoring, observe, step:
    inline_marked(_module)


# ---- records ---------------------------------------------------------------------------------------------------------


def record(kind: type, /, **others: Any) -> np.dtype[Any]:
    """Return a record data type with the fields of a class. Fields are int64 unless `others` gives a type and shape.

    Numba passes a record as one pointer, and compiled functions read its fields as attributes, like plain Python.
    The largest fields come first, so that long arrays start on cache lines.
    """
    fields = [(name, *others.get(name, (np.int64,))) for name in get_type_hints(kind)]
    fields.sort(key=lambda field: -np.dtype([field]).itemsize)
    return np.dtype((np.record, fields))


def zeros(kind: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    """Return (count,) records of type `kind`, filled with zeros and aligned to a cache line."""
    size = count * kind.itemsize
    memory = np.zeros(size + CACHE_LINE, dtype=np.uint8)
    begin = -memory.ctypes.data % CACHE_LINE
    return memory[begin : begin + size].view(kind)


CACHE_LINE = 64  # bytes

SHAPES: dict[str, Any] = {
    "origins": (np.int64, 2 * MANDARIN_BYTE),
    "walks": (record(Walk), 2 * DIRECTION_STRIDE),
    "sowings": (record(Sowing), 2 * DIRECTION_STRIDE * COUNT_STRIDE),
    "far": (record(Far), 2 * DIRECTION_STRIDE * COUNT_STRIDE),
}
"""The type and length of each field of `RuleNumbers` that is an array in a record."""
RULES = record(RuleNumbers, **SHAPES)


def rule_record(rules: Rules, kind: np.dtype[Any] = RULES) -> Any:
    """Return the rules as a record of type `kind`, which has all fields of `RULES`. Any other fields stay zero."""
    records = zeros(kind, 1)
    for name, value in rule_numbers(rules)._asdict().items():
        if isinstance(value, list):
            shared = name in ("sowings", "far")  # the largest tables, which take milliseconds to convert
            rows = _board_table(name, rules.players, rules.fields) if shared else value
            records[name][0, : len(value)] = rows
        else:
            records[name] = value
    return records[0]


@functools.cache
def _board_table(name: str, players: int, fields: int) -> npt.NDArray[Any]:
    """Return a table that all rules with the same board share, as an array of records."""
    table = getattr(rule_numbers(Rules(players=players, fields=fields)), name)
    return np.array(table, dtype=SHAPES[name][0])


# ---- many rule sets --------------------------------------------------------------------------------------------------


def rule_table(rule_sets: Sequence[Rules], vectors: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
    """Return (R,) records, valid in this process only: rule sets, with (R, L) `vectors` as their field `vector`.

    A record has the fields of `RuleNumbers` without its tables, and the address of a record of type `RULES` that has
    these. Rule sets on the same board share it, so a rule set takes only three cache lines, of which a move reads one.
    """
    plain = [(name, _WIDER.get(name, np.int8)) for name in RuleNumbers._fields if name not in SHAPES]
    plain.sort(key=lambda field: -np.dtype(field[1]).itemsize)
    fields = [("tables", np.int64), *plain, ("vector", vector_type(vectors.shape[1]), 1)]
    fields.append(("unused", np.int8, -np.dtype(fields).itemsize % CACHE_LINE))
    table = zeros(np.dtype((np.record, fields)), len(rule_sets))
    for row, rules in enumerate(rule_sets):
        for name, value in zip(RuleNumbers._fields, plain_numbers(rules), strict=False):
            table[name][row] = value
        table["tables"][row] = _shared_tables(rules).ctypes.data
    table["vector"]["numbers"][:, 0] = vectors
    return table


_WIDER: dict[str, type] = {
    **{name: np.int16 for name, (_, most) in RANGES.items() if most > np.iinfo(np.int8).max},
    **dict.fromkeys(("max_plies", "total"), np.int32),
    **dict.fromkeys(("field_bytes", "unfinished", "one_each"), np.int64),
    "playable": np.int16,
}
"""Types of the fields of a rule set that do not fit int8."""
_TABLES: dict[tuple[int, int, str], npt.NDArray[Any]] = {}


def _shared_tables(rules: Rules) -> npt.NDArray[Any]:
    """Return (1,) `RULES` with the tables of the rules, which is never freed; its other fields are of no use."""
    board = rules.players, rules.fields, rules.empty_mandarin
    if board not in _TABLES:
        _TABLES[board] = zeros(RULES, 1)
        _TABLES[board][0] = rule_record(rules)
    return _TABLES[board]


@intrinsic
def _record_at(context: Any, address: Any) -> Any:
    """Return the record of type `RULES` at an address."""
    kind = numba.from_dtype(RULES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(address), generate


@overload(move.tables_of, jit_options={"error_model": "numpy", "forceinline": True}, strict=False)
def _tables_of(rules: Any) -> Any:
    if isinstance(rules, types.Record) and "tables" in rules.fields:
        return lambda rules: _record_at(rules.tables)  # type: ignore[call-arg]
    return lambda rules: rules
