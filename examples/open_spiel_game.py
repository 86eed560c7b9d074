"""The game as an OpenSpiel Python game, `python_oanquan`, and OpenSpiel's tree search measured on it.

    python -m examples.open_spiel_game --simulations 10 30 100 --output curve.jsonl

Importing this module registers the game: `pyspiel.load_game("python_oanquan", {"rules": "vietnamese"})`. All rules are
those of `oanquan_env.Core`; a state is a batch of one position.

Where the time goes: NumPy takes as long for a ply of one game as for a ply in each of a hundred, and OpenSpiel plays
game by game. `oanquan_env.search.mcts` searches for many games at once.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.support.extras import needing_extras
from examples.scoring import BASELINES, OPENING_PLIES, Curve
from oanquan_env import Core, Positions
from oanquan_env.arrays import Ints
from oanquan_env.benchmark.pairs import play_pairs, score_interval
from oanquan_env.engine.notation import Move, format_position
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.observation import Encoder
from oanquan_env.players import make
from oanquan_env.playing import random_openings
from oanquan_env.rewards import RewardName, check_reward, game_rewards

with needing_extras("examples.open_spiel_game" if __name__ == "__main__" else None):
    import pyspiel
    from open_spiel.python.algorithms import mcts
    from open_spiel.python.observation import IIGObserverForPublicInfoGame

GAME_TYPE = pyspiel.GameType(
    short_name="python_oanquan",
    long_name="Python Ô Ăn Quan",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=4,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"rules": DEFAULT_PRESET, "reward": "outcome"},
)


@dataclass(frozen=True)
class Setting:
    """The shared data of a game's states.

    It is kept outside the game object: OpenSpiel may drop the Python half of that object and make a new one without
    its attributes. All states share it, as OpenSpiel clones a state by copying everything that it holds.
    """

    core: Core
    encoder: Encoder
    reward: RewardName

    def __deepcopy__(self, memo: dict[int, Any]) -> Setting:
        """Itself, as nothing here changes."""
        return self


@lru_cache(maxsize=16)
def make_setting(rules: str, reward: str) -> Setting:
    """The setting of a game's parameters. Changed fields of rules have a colon there: OpenSpiel splits at `=`."""
    core = Core(rules.replace(":", "="))
    return Setting(core, Encoder(core), check_reward(reward))


class OAnQuanGame(pyspiel.Game):
    """The game of one `Rules`.

    Parameters: `rules` as text, in which `:` stands for `=` (`"vietnamese refill:forfeit"`; both are taken); `reward`,
    what a finished game pays: `outcome` (+1 and -1 shared by winners and losers), `margin` (points more than the
    others' mean, in shares of all points) or `mixed` (half of each).
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = {**GAME_TYPE.parameter_specification, **(params or {})}
        params["rules"] = params["rules"].replace("=", ":")
        setting = make_setting(**params)
        rules, encoder = setting.core.rules, setting.encoder
        scores = encoder.layout["scores"]
        widest = int(encoder.high[scores][0]) - int(encoder.low[scores][0])
        most = 1.0 if setting.reward == "outcome" else widest / rules.total
        info = pyspiel.GameInfo(
            num_distinct_actions=rules.actions,
            max_chance_outcomes=0,
            num_players=rules.players,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=rules.max_plies,
        )
        super().__init__(GAME_TYPE, info, params)

    @property
    def setting(self) -> Setting:
        """What its states share."""
        return make_setting(**self.get_parameters())

    def new_initial_state(self, state: Any = None) -> OAnQuanState:
        """The set-up."""
        if state is not None:
            raise NotImplementedError("states have no struct; see state_at for positions in the middle of a game")
        return OAnQuanState(self)

    def state_at(self, position: Positions) -> OAnQuanState:
        """A state at a batch of one position; its history begins there."""
        state = OAnQuanState(self)
        state.position = position.copy()
        return state

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """The observer of a state, for a network or a person."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return Observer(self.setting.encoder, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class OAnQuanState(pyspiel.State):
    """One game; every question is passed on to the core."""

    def __init__(self, game: OAnQuanGame) -> None:
        super().__init__(game)
        self.setting = game.setting
        self.position = self.setting.core.start(1)

    def current_player(self) -> int:
        """The player to move."""
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else int(self.position.mover[0])

    def is_terminal(self) -> bool:
        """Whether the game is over, by the ply limit too."""
        return bool(self.position.ended[0])

    def returns(self) -> list[float]:
        """The returns of each player; zero before the end."""
        core, position = self.setting.core, self.position
        paid = game_rewards(self.setting.reward, core, position) * self.is_terminal()
        return [float(share) for share in paid[0]]

    def _legal_actions(self, player: int) -> list[int]:
        legal: list[int] = self.setting.core.legal_mask(self.position)[0].nonzero()[0].tolist()
        return legal if player == self.current_player() else []

    def _apply_action(self, action: int) -> None:
        self.setting.core.play(self.position, np.array([action]))

    def _action_to_string(self, player: int, action: int) -> str:
        return str(Move.from_action(action))

    def __str__(self) -> str:
        return format_position(self.setting.core, self.position)


class Observer:
    """The environment's observation of a position, from a player's own side, and the position as text."""

    def __init__(self, encoder: Encoder, params: Any) -> None:
        if params:
            raise ValueError(f"observations have no parameters; got {params}")
        self.encoder = encoder
        self.tensor: npt.NDArray[np.float32] = np.zeros(self.encoder.size, np.float32)
        self.dict = {name: self.tensor[part] for name, part in self.encoder.layout.items()}

    def set_from(self, state: OAnQuanState, player: int) -> None:
        """Look at `state` as `player`."""
        self.tensor[:] = self.encoder.encode(state.position, player)[0]

    def string_from(self, state: OAnQuanState, player: int) -> str:
        """The position's text, the same for all."""
        return str(state)


pyspiel.register_game(GAME_TYPE, OAnQuanGame)


class BotPolicy:
    """A bot of OpenSpiel as an `oanquan_env.players.Policy`.

    Args:
        game: what the bot plays.
        bot: plays for whoever is to move.
    """

    def __init__(self, game: OAnQuanGame, bot: pyspiel.Bot) -> None:
        self.game = game
        self.bot = bot

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        return np.array([self.choose_one(positions[row : row + 1]) for row in range(len(positions))], dtype=np.intp)

    def choose_one(self, position: Positions) -> int:
        """The bot's action in a batch of one."""
        state = self.game.state_at(position)
        self.bot.restart_at(state)
        return int(self.bot.step(state))


def search_bot(game: OAnQuanGame, simulations: int, exploration: float, seed: int) -> mcts.MCTSBot:
    """OpenSpiel's tree search in Python, with one random playout for each new position."""
    random = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=random)
    return mcts.MCTSBot(game, exploration, simulations, evaluator, solve=False, random_state=random)


def score_bot(bot: pyspiel.Bot, game: OAnQuanGame, pairs: int, seed: int) -> dict[str, dict[str, float]]:
    """Score of a bot against each baseline with its 95 % interval, in pairs of games from random openings."""
    scores, core = {}, game.setting.core
    for name in BASELINES:
        rng = np.random.default_rng(seed)
        openings = random_openings(core, pairs, OPENING_PLIES, rng)
        found = score_interval(play_pairs(core, BotPolicy(game, bot), make(name, core.rules), openings, rng))
        scores[name] = {"score": round(found.mean, 4), "low": round(found.low, 4), "high": round(found.high, 4)}
    return scores


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--simulations", type=int, nargs="+", default=[3, 10, 30], help="positions in a tree (default: %(default)s)")
    add("--exploration", type=float, default=0.25, help="weight of rarely tried moves (default: %(default)s)")
    add("--rules", default=DEFAULT_PRESET, help="preset, with fields to change after it (default: %(default)s)")
    add("--reward", default="margin", help="reward of the search: margin, outcome or mixed (default: %(default)s)")
    add("--pairs", type=int, default=20, help="game pairs against each baseline (default: %(default)s)")
    add("--seed", type=int, default=0, help="of all chance (default: %(default)s)")
    add("--output", type=Path, metavar="FILE", help="append the scores here, one JSON object a line")
    add("--result", type=Path, metavar="FILE", help="write command, versions and scores here as one JSON file")
    options = parser.parse_args(arguments)
    if min(options.simulations) < 2:
        parser.error("--simulations must be 2 or more: the first only looks at the root")
    return options


def main(arguments: list[str]) -> Curve:
    """Measure the search with more and more simulations; returns the scores, in simulations where others have steps."""
    options = parse(arguments)
    game = pyspiel.load_game("python_oanquan", {"rules": options.rules, "reward": options.reward})
    curve = Curve(options, ("open-spiel",))
    for simulations in options.simulations:
        began, cpu_began = time.perf_counter(), time.process_time()
        bot = search_bot(game, simulations, options.exploration, options.seed)
        scores = score_bot(bot, game, options.pairs, options.seed)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        clocks = {"seconds": round(seconds, 1), "cpu_seconds": round(cpu_seconds, 1)}
        curve.keep({"simulations": simulations, **clocks, **scores}, f"{simulations:>11,} simulations")
    curve.finish()
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
