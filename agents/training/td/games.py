"""Self-play and its targets: the TD(lambda) return of each position.

A target uses the value of the best move, not of the move played, and stops at the next move that was much worse than
the best (Watkins 1989). So random moves do not distort the targets.

Shapes: T plies, N games, A actions, P players. Values are future margins in points.
"""

import numpy as np

from agents.training.config import between
from agents.training.starts import RandomStarts
from agents.training.td.config import TDConfig
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats, Ints, Mask
from oanquan_env.engine.core import relative_points
from oanquan_env.search.move_values import MoveValues


def lambda_returns(best: Floats, won: Floats, over: Mask, followed: Mask, lam: float) -> Floats:
    """(T, N, P) targets: the positions' lambda returns for all players.

    G[t] = (1 - lam) * best[t] + lam * (won[t] + G[t + 1]). The last ply, and one whose move was not `followed`, have
    best[t] alone.

    Args:
        best: (T, N, P) the values of the mover's best moves, by seat.
        won: (T, N, P) the margins that the moves played won at once.
        over: (T, N) whether the game ended with the move.
        followed: (T, N) whether the move was about as good as the best one.
        lam: lambda, 0 to 1.
    """
    returns = best.copy()
    for ply in reversed(range(len(best) - 1)):
        later = won[ply] + np.where(over[ply, :, None], 0.0, returns[ply + 1])
        returns[ply] += np.where(followed[ply, :, None], lam * (later - best[ply]), 0.0)
    return returns


class Games:
    """N games of self-play, begun anew when they end.

    Attributes:
        positions: the N positions to move in.
        starts: where games begin.
    """

    def __init__(self, core: Core, config: TDConfig, starts: RandomStarts) -> None:
        self.core = core
        self.config = config
        self.starts = starts
        self.positions = starts.draw(config.games)

    def play(self, search: MoveValues, done: float, rng: np.random.Generator) -> tuple[Positions, Floats]:
        """A rollout: its T * N positions, and (T * N, P) their targets for the players, by seat.

        `search` values the moves, and `done` is the share of the run that is done, for the temperature.
        """
        temperature = between(self.config.temperature, self.config.temperature / 3, done)
        rows = np.arange(self.config.games)
        seen, best, won, over, followed = [], [], [], [], []
        for _ in range(self.config.steps):
            values = search.values(self.positions)
            movers = values[rows, :, self.positions.mover]
            actions = self._choose(movers, temperature, rng)
            seen.append(self.positions.copy())
            best.append(values[rows, movers.argmax(axis=1)])
            followed.append(movers[rows, actions] > movers.max(axis=1) - self.config.slip)
            before = self.core.standings(self.positions)
            self.core.play(self.positions, actions)
            won.append(relative_points(self.core.standings(self.positions) - before))
            over.append(self.positions.over.copy())
            ended = over[-1].nonzero()[0]
            self.positions[ended] = self.starts.draw(len(ended))
        found = lambda_returns(np.stack(best), np.stack(won), np.stack(over), np.stack(followed), self.config.lam)
        return Positions.concatenate(seen), found.reshape(-1, found.shape[2])

    def _choose(self, values: Floats, temperature: float, rng: np.random.Generator) -> Ints:
        """(N,) actions by a softmax of values (N, A), now and then any legal ones."""
        likely = values / temperature + rng.gumbel(size=values.shape)  # the largest is a draw from the softmax
        legal = np.where(np.isfinite(values), rng.random(values.shape), -np.inf)
        at_random = rng.random(len(values)) < self.config.random_moves
        actions: Ints = np.where(at_random[:, None], legal, likely).argmax(axis=1)
        return actions
