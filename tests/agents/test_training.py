"""Test PPO runs with different rewards, networks and numbers of players, their schedules, and the command line."""

import contextlib
import re
import shlex
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import yaml

import agents
import evaluate
import train
from agents.players.agent_files import WEIGHTS_NAME
from agents.players.network_player import PPOPlayer
from agents.ppo import advantages, collect
from agents.run import Run, load_config
from oanquan_env import Core
from oanquan_env.benchmark.game_pairs import play_pairs
from oanquan_env.benchmark.suites import load_suite, write_suite
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.players import GreedyPolicy
from oanquan_env.rollouts import random_openings
from tests.helpers import Capture, Patch
from tests.helpers.runs import ITERATION, PLAIN, PPO, assert_same_run, begin, learn, resume, stopped
from train import parse


def test_rewards_train_a_plain_network_and_schedules_end_at_their_ends(tmp_path: Path) -> None:
    ppo = {**PPO["ppo"], "learning_rate": 0.002, "learning_rate_end": 0.0005}
    run = begin(tmp_path / "run", network=PLAIN, reward="outcome", total_plies=ITERATION // 3, ppo=ppo)
    before = [parameter.detach().clone() for parameter in run.network.parameters()]
    learn(run)
    player = PPOPlayer(tmp_path / "run")
    assert any((old != new).any() for old, new in zip(before, player.network.parameters(), strict=True))
    assert (player.card.reward, player.card.network) == ("outcome", run.config.network)
    assert run.model.policy.optimizer.param_groups[0]["lr"] == 0.0005
    assert run.model.ent_coef == run.config.ppo.ent_coef_end


def test_a_run_measures_regret_over_a_suite_of_ones_own(tmp_path: Path) -> None:
    own = load_suite("tonkin").take(np.arange(0, 2400, 40))
    write_suite(tmp_path / "own.json", own)
    schedule = {**PPO["evaluation"], "regret_suite": str(tmp_path / "own.json")}
    run = begin(tmp_path / "run", rules="tonkin", evaluation=schedule)
    assert run.regret_of(GreedyPolicy(run.core), "regret").positions == len(own.part("development")) < 60
    run.close()
    with pytest.raises(UsageError, match="the regret suite 'own' is for the rules 'tonkin', not 'ludii'"):
        begin(tmp_path / "other", rules="ludii", evaluation=schedule)


@pytest.mark.slow
def test_learning_beats_greedy_within_seconds(tmp_path: Path) -> None:
    """Against greedy, an untrained network scores about 25 % and greedy itself 50 %; both are below the threshold."""
    settings = {
        "total_plies": 60_000,
        "ppo": {"n_envs": 256, "n_steps": 16, "batch_size": 1024},
        "network": {"embed": 4, "width": 32, "depth": 2},
        "evaluation": {"every_plies": 10**9, "pairs": 2, "opponents": ["random"]},
    }
    learn(begin(tmp_path / "run", settings))
    core, rng = Core(), np.random.default_rng(0)
    openings = random_openings(core, 400, 4, rng)
    score = play_pairs(core, PPOPlayer(tmp_path / "run"), GreedyPolicy(core), openings, rng).score
    assert score.mean() > 0.58


def test_the_command_line_changes_single_fields(capsys: Capture) -> None:
    command = parse(["--config", "configs/quick.yaml", "--ppo.n-steps", "32", "--rules", "tonkin"])
    assert command.config == Path("configs/quick.yaml")
    changed, quick = command.settings.model_dump(), load_config(command.config).model_dump()
    assert changed == {**quick, "rules": "tonkin", "ppo": {**quick["ppo"], "n_steps": 32}}
    td = parse(["--kind", "td", "--td.lam", "0.5"]).settings
    assert (td.kind, td.td.lam) == ("td", 0.5)
    for kind, option in (("ppo", "--ppo.n-steps"), ("td", "--td.lam")):
        with pytest.raises(SystemExit, match=r"^0$"):
            train.main(["--kind", kind, "--help"])
        assert option in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(("options", "folder"), [([], "mine"), (["--sweep", "4", "--jobs", "1"], "mine-sweep/seed-4")])
def test_a_run_s_folder_is_named_after_its_configuration(
    tmp_path: Path, monkeypatch: Patch, options: list[str], folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(yaml.safe_dump({**PPO, "total_plies": ITERATION}))
    assert train.main(["--config", "mine.yaml", *options]) == 0
    assert (tmp_path / "runs" / folder / WEIGHTS_NAME).is_file()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError("Unable to allocate 8 TiB"), "out of memory: Unable to allocate 8 TiB: choose a smaller rollout"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "out of memory: DefaultCPUAllocator: can't"),
        (RuntimeError("Some tensors share memory"), None),
    ],
)
def test_a_lack_of_memory_is_reported(
    tmp_path: Path, capsys: Capture, monkeypatch: Patch, error: Exception,
    message: str | None,
) -> None:  # fmt: skip
    monkeypatch.setattr(Run, "learn", Mock(side_effect=error))
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(PPO))
    arguments = ["--config", str(tmp_path / "mine.yaml"), "--output", str(tmp_path / "run")]
    with contextlib.nullcontext() if message else pytest.raises(RuntimeError, match="share memory"):
        assert train.main(arguments) == 2
    assert (message or "") in capsys.readouterr().err


def test_the_printed_command_plays_a_run_in_any_folder(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = "runs/lr=1e-3,temperature=0.5,bs=64 [red]:cat:"
    Path("mine.yaml").write_text(yaml.safe_dump({**PPO, "total_plies": ITERATION}))
    assert train.main(["--config", "mine.yaml", "--output", folder]) == 0
    printed = capsys.readouterr().out
    usage = re.sub(r"\s+", " ", printed[printed.rindex(f" is in {folder}") :])
    command = shlex.split(usage.partition("try: ")[2])
    assert command[:2] == ["python", "evaluate.py"]
    assert evaluate.main([*command[2:], "--pairs", "2", "--openings", "random"]) == 0
    assert train.main(["--resume", folder]) == 0
    again = shlex.split(capsys.readouterr().out.partition("to train longer: ")[2])[:6]
    assert again == ["python", "train.py", "--resume", folder, "--total-plies", str(2 * ITERATION)]
    with pytest.raises(FileError, match=re.escape(f"continue it with --resume '{folder}', or choose")):
        begin(Path(folder))


@pytest.mark.slow
def test_a_stopped_run_of_four_players_resumes_to_the_same_numbers_and_its_agent_plays(tmp_path: Path) -> None:
    sizes = {"embed": 2, "width": 8, "depth": 1, "leaf_width": 8, "leaf_depth": 1}
    changes = {"rules": "four-player", "network": {"name": "two_ply", **sizes}, "total_plies": 3 * ITERATION}
    learn(begin(tmp_path / "whole", **changes))
    learn(resume(stopped(tmp_path / "parts", ITERATION, **changes)))
    assert_same_run(tmp_path / "whole", tmp_path / "parts")
    core, rng = Core("four-player"), np.random.default_rng(0)
    openings = random_openings(core, 5, 4, rng)
    player, other = (agents.make(name, core.rules) for name in (f"ppo:{tmp_path / 'whole'}", "random"))
    assert play_pairs(core, player, other, openings, rng).score.shape == (5, 4)


def test_a_rollout_holds_what_the_games_played_in_the_order_of_time(tmp_path: Path) -> None:
    """The same games are stepped again with the rollout's actions."""
    changes = {"rules": "three-player fields=2 max_plies=9", "network": PLAIN}
    run, twin = (begin(tmp_path / name, **changes) for name in ("run", "twin"))
    collect(run.env, run.model)
    buffer, ppo = run.model.rollout_buffer, run.config.ppo
    shape = ppo.n_steps, ppo.n_envs, -1
    observations, masks, actions, values = (
        getattr(buffer, name).reshape(shape) for name in ("observations", "action_masks", "actions", "values")
    )
    paid, seen = [], twin.env.observe()
    for step in range(ppo.n_steps):
        assert (observations[step] == seen).all()
        assert (masks[step] == twin.env.action_masks()).all()
        seen, *reward_and_done, _ = twin.env.step(actions[step, :, 0])
        paid.append(reward_and_done)
    rewards, dones = map(np.stack, zip(*paid, strict=True))
    assert dones.any()
    last = twin.model.policy.outputs(seen, twin.env.action_masks())[1].detach().numpy()
    values = np.concatenate([values, last[None]])
    wanted, returns = advantages(rewards, values, dones, ppo.gamma, ppo.gae_lambda)
    assert buffer.advantages == pytest.approx(wanted.ravel(), abs=1e-6)
    assert buffer.returns == pytest.approx(returns.reshape(-1, 2), abs=1e-6)


def test_values_and_returns_of_all_players_meet_in_the_loss(tmp_path: Path, monkeypatch: Patch) -> None:
    """stable-baselines3 compares flattened values and returns, so both must be in the same order."""
    run = begin(tmp_path / "run", rules="four-player")
    monkeypatch.setattr(run.model, "train", lambda: None)
    run.iterate()
    run.close()
    buffer = run.model.rollout_buffer
    errors, movers = (buffer.returns - buffer.values).reshape(-1, 3), buffer.advantages.reshape(-1)
    batch = next(buffer.get(64))  # flattens the buffer
    with torch.no_grad():
        actions = batch.actions.long().flatten()
        values, log_probs, _ = run.model.policy.evaluate_actions(batch.observations, actions, batch.action_masks)
    assert values.shape == (64, 3)
    assert batch.old_values.numpy() == pytest.approx(values.numpy().reshape(-1), abs=1e-5)
    assert batch.old_log_prob.numpy() == pytest.approx(log_probs.numpy(), abs=1e-5)
    assert batch.returns.shape == batch.old_values.shape
    assert errors[:, 0] == pytest.approx(movers, abs=1e-6)
    assert (np.abs(errors).max(axis=0) > 0).all()
