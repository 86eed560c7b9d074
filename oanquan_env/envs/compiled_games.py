"""`OpponentGames` by compiled loops: the same games, draws and errors."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Floats, Ints
from oanquan_env.engine.compiled import RULES, zeros
from oanquan_env.engine.core import check_whole
from oanquan_env.engine.positions import Positions
from oanquan_env.envs.opponent_games import OpponentGames, draw_starts, play_openings
from oanquan_env.envs.step_loops import Games, StepLoops, Table, step_loops
from oanquan_env.players import GreedyPolicy, RandomPolicy
from oanquan_env.rewards import REWARDS

_NO_SEATS = np.empty(0, dtype=np.intp)


class CompiledGames(OpponentGames):
    """`OpponentGames` whose arrays are changed in place, but for `watch`, which is not called.

    Without an opponent a step is one call of compiled code. `random` and `greedy` reply in compiled code; any other
    opponent is asked once for all games between two compiled halves.
    """

    def __init__(self, n: int, *arguments: Any, **settings: Any) -> None:
        super().__init__(n, *arguments, **settings)
        self.observation = np.zeros((n, self.encoder.size), dtype=np.int32)
        self.rewards, self._termination = np.zeros(n), np.zeros(n, dtype=np.int64)
        self.terminated, self.truncated = np.zeros((2, n), dtype=np.bool_)
        self._standings, self._rewarded = np.zeros_like(self.positions.scores), np.zeros_like(self.seats)
        self._all = np.arange(n)
        self._setup = self.core.start().words[0]
        self._plain = self.opening_plies == 0
        self._over = 0  # games that are over

    @functools.cached_property
    def _compiled(self) -> tuple[StepLoops, Table, Games, bool, int]:
        """The loops and their common arguments, which look into this object's arrays: no part of a copy."""
        arrays = self._arrays(self.positions)
        seen = self.over, self.mask, self.observation, self.rewards, self.terminated, self.truncated
        ends = self._termination, self._standings, self._rewarded
        games = Games._make((*arrays, self.seats, self.illegal, self._paid, *seen, *ends))
        table = zeros(RULES, 1)
        table[0] = self.core.record
        return step_loops(self.core.rules.players), table, games, self._opponent is None, REWARDS.index(self.reward)

    @staticmethod
    def _arrays(games: Positions) -> Any:
        return games.words, games.scores, games.mover, games.ply, games.ended

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_compiled"}

    def step(self, actions: npt.ArrayLike, rng: np.random.Generator) -> int:
        """See `OpponentGames.step`."""
        actions = np.asarray(actions)
        check_whole(actions, len(self.seats))
        loops, table, games, self_play, reward = self._compiled
        rows, seats = _NO_SEATS, _NO_SEATS
        if self._over:
            if self_play and self._plain:
                seats = self._fixed_seat
            else:
                self._check_actions(actions)  # before anything is drawn
                rows = self.over.nonzero()[0]
                if self._plain:
                    seats = self._draw_seats(rows, rng)
                else:
                    self._restart(rows, rng)
        whole = actions if actions.dtype == np.int64 else actions.astype(np.int64)
        count = loops.play(table, games, self._all, whole, self._setup, seats, self_play, reward)
        if count < 0:
            super().step(actions, rng)  # it raises the error
        if not self_play:
            self._reply(rng, count)
            if rows.size:
                self._redraw(rows, rng)
            count = loops.finish(table, games, self._all, self_play, reward, True)
        self._over = count
        return int(count)

    def report(self) -> dict[str, npt.NDArray[Any]]:
        """See `OpponentGames.report`."""
        return {
            "termination": self._termination.copy(),
            "standings": self._standings.copy(),
            "seat": self._rewarded.copy(),
            "illegal_action": self.illegal.copy(),
        }

    def _starts(self, n: int, rng: np.random.Generator) -> Positions:
        return draw_starts(self.core, n, self.opening_plies, rng, self._play_openings)

    def _play_openings(self, core: Any, starts: Positions, plies: Ints, draws: Floats) -> None:
        loops, table, *_ = self._compiled
        if not loops.open(table, *self._arrays(starts), plies, draws):
            play_openings(core, core.start(len(starts)), plies, draws)  # it raises the error

    def _reply(self, rng: np.random.Generator, waiting: int | None = None) -> None:
        player = None if self._opponent is None else self._opponent.only
        by_gain = isinstance(player, GreedyPolicy)
        if not by_gain and not isinstance(player, RandomPolicy):
            super()._reply(rng)
            return
        loops, table, games, *_ = self._compiled
        if waiting is None:
            waiting = int(self._waiting().sum())
        while waiting:
            draws = rng.random((waiting, self.core.rules.actions))
            waiting = loops.reply(table, games, draws, by_gain)
            if waiting < 0:
                self._raise_runaway(draws, by_gain)

    def _raise_runaway(self, draws: Floats, by_gain: bool) -> None:
        """Raise the error of a reply that the loop refused, which is that of the player or of its move."""
        rows = self._waiting().nonzero()[0]
        moved = self.positions.at(rows)
        if by_gain:
            self.core.expand(moved)
        self.core.play(moved, np.where(self.core.legal_mask(moved), draws, -1.0).argmax(axis=1))

    def _look(self, rows: Ints) -> None:
        loops, table, games, self_play, reward = self._compiled
        loops.finish(table, games, rows, self_play, reward, False)
        self._over = int(self.over.sum())
