"""The game as an OpenSpiel Python game, and the regret of OpenSpiel's tree search on it.

    pip install -e ".[openspiel]" -c constraints.txt
    python -m examples.open_spiel_game --simulations 100 --positions 50

Importing this module registers the game: `pyspiel.load_game("python_oanquan", {"rules": "vietnamese"})`. A player's
return is its points minus the mean of the others' points, as a fraction of all points. In `rules`, write `:` for `=`,
because OpenSpiel splits its parameters at `=`.
"""

import argparse
import sys
from typing import Any

import numpy as np

from oanquan_env import Core
from oanquan_env.benchmark.regret import judge
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.board import shared_core
from oanquan_env.engine.notation import Move, format_position
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import needing_extra
from oanquan_env.observation import Encoder
from oanquan_env.rewards import game_rewards

with needing_extra("openspiel", "examples.open_spiel_game" if __name__ == "__main__" else None):
    import pyspiel
    from open_spiel.python.algorithms import mcts

A = pyspiel.GameType
KINDS = A.Dynamics.SEQUENTIAL, A.ChanceMode.DETERMINISTIC, A.Information.PERFECT_INFORMATION, A.Utility.ZERO_SUM
PLAYERS, GIVEN = (4, 2), (False, False, True, True)  # at most 4, at least 2; no information states, only observations
TYPE = A("python_oanquan", "Ô Ăn Quan", *KINDS, A.RewardModel.TERMINAL, *PLAYERS, *GIVEN, {"rules": "mancala-world"})


class OAnQuanGame(pyspiel.Game):
    """The OpenSpiel game for one set of rules."""

    def __init__(self, params: Any = None) -> None:
        text = {**TYPE.parameter_specification, **(params or {})}["rules"].replace("=", ":")
        rules = self.core_of(text).rules
        most = 2 * float(Encoder(Core(rules)).high.max()) / rules.total
        info = pyspiel.GameInfo(rules.actions, 0, rules.players, -most, most, 0.0, rules.max_plies)
        super().__init__(TYPE, info, {"rules": text})

    @staticmethod
    def core_of(text: str) -> Core:
        """Return the core for these rules. OpenSpiel may recreate a game from parameters, so games store no core."""
        return shared_core(Rules.parse(text.replace(":", "=")))

    def new_initial_state(self, state: Any = None) -> "OAnQuanState":
        """Return the state of the set-up."""
        return OAnQuanState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer":
        """Return an observer that provides tensors and strings."""
        return Observer(self.core_of(self.get_parameters()["rules"]))


class OAnQuanState(pyspiel.State):
    """The state of one game: a batch of one position."""

    def __init__(self, game: OAnQuanGame) -> None:
        super().__init__(game)
        self.rules = game.get_parameters()["rules"]
        self.position = self.core.start(1)

    core = property(lambda self: OAnQuanGame.core_of(self.rules))  # a property, because OpenSpiel copies attributes

    def current_player(self) -> int:
        """Return the player to move, or `TERMINAL` after the end."""
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else int(self.position.mover[0])

    def is_terminal(self) -> bool:
        """Return whether the game is over, including by the ply limit."""
        return bool(self.position.over[0])

    def returns(self) -> list[float]:
        """Return each player's return; zero before the end."""
        return [float(x) * self.is_terminal() for x in game_rewards("margin", self.core, self.position)[0]]

    def _legal_actions(self, player: int) -> list[int]:
        return self.core.legal_mask(self.position)[0].nonzero()[0].tolist() if player == self.current_player() else []

    def _apply_action(self, action: int) -> None:
        self.core.play(self.position, np.array([action]))

    def _action_to_string(self, player: int, action: int) -> str:
        return str(Move.from_action(action))

    def __str__(self) -> str:
        return format_position(self.core, self.position)


class Observer:
    """An observer that encodes a position as the environment does, seen from a player's side."""

    def __init__(self, core: Core) -> None:
        self.encoder = Encoder(core)
        self.tensor = np.zeros(self.encoder.size, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: OAnQuanState, player: int) -> None:
        """Write the observation of `state`, as `player` sees it, into `tensor`."""
        self.tensor[:] = self.encoder.encode(state.position, player)[0]

    def string_from(self, state: OAnQuanState, player: int) -> str:
        """Return the position as text, which is the same for all players."""
        return str(state)


pyspiel.register_game(TYPE, OAnQuanGame)


def main(arguments: list[str]) -> float:
    """Measure OpenSpiel's search, and return its mean regret in points."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("simulations", 30), ("positions", 50), ("exploration", 0.25), ("seed", 0)):
        parser.add_argument(f"--{name}", type=type(value), default=value, help="default: %(default)s")
    options = parser.parse_args(arguments)
    game, random = pyspiel.load_game("python_oanquan"), np.random.RandomState(options.seed)
    evaluator = mcts.RandomRolloutEvaluator(1, random)
    bot = mcts.MCTSBot(game, options.exploration, options.simulations, evaluator, False, random)
    suite, actions = load_suite(Rules()).part("development").take(np.arange(options.positions)), []
    for row in range(len(suite)):
        state = game.new_initial_state()
        state.position = suite.positions[row : row + 1]
        actions.append(bot.step(state))
    regret = float(judge(suite, np.array(actions)).regret.mean())
    print(f"{options.simulations} simulations: regret {regret:.2f} points over {options.positions} positions")
    return regret


if __name__ == "__main__":
    main(sys.argv[1:])
