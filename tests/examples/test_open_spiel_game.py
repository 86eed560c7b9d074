"""The game in OpenSpiel: its own conformance test, and the core's answers ply by ply."""

from pathlib import Path

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from examples.open_spiel_game import main, search_bot  # noqa: E402
from oanquan_env import Core  # noqa: E402
from oanquan_env.engine.notation import format_position  # noqa: E402
from oanquan_env.engine.rules import PRESETS  # noqa: E402
from oanquan_env.observation import Encoder  # noqa: E402
from oanquan_env.rewards import REWARDS  # noqa: E402
from tests.boards import fair_reward  # noqa: E402


@pytest.mark.parametrize(("rules", "reward"), [*((rules, "outcome") for rules in PRESETS), ("mancala-world", "margin")])
def test_conformance(rules: str, reward: str) -> None:
    game = pyspiel.load_game("python_oanquan", {"rules": rules, "reward": reward})
    pyspiel.random_sim_test(game, 1, True, False)  # games, serialize, verbose


@pytest.mark.parametrize("rules", ["mancala-world max_plies=3", "mancala-world max_plies:3"])
def test_a_game_may_last_as_long_as_the_rules_say(rules: str) -> None:
    game = pyspiel.load_game("python_oanquan", {"rules": rules})
    pyspiel.random_sim_test(game, 2, True, False)
    state = game.new_initial_state()
    for _ in range(3):
        assert not state.is_terminal()
        state.apply_action(state.legal_actions()[0])
    assert state.is_terminal()
    assert state.move_number() == game.max_game_length() == 3


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("rules", ["mancala-world", "three-player"])
def test_every_answer_is_the_cores(rules: str, reward: str) -> None:
    core, rng = Core(rules), np.random.default_rng(0)
    encoder, position = Encoder(core), core.start(1)
    game = pyspiel.load_game("python_oanquan", {"rules": rules, "reward": reward})
    state = game.new_initial_state()
    while not position.over[0]:
        assert state.current_player() == position.mover[0]
        assert state.legal_actions() == core.legal_mask(position)[0].nonzero()[0].tolist()
        assert str(state) == format_position(core, position)
        assert state.returns() == [0.0] * core.rules.players
        for player in range(core.rules.players):
            assert (state.observation_tensor(player) == encoder.encode(position, player)[0]).all()
        action = int(rng.choice(state.legal_actions()))
        assert state.action_to_string(action) == f"{action // 2 + 1}{'AC'[action % 2]}"
        copy = state.clone()
        state.apply_action(action)
        assert str(copy) == format_position(core, position)
        core.play(position, np.array([action]))
    assert state.is_terminal()
    assert state.returns() == pytest.approx(fair_reward(reward, core.standings(position)[0], core.rules.total))
    assert game.min_utility() <= min(state.returns())
    assert max(state.returns()) <= game.max_utility()


def test_its_search_finds_the_best_move_of_the_last_ply() -> None:
    game = pyspiel.load_game("python_oanquan", {"rules": "mancala-world max_plies:1", "reward": "margin"})
    state = game.new_initial_state()
    children = {action: state.child(action).returns()[0] for action in state.legal_actions()}
    best = {action for action in children if children[action] == max(children.values())}
    assert {state.action_to_string(action) for action in best} == {"1C", "5A"}
    assert search_bot(game, 60, 0.25, seed=0).step(state) in best


def test_a_search_that_sees_no_move_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--simulations", "1"])
    assert "2 or more" in capsys.readouterr().err


def test_its_curve_has_a_row_for_each_number_of_simulations(tmp_path: Path) -> None:
    output = tmp_path / "scores.jsonl"
    curve = main(["--simulations", "2", "12", "--pairs", "3", "--output", str(output)])
    assert [row["simulations"] for row in curve.rows] == [2, 12]
    assert all(0 <= row["random"]["score"] <= 1 for row in curve.rows)
    assert len(output.read_text().splitlines()) == 2
