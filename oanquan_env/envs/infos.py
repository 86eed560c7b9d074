"""The entries of `info` in the environments. The section on endings in docs/environment.md has them as a table."""

from typing import Any

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Mask
from oanquan_env.engine.positions import Termination
from oanquan_env.engine.step import ILLEGAL_ACTION
from oanquan_env.envs.games import Games

TERMINATIONS = (*map(str, Termination), "illegal_action")
"""Names of the codes in a batch's `info["termination"]`: all values of `Termination`, then `ILLEGAL_ACTION`."""
assert TERMINATIONS.index("illegal_action") == ILLEGAL_ACTION
ENDINGS = frozenset(("termination", "standings", "seat", "illegal_action"))
"""The entries that apply only to games that ended in the step."""
_NUMBERS = frozenset(("rules", "opponent", "mover"))  # entries that records hold as other integers


def _entries(games: Games, *, over: bool, mover: bool = False) -> dict[str, npt.NDArray[Any]]:
    """Return each entry as an array with a row for each game, perhaps a view; `over` adds `ENDINGS`."""
    entries: dict[str, npt.NDArray[Any]] = {"action_mask": games.mask}
    if games.many:
        entries["rules"] = games.records["rules"]
    if games.opponents is not None:
        entries["opponent"] = games.opponents
    if mover:
        entries["mover"] = games.records["mover"]
    if over:
        records = games.records
        entries["termination"], entries["standings"] = records["termination"], records["standings"]
        entries["seat"], entries["illegal_action"] = games.seats, records["termination"] == ILLEGAL_ACTION
    return entries


def batch_info(games: Games, present: Mask | None, over: Mask | None = None, *, mover: bool = False) -> dict[str, Any]:
    """Return new arrays with a row for each of N games, zero in the rows to which an entry does not apply.

    The entries are `action_mask` (N, A) int8; `rules` (N,) int64 if the rules are a list; `opponent` (N,) int64 if
    there is an opponent; and on request `mover` (N,) int64, the seats to move. They apply to the games in `present`
    (N,) bool, or to all games if it is None.

    If games ended in this step, `over` (N,) bool marks them, and the entries for them are `termination` (N,) int64, an
    index into `TERMINATIONS`; `standings` (N, P) int32, the points of all players; `seat` (N,) int64, the seat that
    received the last reward; and `illegal_action` (N,) bool.
    """
    info = {
        name: column.astype(np.int64) if name in _NUMBERS else column.copy()
        for name, column in _entries(games, over=over is not None, mover=mover).items()
    }
    if present is not None:
        for name in info.keys() - ENDINGS:
            info[name][~present] = 0
    if over is not None:
        info["seat"] *= over  # the other entries of `ENDINGS` are zero while a game runs
    return info


def game_info(games: Games, *, over: bool) -> dict[str, Any]:
    """Return the entries of `batch_info` for the only game: numbers, arrays (A,) and (P,), and a termination's name."""
    entries = _entries(games, over=over)
    info = {name: column[0].copy() if column.ndim > 1 else column.item() for name, column in entries.items()}
    if over:
        info["termination"] = TERMINATIONS[info["termination"]]
    return info
