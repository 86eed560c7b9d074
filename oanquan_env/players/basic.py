"""Players that look at most two plies ahead (random, greedy, saver), and a wrapper that adds random moves."""

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints, Mask
from oanquan_env.engine.core import Core, Expanded, best_actions, relative_points, sample_actions
from oanquan_env.engine.positions import Positions
from oanquan_env.players.policy import Policy


class RandomPolicy:
    """A player that chooses uniformly among the legal actions."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        return sample_actions(self.tied_moves(positions), rng)

    def tied_moves(self, positions: Positions) -> Mask:
        """See `DrawingPolicy.tied_moves`."""
        return self.core.legal_mask(positions)


class GreedyPolicy:
    """A player that plays the move with the largest immediate gain; ties are broken at random. See `move_gains`."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        return best_actions(move_gains(self.core, positions), self.core.legal_mask(positions), rng)

    def tied_moves(self, positions: Positions) -> Mask:
        """See `DrawingPolicy.tied_moves`."""
        gains = np.where(self.core.legal_mask(positions), move_gains(self.core, positions), -np.inf)
        tied: Mask = gains == gains.max(axis=1, keepdims=True)
        return tied


class SaverPolicy:
    """A player that minimises the next player's largest immediate gain; among equal moves it maximises its own gain.

    `move_gains` defines gains. If a move ends the game, the mover's loss counts instead. Ties are broken at random.
    """

    def __init__(self, core: Core) -> None:
        self.core = core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        expanded = self.core.expand(positions)
        children, rows, actions = expanded
        won = points_won(self.core, positions, expanded)
        replies = np.where(self.core.legal_mask(children), move_gains(self.core, children), -np.inf)
        gains = np.zeros((len(positions), self.core.rules.actions))
        costs = np.full(gains.shape, np.inf)
        gains[rows, actions] = won
        costs[rows, actions] = np.where(children.over, np.maximum(0, -won), replies.max(axis=1))
        cheapest = np.isfinite(costs) & (costs == costs.min(axis=1, keepdims=True))
        return best_actions(gains, cheapest, rng)


class EpsilonPolicy:
    """A player that, with probability `epsilon` (0 to 1), plays a random move instead of another player's move."""

    def __init__(self, core: Core, policy: Policy, epsilon: float) -> None:
        if not 0 <= epsilon <= 1:
            raise ValueError(f"epsilon must be a probability, 0 to 1; got {epsilon}")
        self.core = core
        self.policy = policy
        self.epsilon = epsilon
        self._random = RandomPolicy(core)

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        choice = self.policy.choose(positions, rng)
        at_random = (rng.random(len(positions)) < self.epsilon).nonzero()[0]
        if at_random.size:
            choice[at_random] = self._random.choose(positions[at_random], rng)
        return choice


def move_gains(core: Core, positions: Positions) -> npt.NDArray[np.float64]:
    """Return the (N, A) immediate gains of legal moves: the mover's points minus the mean of the other players' points.

    Gains include refills that the move causes, and leftovers if it ends the game. Illegal actions have gain zero.
    """
    gains = np.zeros((len(positions), core.rules.actions))
    loops, rules, arrays = core.loops(positions)
    loops.gains(rules, arrays, gains)
    return gains


def points_won(core: Core, positions: Positions, expanded: Expanded) -> npt.NDArray[np.float64]:
    """Return the (M,) immediate gains of the moves in `expanded` for their movers, as in `move_gains`."""
    won = relative_points(core.standings(expanded.positions) - positions.scores[expanded.rows])
    gains: npt.NDArray[np.float64] = won[np.arange(len(won)), positions.mover[expanded.rows]]
    return gains
