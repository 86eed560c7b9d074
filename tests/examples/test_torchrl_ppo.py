"""TorchRL learns from the AEC environment: PettingZooWrapper, masks, values of both players."""

import warnings
from pathlib import Path

import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # TorchRL's modules use names that it deprecates
    pytest.importorskip("torchrl")
    from examples.torchrl_ppo import GROUP, ZeroSumValue, main, make_env
    from tests.examples.training import assert_trains

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_the_wrapper_passes_masks_turns_and_rewards_on() -> None:
    env = make_env([0])
    env.set_seed(0)
    games = env.rollout(100, break_when_any_done=False)
    moves = games[GROUP, "mask"]
    assert (moves.sum(dim=1) == 1).all()
    legal = games[GROUP, "action_mask"].gather(2, games[GROUP, "action"][..., None])
    assert legal[moves].all()
    assert not games[GROUP, "action_mask"][moves].all()
    rewards = games["next", GROUP, "reward"]
    assert (rewards.sum(dim=1) == 0).all()
    assert (rewards != 0).any()
    assert games["next", "done"].any()


def test_what_a_position_is_worth_to_one_it_costs_the_other() -> None:
    values = ZeroSumValue(torch.nn.Identity())
    seen = torch.tensor([[[3.0], [5.0]], [[3.0], [5.0]]])
    moves = torch.tensor([[True, False], [False, True]])
    assert values(seen, moves).tolist() == [[[3.0], [-3.0]], [[-5.0], [5.0]]]


@pytest.mark.slow
def test_it_trains_for_some_steps(tmp_path: Path) -> None:
    assert_trains(main, ["--batch", "256", "--minibatch", "64", "--envs", "4", "--epochs", "2"], 256, tmp_path)


def test_an_odd_batch_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--batch", "100", "--envs", "16"])
    assert "must be a multiple" in capsys.readouterr().err
