"""Beam search for lines of play that beat a player, one ply per layer; `exploit` widens the beam again and again."""

import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints, Mask, Points
from oanquan_env.benchmark.policy_cache import Answers, position_keys
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.players import Policy
from oanquan_env.search.value_net import ValueNet

NOISE, NET_WEIGHT = 2.0, 0.5
"""Scale of the Gumbel noise in the scores that order positions, and weight of the value net in every other beam."""
MEMORY = 2 << 30
"""Maximum memory of the process that a search fills, in bytes, by the following estimates."""
BASE_BYTES, ANSWER_BYTES, EDGE_BYTES, MOVE_BYTES = 200 << 20, 350, 50, 300
"""Bytes taken by the libraries, by a stored answer, by an edge with its position, and by a move in play."""
TIMED_MOVES = 10_000
"""Number of moves in a ply from which its duration predicts those of later plies."""


@dataclass
class Beam:
    """Lines of play from the set-up, with a layer of different positions for each ply.

    Attributes:
        width: number of running positions kept after a reply; more are kept if the player may choose any tied move.
        net: value net whose estimate, times `NET_WEIGHT`, is added to the leads that rank positions; None adds nothing.
        layers: the layers so far, from the set-up.
        edges: for each layer, parent rows, child rows in the next layer, and the actions between them.
        complete: whether no position was left out.
        cut: whether a limit ended the search.
        pace: predicted duration of a ply per legal move, in seconds, without the player's time.
    """

    answers: Answers
    seat: int
    width: int
    rng: np.random.Generator
    net: ValueNet | None
    layers: list[Positions]
    edges: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]] = field(
        default_factory=list
    )
    complete: bool = True
    cut: bool = False
    pace: float = 0.0

    def advance(self) -> bool:
        """Play one ply from the last layer; return False if no game is running there or a limit is reached."""
        running = (~self.layers[-1].over).nonzero()[0]
        if not running.size:
            return False
        positions, asks, core = self.layers[-1][running], len(self.edges) % 2 == self.seat, self.answers.core
        allowed, began = core.legal_mask(positions), time.monotonic()
        legal, moves = int(np.count_nonzero(allowed)), None
        if self._affordable(legal):
            moves = self.answers.moves(positions) if asks else allowed
        if moves is None:
            self.complete, self.cut = False, True
            return False
        rows, actions = moves.nonzero()
        reached = positions[rows]
        core.play(reached, actions, checked=False)
        first, children = np.unique(position_keys(reached), return_index=True, return_inverse=True)[1:]
        layer, parents = reached[first], running[rows]
        if not asks:
            mask = self._kept(layer, parents, children)
            layer, edges = layer[mask], mask[children]
            parents, actions, children = parents[edges], actions[edges], (np.cumsum(mask) - 1)[children[edges]]
        self.layers.append(layer)
        self.edges.append((parents.astype(np.int32), children.astype(np.int32), actions.astype(np.int32)))
        if not asks and legal >= TIMED_MOVES:
            self.pace = (time.monotonic() - began) / legal
        return True

    def _affordable(self, moves: int) -> bool:
        """Return whether memory and time suffice for a ply with `moves` legal moves; delete answers to free memory."""
        held = BASE_BYTES + EDGE_BYTES * sum(len(children) for _, children, _ in self.edges) + MOVE_BYTES * moves
        if held + ANSWER_BYTES * len(self.answers.known) > MEMORY:
            self.answers.known.clear()
        return held <= MEMORY and time.monotonic() + self.pace * moves <= self.answers.deadline

    def _kept(self, layer: Positions, parents: Ints, children: Ints) -> Mask:
        """Return (N,) bool, whether to keep each position of a layer; with `every_tie`, at least one per parent."""
        mask = layer.over
        running = (~mask).nonzero()[0]
        if len(running) <= self.width:
            return np.ones(len(layer), dtype=np.bool_)
        self.complete = False
        scores = self._leads(layer) + NOISE * self.rng.gumbel(size=len(layer)) * ~mask
        if self.net:
            scores -= NET_WEIGHT * self.net.values(layer) * ~mask
        mask[running[np.argsort(-scores[running])[: self.width]]] = True
        if self.answers.every_tie:
            order = np.lexsort((-scores[children], parents))
            mask[children[order[np.unique(parents[order], return_index=True)[1]]]] = True
        return mask

    def _leads(self, layer: Positions) -> Points:
        """Return the responder's (N,) leads in points, including leftovers of finished games."""
        standings = self.answers.core.standings(layer)
        return standings[:, 1 - self.seat] - standings[:, self.seat]

    def best_line(self) -> tuple[float, list[int]]:
        """Return the responder's guaranteed margin (-inf if there is none), and the actions of its best line."""
        last = self.layers[len(self.edges)]  # an interruption may have left a layer without edges
        values = [np.where(last.over, self._leads(last), -np.inf)]
        for depth in reversed(range(len(self.edges))):
            best, worst = (np.minimum, np.inf) if depth % 2 == self.seat else (np.maximum, -np.inf)
            parents, children, _ = self.edges[depth]
            values.insert(0, np.where(self.layers[depth].over, self._leads(self.layers[depth]), worst))
            best.at(values[0], parents, values[1][children])
        margin, actions, row = float(values[0][0]), list[int](), 0
        for (parents, children, moves), below in zip(self.edges, values[1:], strict=True):
            edges = ((parents == row) & (below[children] == margin)).nonzero()[0]
            if not edges.size:  # the game is over there
                break
            actions.append(int(moves[edges[0]]))
            row = int(children[edges[0]])
        return margin, actions


def positions_of_beams(player: Policy, core: Core, width: int, rng: np.random.Generator) -> Positions:
    """Return the running positions that beam searches of `width` against a player keep, one search per seat."""
    layers = list[Positions]()
    for seat in range(2):
        beam = Beam(Answers(player, core, every_tie=False), seat, width, rng, None, [core.start()])
        while beam.advance():
            pass
        layers += beam.layers
    positions = Positions.concatenate(layers)
    return positions[~positions.over]
