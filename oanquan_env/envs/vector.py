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
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.envs.games import Games, Seat
from oanquan_env.envs.opponents import Opponent
from oanquan_env.envs.rendering import Replay, Screen
from oanquan_env.envs.reset_options import check_options, given_position
from oanquan_env.observation import Encoder, Observation

VECTOR_RENDER_MODES = ("rgb_array", "ansi")
DRAWN_GAMES = 16
"""Games of a batch that `render` draws."""

Step = tuple[Observation, npt.NDArray[np.float64], Mask, Mask, dict[str, Any]]


class OAnQuanVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """N games: `gymnasium.make_vec("OAnQuan-v0", num_envs=N, opponent=None)` after `import oanquan_env`.

    Each row behaves as in a `gymnasium.vector.SyncVectorEnv` of N `OAnQuanEnv`; see there for spaces, rewards, illegal
    actions and endings. Observations are (N, D), rewards (N,) float64, terminations and truncations (N,) bool.
    `info["action_mask"]` is (N, A) int8 and `action_masks()` (N, A) bool; each entry of `info` has its companion, such
    as `_action_mask`, (N,) bool, that tells which rows have it. Random legal actions:
    `action_space.sample(tuple(info["action_mask"]))`. Where a single game's `termination` is a text, that of a batch is
    int64, the place of the text in `oanquan_env.envs.TERMINATIONS`.

    Arrays that `reset` and `step` return are the caller's own: each call makes new ones.

    Finished games restart as `metadata["autoreset_mode"]` says:

    - `NEXT_STEP` (Gymnasium's default): the step that ends a game returns its last observation, `termination`,
      `standings`, `seat` and `illegal_action`; the next one ignores the row's action, which need only lie in the space,
      and returns the new game's first observation with reward 0. In between, the row of the mask is all zeros.
    - `DISABLED`: nothing restarts; `reset(options={"reset_mask": mask})`, (N,) bool, starts the games in `mask` anew
      and leaves the others alone. `info` then holds their rows only. A step while a game is over raises ResetNeeded.
    - `SAME_STEP`: the step that ends a game returns the new game's first observation; the last observation is in
      `info["final_obs"]` (N,) object, the rest in `info["final_info"]`.

    Each game has its own random generator, which draws its opening, its seat, its opponent, and the replies of `random`
    and `greedy`. After `reset(seed=s)` row i plays the game of a single environment with seed s + i, as in
    `SyncVectorEnv`; N seeds set the rows one by one. Other opponents that draw share one generator, which the seed also
    sets. `reset(options={"position": p})` starts from a running position, given as text, as a `Board` or as a batch of
    one for all games, or as a batch of N; see `OAnQuanEnv` for refused ones, and for the arguments `rules`, `opponent`
    (who is asked for all games at once), `seat`, `reward`, `opening_plies` and `observation`.

    Args:
        num_envs: N.
        render_mode: `rgb_array`, `ansi` or None. `render` returns a tuple of N pictures or texts, the first
            16 games drawn and all others left empty, so that a large batch can be filmed; Gymnasium's `RecordVideo`
            lays them out as tiles.
        autoreset_mode: an `AutoresetMode` or its value, `NextStep`, `SameStep` or `Disabled`.
        threads: threads that share the games. The games are the same for any number.
        max_episode_steps: None. Games end by `max_plies` of the rules.

    Raises:
        ValueError: as `OAnQuanEnv`, and for an unknown mode, a `num_envs` that is not an integer from 1 to 10 million,
            and a `max_episode_steps`.
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
        observation: str = "counts",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        max_episode_steps: None = None,
    ) -> None:
        if max_episode_steps is not None:
            raise ValueError(
                "max_episode_steps is not for these games: give a ply limit by the rules, as in "
                f"rules='mancala-world max_plies=100'; got {max_episode_steps!r}"
            )
        if render_mode not in (None, *VECTOR_RENDER_MODES):
            known = ", ".join(VECTOR_RENDER_MODES)
            raise ValueError(f"render_mode must be one of {known} or None; got {render_mode!r}")
        mode = AutoresetMode(autoreset_mode)
        self._is_disabled, self._is_same_step = mode == AutoresetMode.DISABLED, mode == AutoresetMode.SAME_STEP
        self.num_envs = num_envs
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.render_mode = render_mode
        self._games = Games(
            num_envs,
            rules,
            opponent=opponent,
            seat=seat,
            reward=reward,
            opening_plies=opening_plies,
            threads=threads,
            logged=render_mode is not None,
            observation=observation,
        )
        core, encoder = self._games.core, self._games.encoder
        self.single_observation_space = spaces.Box(encoder.low, encoder.high, dtype=encoder.dtype)
        self.single_action_space = spaces.Discrete(core.rules.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._everyone = np.ones(num_envs, dtype=np.bool_)
        self._everyone.setflags(write=False)
        self._screen = Screen(core, render_mode)
        self._replays = [Replay(core) for _ in range(min(num_envs, DRAWN_GAMES) if render_mode else 0)]

    @property
    def positions(self) -> Positions:
        """The N games; not to be changed."""
        return self._games.positions

    @property
    def encoder(self) -> Encoder:
        """What the observations mean: their layout, and features of them for networks."""
        return self._games.encoder

    @property
    def seats(self) -> Ints:
        """(N,) intp, the agent's seats; in the self-play view who made the last ply."""
        return self._games.seats.astype(np.intp)

    def set_opponent(self, opponent: Opponent) -> None:
        """Play games that begin from now on against another opponent, or a list; a running game keeps its own.

        Raises `ValueError` as the constructor, and in the self-play view.
        """
        self._games.set_opponent(opponent)

    def set_opponent_weights(self, weights: npt.ArrayLike) -> None:
        """Draw the opponents of games that begin from now on by (K,) weights; see `OAnQuanEnv`."""
        self._games.set_opponent_weights(weights)

    def action_masks(self) -> Mask:
        """(N, A) bool, the legal actions; all false in the rows of games that are over."""
        return self._games.mask.astype(np.bool_)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start all games anew, or those in `options["reset_mask"]`, from the set-up or from `options["position"]`."""
        given = check_options(options, ("position", "reset_mask"))
        rows = self._rows_to_reset(given.get("reset_mask"))
        start = given_position(self._games.core, given.get("position"), self.num_envs)
        self._games.seed(seed, rows, self.np_random)
        super().reset(seed=int(seed[0]) if isinstance(seed, Sequence | np.ndarray) else seed)
        self._games.begin(rows, self.np_random, start)
        self._follow(rows, start)
        present = np.zeros(self.num_envs, dtype=np.bool_)
        present[rows] = True
        info = {"action_mask": self._games.mask * present[:, None], "_action_mask": present}
        self._name_opponents(info, present)
        return self._games.observation, info

    def _name_opponents(self, info: dict[str, Any], present: Mask) -> None:
        if self._games.opponents is not None:
            info["opponent"], info["_opponent"] = self._games.opponents.astype(np.int64) * present, present

    def _rows_to_reset(self, mask: object) -> Ints:
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"reset's option 'reset_mask' must be an array of bool; got {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            wanted = f"must have shape ({self.num_envs},) and a True entry"
            raise ValueError(f"reset's option 'reset_mask' {wanted}; got shape {mask.shape}, {mask.sum()} True")
        if not self._games.ready and not mask.all():
            raise ResetNeeded("the games have not begun: call reset() without a reset_mask first")
        return mask.nonzero()[0]

    def step(self, actions: npt.NDArray[np.int64]) -> Step:
        """Play one action in each game; see the class for those that have just ended."""
        games, info = self._games, dict[str, Any]()
        if self._is_disabled and games.over.any():
            over = games.over.nonzero()[0].tolist()
            raise ResetNeeded(f"games {over} are over: call reset(options={{'reset_mask': …}}) first")
        count = games.step(actions, self.np_random)
        if games.log is not None:
            self._follow(np.arange(len(self._replays)))
        rewards, terminated, truncated = games.rewards.copy(), games.terminated.copy(), games.truncated.copy()
        if count:
            info = self._restart() if self._is_same_step else self._ends(terminated | truncated)
        info["action_mask"], info["_action_mask"] = games.mask.copy(), self._everyone
        self._name_opponents(info, self._everyone)
        return games.observation, rewards, terminated, truncated, info

    def close_extras(self, **kwargs: Any) -> None:
        """Note that the environment is closed: it needs a reset to go on."""
        if hasattr(self, "_games"):  # a former Gymnasium also closes what was never made
            self._games.ready = False

    def render(self) -> tuple[str | npt.NDArray[np.uint8], ...] | None:
        """The last ply of each game as a picture or a text, as `render_mode` says; see the class."""
        if self.render_mode is None:
            self._screen.draw(self.positions[:1], None)  # it warns
            return None
        drawn = [self._draw(replay) for replay in self._replays]
        empty = np.zeros_like(drawn[0]) if isinstance(drawn[0], np.ndarray) else ""
        return (*drawn, *[empty] * (self.num_envs - len(drawn)))

    def _draw(self, replay: Replay) -> str | npt.NDArray[np.uint8]:
        before, action = replay.last[-1] if replay.last else (replay.now, None)
        picture = self._screen.draw(before, action)
        assert picture is not None  # there is no window here
        return picture

    def _follow(self, rows: Ints, start: Positions | None = None) -> None:
        games = self._games
        if games.log is None:
            return
        for row in rows[rows < len(self._replays)].tolist():
            begins = games.core.start() if start is None else start[row : row + 1] if len(start) > 1 else start
            self._replays[row].follow(games.log[row], begins)

    def _ends(self, over: Mask) -> dict[str, Any]:
        """How games ended, each entry with its `_companion`, as Gymnasium has them: the rows that it is of."""
        info = self._games.report(over)
        info["_termination"] = info["_standings"] = info["_seat"] = info["_illegal_action"] = over
        return info

    def _restart(self) -> dict[str, Any]:
        """Start the games anew that are over; their last observations and endings."""
        games, over = self._games, self._games.over
        final, rows, observations = self._ends(over), over.nonzero()[0], np.full(self.num_envs, None)
        for row, observation in zip(rows.tolist(), games.observation[rows], strict=True):
            observations[row] = observation  # Gymnasium wants one array for each
        final["action_mask"], final["_action_mask"] = np.zeros(games.mask.shape, dtype=np.int8), over
        self._name_opponents(final, over)
        games.begin(rows, self.np_random, within_step=True)
        self._follow(rows)
        return {"final_obs": observations, "_final_obs": over, "final_info": final, "_final_info": over}
