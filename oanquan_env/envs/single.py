"""Ô Ăn Quan as a Gymnasium environment with one agent and an opponent that replies within each step."""

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from oanquan_env.array_types import Mask
from oanquan_env.board import Board
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.envs.arguments import RuleSets, Seat, check_seed
from oanquan_env.envs.games import Games
from oanquan_env.envs.infos import game_info
from oanquan_env.envs.opponents import Opponent
from oanquan_env.envs.rendering import RENDER_MODES, Replay, Screen
from oanquan_env.envs.reset_options import check_options, chosen_rules, start_positions
from oanquan_env.observation import Observation

_ONLY = np.zeros(1, dtype=np.intp)  # the row of the one game


class OAnQuanEnv(gymnasium.Env[Observation, np.int64]):
    """One game: `gymnasium.make("OAnQuan-v0", opponent="greedy")` after `import oanquan_env`.

    Observation: (D,), the position as the agent sees it, its own side first; see `oanquan_env.observation`. It is a
    plain Box, which every library accepts. The legal actions are separate: `info["action_mask"]` is (A,) int8 (for
    `action_space.sample`), and `action_masks()` is (A,) bool (for sb3-contrib). Action: `2 * field + direction`, field
    0 .. F-1 from the agent's left, direction 0 anticlockwise (A) or 1 clockwise (C).

    The reward of a step covers the agent's ply and all replies to it. The first reward also covers a first move of the
    opponent, so margins add up to the final margin, less the margin after the random opening or of the position given.

    **An illegal action terminates the game** with reward -1 under every `reward`; the position stays as it was. An
    action outside the space raises `IllegalActionError`; a step after the end raises `gymnasium.error.ResetNeeded`.

    When the game is over, `info` also holds `termination` (the reason or `illegal_action`, a string; a code in
    `OAnQuanVectorEnv`), `standings` (P,) int32 (the points of all players), `seat` (the seat that received the last
    reward) and `illegal_action` (bool). A running game always has a legal action: if the opponent ends a game before
    the agent's first move, seat, opponent and opening are drawn again. `reset` raises ValueError after 100 such games
    in a row.

    `reset(seed=…)` seeds all random draws, including the opponent's. `reset(options={"position": p})` starts from a
    running position of the same rules, as text, as a `Board` or as a batch of one; the opponent moves first if it is
    its turn there. Other positions and other options raise ValueError, other types TypeError.

    Args:
        rules: a `Rules` or its text, or a list of them with the same players and fields. With more than two players,
            the opponent plays all other seats. From a list, each game draws one (`info["rules"]` is its index, and
            `reset(options={"rules": i})` chooses it; a position needs that); observations then end with the rules.
        opponent: anything that `oanquan_env.players.as_policy` accepts, such as a player's name, an object with
            `choose`, a function of observations and masks, or a trained model; a list of such players, from which each
            game draws one (`info["opponent"]` is its index); or None. None is the self-play view: each step plays one
            ply for the player to move and returns the reward of this player and the observation of the next player.
        seat: the agent's seat (0 moves first), or `random` to draw one for each game.
        reward: `outcome`, `margin` or `mixed`, see `oanquan_env.rewards.ply_rewards`.
        opening_plies: maximum number of random plies with which a game begins; every number from 0 to this
            maximum is equally likely. An agent learns more from many openings than from one.
        observation: `counts` (int32, the position), `planes` (float32, the position encoded for networks) or `moves`
            (`planes` and the gains of each move within two plies); see `oanquan_env.observation`.
        rules_visible: if False, the numbers of the rules at the end of observations are zero.
        render_mode: `ansi` (text), `rgb_array` (picture), `human` (a window) or None. Pictures show the last ply,
            which is the opponent's reply if there was one. The window shows every ply, step by step; a ply takes
            1 / `metadata["render_fps"]` seconds.

    Raises:
        ValueError: for an opponent that is not a player, an unknown seat, reward, observation or render mode, and
            unless `opening_plies` is an integer from 0 to `max_plies` of the rules; `RulesError` for the rules.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        rules: RuleSets = DEFAULT_PRESET,
        *,
        opponent: Opponent = "greedy",
        seat: Seat = "random",
        reward: str = "outcome",
        opening_plies: int = 0,
        observation: str = "counts",
        rules_visible: bool = True,
        render_mode: str | None = None,
    ) -> None:
        self._games = Games(
            1,
            rules,
            opponent=opponent,
            seat=seat,
            reward=reward,
            opening_plies=opening_plies,
            logged=render_mode is not None,
            observation=observation,
            rules_visible=rules_visible,
        )
        core, encoder = self._games.core, self._games.encoder
        self.observation_space = spaces.Box(encoder.low, encoder.high, dtype=encoder.dtype)
        self.action_space = spaces.Discrete(core.rules.actions)
        self.render_mode = render_mode
        self._screen = Screen(render_mode)
        self._replay = Replay(core)
        self._over = True

    @property
    def positions(self) -> Positions:
        """A copy of the current position as a batch of one."""
        return self._games.positions

    @property
    def seat(self) -> int:
        """The agent's seat; in the self-play view the seat that moved last."""
        return int(self._games.seats[0])

    @property
    def board(self) -> Board:
        """The game since its opening, with the moves as history. Raises ValueError without a `render_mode`."""
        if self.render_mode is None:
            raise ValueError("the moves are recorded only if the environment was made with a render_mode")
        return self._replay.board

    def set_opponent(self, opponent: Opponent) -> None:
        """Set another opponent, or a list of opponents, for new games; a running game keeps its opponent.

        Raises `ValueError` in the same cases as the constructor, for None, and in the self-play view.
        """
        self._games.set_opponent(opponent)

    def set_opponent_weights(self, weights: npt.ArrayLike) -> None:
        """Draw the opponents of new games in proportion to (K,) weights, one for each of K opponents.

        By default, and after `set_opponent`, all opponents are equally likely. Raises `ValueError` unless there are K
        finite weights, none of them negative and at least one positive.
        """
        self._games.set_opponent_weights(weights)

    def action_masks(self) -> Mask:
        """Return (A,) bool, the agent's legal actions; all False if the game is over."""
        return self._games.mask.astype(np.bool_).ravel()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game: from the set-up, with a random opening, or from `options["position"]`, without one."""
        games = self._games
        checked = check_options(options, ("position", "rules"))
        rules = chosen_rules(games, checked.get("rules"))
        start = start_positions(games, checked.get("position"), rules)
        seed = check_seed(seed)
        super().reset(seed=seed)
        games.seed(seed, _ONLY, self.np_random)
        games.begin(_ONLY, self.np_random, start, rules)
        self._over = False
        self._follow(start)
        return games.observation[0], game_info(games, over=self._over)

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play `action` and the opponent's replies to it."""
        if self._over:
            raise ResetNeeded("the game is over or has not begun, or the environment is closed: call reset() first")
        games = self._games
        self._over = bool(games.step(np.array([action]), self.np_random))
        self._follow()
        terminated, truncated = games.terminated.item(), games.truncated.item()
        return games.observation[0], games.rewards.item(), terminated, truncated, game_info(games, over=self._over)

    def _follow(self, begins: Positions | None = None) -> None:
        """Record the plies of the last call. In the mode `human`, show them, or the position if none was played."""
        games = self._games
        if not games.log.size:
            return
        self._replay.core = core = games.core_of(0)
        self._replay.follow(games.log[0], core.start() if begins is None else begins)
        if self.render_mode == "human":
            self._screen.show(self._replay, self.metadata["render_fps"])

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Draw the board and the last ply as text, as a picture or in a window, according to `render_mode`."""
        return self._screen.draw(self._replay)

    def render_plies(self) -> list[npt.NDArray[np.uint8]]:
        """Draw the board after each ply of the last step, or the position if it played none, as pictures."""
        return self._screen.pictures(self._replay)

    def close(self) -> None:
        """Close the window if one is open; the environment needs a reset before further use."""
        self._over = True
        self._screen.close()
