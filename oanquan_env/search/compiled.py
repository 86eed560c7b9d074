"""One position at a time, compiled: the move of `oanquan_env.engine.scalar` for the search.

Everything here is seen from the mover: `own` and `other` are the two sides of a position as words (see
`oanquan_env.engine.positions`), the mover's first; after a move they change places. A word is never negative, so int64
serves throughout (Numba turns a mixture of int64 and uint64 into floats).

Values are future margins: points that the mover will win less those that the opponent will, refills and the leftovers
of a finished game included.
"""

import contextlib
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast, get_type_hints

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from oanquan_env.engine import scalar
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import MANDARIN_BYTE, Positions
from oanquan_env.engine.scalar import RUNNING, RuleNumbers, Sowing, Walk, can_play, rule_numbers
from oanquan_env.engine.tables import COUNT_STRIDE, DIRECTION_STRIDE
from oanquan_env.errors import UnavailableError
from oanquan_env.search import value_net
from oanquan_env.search.value_net import HIDDEN, SECOND, side_rows

Int64s: TypeAlias = npt.NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """`numba.njit` as this project uses it, with the function's type kept: cached on disk, running without the GIL."""
    return _compiled((), function)


def compiled_recursion(signature: Any) -> Callable[[Function], Function]:
    """`compiled` for a function that calls itself: without a signature its cached form would crash (numba #6061)."""
    return functools.partial(_compiled, (signature,))


def _compiled(signature: tuple[Any, ...], function: Function) -> Function:
    njit: Any = numba.njit
    try:
        return cast(Function, njit(*signature, cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        _say_there_is_no_cache()
        return cast(Function, njit(*signature, nogil=True, error_model="numpy")(function))


@functools.cache
def _say_there_is_no_cache() -> None:
    print(
        "compiled search is not kept, as no folder for it can be written: set NUMBA_CACHE_DIR to one, or each program "
        "compiles it anew",
        file=sys.stderr,
    )


# ---- records ---------------------------------------------------------------------------------------------------------


def record(kind: type, /, **others: Any) -> np.dtype[Any]:
    """The data type of records with the fields of a class: int64, where `others` names no other type or shape.

    Compiled functions take a record as one machine word, and see its fields as attributes; so does plain Python. The
    largest fields come first, so that long arrays begin at cache lines.
    """
    fields = [(name, *others.get(name, (np.int64,))) for name in get_type_hints(kind)]
    fields.sort(key=lambda field: -np.dtype([field]).itemsize)
    return np.dtype((np.record, fields))


def zeros(kind: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    """(count,) records, the first at the beginning of a cache line."""
    size = count * kind.itemsize
    memory = np.zeros(size + CACHE_LINE, dtype=np.uint8)
    begin = -memory.ctypes.data % CACHE_LINE
    return memory[begin : begin + size].view(kind)


CACHE_LINE = 64  # bytes


def net_record(sides: int, hidden: int, outputs: int) -> np.dtype[Any]:
    """A value net's weights as `oanquan_env.search.leaf` uses them."""
    return np.dtype(
        [
            ("embedding", np.int16, (sides, side_rows(MANDARIN_BYTE), hidden)),
            ("hidden_weight", np.int16, (hidden // 2, SECOND, 2)),
            ("hidden_bias", np.float32, (SECOND,)),
            ("output_weight", np.float32, (outputs, SECOND)),
            ("output_bias", np.float32, (outputs,)),
        ]
    )


class SearchRules(RuleNumbers):
    """What compiled functions take for the rules: the numbers of `scalar`, and the value net at the leaves."""

    has_net: int
    net: Any  # `net_record`


RULES = record(
    SearchRules,
    origins=(np.int64, 2 * MANDARIN_BYTE),
    walks=(record(Walk), 2 * DIRECTION_STRIDE),
    sowings=(record(Sowing), 2 * DIRECTION_STRIDE * COUNT_STRIDE),
    net=(net_record(2, HIDDEN, 1),),
)

OVER = 1
"""State of a finished game after a move, beside `scalar`'s RUNNING and RUNAWAY, behind which nothing is known."""


def compile_rules(core: Core) -> SearchRules:
    """The core's tables and rules as the record that compiled functions take.

    Raises `UnavailableError` for rules whose future margin is no function of the squares and the mover: more than two
    players, and refill=forfeit, under which the scores decide whether a game goes on.
    """
    rules = core.rules
    if rules.players != 2:
        raise UnavailableError("search is made for two players, not {players}", players=rules.players)
    if rules.refill == "forfeit":
        raise UnavailableError(
            "search needs refill=borrow: under refill=forfeit a position's value depends on the scores"
        )
    found = zeros(RULES, 1)
    for name, value in rule_numbers(rules)._asdict().items():
        place = (0, slice(len(value))) if isinstance(value, list) else 0
        found[name][place] = value
    return cast(SearchRules, found[0])


def mover_first(positions: Positions) -> Int64s:
    """(N, 2) sides of N two-player positions as words, the mover's first."""
    return positions.sides_in_turn().view(np.int64)


# ---- a move ----------------------------------------------------------------------------------------------------------


# Called from compiled functions these are compiled with them; elsewhere they are plain Python. Unless what is small or
# has one caller is inlined by force, the search is a fifth slower.
for _small in (can_play, scalar.play, scalar.leftovers_margin, scalar.row_sum):
    register_jitable(error_model="numpy", forceinline=True)(_small)
for _large in (scalar.sow, scalar.capture, scalar.refill):
    register_jitable(error_model="numpy")(_large)


@compiled
def play(rules: SearchRules, own: int, other: int, action: int, plies_left: int = 1) -> tuple[int, int, int, int]:
    """Play a legal action: `Core.play` for one position; with no `plies_left` after this ply the game is over.

    Returns:
        The next mover's side and the other's, ready to move; the margin that the mover won by it, refills and the
        leftovers of a finished game included; and RUNNING, OVER or RUNAWAY.
    """
    own, other, won, lost, _, _, ended = scalar.play(rules, own, other, 0, 0, plies_left, action)
    if ended > RUNNING:
        return other, own, won + scalar.leftovers_margin(rules, own, other), OVER
    return other, own, won - lost, ended


def _drop_stale_caches(cache: Path) -> None:
    """Delete the compiled functions in `cache` that are older than the source of any of them.

    Numba compiles a function anew when its own file changes, but not when a function that it calls does.
    """
    indices = list(cache.glob("*.nbi"))
    sources = {Path(__file__).with_name(f"{index.name.partition('.')[0]}.py") for index in indices}
    sources |= {Path(scalar.__file__), Path(value_net.__file__)}
    newest = max((source.stat().st_mtime for source in sources if source.exists()), default=0.0)
    for index in indices:
        with contextlib.suppress(FileNotFoundError):  # another process does the same
            if index.stat().st_mtime < newest:
                index.unlink()


_stats = getattr(play, "stats", None)  # None under NUMBA_DISABLE_JIT
if _stats and _stats.cache_path:  # no path where nothing can be kept
    _drop_stale_caches(Path(_stats.cache_path))
