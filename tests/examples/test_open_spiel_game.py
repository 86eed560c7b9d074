"""Test the game in OpenSpiel with its conformance test, and against the core ply by ply."""

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from examples.open_spiel_game import main  # noqa: E402
from oanquan_env import Core  # noqa: E402
from oanquan_env.engine.notation import format_position  # noqa: E402
from oanquan_env.engine.rules import PRESETS  # noqa: E402
from oanquan_env.observation import Encoder  # noqa: E402
from tests.helpers.boards import fair_reward  # noqa: E402


@pytest.mark.parametrize("rules", [*PRESETS, "mancala-world max_plies=3", "vietnamese max_plies:3"])
def test_conformance(rules: str) -> None:
    game = pyspiel.load_game("python_oanquan", {"rules": rules})
    pyspiel.random_sim_test(game, 1, True, False)  # games, serialize, verbose


@pytest.mark.parametrize("rules", ["mancala-world", "three-player"])
def test_every_answer_is_the_cores(rules: str) -> None:
    core, rng = Core(rules), np.random.default_rng(0)
    encoder, position = Encoder(core), core.start(1)
    game = pyspiel.load_game("python_oanquan", {"rules": rules})
    state = game.new_initial_state()
    while not position.over[0]:
        assert state.current_player() == position.mover[0]
        assert state.legal_actions() == core.legal_mask(position)[0].nonzero()[0].tolist()
        assert str(state) == format_position(core, position)
        assert state.returns() == [0.0] * core.rules.players
        for player in range(core.rules.players):
            assert (state.observation_tensor(player) == encoder.encode(position, player)[0]).all()
        action = int(rng.choice(state.legal_actions()))
        copy = state.clone()
        state.apply_action(action)
        assert str(copy) == format_position(core, position)
        core.play(position, np.array([action]))
    assert state.is_terminal()
    assert state.returns() == pytest.approx(fair_reward("margin", core.standings(position)[0], core.rules.total))
    assert game.min_utility() <= min(state.returns())
    assert max(state.returns()) <= game.max_utility()


@pytest.mark.slow
def test_more_simulations_have_less_regret() -> None:
    assert main(["--simulations", "60", "--positions", "20"]) < main(["--simulations", "2", "--positions", "20"])
