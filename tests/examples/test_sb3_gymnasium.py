"""sb3-contrib learns from the Gymnasium environment, which begins its games from varied openings."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")


from examples.features_gym import FeaturesGym
from examples.sb3_gymnasium import main
from examples.sb3_vector import GamesVecEnv

SMALL = ["--every", "256", "--envs", "4", "--n-steps", "64", "--minibatch", "64", "--width", "32", "--pairs", "10"]


def test_games_begin_from_varied_openings_which_a_seed_repeats() -> None:
    def openings(seed: int) -> list[bytes]:
        env = FeaturesGym(opponent="random", seed=seed)
        return [env.reset()[0].tobytes() for _ in range(20)]

    assert len(set(openings(0))) > 10
    assert openings(0) == openings(0) != openings(1)


def test_features_and_masks_belong_to_the_position() -> None:
    env = FeaturesGym(opponent="greedy", seed=0)
    features, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        assert features in env.observation_space
        assert (env.action_masks() == info["action_mask"]).all()
        features, _, terminated, truncated, info = env.step(rng.choice(env.action_masks().nonzero()[0]))
        if terminated or truncated:
            assert not info["illegal_action"]
            features, info = env.reset()


def test_the_batch_gives_sb3_masks_and_last_observations() -> None:
    envs, rng = GamesVecEnv(8, "greedy", "margin"), np.random.default_rng(0)
    envs.seed(0)
    features = envs.reset()
    ended = 0
    for _ in range(40):
        masks = np.stack(envs.env_method("action_masks"))
        assert features.shape == (8, *envs.observation_space.shape)
        assert (masks.any(axis=1) | envs.games.over).all()  # greedy may finish a game before our first move
        features, rewards, dones, infos = envs.step((rng.random(masks.shape) * masks).argmax(axis=1))
        assert rewards.dtype == np.float32
        for row in range(8):
            assert ("terminal_observation" in infos[row]) == dones[row]
            if dones[row]:
                ended += 1
                assert (infos[row]["terminal_observation"] != features[row]).any()
    assert ended > 8


@pytest.mark.parametrize("vector", [[], ["--vector"]])
def test_it_trains_for_some_steps(tmp_path: Path, vector: list[str]) -> None:
    output = tmp_path / "curve.jsonl"
    curve = main([*SMALL, *vector, "--steps", "512", "--output", str(output), "--save", str(tmp_path / "model")])
    assert [row["steps"] for row in curve.rows] == [0, 256, 512]
    assert len(output.read_text().splitlines()) == 3
    assert (tmp_path / "model.zip").exists()


def test_a_seed_repeats_a_run() -> None:
    runs = [main([*SMALL, "--steps", "256", "--seed", str(seed)]).rows for seed in (3, 3, 4)]
    scores = [[row["random"] for row in rows] for rows in runs]
    assert scores[0] == scores[1] != scores[2]
