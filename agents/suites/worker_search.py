"""Searches and proofs in the worker processes of a pool, which make each core and each search only once."""

import functools

from oanquan_env import Core, Positions
from oanquan_env.array_types import Floats, Mask
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.value_net import ValueNet, read_value_net

TABLE_MEGABYTES = 128.0
"""Size of a proof table in MiB. Each position of a suite gets a new table, independent of others."""
core_of = functools.lru_cache(maxsize=1)(Core)
"""Function that returns the core for rules; each process caches it, as making it takes longer than many proofs."""


def net_bytes(source: str | None, core: Core) -> bytes | None:
    """Return the bytes of a value net, given as a file, a run's folder or `pretrained`; None if `source` is None."""
    return None if source is None else read_value_net(source, core.rules).to_bytes()


@functools.lru_cache(maxsize=2)
def searcher(rules: str, depth: int, net: bytes | None) -> MoveValues:
    """Return a search to `depth` plies with a value net, given as bytes; each process caches the last two."""
    return MoveValues(core_of(rules), depth, ValueNet.from_bytes(net) if net else None, threads=1)


def search_moves(rules: str, depth: int, net: bytes | None, positions: Positions) -> tuple[Floats, Mask]:
    """Return (N, A) searched values of all moves, NaN for illegal moves, and (N, A) flags of the proved values."""
    return searcher(rules, depth, net).movers_values(positions)
