"""Monte-Carlo tree search: `mcts:simulations=400`.

Leaves may be valued by a search: `mcts:simulations=100,depth=1`.

The trees of a whole batch grow together: each simulation adds one position to every tree, and all new positions are
played out or searched as one batch. On the way back up each mover counts its own value (max^n, with any number of
players).

Shapes: N trees, P players, A actions, M = N * (simulations + 1) nodes. A node is a running position; a tree's root is
the node of its own number, and all nodes of the s-th simulation follow in one block. Values are expected points above
the others' mean at the end, as a share of the game's total.
"""

from typing import Protocol

import numpy as np

from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats, Ints
from oanquan_env.engine.core import relative_points
from oanquan_env.players import best_actions
from oanquan_env.players.full_width import FullWidthSearch
from oanquan_env.playing import play_randomly
from oanquan_env.rewards import game_rewards

MAX_NODES = 1 << 18
"""Nodes that grow at once; larger batches are searched in parts."""
MAX_SIMULATIONS = 1_000_000
"""A tree of so many nodes takes some hundred megabytes."""
UCT_EXPLORATION = 0.25
"""Of 0.1, 0.2, 0.4 and 0.8 the middle two did best at 100 simulations. Playouts that counted wins instead of points won
as many games, by fewer points (55 % and 53 %, margin -11 and +3 against a depth-2 search over 100 pairs)."""
SEARCH_EXPLORATION = 0.05
"""With leaves valued by search, which has no noise to average out. Of 0.05, 0.07 and 0.1 the first did best for three
players at 200 simulations."""
SEARCH_DEPTH = 2
"""Plies of the search that values leaves. For three players one ply was weaker, and three took twice the time and were
no better."""
NO_CHILD = -1
"""In place of a node: the action was not tried yet, or ends the game."""


class Evaluator(Protocol):
    """Values running positions."""

    core: Core

    def evaluate(self, positions: Positions, rng: np.random.Generator) -> Floats:
        """(N, P) values of N running positions, of all players."""


class RandomPlayouts:
    """Values by playing each position to its end at random, once."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def evaluate(self, positions: Positions, rng: np.random.Generator) -> Floats:
        """See `Evaluator.evaluate`."""
        finals = positions.copy()
        play_randomly(self.core, finals, None, rng)
        return game_rewards("margin", self.core, finals)


class SearchedLeaves:
    """Values by full-width max^n search to so many plies; raises `ValueError` for a depth out of range."""

    def __init__(self, core: Core, depth: int = SEARCH_DEPTH) -> None:
        self.core = core
        self.search = FullWidthSearch(core, depth)

    def evaluate(self, positions: Positions, rng: np.random.Generator) -> Floats:
        """See `Evaluator.evaluate`; `rng` is not used."""
        margins = self.search.position_values(positions) + relative_points(positions.scores)
        return margins / self.core.rules.total


class MCTSPlayer:
    """Plays the move that its tree visited most; of equals, one of the highest mean value.

    The evaluator values the positions added to each tree, as many as there are `simulations`. On the way down moves are
    tried by UCT (Kocsis and Szepesvári 2006), whose bonus for moves that were seldom tried has the weight
    `exploration`. Raises `ValueError` for less than one simulation, or more than `MAX_SIMULATIONS`.
    """

    def __init__(self, evaluator: Evaluator, simulations: int, *, exploration: float = UCT_EXPLORATION) -> None:
        if not 1 <= simulations <= MAX_SIMULATIONS:
            raise ValueError(f"simulations must be 1 to {MAX_SIMULATIONS:,}; got {simulations}")
        self.evaluator = evaluator
        self.simulations = simulations
        self.exploration = exploration

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        core = self.evaluator.core
        mask = core.legal_mask(positions)
        choice: Ints = mask.argmax(axis=1)
        open_rows = (mask.sum(axis=1) > 1).nonzero()[0]
        part = max(1, MAX_NODES // (self.simulations + 1))
        for begin in range(0, len(open_rows), part):
            rows = open_rows[begin : begin + part]
            visits, values = self.search(positions[rows], rng)
            # visits are whole numbers and values lie within -1 .. 1
            choice[rows] = best_actions(visits + values / 4, mask[rows], rng)
        return choice

    def search(self, positions: Positions, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """(N, A) visits of each action of N running positions, and their mean values, zero where never visited."""
        trees = _Trees(self.evaluator, positions, self.simulations, self.exploration, rng)
        for simulation in range(1, self.simulations + 1):
            trees.simulate(simulation, rng)
        n = len(positions)
        return trees.visits[:n], trees.means(np.arange(n))


class _Trees:
    """N trees; see the top of this module.

    Attributes:
        nodes: M positions.
        child: (M, A) node that each action leads to; NO_CHILD where none yet.
        visits: (M, A) simulations through each action.
        sums: (M, A) sum of the values that they found, to the mover.
    """

    def __init__(
        self, evaluator: Evaluator, positions: Positions, simulations: int, exploration: float, rng: np.random.Generator
    ) -> None:
        self.evaluator, self.core = evaluator, evaluator.core
        self.n = len(positions)
        nodes, actions = self.n * (simulations + 1), self.core.rules.actions
        self.nodes = self.core.start(nodes)
        self.child = np.full((nodes, actions), NO_CHILD, dtype=np.intp)
        self.visits = np.zeros((nodes, actions))
        self.sums = np.zeros((nodes, actions))
        self.legal = np.zeros((nodes, actions), dtype=np.bool_)
        self.exploration = exploration
        self._add(np.arange(self.n), positions, rng)

    def simulate(self, simulation: int, rng: np.random.Generator) -> None:
        """Walk down every tree to a new node or a finished game, and carry its value back up."""
        path, nodes, actions = self._descend(rng)
        leaves = self.nodes[nodes]
        self.core.play(leaves, actions, checked=False)
        values = np.zeros(leaves.scores.shape)
        over = leaves.over
        values[over] = game_rewards("margin", self.core, leaves[over])
        running = (~over).nonzero()[0]
        if running.size:
            added = simulation * self.n + running
            self.child[nodes[running], actions[running]] = added
            values[running] = self._add(added, leaves[running], rng)
        for trees, passed, taken in path:
            self.visits[passed, taken] += 1
            self.sums[passed, taken] += values[trees, self.nodes.mover[passed]]

    def means(self, nodes: Ints) -> Floats:
        """(K, A) mean value of each action of K nodes, to its mover; zero where never visited."""
        return self.sums[nodes] / np.maximum(self.visits[nodes], 1)

    def _add(self, places: Ints, positions: Positions, rng: np.random.Generator) -> Floats:
        """Make running positions the nodes at `places`; returns their values."""
        self.nodes[places] = positions
        self.legal[places] = self.core.legal_mask(positions)
        return self.evaluator.evaluate(positions, rng)

    def _descend(self, rng: np.random.Generator) -> tuple[list[tuple[Ints, Ints, Ints]], Ints, Ints]:
        """Follow each tree to an action without a child: the steps (tree, node, action), last nodes, last actions."""
        path = []
        last_nodes, last_actions = np.arange(self.n), np.zeros(self.n, dtype=np.intp)
        trees = nodes = np.arange(self.n)
        while trees.size:
            actions = best_actions(self._uct(nodes), self.legal[nodes], rng)
            path.append((trees, nodes, actions))
            last_nodes[trees], last_actions[trees] = nodes, actions
            children = self.child[nodes, actions]
            going = children != NO_CHILD
            trees, nodes = trees[going], children[going]
        return path, last_nodes, last_actions

    def _uct(self, nodes: Ints) -> Floats:
        """(K, A) upper confidence bounds; infinite for actions that were never tried."""
        visits = self.visits[nodes]
        total = visits.sum(axis=1, keepdims=True)
        bonus = np.sqrt(np.log(np.maximum(total, 1)) / np.maximum(visits, 1))
        return np.where(visits == 0, np.inf, self.means(nodes) + self.exploration * bonus)
