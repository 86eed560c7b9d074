"""RLlib learns from the AEC environment: its PettingZoo wrapper and its action-masking module."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # RLlib's modules use names that it deprecates
    pytest.importorskip("ray.rllib")
    import ray
    from ray.rllib.env.env_context import EnvContext

    from examples.rllib_ppo import main, make_algorithm, make_choose, make_env, parse
    from tests.examples.training import assert_trains

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*already in registry:UserWarning"),  # RLlib registers its own anew each time
]

SIZES = ["--batch", "300", "--minibatch", "64", "--envs", "2", "--epochs", "2"]


@pytest.fixture
def one_processor() -> Iterator[None]:
    ray.init("local", num_cpus=1, include_dashboard=False)
    yield
    ray.shutdown()


def test_the_wrapper_plays_a_game_to_its_end() -> None:
    env = make_env(EnvContext({"seed": 0}, worker_index=0))
    seen, _ = env.reset()
    rewards, rng = {"player_0": 0.0, "player_1": 0.0}, np.random.default_rng(0)
    over = False
    while not over:
        (player, observed), *others = seen.items()
        assert not others
        assert env.observation_spaces[player].contains(observed)
        seen, paid, terminated, truncated, _ = env.step({player: rng.choice(observed["action_mask"].nonzero()[0])})
        for name, reward in paid.items():
            rewards[name] += reward
        over = terminated["__all__"] or truncated["__all__"]
    assert rewards["player_0"] == pytest.approx(-rewards["player_1"])


def test_the_module_plays_legal_moves_only(one_processor: None) -> None:
    algorithm = make_algorithm(parse(SIZES))
    choose = make_choose(algorithm)
    observations = np.zeros((40, 18), dtype=np.int32)
    masks = np.random.default_rng(0).random((40, 10)) < 0.2
    masks[np.arange(40), np.arange(40) % 10] = True
    assert masks[np.arange(40), choose(observations, masks)].all()
    algorithm.stop()


def test_it_trains_for_some_steps(tmp_path: Path) -> None:
    assert_trains(main, SIZES, 300, tmp_path)
