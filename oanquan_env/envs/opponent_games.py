"""N games of an agent whose opponent moves within the step: the common part of the Gymnasium environments.

Shapes: N games, P players, A actions, D numbers in an observation. The agent has one seat in each game and the opponent
plays all others. Without an opponent (the self-play view) the agent plays for whoever is to move, one ply a step.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Floats, Ints, Mask
from oanquan_env.board import shared_core
from oanquan_env.engine.core import Core, IllegalActionError, check_whole
from oanquan_env.engine.positions import RUNNING, Positions, Termination
from oanquan_env.engine.rules import Rules, as_rules
from oanquan_env.envs.opponents import Opponent, Opponents
from oanquan_env.observation import Encoder
from oanquan_env.playing import advance
from oanquan_env.rewards import check_reward, ply_rewards

Seat: TypeAlias = int | Literal["random"]
PlyWatch: TypeAlias = Callable[[Ints, Positions, npt.NDArray[np.integer[Any]] | None], None]
"""Given rows (M,), copies of their positions before a ply (M) and the actions (M,) of it; None where games begin."""

ILLEGAL_REWARD = -1.0  # the reward of an illegal action: that of a lost game

MAX_GAMES = 10_000_000  # most games of one batch

ILLEGAL_ACTION = len(Termination)
TERMINATIONS = (*map(str, Termination), "illegal_action")
"""Names of the codes in a batch's `info["termination"]`: those of `Termination`, and `ILLEGAL_ACTION`."""

MAX_BEGINNINGS = 100
"""Beginnings drawn for one game before it is an error that the opponent ended all of them."""


class OpponentGames:
    """N games and the agent's seats in them. `begin` starts games, `step` plays on. This is the path by NumPy.

    Raises `ValueError` for an opponent that is no player, an unknown seat or reward, and for an `n` or `opening_plies`
    that is no whole number or out of range.

    There are `n` games, 1 to `MAX_GAMES`; the other arguments are those of `oanquan_env.envs.single.OAnQuanEnv`.

    Attributes:
        positions: N positions; in running games the agent is to move.
        seats: (N,) intp, the agent's seats; in the self-play view who made the last ply.
        mask: (N, A) bool, the agent's legal actions; all false where the game is over.
        over: (N,) bool, games that are over, for whatever reason.
        observation: (N, D) int32, what the agent sees.
        rewards, terminated, truncated: (N,) float64, bool and bool, of the last step.
        illegal: (N,) bool, games that the agent ended by an illegal action. Their positions stay as they were.
        watch: called with each ply and with each beginning; None by default.
    """

    def __init__(
        self, n: int, rules: Rules | str, *, opponent: Opponent, seat: Seat, reward: str, opening_plies: int = 0
    ) -> None:
        n = _whole("num_envs", n, 1, MAX_GAMES)
        self.core = shared_core(as_rules(rules))
        self.encoder = Encoder(self.core)
        self.reward = check_reward(reward)
        self.opening_plies = check_opening_plies(opening_plies, self.core.rules)
        self.watch: PlyWatch | None = None
        self.positions = self.core.start(n)
        self.seats = np.zeros(n, dtype=np.intp)
        self.mask = np.zeros((n, self.core.rules.actions), dtype=np.bool_)
        self.over = np.zeros(n, dtype=np.bool_)
        self.illegal = np.zeros(n, dtype=np.bool_)
        self._opponent = None if opponent is None else Opponents(opponent, self.core, n)
        self._seat = _check_seat(seat, self.core.rules, self_play=self._opponent is None)
        self._fixed_seat = np.array([0 if self._seat == "random" else self._seat], dtype=np.intp)
        self._paid = self.positions.scores.copy()  # scores already rewarded
        self._mask_rows = np.arange(0, self.mask.size, self.core.rules.actions)

    def set_opponent(self, opponent: Opponent) -> None:
        """Take another opponent in games that begin from now on; raises `ValueError` as the constructor."""
        if self._opponent is None or opponent is None:
            raise ValueError("only another opponent can be set: make another environment for the self-play view")
        self._opponent.exchange(opponent, self.over)

    def begin(self, rows: Ints, rng: np.random.Generator, start: Positions | None = None) -> None:
        """Start new games in `rows`, from `start` (one position, or one for each) or as games usually begin.

        The opponent plays until it is the agent's turn. Seat and opening of a game that it ends before are drawn again;
        after `MAX_BEGINNINGS` such games in a row that is a `ValueError`.
        """
        self._restart(rows, rng, start)
        self._reply(rng)
        self._redraw(rows, rng, start)
        self._look(rows)

    def step(self, actions: npt.ArrayLike, rng: np.random.Generator) -> int:
        """Play the agent's actions and the opponent's replies; returns how many games are over.

        A reward is of all that happened since the agent's last one, or since the game began: an opening move of the
        opponent counts in the first. An illegal action ends the game with `ILLEGAL_REWARD`. Games that were over begin
        anew, which pays nothing; their actions are ignored. Raises `IllegalActionError` for actions of another shape or
        type or outside the space, and for an illegal one of the opponent.

        Args:
            actions: (N,) integers, 0 .. A-1.
            rng: the chance of the opponent, the seats and the openings.
        """
        actions, was_over = self._check_actions(actions), self.over
        legal: Mask = self.mask.reshape(-1).take(self._mask_rows + actions)
        self.illegal |= ~(legal | was_over)
        if self._opponent is None:
            self.seats[:] = self.positions.mover
        self._play(actions, legal)
        rows = was_over.nonzero()[0]
        if rows.size:
            self._restart(rows, rng)
        self._reply(rng)  # also the openings of games that begin anew
        if rows.size:
            self._redraw(rows, rng)
        self._look(rows)
        self._pay(~was_over)
        return int(self.over.sum())

    def report(self) -> dict[str, npt.NDArray[Any]]:
        """How the games ended that the last step ended; zeros for those that go on.

        `termination` (N,) int64, the reason's place in `TERMINATIONS`; `standings` (N, P) int32, points of all
        players; `seat` (N,) intp, whom the last reward paid; `illegal_action` (N,) bool.
        """
        return {
            "termination": np.where(self.illegal, ILLEGAL_ACTION, self.positions.ended).astype(np.int64),
            "standings": self.core.standings(self.positions) * self.over[:, None],
            "seat": self.seats * self.over,
            "illegal_action": self.illegal.copy(),
        }

    def _check_actions(self, actions: npt.ArrayLike) -> npt.NDArray[np.integer[Any]]:
        actions = np.asarray(actions)
        check_whole(actions, len(self.positions))
        outside = ((actions < 0) | (actions >= self.core.rules.actions)).nonzero()[0]
        if outside.size:
            row, last = outside[0], self.core.rules.actions - 1
            raise IllegalActionError(f"action {actions[row]} in row {row} is outside 0 .. {last}")
        return actions

    def _play(self, actions: npt.NDArray[np.integer[Any]], legal: Mask) -> None:
        """Play where `legal`."""
        rows = legal.nonzero()[0]
        if self.watch is not None and rows.size:
            self.watch(rows, self.positions[rows], actions[rows])
        if rows.size == len(actions):
            self.core.play(self.positions, actions, checked=False)
        elif rows.size:
            self.core.play(self.positions, actions[rows], rows=rows, checked=False)

    def _restart(self, rows: Ints, rng: np.random.Generator, start: Positions | None = None) -> None:
        """New games in `rows`, before the opponent's first move."""
        if start is None:
            start = self._starts(len(rows), rng)
        self.positions[rows] = start
        self._paid[rows] = self.positions.scores[rows]
        self.illegal[rows] = False
        seats = self._draw_seats(rows, rng)
        self.seats[rows] = self.positions.mover[rows] if self._opponent is None else seats
        if self.watch is not None:
            self.watch(rows, self.positions[rows], None)

    def _starts(self, n: int, rng: np.random.Generator) -> Positions:
        return draw_starts(self.core, n, self.opening_plies, rng)

    def _draw_seats(self, rows: Ints, rng: np.random.Generator) -> Ints:
        """The agent's seats in new games, one for each or one for all of them; their opponents are drawn before."""
        if self._opponent is not None:
            self._opponent.draw(rows, rng)
            if self._seat == "random":
                return rng.integers(self.core.rules.players, size=len(rows))
        return self._fixed_seat

    def _redraw(self, rows: Ints, rng: np.random.Generator, start: Positions | None = None) -> None:
        """Begin those of `rows` again that the opponent has ended, until it is the agent's turn in all of them."""
        for _ in range(1, MAX_BEGINNINGS):
            ended = self.positions.over[rows]
            if not ended.any():
                return
            rows, start = rows[ended], start if start is None or len(start) == 1 else start[ended]
            self._restart(rows, rng, start)
            self._reply(rng)
        if self.positions.over[rows].any():
            raise ValueError(
                f"the opponent ended {MAX_BEGINNINGS} of {MAX_BEGINNINGS} games of '{self.core.rules}' before the "
                "agent's first move: give another seat, another position or a larger max_plies"
            )

    def _waiting(self) -> Mask:
        """(N,) bool, games in which it is the opponent's turn."""
        waiting: Mask = (self.positions.mover != self.seats) & (self.positions.ended == RUNNING)
        return waiting

    def _reply(self, rng: np.random.Generator, waiting: int | None = None) -> None:
        """The opponent's plies, until it is the agent's turn in all games that go on; it is not now in `waiting`."""
        if self._opponent is None:
            return
        while (rows := self._waiting().nonzero()[0]).size:
            moved = self.positions.at(rows)
            actions, before = self._opponent.choose(rows, moved, rng), moved.copy() if self.watch else None
            try:
                self.core.play(moved, actions)
            except IllegalActionError as error:
                raise IllegalActionError(f"of the opponent: {error}") from None
            if self.watch is not None and before is not None:
                self.watch(rows, before, actions)
            if moved is not self.positions:
                self.positions[rows] = moved

    def _look(self, rows: Ints) -> None:
        """Renew what the agent sees of the new positions; rows other than `rows` may keep what they had."""
        self.over = self.positions.over | self.illegal
        self.mask = self.core.legal_mask(self.positions)
        illegal = self.illegal.nonzero()[0]
        if illegal.size:
            self.mask[illegal] = False
        self.observation = self.encoder.encode(self.positions, None if self._opponent is None else self.seats)

    def _pay(self, due: Mask) -> None:
        """Reward the players in `seats` of games that are `due`, for all that was not paid yet; it adds up."""
        positions, self.rewards = self.positions, np.zeros(len(self.positions))
        self.truncated = positions.truncated
        self.terminated = self.over & ~self.truncated
        if self.reward == "outcome":
            due &= self.over  # few games end in a step, and nothing is paid before
        rows = due.nonzero()[0]
        if rows.size:
            earned = ply_rewards(self.reward, self.core, self._paid[rows], positions.at(rows))
            self.rewards[rows] = earned[np.arange(len(rows)), self.seats[rows]]
            self.rewards[due & self.illegal] = ILLEGAL_REWARD
            self._paid[rows] = positions.scores[rows]


def play_openings(core: Core, starts: Positions, plies: Ints, draws: Floats) -> None:
    """Play `plies` (N,) random plies in N games from the set-up, with a number of `draws` for each ply."""
    begins = plies.cumsum() - plies

    def choose(rows: Ints, positions: Positions) -> Ints:
        mask = core.legal_mask(positions)
        places = (draws[begins[rows] + positions.ply] * mask.sum(axis=1)).astype(np.intp)
        chosen: Ints = (mask.cumsum(axis=1) > places[:, None]).argmax(axis=1)
        return chosen

    for _ in advance(core, starts, choose, plies, checked=False):
        pass


def draw_starts(
    core: Core, n: int, most_plies: int, rng: np.random.Generator, play: Callable[..., None] = play_openings
) -> Positions:
    """Start positions of `n` games, 0 to `most_plies` random plies in; the set-up where the game was over by then."""
    starts = core.start(n)
    if most_plies:
        plies = rng.integers(0, most_plies + 1, n)
        play(core, starts, plies, rng.random(plies.sum()))
        starts[starts.over] = core.start(1)
    return starts


def check_opening_plies(plies: int, rules: Rules) -> int:
    """`opening_plies` of an environment; raises `ValueError` for no whole number from 0 to `max_plies`."""
    return _whole("opening_plies", plies, 0, rules.max_plies)


def _check_seat(seat: Seat, rules: Rules, *, self_play: bool) -> Seat:
    if seat == "random":
        return seat
    if self_play:
        raise ValueError(f"seat is for games against an opponent: without one the agent plays every seat; got {seat!r}")
    return _whole("seat", seat, 0, rules.players - 1, "random or ")


def _whole(name: str, value: object, low: int, high: int, others: str = "") -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    raise ValueError(f"{name} must be {others}a whole number from {low} to {high}; got {value!r}")
