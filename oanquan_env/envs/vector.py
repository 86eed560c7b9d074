"""Ô Ăn Quan as a native Gymnasium VectorEnv that steps N games as one batch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from oanquan_env.array_types import Ints, Mask
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.envs.arguments import RuleSets, Seat, check_seeds
from oanquan_env.envs.games import Games
from oanquan_env.envs.infos import ENDINGS, batch_info
from oanquan_env.envs.opponents import Opponent
from oanquan_env.envs.rendering import Replay, Screen
from oanquan_env.envs.reset_options import check_options, chosen_rules, start_positions
from oanquan_env.observation import Encoder, Observation

VECTOR_RENDER_MODES = ("rgb_array", "ansi")
DRAWN_GAMES = 16
"""Maximum number of games that `render` draws."""

Step = tuple[Observation, npt.NDArray[np.float64], Mask, Mask, dict[str, Any]]


class OAnQuanVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """N games: `gymnasium.make_vec("OAnQuan-v0", num_envs=N, opponent=None)` after `import oanquan_env`.

    Each row behaves as in a `gymnasium.vector.SyncVectorEnv` of N `OAnQuanEnv`; see `OAnQuanEnv` for spaces, rewards,
    illegal actions and endings. Observations are (N, D), rewards (N,) float64, terminations and truncations (N,) bool.
    `info["action_mask"]` is (N, A) int8 and `action_masks()` is (N, A) bool. Each entry of `info` comes with an (N,)
    bool array, named with a leading underscore as in `_action_mask`, that marks the rows to which the entry applies.
    `oanquan_env.sample_actions(info["action_mask"], rng)` draws random legal actions. `termination`, a string in
    `OAnQuanEnv`, is int64 here, because strings would need a Python object for each game: the code is the index of the
    string in `oanquan_env.envs.TERMINATIONS`.

    `reset` and `step` return new arrays in each call; the caller owns them.

    Finished games restart according to `metadata["autoreset_mode"]`:

    - `NEXT_STEP` (Gymnasium's default): the step that ends a game returns its last observation, `termination`,
      `standings`, `seat` and `illegal_action`; the next step ignores the row's action, which must lie in the space,
      and returns the new game's first observation with reward 0. Between these steps, the row of the mask is all zeros.
    - `DISABLED`: nothing restarts; `reset(options={"reset_mask": mask})`, (N,) bool, restarts only the games in
      `mask`, and `info` then covers only their rows. A step while a game is over raises ResetNeeded.
    - `SAME_STEP`: the step that ends a game returns the new game's first observation; the last observation is in
      `info["final_obs"]` (N,) object, and `termination`, `standings` and so on are in `info["final_info"]`.

    Each game has its own random generator, which draws its opening, its seat, its opponent, and the replies of `random`
    and `greedy`. After `reset(seed=s)` row i plays the game of a single environment with seed s + i, as in
    `SyncVectorEnv`; a list of N seeds gives each row its own. Other randomising opponents share one generator, which
    the seed also sets. `reset(options={"position": p})` starts all games from a running position, as text, as a `Board`
    or as a batch of one; a batch of N has a position for each game. The option `rules` is an index in a list of rule
    sets, or N indices. See `OAnQuanEnv` for the errors and the arguments `rules`, `opponent` (called with batches of
    positions), `seat`, `reward`, `opening_plies`, `observation` and `rules_visible`.

    Args:
        num_envs: the number of games, N.
        render_mode: `rgb_array`, `ansi` or None. `render` returns a tuple of N pictures or strings. Only the first 16
            games are drawn and the others are empty, so that large batches can be recorded. Gymnasium's `RecordVideo`
            arranges the pictures as tiles; it needs the extra `video`.
        autoreset_mode: an `AutoresetMode` or its value, `NextStep`, `SameStep` or `Disabled`.
        threads: number of threads among which the games are divided. It does not change the games.
        every_seat: whether `info` also has `mover` (N,) int64, the seats to move, and after a step `rewards` (N, P)
            float64, the rewards of all seats for this step, as self-play of three or four players needs. The rewards
            sum to zero, except after an illegal action. A step then takes about a tenth longer.
        max_episode_steps: must be None, because `max_plies` of the rules limits the games.

    Raises:
        ValueError: in the same cases as `OAnQuanEnv`, for an unknown mode, unless `num_envs` and `threads` are integers
            from 1 to 10 million, and unless `max_episode_steps` is None.
    """

    metadata: dict[str, Any] = {"render_modes": list(VECTOR_RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        rules: RuleSets = DEFAULT_PRESET,
        *,
        opponent: Opponent = "greedy",
        seat: Seat = "random",
        reward: str = "outcome",
        opening_plies: int = 0,
        observation: str = "counts",
        rules_visible: bool = True,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        every_seat: bool = False,
        max_episode_steps: None = None,
    ) -> None:
        if max_episode_steps is not None:
            raise ValueError(
                "max_episode_steps is not supported: set a ply limit in the rules, such as "
                f"rules='mancala-world max_plies=100'; got {max_episode_steps!r}"
            )
        if render_mode not in (None, *VECTOR_RENDER_MODES):
            modes = ", ".join(VECTOR_RENDER_MODES)
            raise ValueError(f"render_mode must be one of {modes} or None; got {render_mode!r}")
        mode = AutoresetMode(autoreset_mode)
        self._is_disabled, self._is_same_step = mode == AutoresetMode.DISABLED, mode == AutoresetMode.SAME_STEP
        self.num_envs = num_envs
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.autoreset_mode = mode  # where TorchRL looks for it
        self.render_mode = render_mode
        self._every_seat = every_seat
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
            rules_visible=rules_visible,
        )
        core, encoder = self._games.core, self._games.encoder
        self.single_observation_space = spaces.Box(encoder.low, encoder.high, dtype=encoder.dtype)
        self.single_action_space = spaces.Discrete(core.rules.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._everyone = np.ones(num_envs, dtype=np.bool_)
        self._everyone.setflags(write=False)
        self._screen = Screen(render_mode)
        self._replays = [Replay(core) for _ in range(min(num_envs, DRAWN_GAMES) if render_mode else 0)]

    @property
    def positions(self) -> Positions:
        """A copy of the N positions."""
        return self._games.positions

    @property
    def encoder(self) -> Encoder:
        """The encoder of the observations, with their layout and bounds."""
        return self._games.encoder

    @property
    def seats(self) -> Ints:
        """(N,) intp, the agent's seats; in the self-play view the seats that moved last."""
        return self._games.seats.astype(np.intp)

    def set_opponent(self, opponent: Opponent) -> None:
        """Set another opponent, or a list of opponents, for new games; a running game keeps its opponent.

        Raises `ValueError` in the same cases as the constructor, for None, and in the self-play view.
        """
        self._games.set_opponent(opponent)

    def set_opponent_weights(self, weights: npt.ArrayLike) -> None:
        """Set the (K,) weights with which new games draw their opponents; see `OAnQuanEnv`."""
        self._games.set_opponent_weights(weights)

    def action_masks(self) -> Mask:
        """Return (N, A) bool, the legal actions; all False in the rows of finished games."""
        return self._games.mask.astype(np.bool_)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Restart all games, or those in `options["reset_mask"]`, from the set-up or from `options["position"]`."""
        checked = check_options(options, ("position", "reset_mask", "rules"))
        rows = self._rows_to_reset(checked.get("reset_mask"))
        rules = chosen_rules(self._games, checked.get("rules"))
        start = start_positions(self._games, checked.get("position"), rules)
        seed = check_seeds(seed, self.num_envs)
        self._games.seed(seed, rows, self.np_random)
        super().reset(seed=seed[0] if isinstance(seed, list) else seed)
        self._games.begin(rows, self.np_random, start, rules)
        self._follow(rows, start)
        present = np.zeros(self.num_envs, dtype=np.bool_)
        present[rows] = True
        return self._games.observation, self._info(present)

    def _rows_to_reset(self, mask: object) -> Ints:
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"reset's option 'reset_mask' must be an array of bool; got {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            requirement = f"must have shape ({self.num_envs},) and a True entry"
            raise ValueError(f"reset's option 'reset_mask' {requirement}; got shape {mask.shape}, {mask.sum()} True")
        if not self._games.ready and not mask.all():
            raise ResetNeeded("the games have not begun: call reset() without a reset_mask first")
        return mask.nonzero()[0]

    def step(self, actions: npt.NDArray[np.int64]) -> Step:
        """Play one action in each game; see the class for finished games."""
        games = self._games
        if self._is_disabled and games.over.any():
            over = games.over.nonzero()[0].tolist()
            raise ResetNeeded(f"games {over} are over: call reset(options={{'reset_mask': …}}) first")
        count = games.step(actions, self.np_random)
        if games.log.size:
            self._follow(np.arange(len(self._replays)))
        rewards, terminated, truncated = games.rewards.copy(), games.terminated.copy(), games.truncated.copy()
        of_seats = games.records["rewards"].copy() if self._every_seat else None
        if count and self._is_same_step:
            final = self._restart(terminated | truncated)
            info = {**self._info(), **final}
        else:
            info = self._info(over=terminated | truncated if count else None)
        if of_seats is not None:
            info |= {"rewards": of_seats, "_rewards": self._everyone}
        return games.observation, rewards, terminated, truncated, info

    def close_extras(self, **kwargs: Any) -> None:
        """Mark the environment as closed; it needs a reset before further use."""
        if hasattr(self, "_games"):  # older versions of Gymnasium also close an environment whose constructor failed
            self._games.ready = False

    def render(self) -> tuple[str | npt.NDArray[np.uint8], ...] | None:
        """Draw the last ply of each game as a picture or as text, according to `render_mode`; see the class."""
        if self.render_mode is None:
            self._screen.draw(Replay(self._games.core))  # `draw` warns
            return None
        pictures = [self._draw(replay) for replay in self._replays]
        empty = np.zeros_like(pictures[0]) if isinstance(pictures[0], np.ndarray) else ""
        return (*pictures, *[empty] * (self.num_envs - len(pictures)))

    def _draw(self, replay: Replay) -> str | npt.NDArray[np.uint8]:
        picture = self._screen.draw(replay)
        assert picture is not None  # the render modes do not include a window
        return picture

    def _follow(self, rows: Ints, start: Positions | None = None) -> None:
        games = self._games
        if not games.log.size:
            return
        for row in rows[rows < len(self._replays)].tolist():
            self._replays[row].core = core = games.core_of(row)
            begins = core.start() if start is None else start[row : row + 1] if len(start) > 1 else start
            self._replays[row].follow(games.log[row], begins)

    def _info(self, present: Mask | None = None, over: Mask | None = None) -> dict[str, Any]:
        """Return `batch_info`; as in Gymnasium, `_name` (N,) bool marks the rows to which the entry `name` applies."""
        info = batch_info(self._games, present, over, mover=self._every_seat)
        everyone = self._everyone if present is None else present
        return info | {f"_{name}": over if name in ENDINGS else everyone for name in info}

    def _restart(self, over: Mask) -> dict[str, Any]:
        """Restart the games in `over` (N,); return `info` with their last observations and how they ended."""
        games, rows, observations = self._games, over.nonzero()[0], np.full(self.num_envs, None)
        final = self._info(over, over)
        for row, observation in zip(rows.tolist(), games.observation[rows], strict=True):
            observations[row] = observation  # Gymnasium expects one array per game
        games.begin(rows, self.np_random, within_step=True)
        self._follow(rows)
        return {"final_obs": observations, "_final_obs": over, "final_info": final, "_final_info": over}
