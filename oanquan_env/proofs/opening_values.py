"""Opening values: proved bounds of the value of every position of the first plies, for two-player rules.

A *value* is the future margin in points from the mover's view, under best play of both sides. The mover can win at
least `lower` points, and the opponent can prevent more than `upper`; if the bounds are equal, the value is proved.

The package has a file for each two-player preset, made by `python -m agents.suites opening-values`. A file is
compressed JSON with one position per line: its squares from the mover's view (a board and its mirror image count as
one, see `oanquan_env.engine.symmetry.canonical_sides`), and both bounds, null for an unknown bound.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from oanquan_env.board import Board
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import Move, format_position
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.symmetry import canonical_keys, canonical_sides, first_of_each
from oanquan_env.files import DATA, FileError, naming_damage, read_json
from oanquan_env.proofs.bounds import MOST_POINTS, Bounds


@dataclass
class OpeningValues:
    """Bounds on the values of all positions of the first plies.

    Attributes:
        rules: rules of the games.
        plies: maximum depth of the positions.
        bounds: bounds of each position, by its squares (see `squares_of`).
        made: how the bounds were proved.
    """

    rules: Rules
    plies: int
    bounds: dict[str, Bounds]
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def proved(self) -> int:
        """The number of positions whose bounds meet."""
        return sum(bounds.meet for bounds in self.bounds.values())


def squares_of(core: Core, positions: Positions) -> list[str]:
    """Return the squares of N positions as text, the mover's first; under symmetric rules, mirror images are equal."""
    sides = np.ascontiguousarray(canonical_sides(positions, core.rules))
    boards = core.start(len(positions))
    boards.squares[:] = sides.view(np.uint8)
    return [format_position(core, boards, row).partition(" ")[0] for row in range(len(boards))]


def layers(core: Core, plies: int) -> Iterator[Positions]:
    """For each ply up to `plies`, yield a running position for each canonical key that first occurs at that ply."""
    layer = core.start()
    visited = canonical_keys(core, layer)
    yield layer
    for _ in range(plies):
        children = core.expand(layer).positions
        children = children[~children.over]
        keys = canonical_keys(core, children)
        rows = first_of_each(keys)
        rows = rows[~np.isin(keys[rows], visited)]
        layer, visited = children[rows], np.concatenate([visited, keys[rows]])
        yield layer


def opening_values_path(rules: Rules) -> Path:
    """Return the path of the package's opening values for `rules`; the file need not exist."""
    return DATA / f"opening-values-{rules.slug}.json.gz"


@functools.cache
def find_opening_values(rules: Rules) -> OpeningValues | None:
    """Return the package's opening values for `rules`, or None if it has none; each file is read once."""
    path = opening_values_path(rules)
    return read_opening_values(path) if path.is_file() else None


def opening_value(board: Board) -> Bounds | None:
    """Return bounds of the mover's future margin on a board, or None if the file does not have the position.

    A board at a later ply than the positions of the file has no bounds, because the ply limit could end the game.
    """
    openings = find_opening_values(board.rules)
    if openings is None or board.outcome or board.ply > openings.plies:
        return None
    return openings.bounds.get(squares_of(board.core, board.positions)[0])


def opening_move_values(board: Board) -> dict[Move, Bounds]:
    """Return bounds of the value of each move that ends the game or leads to a position in the file."""
    values = {}
    lead = board.scores[board.mover] - board.scores[1 - board.mover] if len(board.scores) == 2 else 0
    for move in board.legal_moves:
        child = board.copy()
        child.push(move)
        final = child.outcome.scores if child.outcome else child.scores
        gain = final[board.mover] - final[1 - board.mover] - lead
        bounds = Bounds(0, 0) if child.outcome else opening_value(child)
        if bounds is not None:
            values[move] = bounds.before(gain)
    return values


# ---- files -----------------------------------------------------------------------------------------------------------


def format_opening_values(openings: OpeningValues) -> str:
    """Return opening values as JSON with one position per line."""
    rows = [
        json.dumps([squares, *(int(bound) if math.isfinite(bound) else None for bound in bounds)])
        for squares, bounds in openings.bounds.items()
    ]
    head = {"format": 1, "rules": str(openings.rules), "plies": openings.plies, "made": openings.made}
    return json.dumps(head, indent=1)[:-2] + ',\n "positions": [\n' + ",\n".join(rows) + "\n]}\n"


def read_opening_values(path: Path) -> OpeningValues:
    """Read opening values. Raises `FileError`, which names a damaged position, if the file is missing or damaged."""
    with naming_damage(path, "not a file of opening values", text=True):
        data = read_json(path)
        if data["format"] != 1:
            raise ValueError("expected a file with format 1")
        rules, plies, made = Rules.parse(data["rules"]), int(data["plies"]), dict(data["made"])
        rows = list(data["positions"])
    openings = OpeningValues(rules, plies, {}, made)
    for number, row in enumerate(rows, 1):
        match row:
            case [str(squares), int() | None as lower, int() | None as upper]:
                bounds = Bounds(-math.inf if lower is None else lower, math.inf if upper is None else upper)
            case _:
                raise FileError(f"{path}: position {number}: expected [squares, lower bound, upper bound]")
        if bounds.lower > bounds.upper or max(abs(lower or 0), abs(upper or 0)) > MOST_POINTS:
            raise FileError(f"{path}: position {number}: impossible bounds {bounds.lower} and {bounds.upper}")
        openings.bounds[squares] = bounds
    return openings
