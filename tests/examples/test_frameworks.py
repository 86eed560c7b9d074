"""Test that training in each framework is reproducible, and that the single-file PPO and PQN learn."""

import importlib
import warnings
from pathlib import Path
from typing import Any

import pytest

from oanquan_env import Core
from oanquan_env.observation import Encoder

torch = pytest.importorskip("torch")

TRAINED = {
    "sb3_ppo": ("sb3_contrib", ["--envs", "16", "--n-steps", "16", "--minibatch", "128"]),
    "torchrl_ppo": ("torchrl", ["--envs", "4", "--batch", "256", "--minibatch", "128"]),
    "tianshou_ppo": ("tianshou", ["--envs", "4", "--batch", "256", "--minibatch", "128"]),
    "rllib_ppo": ("ray.rllib", ["--envs", "2", "--batch", "256", "--minibatch", "64", "--epochs", "2"]),
}
"""The framework's module of each example, and its options for a short run."""


def example(name: str, module: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the frameworks' own warnings
        pytest.importorskip(module)
        return importlib.import_module(f"examples.{name}")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TRAINED)
def test_it_trains_and_its_curve_has_regret_and_repeats(name: str) -> None:
    main = example(name, TRAINED[name][0]).main
    options = [*TRAINED[name][1], "--every", "256", "--pairs", "10", "--width", "32", "--minutes", "inf"]
    rows = main([*options, "--steps", "512"]).rows
    assert [row["steps"] // 256 for row in rows] == [0, 1, 2]
    assert rows[0]["regret"] > 10
    again = main([*options, "--steps", "512"]).rows  # the same budget, because learning rates may depend on it
    assert [row["regret"] for row in again] == [row["regret"] for row in rows]


def test_advantages_change_sign_from_ply_to_ply_and_stop_at_the_end_of_a_game() -> None:
    advantages_of = example("cleanrl_ppo", "torch").advantages_of
    rewards = torch.tensor([[1.0, 1.0], [2.0, 2.0]])
    dones = torch.tensor([[False, True], [False, False]])
    values = torch.tensor([[0.5, 0.5], [0.25, 0.25]])
    last = 2.0 - 3.0 - 0.25
    found = advantages_of(rewards, dones, values, torch.tensor([3.0, 3.0]), lam=0.5)
    assert found.tolist() == [[1.0 - 0.25 - 0.5 - 0.5 * last, 1.0 - 0.5], [last, last]]


@pytest.mark.slow
def test_the_single_file_ppo_gets_better_and_repeats(tmp_path: Path) -> None:
    main, picture = example("cleanrl_ppo", "torch").main, tmp_path / "regret.svg"
    small = ["--every", "30000", "--pairs", "100", "--num-envs", "256", "--width", "64"]
    curve = main([*small, "--steps", "30000", "--plot", str(picture)])
    assert curve[-1]["regret"] < curve[0]["regret"] - 2
    assert curve[-1]["random"] > curve[0]["random"]
    assert "regret, points" in picture.read_text()
    shortest = [main([*small, "--steps", "8192", "--seed", "3"])[-1]["regret"] for _ in "12"]
    assert shortest[0] == shortest[1]


def test_a_target_of_pqn_changes_sign_from_ply_to_ply_and_stops_at_the_end_of_a_game() -> None:
    lambda_returns = example("pqn", "torch").lambda_returns
    rewards, next_values = torch.tensor([[3.0], [5.0], [1.0]]), torch.tensor([[4.0], [2.0], [6.0]])
    dones = torch.zeros((3, 1), dtype=torch.bool)
    second = 5 - (0.5 * 2 + 0.5 * (1 - 6))
    assert lambda_returns(rewards, dones, next_values, 0.5)[:, 0].tolist() == [3 - (2 + second / 2), second, 1 - 6]
    dones[1] = True
    assert lambda_returns(rewards, dones, next_values, 0.5)[:, 0].tolist() == [3 - (2 + 2.5), 5, 1 - 6]


def test_pqn_plays_and_learns_from_legal_moves_alone() -> None:
    pqn, core = example("pqn", "torch"), Core("mancala-world fields=3")
    masks = torch.tensor([[True, False, True, False, False, False]]).expand(20_000, -1)
    observations = torch.as_tensor(Encoder(core).encode(core.start(1))).expand(20_000, -1)
    net = pqn.QNetwork(core.rules, 8)
    net.trunk[-1].bias.data = torch.tensor([1.0, 9.0, 0.0, 9.0, 9.0, 9.0])
    q = net(observations, masks)
    assert (torch.isinf(q) == ~masks).all()
    for epsilon, share in ((0.0, 1.0), (1.0, 0.5)):
        actions = pqn.epsilon_greedy(q, masks, epsilon)
        assert set(actions.tolist()) <= {0, 2}
        assert (actions == 0).float().mean().item() == pytest.approx(share, abs=0.02)


@pytest.mark.slow
def test_pqn_gets_better_than_untrained_nets_and_repeats() -> None:
    pqn = example("pqn", "torch")
    small = ["--every", "50000", "--pairs", "10", "--num-envs", "128", "--width", "64", "--minibatch", "256"]
    curve = pqn.main([*small, "--steps", "50000"])
    assert curve.rows[-1]["regret"] < 16.5  # untrained nets of twelve seeds: 17.4 to 20.1; random moves: 18.5
    shortest = [pqn.main([*small, "--steps", "4096", "--seed", "3"]).rows[-1]["regret"] for _ in "12"]
    assert shortest[0] == shortest[1]
    with pytest.raises(SystemExit, match="for two players; got 'three-player'"):
        pqn.main(["--rules", "three-player"])
