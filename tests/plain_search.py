"""What the searches are measured against: full-width minimax in NumPy, by the core alone, without any pruning."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env import Core, Positions, Rules

Leaf: TypeAlias = Callable[[Positions], npt.NDArray[np.floating]]
ENDLESS = 1_000_000
"""A ply limit that no test reaches: searches ignore it."""


def endless(rules: Rules | str) -> Core:
    """A core of those rules without a ply limit that matters."""
    rules = Rules.parse(rules) if isinstance(rules, str) else rules
    return Core(rules.replace(max_plies=ENDLESS))


def plain_values(
    core: Core, positions: Positions, depth: int, horizon: float = 0.0, leaf: Leaf | None = None
) -> npt.NDArray[np.float64]:
    """(N, A) future margin after each legal move of N running positions, `depth` plies ahead; -inf where illegal.

    A position at the horizon, still running, is worth `horizon` to the mover of the first positions; with a `leaf`,
    what that says for its own mover.
    """
    values = np.full((len(positions), core.rules.actions), -np.inf)
    children, rows, actions = core.expand(positions)
    movers, each = positions.mover[rows], np.arange(len(rows))
    won = core.standings(children) - positions.scores[rows]
    gains = (won[each, movers] - won[each, 1 - movers]).astype(np.float64)
    running = (~children.over).nonzero()[0]
    if depth == 1:
        gains[running] += horizon if leaf is None else -leaf(children[running])
    elif running.size:
        gains[running] -= plain_values(core, children[running], depth - 1, -horizon, leaf).max(axis=1)
    values[rows, actions] = gains
    return values


def sides(positions: Positions, row: int = 0) -> tuple[int, int]:
    """The mover's side and the other's, as compiled functions take them."""
    words = positions.sides.view(np.int64)[row].tolist()
    mover = int(positions.mover[row])
    return words[mover], words[1 - mover]
