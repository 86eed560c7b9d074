"""Searches of many positions, part after part: here, or on a Ray cluster, with the same results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from agents.support.parallel import in_order, spread
from oanquan_env import Core, Positions
from oanquan_env.players.value_net import ValueNet

Result = TypeVar("Result")
Searcher: TypeAlias = Callable[[Positions, int], Result]
"""What a search to some depth says of positions."""
Maker: TypeAlias = Callable[[Core, ValueNet | None, int | None], Searcher[Result]]
"""Makes one for a core, with a value net at its horizon or without, and with that many threads (None: all
processors). It is a function at the top of a module, where other processes find it."""


def search_parts(
    make: Maker[Result],
    core: Core,
    parts: Sequence[Positions],
    depth: int,
    *,
    net: ValueNet | None,
    threads: int | None = None,
    ray: str | None = None,
) -> Iterator[Result]:
    """What the search that `make` makes says of each part, in their order; `ray` is the address of a cluster."""
    if ray:
        work = functools.partial(search_part, make, str(core.rules), net.to_bytes() if net else None, depth)
        return in_order(spread(work, parts, ray=ray))
    search = make(core, net, threads)
    return (search(part, depth) for part in parts)


def search_part(make: Maker[Result], rules: str, net: bytes | None, depth: int, positions: Positions) -> Result:
    """A worker's part, on one processor; rules and net come as text and as the content of a file."""
    search: Searcher[Result] = _searcher(make, rules, net)
    return search(positions, depth)


@functools.lru_cache(maxsize=1)
def _searcher(make: Maker[Result], rules: str, net: bytes | None) -> Searcher[Result]:
    """A worker's search: it compiles and takes its memory once."""
    return make(Core(rules), ValueNet.from_bytes(net) if net else None, 1)
