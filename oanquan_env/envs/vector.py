"""Ô Ăn Quan as a native Gymnasium VectorEnv: N games stepped as one batch, with no loop over them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from oanquan_env.arrays import Ints, Mask
from oanquan_env.board import shared_core
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.envs.opponent_games import OpponentGames, Seat
from oanquan_env.envs.opponents import Opponent
from oanquan_env.envs.rendering import Screen
from oanquan_env.envs.reset_options import check_options, given_position
from oanquan_env.observation import Observation

VECTOR_RENDER_MODES = ("rgb_array", "ansi")
DRAWN_GAMES = 16
"""Games of a batch that `render` draws."""
NO_MOVE = -1
"""In place of an action: the game has just begun."""

Step = tuple[Observation, npt.NDArray[np.float64], Mask, Mask, dict[str, Any]]


class OAnQuanVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """N games: `gymnasium.make_vec("OAnQuan-v0", num_envs=N, opponent=None)` after `import oanquan_env`.

    Each row behaves as in a `gymnasium.vector.SyncVectorEnv` of N `OAnQuanEnv`; see there for spaces, rewards, illegal
    actions and endings. Observations are (N, D) int32, rewards (N,) float64, terminations and truncations (N,) bool.
    `info["action_mask"]` is (N, A) int8 and `action_masks()` (N, A) bool; each entry of `info` has its companion, such
    as `_action_mask`, (N,) bool, that tells which rows have it. Random legal actions:
    `action_space.sample(tuple(info["action_mask"]))`. Where a single game's `termination` is a text, that of a batch is
    int64, the place of the text in `oanquan_env.envs.TERMINATIONS`.

    Finished games restart as `metadata["autoreset_mode"]` says:

    - `NEXT_STEP` (Gymnasium's default): the step that ends a game returns its last observation, `termination`,
      `standings`, `seat` and `illegal_action`; the next one ignores the row's action, which need only lie in the space,
      and returns the new game's first observation with reward 0. In between, the row of the mask is all zeros.
    - `DISABLED`: nothing restarts; `reset(options={"reset_mask": mask})`, (N,) bool, starts the games in `mask` anew
      and leaves the others alone. `info` then holds their rows only. A step while a game is over raises ResetNeeded.
    - `SAME_STEP`: the step that ends a game returns the new game's first observation; the last observation is in
      `info["final_obs"]` (N,) object, the rest in `info["final_info"]`.

    One generator, seeded by `reset(seed=…)`, draws the seats and serves the opponent in all games. N seeds, as
    `SyncVectorEnv` takes them, seed it together: the same N give the same games, but no row depends on its own alone.
    `reset(options={"position": p})` starts from a running position, given as text, as a `Board` or as a batch of
    one for all games, or as a batch of N; see `OAnQuanEnv` for refused ones, and for the arguments `rules`, `opponent`
    (who is asked for all games at once), `seat`, `reward` and `opening_plies`.

    Args:
        num_envs: N.
        render_mode: `rgb_array`, `ansi` or None. `render` returns a tuple of N pictures or texts, the first
            16 games drawn and all others left empty, so that a large batch can be filmed; Gymnasium's `RecordVideo`
            lays them out as tiles.
        autoreset_mode: an `AutoresetMode` or its value, `NextStep`, `SameStep` or `Disabled`.
        copy: whether arrays that `reset` and `step` return are the caller's own. Otherwise the next call may overwrite
            them, and they must not be written to.

    Raises:
        ValueError: as `OAnQuanEnv`, and for an unknown mode or a `num_envs` that is no whole number from 1 to
            10 million.
    """

    metadata: dict[str, Any] = {"render_modes": list(VECTOR_RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str = DEFAULT_PRESET,
        *,
        opponent: Opponent = "greedy",
        seat: Seat = "random",
        reward: str = "outcome",
        opening_plies: int = 0,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        if render_mode not in (None, *VECTOR_RENDER_MODES):
            known = ", ".join(VECTOR_RENDER_MODES)
            raise ValueError(f"render_mode must be one of {known} or None; got {render_mode!r}")
        mode = AutoresetMode(autoreset_mode)
        self._is_disabled, self._is_same_step = mode == AutoresetMode.DISABLED, mode == AutoresetMode.SAME_STEP
        self.num_envs = num_envs
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.render_mode = render_mode
        games = OpponentGames
        if render_mode is None and shared_core(as_rules(rules)).compiled:
            from oanquan_env.envs.compiled_games import CompiledGames  # it loads Numba

            games = CompiledGames
        self._games = games(num_envs, rules, opponent=opponent, seat=seat, reward=reward, opening_plies=opening_plies)
        encoder = self._games.encoder
        self.single_observation_space = spaces.Box(encoder.low, encoder.high, dtype=np.int32)
        self.single_action_space = spaces.Discrete(self._games.core.rules.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._begun, self._copy = False, copy
        self._everyone = np.ones(num_envs, dtype=np.bool_)
        self._screen = Screen(self._games.core, render_mode)
        self._before, self._moves = self.positions.copy(), np.full(num_envs, NO_MOVE)  # the last ply of each game
        if render_mode is not None:
            self._games.watch = self._remember

    @property
    def positions(self) -> Positions:
        """The N games; not to be changed."""
        return self._games.positions

    @property
    def seats(self) -> Ints:
        """(N,) intp, the agent's seats; in the self-play view who made the last ply."""
        return self._games.seats.copy()

    def set_opponent(self, opponent: Opponent) -> None:
        """Play games that begin from now on against another opponent, or a list; a running game keeps its own.

        Raises `ValueError` as the constructor, and in the self-play view.
        """
        self._games.set_opponent(opponent)

    def action_masks(self) -> Mask:
        """(N, A) bool, the legal actions; all false in the rows of games that are over."""
        return self._games.mask.copy()

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start all games anew, or those in `options["reset_mask"]`, from the set-up or from `options["position"]`."""
        given = check_options(options, ("position", "reset_mask"))
        rows = self._rows_to_reset(given.get("reset_mask"))
        start = given_position(self._games.core, given.get("position"), self.num_envs)
        if isinstance(seed, Sequence | np.ndarray):
            self.np_random = np.random.default_rng(_check_seeds(seed, self.num_envs))
        else:
            super().reset(seed=seed)
        self._games.begin(rows, self.np_random, start if start is None or len(start) == 1 else start[rows])
        self._begun = True
        present = np.zeros(self.num_envs, dtype=np.bool_)
        present[rows] = True
        masks = self._games.mask.view(np.int8) * present[:, None]
        seen = self._games.observation
        return seen.copy() if self._copy else seen, {"action_mask": masks, "_action_mask": present}

    def _rows_to_reset(self, mask: object) -> Ints:
        """The rows that `reset`'s option `reset_mask` names; all where it was not given."""
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"reset's option 'reset_mask' must be an array of bool; got {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            wanted = f"must have shape ({self.num_envs},) and a True entry"
            raise ValueError(f"reset's option 'reset_mask' {wanted}; got shape {mask.shape}, {mask.sum()} True")
        if not self._begun and not mask.all():
            raise ResetNeeded("the games have not begun: call reset() without a reset_mask first")
        return mask.nonzero()[0]

    def step(self, actions: npt.NDArray[np.int64]) -> Step:
        """Play one action in each game; see the class for those that have just ended."""
        if not self._begun:
            raise ResetNeeded("the games have not begun: call reset() first")
        games, info = self._games, {}
        if self._is_disabled and games.over.any():
            over = games.over.nonzero()[0].tolist()
            raise ResetNeeded(f"games {over} are over: call reset(options={{'reset_mask': …}}) first")
        if games.step(actions, self.np_random):
            info = self._restart() if self._is_same_step else self._ends()
        if self._copy:
            info["action_mask"], info["_action_mask"] = games.mask.view(np.int8).copy(), self._everyone.copy()
            rewards, terminated, truncated = games.rewards.copy(), games.terminated.copy(), games.truncated.copy()
            return games.observation.copy(), rewards, terminated, truncated, info
        info["action_mask"], info["_action_mask"] = games.mask.view(np.int8), self._everyone
        return games.observation, games.rewards, games.terminated, games.truncated, info

    def render(self) -> tuple[str | npt.NDArray[np.uint8], ...] | None:
        """The last ply of each game as a picture or a text, as `render_mode` says; see the class."""
        if self.render_mode is None:
            self._screen.draw(self.positions[:1], None)  # it warns
            return None
        drawn = [self._draw(row) for row in range(min(self.num_envs, DRAWN_GAMES))]
        empty = np.zeros_like(drawn[0]) if isinstance(drawn[0], np.ndarray) else ""
        return (*drawn, *[empty] * (self.num_envs - len(drawn)))

    def _draw(self, row: int) -> str | npt.NDArray[np.uint8]:
        one = slice(row, row + 1)
        if self._moves[row] == NO_MOVE:
            picture = self._screen.draw(self.positions[one], None)
        else:
            picture = self._screen.draw(self._before[one], int(self._moves[row]))
        assert picture is not None  # there is no window here
        return picture

    def _remember(self, rows: Ints, before: Positions, actions: npt.NDArray[np.integer[Any]] | None) -> None:
        self._before[rows], self._moves[rows] = before, NO_MOVE if actions is None else actions

    def _ends(self) -> dict[str, Any]:
        """How games ended, each entry with its `_companion`, as Gymnasium has them: the rows that it is of."""
        info, over = self._games.report(), self._games.over.copy()
        info["_termination"] = info["_standings"] = info["_seat"] = info["_illegal_action"] = over
        return info

    def _restart(self) -> dict[str, Any]:
        """Start the games anew that are over; their last observations and endings."""
        games, final, over = self._games, self._ends(), self._games.over.copy()
        rows, observations = over.nonzero()[0], np.full(self.num_envs, None)
        for row, observation in zip(rows.tolist(), games.observation[rows], strict=True):
            observations[row] = observation  # Gymnasium wants one array for each
        final["action_mask"], final["_action_mask"] = np.zeros(games.mask.shape, dtype=np.int8), over
        games.begin(rows, self.np_random)
        return {"final_obs": observations, "_final_obs": over, "final_info": final, "_final_info": over}


def _check_seeds(seeds: Sequence[int], n: int) -> list[int]:
    if len(seeds) == n and all(isinstance(seed, int | np.integer) and seed >= 0 for seed in seeds):
        return [int(seed) for seed in seeds]
    raise ValueError(f"seed must be a whole number, or {n} of them, one for each game, from 0 on; got {seeds!r}")
