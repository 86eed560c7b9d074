"""Prove all values of the first plies: the opening values of a set of rules."""

import functools
import math
import time
from collections import Counter
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from agents.config import Count, OptionalFile
from agents.suites.resumable_pool import Arrays, PoolOptions, ResumablePool
from agents.suites.worker_search import core_of
from oanquan_env import Core, Positions
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import text_bytes, write_atomically
from oanquan_env.players.basic import points_won
from oanquan_env.proofs.bounds import Bounds
from oanquan_env.proofs.certificate_checking import verify
from oanquan_env.proofs.certificates import certificate_path, read_certificate
from oanquan_env.proofs.opening_values import (
    OpeningValues,
    format_opening_values,
    layers,
    opening_values_path,
    read_opening_values,
    squares_of,
)
from oanquan_env.proofs.proof_search import ProofTable
from oanquan_env.proofs.solver import FIRST_NODES, BoundSearch
from oanquan_env.provenance import origin
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.search_state import mover_first

PROG = "python -m agents.suites opening-values"
MOST_PLIES = 8
"""Maximum plies of a file. It must fit into memory, and each further ply makes it about six times as large."""
ENDED = ""  # used for a finished game instead of a position's name
MEGABYTES = 256.0  # size of a proof table in MiB
GUESS = Limits(nodes=20_000)  # limits of the search that makes the first guess at an opening's value


class OpeningProofs:
    """A prover of the positions of `openings`, with at most `nodes` moves per proof.

    Attributes:
        openings: the bounds so far; it has an entry for every position of the first plies, even if nothing is proved.
    """

    def __init__(self, openings: OpeningValues, nodes: int) -> None:
        self.openings = openings
        self.core = Core(openings.rules)
        self._work = functools.partial(
            prove_opening, str(openings.rules), nodes, self.core.rules.max_plies - openings.plies
        )
        self._layers = [(layer, squares_of(self.core, layer)) for layer in layers(self.core, openings.plies)]
        self._moves = [self._moves_of(*layer) for layer in self._layers[:-1]]
        plies = Counter(name for _, names in self._layers for name in dict.fromkeys(names))
        self._single = {name for name, count in plies.items() if count == 1}  # others also occur nearer the ply limit
        for name in plies:
            openings.bounds.setdefault(name, Bounds())

    def run(self, workers: ResumablePool) -> float:
        """Try to prove each open value once, deepest positions first; return the processor time in seconds."""
        seconds = 0.0
        for layer, names in reversed(self._layers):
            self._propagate()
            rows = [row for row, name in enumerate(names) if not self.openings.bounds[name].meet]
            questions = [(layer[row : row + 1], self.openings.bounds[names[row]]) for row in rows]
            answers = workers.map(f"positions of ply {layer.ply[0]}", self._work, questions)
            for row, (bounds, spent) in zip(rows, answers, strict=True):
                self.openings.bounds[names[row]] = Bounds(*bounds.tolist())
                seconds += float(spent)
        self._propagate()
        return seconds

    def _propagate(self) -> None:
        """Narrow each position's bounds by its children, last ply first, and then each child's bounds by its parent.

        No move's value exceeds its position's. If only one move can reach the position's lower bound, it must do so.
        """
        bounds = self.openings.bounds | {ENDED: Bounds(0, 0)}
        for name, moves in (entry for layer in reversed(self._moves) for entry in layer):
            values = [bounds[child].before(gain) for child, gain in moves.items()]
            best = Bounds(max(value.lower for value in values), max(value.upper for value in values))
            bounds[name] = bounds[name].within(best)
        for name, moves in (entry for layer in self._moves for entry in layer):
            lower, upper = bounds[name]
            enough = [child for child, gain in moves.items() if bounds[child].before(gain).upper >= lower]
            for child in moves.keys() & self._single:
                least = lower if enough == [child] else -math.inf
                bounds[child] = bounds[child].within(Bounds(least, upper).before(moves[child]))
        self.openings.bounds.update((name, bounds[name]) for name in self.openings.bounds)

    def _moves_of(self, layer: Positions, names: list[str]) -> list[tuple[str, dict[str, float]]]:
        """Return each position's name and, by the name of each child, the highest gain in points of a move to it."""
        moves = self.core.expand(layer)
        gains = points_won(self.core, layer, moves).tolist()
        gains_by_child: list[dict[str, float]] = [{} for _ in names]
        children = np.where(moves.positions.over, ENDED, squares_of(self.core, moves.positions)).tolist()
        for row, gain, child in zip(moves.rows.tolist(), gains, children, strict=True):
            gains_by_child[row][child] = max(gain, gains_by_child[row].get(child, gain))
        return list(zip(names, gains_by_child, strict=True))


def prove_opening(rules: str, nodes: int, plies_left: int, asked: tuple[Positions, Bounds]) -> Arrays:
    """Return (2,) bounds of a position's value with `plies_left` plies left, and the processor time in seconds.

    `asked` holds a batch of one position and its bounds so far. The search runs in rounds; each round doubles the node
    limit, up to `nodes`.
    """
    (position, bounds), core, began = asked, core_of(rules), time.process_time()
    guess = round(Search(core, table_megabytes=16, threads=1).best(position, GUESS).value)
    own, other = mover_first(position)[0].tolist()
    bound_search = BoundSearch(ProofTable(core, MEGABYTES), own, other, bounds, plies_left)
    limit = min(FIRST_NODES, nodes)
    bound_search.narrow(guess, limit)
    while limit < nodes and bound_search.limited and not bound_search.bounds.meet:
        limit = min(2 * limit, nodes)
        bound_search.narrow(guess, limit)
    return np.array(bound_search.bounds, dtype=np.float64), np.array(time.process_time() - began)


@dataclass(frozen=True, kw_only=True)
class MakeOpeningValues(PoolOptions):
    """Prove the values of all positions of the first plies, and write the opening values of a set of rules.

        python -m agents.suites opening-values --rules mancala-world --plies 4 --nodes 4000000

    The deepest positions are proved first. The bounds of an earlier position follow from the bounds of its moves; if
    they leave its value open, the position itself is searched. Every position has its own proof table: in a shared
    table, a proof could build on other proofs, and its games might then exceed the ply limit. The file keeps all
    bounds, so a call with more nodes can improve them, and the same command resumes interrupted work. The set-up also
    gets the bounds of the package's certificate, if there is one.
    """

    rules: str = DEFAULT_PRESET  # rules by name, with changed fields
    plies: Annotated[Count, Field(le=MOST_PLIES)] = 3  # plies of the deepest positions
    nodes: Count = 4_000_000  # node limit of one proof
    output: OptionalFile = None  # the file; an existing file is continued (default: the package's own)

    def run(self) -> None:
        """Prove the values and write the file."""
        core = Core(self.rules)
        path = self.output or opening_values_path(core.rules)
        new = OpeningValues(core.rules, self.plies, {}, {"seconds": 0.0})
        openings = read_opening_values(path) if path.exists() else new
        if (openings.rules, openings.plies) != (new.rules, new.plies):
            held = f"{openings.plies} plies of '{openings.rules}'"
            raise ValueError(f"{path} already holds {held}: choose another --output")
        if (certified := certificate_path(core.rules)).is_file():
            (start,) = squares_of(core, core.start())
            bounds = verify(read_certificate(certified)).bounds
            openings.bounds[start] = openings.bounds.get(start, Bounds()).within(bounds)
        openings.made |= origin(f"{PROG} --rules '{core.rules}' --plies {self.plies} --nodes {self.nodes}")
        with self.pool(path) as workers:
            more = OpeningProofs(openings, self.nodes).run(workers)
            openings.made["seconds"] = round(openings.made["seconds"] + more, 1)
            write_atomically(path, text_bytes(path, format_opening_values(openings)))
        proved, seconds = f"{openings.proved} of {len(openings.bounds)} positions proved", openings.made["seconds"]
        print(f"{proved}, {seconds:.0f} core seconds, in {path}")
