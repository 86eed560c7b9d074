"""Tianshou learns from the Gymnasium environment; the actor never plays an illegal action."""

import warnings
from pathlib import Path

import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of packages that Tianshou imports
    pytest.importorskip("tianshou")
    from tianshou.data import Batch

    from examples.features_gym import FeaturesGym
    from examples.tianshou_ppo import WithMask, main, make_algorithm, parse
    from tests.examples.training import assert_trains

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SMALL = ["--envs", "4", "--batch", "256", "--minibatch", "64"]


def test_the_mask_lies_beside_the_observation_and_is_obeyed() -> None:
    env = WithMask(FeaturesGym(opponent="greedy", seed=0))
    seen, _ = env.reset(seed=0)
    assert {**seen, "mask": seen["mask"].astype("int8")} in env.observation_space
    torch.manual_seed(0)
    policy = make_algorithm(parse(SMALL), len(seen["obs"]), env.action_space).policy
    over = False
    while not over:
        action = int(policy(Batch(obs=Batch(obs=seen["obs"][None], mask=seen["mask"][None]), info={})).act[0])
        assert (seen["mask"] == env.unwrapped.action_masks()).all()
        assert seen["mask"][action]
        seen, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
    assert env.unwrapped.positions.over[0]


def test_it_trains_for_some_steps(tmp_path: Path) -> None:
    assert_trains(main, SMALL, 256, tmp_path)
