"""The single-file PPO: signs that flip from ply to ply, openings that nobody learns from, an agent that gets better."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from examples import cleanrl_ppo  # noqa: E402
from examples.cleanrl_ppo import Agent, Games, advantages_of, collect, evaluate, main, parse_options  # noqa: E402
from examples.scoring import Curve, make_parser  # noqa: E402

SMALL = ["--num-envs", "64", "--num-steps", "8", "--minibatch", "128", "--width", "32", "--pairs", "20"]


def test_advantages_change_sign_from_ply_to_ply_and_stop_at_the_end_of_a_game() -> None:
    rewards = torch.tensor([[1.0, 1.0], [2.0, 2.0]])
    dones = torch.tensor([[False, True], [False, False]])
    values = torch.tensor([[0.5, 0.5], [0.25, 0.25]])
    found = advantages_of(rewards, dones, values, torch.tensor([3.0, 3.0]), gamma=1.0, lam=0.5)
    last = 2.0 - 3.0 - 0.25
    assert found.tolist() == [[1.0 - 0.25 - 0.5 - 0.5 * last, 1.0 - 0.5], [last, last]]


def test_no_ply_of_an_opening_is_learned_from_and_all_actions_are_legal() -> None:
    for plies in (0, 8):
        options = parse_options([*SMALL, "--opening-plies", str(plies)])
        torch.manual_seed(0)
        games = Games(options)
        begun = games.observations.clone()
        rollout = collect(games, Agent(games.actions, 32, games.most_plies), options)
        learned, everything = len(rollout["actions"]), options.num_envs * options.num_steps
        assert learned == everything if plies == 0 else everything / 4 < learned < 3 * everything / 4
        assert rollout["masks"].gather(1, rollout["actions"][:, None]).all()
        at_set_up = (rollout["observations"] == begun[0]).all(dim=1).float().mean()
        assert (at_set_up < 0.1) == (plies > 0)


def test_its_own_evaluation_agrees_with_the_one_that_the_examples_share() -> None:
    torch.manual_seed(0)
    options = make_parser("", steps=1, every=1).parse_args(["--pairs", "400"])
    agent = Agent(10, 32, 200)
    shared = Curve(options, ()).scores(
        lambda seen, masks: agent(torch.as_tensor(seen), torch.as_tensor(masks))[0].argmax(dim=1).numpy()
    )
    for opponent in ("random", "greedy"):
        own = evaluate(agent, opponent, "mancala-world", 400, seed=1)
        assert own["low"] < own["score"] < own["high"]
        assert own["score"] == pytest.approx(shared[opponent]["score"], abs=0.07)


def test_it_gets_better(tmp_path: Path) -> None:
    output = tmp_path / "curve.jsonl"
    steps = ["--steps", "60000", "--every", "60000", "--pairs", "200", "--num-envs", "256", "--width", "128"]
    curve = main([*steps, "--output", str(output)])
    assert [json.loads(line) for line in output.read_text().splitlines()] == curve
    assert curve[-1]["random"]["low"] > curve[0]["random"]["high"]
    assert curve[-1]["greedy"]["low"] > curve[0]["greedy"]["high"]


def test_a_seed_repeats_a_run() -> None:
    runs = [main([*SMALL, "--steps", "2048", "--every", "1024", "--seed", str(seed)]) for seed in (3, 3, 4)]
    scores = [[row["greedy"] for row in curve] for curve in runs]
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize("rules", ["three-player", "mancala-world fields=4"])
def test_rules_of_another_board_are_refused(rules: str) -> None:
    with pytest.raises(SystemExit, match="two players with five fields"):
        main([*SMALL, "--rules", rules])


ALONE = """
import runpy, sys
sys.modules.update(dict.fromkeys(["agents", "benchmarks", "examples", "sb3_contrib", "stable_baselines3"]))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a program for which these packages are not there."""


@pytest.mark.slow
def test_it_can_be_copied_alone(tmp_path: Path) -> None:
    source = Path(cleanrl_ppo.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) < 300
    copied = tmp_path / "my_ppo.py"
    copied.write_text(source, encoding="utf-8")
    arguments = [*SMALL, "--steps", "512", "--every", "512", "--result", "new/result.json"]
    subprocess.run([sys.executable, "-c", ALONE, copied, *arguments], cwd=tmp_path, check=True)
    result = json.loads((tmp_path / "new" / "result.json").read_text(encoding="utf-8"))
    assert result["command"].endswith("--steps 512 --every 512 --result new/result.json")
    assert result["commit"] is None  # of its own folder, which is no clone
    assert set(result["versions"]) == {"python", "numpy", "gymnasium", "pettingzoo", "torch"}
    assert result["options"]["num_envs"] == 64
    assert [row["steps"] for row in result["curve"]] == [0, 512]
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new" / "result.json"]
