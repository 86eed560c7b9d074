"""Monte-Carlo tree search, as in the player `mcts:simulations=400`.

Random rollouts evaluate the leaves; with `depth`, as in `mcts:simulations=100,depth=1`, a search evaluates them. A
network may also return prior probabilities of the actions, as in AlphaZero: see `PriorEvaluator`.

The trees of a batch grow together: each simulation adds one position to every tree, and evaluates all new positions as
one batch. The backup adds up each mover's own value (max^n, for any number of players).

Shapes: N trees, P players, A actions, M = N * (simulations + 1) nodes. A node is a running position; node i is the root
of tree i, and the nodes of the s-th simulation follow in one block. A value is a player's expected margin over the mean
of the others at the end of the game, as a share of the game's total points.
"""

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from oanquan_env.array_types import Floats, Ints
from oanquan_env.engine.core import Core, advance_randomly, best_actions, relative_points
from oanquan_env.engine.positions import Positions
from oanquan_env.rewards import game_rewards
from oanquan_env.search.move_values import MoveValues

UCT_EXPLORATION = 0.25
"""Weight of the bonus for seldom-tried moves. It lies between 0.2 and 0.4, the strongest of 0.1, 0.2, 0.4 and 0.8 at
100 simulations. In 100 game pairs against a depth-2 search, rollouts that counted wins scored about as much as rollouts
that counted points (55 % and 53 %), but with a lower margin (-11 and +3 points)."""
SEARCH_EXPLORATION = 0.05
"""Weight of the bonus if a search evaluates the leaves; it can be small because a search adds no noise. Of 0.05, 0.07
and 0.1, 0.05 was strongest for three players at 200 simulations."""
SEARCH_DEPTH = 2
"""Plies of the search that evaluates leaves. For three players one ply was weaker, and three plies took twice the time
and were no better."""
Path: TypeAlias = list[tuple[Ints, Ints, Ints]]
"""Steps down from the roots; see `_Trees.select`."""
NO_CHILD = -1
"""Placeholder for the node of an action that has not been tried yet or ends the game."""


class Evaluator(Protocol):
    """An evaluator of running positions."""

    core: Core

    def evaluate(self, positions: Positions, rng: np.random.Generator) -> Floats:
        """Return the (N, P) values of N running positions for all players, by seat."""


@runtime_checkable
class PriorEvaluator(Protocol):
    """An evaluator that also returns prior probabilities of the actions, which guide the selection."""

    core: Core

    def evaluate_with_priors(self, positions: Positions, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return (N, P) values for all players, by seat, and (N, A) priors. Priors of illegal actions are ignored."""


class RandomPlayouts:
    """An evaluator that plays one random rollout from each position."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def evaluate(self, positions: Positions, rng: np.random.Generator) -> Floats:
        """See `Evaluator.evaluate`."""
        finals = positions.copy()
        for _ in advance_randomly(self.core, finals, None, rng):
            pass
        return game_rewards("margin", self.core, finals)


class SearchedLeaves:
    """An evaluator that searches each position to `depth` plies."""

    def __init__(self, core: Core, depth: int = SEARCH_DEPTH) -> None:
        self.core = core
        self.search = MoveValues(core, depth)

    def evaluate(self, positions: Positions, rng: np.random.Generator) -> Floats:
        """See `Evaluator.evaluate`; `rng` is not used."""
        margins = self.search.position_values(positions) + relative_points(positions.scores)
        return margins / self.core.rules.total


def search_trees(
    evaluator: Evaluator | PriorEvaluator,
    positions: Positions,
    simulations: int,
    exploration: float,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return (N, A) visits and (N, A) mean values of all actions in N running positions; zero if never visited.

    Each simulation selects a leaf of the tree by UCT (Kocsis and Szepesvári 2006), expands it, evaluates it and backs
    up the value. `exploration` is the weight of the UCT bonus for seldom-tried moves. With a `PriorEvaluator`, leaves
    are selected by PUCT (Silver et al. 2018), and an untried move gets the mean value of the tried moves.
    """
    trees = _Trees(evaluator, positions, simulations, exploration, rng)
    for simulation in range(1, simulations + 1):
        path = trees.select(rng)
        leaves = trees.expand(path, simulation)
        trees.backup(path, trees.evaluate(leaves, simulation, rng))
    n = len(positions)
    return trees.visits[:n], trees.means(np.arange(n))


class _Trees:
    """N trees; see the top of this module.

    Attributes:
        nodes: M positions.
        child: (M, A) node that each action leads to, or NO_CHILD.
        visits: (M, A) number of simulations through each action.
        sums: (M, A) sum of the values of these simulations to the mover.
        legal: (M, A) whether each action is legal.
        priors: (M, A) prior probabilities of the actions, for a `PriorEvaluator` only.
    """

    def __init__(
        self,
        evaluator: Evaluator | PriorEvaluator,
        roots: Positions,
        simulations: int,
        exploration: float,
        rng: np.random.Generator,
    ) -> None:
        self.evaluator, self.exploration, self.n = evaluator, exploration, len(roots)
        self.core = core = evaluator.core
        nodes, actions = self.n * (simulations + 1), core.rules.actions
        self.nodes = core.start(nodes)
        self.child = np.full((nodes, actions), NO_CHILD, dtype=np.intp)
        self.visits = np.zeros((nodes, actions))
        self.sums = np.zeros((nodes, actions))
        self.legal = np.zeros((nodes, actions), dtype=np.bool_)
        self._add(np.arange(self.n), roots)
        self.has_priors = isinstance(evaluator, PriorEvaluator)
        if self.has_priors:
            self.priors = np.zeros((nodes, actions))
            self.evaluate(roots, 0, rng)

    def _add(self, numbers: Ints, positions: Positions) -> None:
        self.nodes[numbers] = positions
        self.legal[numbers] = self.core.legal_mask(positions)

    def select(self, rng: np.random.Generator) -> Path:
        """Descend each tree to an action without a child; return (K,) trees, nodes and actions for each step."""
        path = []
        trees = nodes = np.arange(self.n)
        while trees.size:
            actions = best_actions(self._scores(nodes), self.legal[nodes], rng)
            path.append((trees, nodes, actions))
            children = self.child[nodes, actions]
            inner = children != NO_CHILD
            trees, nodes = trees[inner], children[inner]
        return path

    def expand(self, path: Path, simulation: int) -> Positions:
        """Play the last action of `path` in each tree, add a node for each running game, and return the N positions."""
        nodes, actions = np.zeros(self.n, dtype=np.intp), np.zeros(self.n, dtype=np.intp)
        for trees, step_nodes, step_actions in path:  # later steps overwrite earlier ones
            nodes[trees], actions[trees] = step_nodes, step_actions
        leaves = self.nodes[nodes]
        self.core.play(leaves, actions, checked=False)
        running = (~leaves.over).nonzero()[0]
        added = simulation * self.n + running
        self.child[nodes[running], actions[running]] = added
        self._add(added, leaves[running])
        return leaves

    def evaluate(self, leaves: Positions, simulation: int, rng: np.random.Generator) -> Floats:
        """Return (N, P) values of N leaves: results of finished games, otherwise evaluations. Store any priors."""
        values, over = np.zeros(leaves.scores.shape), leaves.over
        values[over] = game_rewards("margin", self.core, leaves[over])
        running = (~over).nonzero()[0]
        if not running.size:
            return values
        if isinstance(self.evaluator, PriorEvaluator):
            evaluation = self.evaluator.evaluate_with_priors(leaves[running], rng)
            values[running], self.priors[simulation * self.n + running] = evaluation
        else:
            values[running] = self.evaluator.evaluate(leaves[running], rng)
        return values

    def backup(self, path: Path, values: Floats) -> None:
        """Add the leaves' values (N, P) to the actions that led to them; each action gets its own mover's value."""
        for trees, nodes, actions in path:
            self.visits[nodes, actions] += 1
            self.sums[nodes, actions] += values[trees, self.nodes.mover[nodes]]

    def means(self, nodes: Ints) -> Floats:
        """Return the (K, A) mean value of each action of K nodes to its mover; zero if never visited."""
        return self.sums[nodes] / np.maximum(self.visits[nodes], 1)

    def _scores(self, nodes: Ints) -> Floats:
        """Return (K, A) upper confidence bounds; without priors, they are infinite for untried actions."""
        visits = self.visits[nodes]
        total = visits.sum(axis=1, keepdims=True)
        if self.has_priors:
            mean = self.sums[nodes].sum(axis=1, keepdims=True) / np.maximum(total, 1)
            bonus = self.priors[nodes] * np.sqrt(np.maximum(total, 1)) / (1 + visits)
            expected: Floats = np.where(visits == 0, mean, self.means(nodes)) + self.exploration * bonus
            return expected
        bonus = np.sqrt(np.log(np.maximum(total, 1)) / np.maximum(visits, 1))
        return np.where(visits == 0, np.inf, self.means(nodes) + self.exploration * bonus)
