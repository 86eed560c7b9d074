"""Max^n search (Luckhardt and Irani 1986) with NumPy alone: all lines of play to a fixed depth, from N positions.

Each level plays all moves of its positions with one call of `Core.expand`. A line's value is the points of all players
at its end, plus a value net's estimate of the rest, if there is a net. A player's margin is its points over the mean of
the others'. Every player maximises its own margin: on the way back the mover's best line goes up, with the points of
all players. With two players this is minimax. Of equally good lines the one of the lowest action goes up, so that a
search depends on the positions alone.

Memory: no call plays the moves of more than `CHUNK` positions, and one call for each level is open at a time. So a
search holds `depth * CHUNK * A` positions at most, whatever N: 1 MB for each ply of depth, and 2 MB for the call that
plays. The result is N * A * P numbers of 8 bytes.
"""

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Floats, Ints, Points
from oanquan_env.engine.core import Core, relative_points
from oanquan_env.engine.positions import Positions, Termination
from oanquan_env.search.value_net import ValueNet

MAX_DEPTH = 20
"""Each ply more takes about seven times as long, except near the end of a game."""
CHUNK = 1024
"""Positions whose moves are played by one call."""
NET_UNIT = 64
"""Parts of a point that a net's values are rounded to: whole numbers are compared faster, and exactly."""
_ACTION_STRIDE = 16  # more than there are actions


def check_depth(depth: int) -> None:
    """Raise `ValueError` for a depth out of range."""
    if not 1 <= depth <= MAX_DEPTH:
        raise ValueError(f"depth must be 1 to {MAX_DEPTH}; got {depth}")


class MaxnSearch:
    """Values the moves of positions of one `Rules`.

    Raises `ValueError` for a depth or a chunk out of range, and for a net of other rules.

    Args:
        core: of the rules to play.
        depth: plies looked ahead, 1 to `MAX_DEPTH`.
        net: what running positions at the horizon are worth, nothing without a net.
        chunk: positions whose moves are played by one call; it changes memory and time, never a value.
    """

    def __init__(self, core: Core, depth: int, *, net: ValueNet | None = None, chunk: int = CHUNK) -> None:
        check_depth(depth)
        if chunk < 1:
            raise ValueError(f"chunk must be 1 or more; got {chunk}")
        if net is not None and not net.fits(core.rules):
            raise ValueError(f"the net is for the rules '{net.rules}', not '{core.rules}'")
        self.core = core
        self.depth = depth
        self.net = net
        self.chunk = chunk
        self._unit = 1 if net is None else NET_UNIT

    def values(self, positions: Positions) -> Floats:
        """(N, A, P) float64, what each move of N running positions is worth to each player.

        A value is a margin in points: what the player will win from here on over the mean of what the others will. The
        scores so far are not in it, the leftovers of finished games are. Illegal actions have -inf. Raises `ValueError`
        if a game is over, and `RunawayGameError` if a line of play leads to more seeds in play than the core allows.
        """
        over = positions.over.nonzero()[0]
        if over.size:
            reason = Termination(positions.ended[over[0]])
            raise ValueError(f"the game in row {over[0]} is over ({reason!s}); there is nothing to search")
        values = np.full((len(positions), self.core.rules.actions, self.core.rules.players), -np.inf)
        for begin in range(0, len(positions), self.chunk):
            part = positions[begin : begin + self.chunk]
            rows, actions, points = self._points(part, self.depth)
            values[begin + rows, actions] = relative_points(points - self._unit * part.scores[rows]) / self._unit
        return values

    def movers_values(self, positions: Positions) -> Floats:
        """(N, A) what each move of N running positions is worth to who makes it: its column of `values`."""
        return self.values(positions)[np.arange(len(positions)), :, positions.mover]

    def position_values(self, positions: Positions) -> Floats:
        """(N, P) float64, what N running positions are worth to each player: the `values` of the mover's best move."""
        values, rows = self.values(positions), np.arange(len(positions))
        best: Floats = values[rows, values[rows, :, positions.mover].argmax(axis=1)]
        return best

    def line(self, position: Positions, action: int) -> list[int]:
        """The actions of the line that goes up behind `action` in one running position, that one first."""
        line, position = [action], position.copy()
        self.core.play(position, [action])
        for depth in range(self.depth - 1, 0, -1):
            if position.over[0]:
                break
            rows, actions, points = self._points(position, depth)
            best = _worth(points, rows, position.mover).argmax()  # the first of equals
            line.append(int(actions[best]))
            self.core.play(position, actions[best : best + 1])
        return line

    def _points(self, positions: Positions, depth: int) -> tuple[Ints, Ints, Points]:
        """Rows, actions and final points (M, P), in units, of all moves."""
        children, rows, actions = self.core.expand(positions)
        points = self.core.standings(children)
        if self.net is not None:
            points *= self._unit
            if depth == 1:
                running = (children.ended == 0).nonzero()[0]
                points[running] += self._expected_points(children[running])
        if depth > 1:
            running = (children.ended == 0).nonzero()[0]
            for begin in range(0, len(running), self.chunk):
                part = running[begin : begin + self.chunk]
                points[part] = self._best_line(children[part], depth - 1)
        return rows, actions, points

    def _expected_points(self, positions: Positions) -> Points:
        """(N, P) points, in units, that the net expects the players of N running positions to win."""
        assert self.net is not None
        players = positions.scores.shape[1]  # points that sum to zero are margins times (P - 1) / P
        points: Points = np.rint(self.net.margins(positions) * (self._unit * (players - 1) / players)).astype(np.int32)
        return points

    def _best_line(self, positions: Positions, depth: int) -> Points:
        """(N, P) final points of the line that goes up from each of N running positions."""
        rows, actions, points = self._points(positions, depth)
        keys = _worth(points, rows, positions.mover)
        keys *= _ACTION_STRIDE
        keys -= actions  # no two moves of a position have the same key
        first = np.diff(rows, prepend=-1).nonzero()[0]
        best: Points = points[keys == np.maximum.reduceat(keys, first).take(rows)]
        return best


def _worth(points: Points, rows: Ints, movers: Ints) -> npt.NDArray[np.int64]:
    """(M,) what each line is worth to who chooses it: its margin times the number of the others, a whole number."""
    players = points.shape[1]
    own = points.reshape(-1).take(movers.take(rows) + np.arange(0, points.size, players))
    worth: npt.NDArray[np.int64] = own.astype(np.int64) * players
    for seat in range(players):
        worth -= points[:, seat]
    return worth
