"""One game for PettingZoo, with an agent for each player; a thin layer over `Games` that implements no rules."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv

from oanquan_env.board import Board
from oanquan_env.engine.core import IllegalActionError
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.envs.arguments import RuleSets, check_seed
from oanquan_env.envs.games import Games
from oanquan_env.envs.infos import game_info
from oanquan_env.envs.rendering import RENDER_MODES, Owners, Replay, Screen
from oanquan_env.envs.reset_options import check_options, chosen_rules, start_positions
from oanquan_env.observation import Encoder, Observation

ObsType = dict[str, npt.NDArray[Any]]
_ONLY = np.zeros(1, dtype=np.intp)  # the row of the one game


class GameEnv(AECEnv[str, ObsType, int]):
    """One game with the agents `player_0` (South, moves first), `player_1`, ...

    Observation: `{"observation": (D,), "action_mask": (2F,) int8}`, see `oanquan_env.observation`. The agent's own side
    comes first, and the mask is all zeros unless it is the agent's turn. Action: `2 * field + direction`, field 0 ..
    F-1 from the mover's left, direction 0 anticlockwise (A) or 1 clockwise (C).

    Args:
        rules: a `Rules` or its text, or a list of them, from which each game draws one; see `OAnQuanEnv`. `core` and
            `encoder` are then those for the rules of the current game, and `infos[agent]["rules"]` holds their index.
        reward: `outcome`, `margin` or `mixed`, see `oanquan_env.rewards.ply_rewards`.
        opening_plies: maximum number of random plies with which a game begins; `reset(seed=…)` seeds the generator
            that draws their number and the plies.
        observation: `counts`, `planes` or `moves`; the gains in `moves` are zero unless it is the agent's turn.
        rules_visible: as for `OAnQuanEnv`.
        render_mode: `ansi` (text), `rgb_array` (picture), `human` (a window) or None. The window shows each ply
            step by step; a ply takes 1 / `metadata["render_fps"]` seconds.

    `step` raises `IllegalActionError` for an illegal action. `step` and `last` raise `gymnasium.error.ResetNeeded`
    before the first reset and after the last agent has left. `reset(options={"position": p})` starts from a running
    position of the same rules, as text, as a `Board` or as a batch of one, instead of the set-up; the option `rules` is
    an index in the list of rule sets. Other options raise ValueError (except one named `options`, which PettingZoo's
    own tests send). Only the opening is random. When the game is over, `infos[agent]` holds `termination` (the reason)
    and `standings` (the points of all players).
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (PettingZoo's base class fixes the type)
        "name": "oanquan_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: RuleSets = DEFAULT_PRESET,
        *,
        reward: str = "outcome",
        opening_plies: int = 0,
        observation: str = "counts",
        rules_visible: bool = True,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._games = Games(
            1,
            rules,
            opponent=None,
            reward=reward,
            opening_plies=opening_plies,
            observation=observation,
            rules_visible=rules_visible,
        )
        self._rng = np.random.default_rng()
        self._prepare(self._games.encoder, reward, render_mode)

    def _prepare(self, encoder: Encoder, reward: str, render_mode: str | None) -> None:
        """Set all attributes except the games or the match."""
        self.core, self.encoder = encoder.core, encoder
        self.reward = reward
        self.render_mode = render_mode
        self._mover = 0
        self._mask = np.zeros(self.core.rules.actions, dtype=np.int8)
        self._replay = Replay(self.core)
        self._screen = Screen(render_mode)
        self._owners: Owners | None = None  # the ownership codes of the fields in match play
        self._indices: dict[str, int] = {}  # the index of the game's rules in a list
        self.possible_agents = [f"player_{seat}" for seat in range(self.core.rules.players)]
        self.agents: list[str] = []
        box, mask = self._observation_box(), spaces.Box(0, 1, (self.core.rules.actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": box, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(self.core.rules.actions) for agent in self.possible_agents}
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}

    @property
    def positions(self) -> Positions:
        """A copy of the current position as a batch of one."""
        return self._games.positions

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of `agent`'s observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of `agent`'s actions, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game: from the set-up, with a random opening, or from `options["position"]`, without one."""
        self._begin(check_seed(seed), check_options(options, ("position", "rules", "options")))
        self._replay.begin(self.positions)
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[self._mover]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: dict(self._indices) for agent in self.agents}
        self._show()

    def _begin(self, seed: int | None, options: Mapping[str, Any]) -> None:
        """Begin the game; set `_mover` and `_mask`."""
        games = self._games
        rules = chosen_rules(games, options.get("rules"))
        start = start_positions(games, options.get("position"), rules)
        games.seed(seed, _ONLY, self._rng)
        games.begin(_ONLY, self._rng, start, rules)
        self.core = self._replay.core = games.core_of(0)
        self.encoder = games.encoder_of(0)
        self._indices = {"rules": games.rules.item()} if games.many else {}
        self._look()

    def _look(self) -> None:
        self._mover, self._mask = self._games.records["mover"].item(), self._games.mask[0]

    def last(self, observe: bool = True) -> tuple[ObsType | None, float, bool, bool, dict[str, Any]]:
        """Return `agent_selection`'s observation, reward, flags and info; raise ResetNeeded if there are no agents."""
        self._check_begun()
        last: tuple[ObsType | None, float, bool, bool, dict[str, Any]] = super().last(observe)
        return last

    def _check_begun(self) -> None:
        if not self.agents:
            raise ResetNeeded("the game has not begun, or no agents are left: call reset() first")

    def observe(self, agent: str) -> ObsType:
        """Return the current observation of `agent` in new arrays."""
        seat = self._seats[agent]
        mask = self._mask.copy() if seat == self._mover else np.zeros_like(self._mask)
        return {"observation": self._seen_by(seat), "action_mask": mask}

    def state(self) -> Observation:
        """Return South's observation; in the layout `counts` it contains the whole position."""
        return self._seen_by(0)

    def _observation_box(self) -> spaces.Box:
        return spaces.Box(self.encoder.low, self.encoder.high, dtype=self.encoder.dtype)

    def _seen_by(self, seat: int) -> Observation:
        mine = seat == self._mover
        observation = self._games.observation.copy() if mine else self.encoder.encode(self.positions, seat)
        return observation.ravel()

    def step(self, action: int | None) -> None:
        """Play `action` for `agent_selection`; after the end of the game, None removes the agent from `agents`."""
        self._check_begun()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise IllegalActionError(f"{agent} is to move: the action must be an integer, got None")
        over = self._play(action)
        self._cumulative_rewards[agent] = 0.0
        if over or self.reward != "outcome":
            self.rewards = dict(zip(self.agents, self._pay(), strict=True))
            self._accumulate_rewards()
        if over:
            self._finish()
        self.agent_selection = self.agents[self._mover]
        self._show()

    def _play(self, action: int) -> bool:
        """Play `action` for the mover; set `_mover` and `_mask`. Return whether the game or match is over."""
        actions = np.array([action])
        if (
            actions.shape != (1,)
            or actions.dtype.kind not in "iu"
            or not (0 <= action < len(self._mask) and self._mask[action])
        ):
            self.core.check(self.positions, actions)
        over = self._games.step(actions, self._rng)
        self._replay.add([int(action)])
        self._look()
        return bool(over)

    def _pay(self) -> list[float]:
        rewards: list[float] = self._games.records["rewards"][0].tolist()
        return rewards

    def _finish(self) -> None:
        games = self._games.records
        self.terminations = dict.fromkeys(self.agents, bool(games["terminated"][0]))
        self.truncations = dict.fromkeys(self.agents, bool(games["truncated"][0]))
        info = game_info(self._games, over=True)
        ending = {"termination": info["termination"], "standings": info["standings"].tolist()}
        self.infos = {agent: {**self._indices, **ending} for agent in self.agents}

    @property
    def board(self) -> Board:
        """The game since its opening, with the moves as history; in a match, the latest round that has a move."""
        return self._replay.board

    def _show(self) -> None:
        if self.render_mode == "human":
            self._screen.show(self._replay, self.metadata["render_fps"], self._owners)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Draw the board and the last move as text, as a picture or in a window, according to `render_mode`."""
        return self._screen.draw(self._replay, self._owners)

    def close(self) -> None:
        """Close the window if one is open; the environment needs a reset before further use."""
        self.agents = []
        self._screen.close()
