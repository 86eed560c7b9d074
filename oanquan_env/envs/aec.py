"""Ô Ăn Quan as a PettingZoo AEC environment: a thin layer over the core, without rules of its own."""

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv, register
from pettingzoo.utils import wrappers

from oanquan_env.board import Board
from oanquan_env.engine.core import Core, IllegalActionError
from oanquan_env.engine.positions import Positions, Termination
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, RulesError
from oanquan_env.envs.opponent_games import ILLEGAL_REWARD, check_opening_plies, draw_starts
from oanquan_env.envs.rendering import RENDER_MODES, Screen, played_board
from oanquan_env.envs.reset_options import Given, check_options, given_position
from oanquan_env.match.match import Match
from oanquan_env.match.ownership import SOLD
from oanquan_env.match.rules import MatchRules, as_match_rules
from oanquan_env.observation import Encoder, Observation
from oanquan_env.rewards import check_reward, ply_rewards

ObsType = dict[str, npt.NDArray[Any]]


def env(
    rules: Rules | str = DEFAULT_PRESET,
    *,
    match: MatchRules | str | bool | None = False,
    reward: str = "outcome",
    opening_plies: int = 0,
    render_mode: str | None = None,
) -> AECEnv[str, ObsType, int]:
    """`raw_env` in PettingZoo's usual wrappers; see there for the arguments.

    An illegal action ends the game with -1 for the offender and 0 for the others, so do not score a benchmark through
    this wrapper. An action outside the space and calls out of order raise.
    """
    wrapped: AECEnv[str, ObsType, int] = raw_env(
        rules, match=match, reward=reward, opening_plies=opening_plies, render_mode=render_mode
    )
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=ILLEGAL_REWARD)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


def raw_env(
    rules: Rules | str = DEFAULT_PRESET,
    *,
    match: MatchRules | str | bool | None = False,
    reward: str = "outcome",
    opening_plies: int = 0,
    render_mode: str | None = None,
) -> "GameEnv":
    """A `GameEnv`, or with `match` a `MatchEnv` of whole matches.

    Args:
        rules: a `Rules` or its text.
        match: True for a match by the default match rules; a `MatchRules` or its text, such as `"fields_to_lose=4"`,
            for other settings; False or None for single games.
        reward: as of `GameEnv`; a match knows only `outcome`.
        opening_plies: as of `GameEnv`; a match begins at the set-up.
        render_mode: as of `GameEnv`.

    Raises:
        ValueError: for an unknown reward or render mode (`RulesError` for the rules and the match rules).
        TypeError: for a `match` of another kind.
    """
    if match is None or match is False:
        return GameEnv(rules, reward=reward, opening_plies=opening_plies, render_mode=render_mode)
    if reward != "outcome":
        raise ValueError(f"a match pays its outcome: reward must be outcome; got {reward!r}")
    if opening_plies:
        raise ValueError(f"a match begins at the set-up: opening_plies must be 0; got {opening_plies!r}")
    return MatchEnv(rules, match=match, render_mode=render_mode)


class GameEnv(AECEnv[str, ObsType, int]):
    """One game; agents `player_0` (South, moves first), `player_1`, ...

    Observation: `{"observation": (D,) int32, "action_mask": (2F,) int8}`, see `oanquan_env.observation`; the agent's
    own side comes first, and the mask is zero unless it is the agent's turn. Action: `2 * field + direction`, field
    0 .. F-1 from the mover's left, direction 0 anticlockwise (A) or 1 clockwise (C).

    Args:
        rules: a `Rules` or its text.
        reward: `outcome`, `margin` or `mixed`, see `oanquan_env.rewards.ply_rewards`.
        opening_plies: games begin 0 to this many random plies after the set-up, drawn by the generator that
            `reset(seed=…)` seeds.
        render_mode: `ansi` (text), `rgb_array` (picture), `human` (a window) or None. The window shows each ply
            step by step; a ply takes 1 / `metadata["render_fps"]` seconds.

    `step` raises `IllegalActionError` for an illegal action, and like `last` `gymnasium.error.ResetNeeded` before the
    first reset and after the last agent has left. `reset(options={"position": p})` starts from a running position of
    the same rules, given as text, as a `Board` or as a batch of one, instead of the set-up. Other options are refused
    (but for one named `options`, which PettingZoo's own tests send). The only chance is that of `opening_plies`.
    When the game is over, `infos[agent]` holds `termination` (its reason) and `standings` (points of all players).
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (PettingZoo's base class fixes the type)
        "name": "oanquan_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: Rules | str = DEFAULT_PRESET,
        *,
        reward: str = "outcome",
        opening_plies: int = 0,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.core = Core(rules)
        self.opening_plies = check_opening_plies(opening_plies, self.core.rules)
        self._rng = np.random.default_rng()
        self.reward = check_reward(reward)
        self.render_mode = render_mode
        self.encoder = Encoder(self.core)
        self.positions = self.core.start(1)
        self._before: Positions = self.positions.copy()
        self._move: int | None = None
        self._start, self._moves = self._before, list[int]()
        self._screen = Screen(self.core, render_mode)
        self._owners: list[list[int]] | None = None  # of the fields in the picture, in match play
        self._update_mask()
        self.possible_agents = [f"player_{seat}" for seat in range(self.core.rules.players)]
        self.agents: list[str] = []
        box, mask = self._observation_box(), spaces.Box(0, 1, (self.core.rules.actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": box, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(self.core.rules.actions) for agent in self.possible_agents}
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """The space of `agent`'s observations; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """The space of `agent`'s actions; always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game, as games usually begin or from `options["position"]`."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.positions = self._first_position(check_options(options, ("position", "options")).get("position"))
        self._before, self._move = self.positions.copy(), None
        self._start, self._moves = self._before, []
        self._update_mask()
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[self.positions.mover[0]]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._show()

    def _update_mask(self) -> None:
        """Keep the legal actions of the new position, which are asked for several times a turn."""
        self._mask = self.core.legal_mask(self.positions)[0].view(np.int8)

    def _first_position(self, given: Given | None) -> Positions:
        start = given_position(self.core, given)
        return draw_starts(self.core, 1, self.opening_plies, self._rng) if start is None else start.copy()

    def last(self, observe: bool = True) -> tuple[ObsType | None, float, bool, bool, dict[str, Any]]:
        """PettingZoo's `last` of `agent_selection`; raises as `step` does where there is none."""
        self._check_begun()
        told: tuple[ObsType | None, float, bool, bool, dict[str, Any]] = super().last(observe)
        return told

    def _check_begun(self) -> None:
        if not self.agents:
            raise ResetNeeded("the game has not begun, or all agents have left it: call reset() first")

    def observe(self, agent: str) -> ObsType:
        """The observation of `agent` now, in fresh arrays."""
        seat = self._seats[agent]
        mask = self._mask.copy() if seat == self.positions.mover[0] else np.zeros_like(self._mask)
        return {"observation": self._seen_by(seat), "action_mask": mask}

    def state(self) -> Observation:
        """The whole position, as South sees it."""
        return self._seen_by(0)

    def _observation_box(self) -> spaces.Box:
        return spaces.Box(self.encoder.low, self.encoder.high, dtype=np.int32)

    def _seen_by(self, seat: int) -> Observation:
        return self.encoder.encode(self.positions, seat).ravel()

    def step(self, action: int | None) -> None:
        """Play `action` for `agent_selection`; None where its game is over, which takes it out of `agents`."""
        self._check_begun()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        before = self.positions.copy()
        if action is None:
            raise IllegalActionError(f"{agent} is to move: the action must be a whole number, got None")
        over = self._play(action)
        self._before, self._move = before, action
        self._moves.append(action)
        self._update_mask()
        self._cumulative_rewards[agent] = 0.0
        if over or self.reward != "outcome":
            self.rewards = dict(zip(self.agents, self._pay(), strict=True))
            self._accumulate_rewards()
        if over:
            self._finish()
        self.agent_selection = self.agents[self.positions.mover[0]]
        self._show()

    def _show(self) -> None:
        """In the mode `human`, show the last ply, or where the game begins."""
        if self.render_mode == "human":
            self._screen.show(self._before, self._move, self.metadata["render_fps"], self._owners)

    def _play(self, action: int) -> bool:
        """Play for the mover; returns whether all is over."""
        self.core.play(self.positions, np.array([action]))
        return bool(self.positions.ended[0])

    def _pay(self) -> list[float]:
        """Each seat's reward of the last ply."""
        return ply_rewards(self.reward, self.core, self._before.scores, self.positions).ravel().tolist()

    def _finish(self) -> None:
        truncated = bool(self.positions.truncated[0])
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        standings = self.core.standings(self.positions)[0].tolist()
        reason = str(Termination(self.positions.ended[0]))
        self.infos = {agent: {"termination": reason, "standings": standings} for agent in self.agents}

    @property
    def board(self) -> Board:
        """The game so far, of a match the last round in which a move was made, with its moves as history."""
        return played_board(self.core, self._start, self._moves)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The board and the last move, as text or picture, or shown in a window, as `render_mode` says."""
        return self._screen.draw(self._before, self._move, self._owners)

    def close(self) -> None:
        """Close the window, if one was opened."""
        self._screen.close()


class MatchEnv(GameEnv):
    """A whole match: rounds chained, fields sold and pawned between them (docs/RULES.md 6); +1 and -1 at its end.

    As `GameEnv`, with 2F + 2 more numbers at the end of the observation: who owns the fields of the viewer's row and
    then of the other's (0 its player, 1 pawned, 2 sold), seats from the viewer to the player who began this round, and
    rounds left, this one included. The loser of a round begins the next, so an agent may move twice in a row. A match
    drawn by its `max_rounds` pays nothing. At the end `infos[agent]` holds `termination` (its reason) and `rounds`, the
    points of all rounds.

    Args:
        rules: of the rounds, for two players.
        match: True, or a `MatchRules` or its text; as of `raw_env`.
        render_mode: as of `GameEnv`.
    """

    metadata: dict[str, Any] = {**GameEnv.metadata, "name": "oanquan_match_v0"}  # noqa: RUF012

    def __init__(
        self,
        rules: Rules | str = DEFAULT_PRESET,
        *,
        match: MatchRules | str | bool = True,
        render_mode: str | None = None,
    ) -> None:
        self.match = Match(rules, _given_match_rules(match))
        super().__init__(self.match.rules, render_mode=render_mode)

    def _first_position(self, given: Given | None) -> Positions:
        if given is not None:
            raise ValueError("a match begins at the set-up: it takes no option 'position'")
        self.match = Match(match_rules=self.match.match_rules, core=self.core)
        self._owners = self.match.ownership.owners().tolist()
        self._round_over = False  # with the last move
        return self.match.positions

    def _observation_box(self) -> spaces.Box:
        low = np.append(self.encoder.low, [0] * (2 * self.core.rules.fields + 2)).astype(np.int32)
        most = [SOLD] * (2 * self.core.rules.fields) + [1, self.match.match_rules.max_rounds]
        return spaces.Box(low, np.append(self.encoder.high, most).astype(np.int32), dtype=np.int32)

    def _seen_by(self, seat: int) -> Observation:
        owners = np.roll(self.match.ownership.owners(), -seat, axis=0).reshape(-1)
        rounds_left = self.match.match_rules.max_rounds - self.match.round_number + 1
        more = np.append(owners, [self.match.starter ^ seat, rounds_left])
        return np.concatenate([super()._seen_by(seat), more.astype(np.int32)])

    def _play(self, action: int) -> bool:
        owners: list[list[int]] = self.match.ownership.owners().tolist()
        if self._round_over:
            self._start, self._moves = self.positions.copy(), []
        self._round_over = self.match.step(action) is not None
        self._owners = owners
        self.positions = self.match.positions
        return self.match.outcome is not None

    def _pay(self) -> list[float]:
        outcome = self.match.outcome
        if outcome is None or outcome.winner is None:
            return [0.0, 0.0]
        return [1.0, -1.0] if outcome.winner == 0 else [-1.0, 1.0]

    def _finish(self) -> None:
        assert self.match.outcome is not None
        self.terminations = dict.fromkeys(self.agents, True)
        rounds = [list(finished.scores) for finished in self.match.rounds]
        self.infos = {agent: {"termination": str(self.match.outcome.reason), "rounds": rounds} for agent in self.agents}


def _given_match_rules(match: MatchRules | str | bool) -> MatchRules:
    """The match rules that `match`, which is not False, asks for."""
    if match is True:
        return MatchRules()
    if isinstance(match, str) and not match.strip():
        raise RulesError("match is an empty text; give match=True for a match by the default match rules")
    if not isinstance(match, MatchRules | str):
        raise TypeError(f"match must be True, False, a MatchRules or its text; got {match!r}")
    return as_match_rules(match)


register("aec", id="OAnQuan-v0", entry_point=env)
