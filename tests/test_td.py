"""TD(lambda) self-play: targets, gradient steps, runs that are stopped, killed and damaged, and the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

import agents
import train
from agents.search.deepening import Search
from agents.search.move_values import MoveValues
from agents.support.strict_yaml import validated
from agents.support.tensor_files import pack, unpack
from agents.training.run_folder import CHECKPOINT_NAME, StopTrainingError
from agents.training.starts import RandomStarts
from agents.training.td.config import TDConfig, ValueConfig
from agents.training.td.games import Games, lambda_returns
from agents.training.td.learner import Learner
from agents.training.td.run import TDRun
from oanquan_env import Core, mirror
from oanquan_env.engine.core import relative_points
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.players.full_width import FullWidthSearch
from oanquan_env.players.value_net import VALUE_NET_NAME, read_value_net
from tests.boards import random_positions

ITERATION = 32 * 4
SMALL: dict[str, Any] = {
    "kind": "value",
    "rules": "mancala-world fields=3 seeds=3",
    "total_plies": 6 * ITERATION,
    "checkpoint_seconds": 1e-9,
    "starts": {"max_plies": 4},
    "td": {"games": 32, "steps": 4, "batch_size": 64, "replay": 3},
    "evaluation": {"every_plies": 2 * ITERATION, "nodes": [50]},
}


def small_config(**changes: object) -> ValueConfig:
    return validated(ValueConfig, {**SMALL, **changes}, "test")


def run_in(folder: Path, report: Callable[[str], None] = lambda _: None, **changes: object) -> TDRun:
    return TDRun.create(folder, small_config(**changes), "python train.py", report)


def learn(run: TDRun, stop_at: int | None = None) -> None:
    run.learn(lambda plies: None, lambda: stop_at is not None and run.plies >= stop_at)


def weights(folder: Path) -> bytes:
    net = read_value_net(folder, SMALL["rules"])
    return net.embedding.tobytes() + net.hidden_weight.tobytes() + net.output_bias.tobytes()


# ---- targets ---------------------------------------------------------------------------------------------------------


def test_targets_look_ahead_until_a_slip_and_until_the_game_ends() -> None:
    best = np.array([[[4.0, -4.0]], [[1.0, -1.0]], [[6.0, -6.0]]])
    won = np.array([[[2.0, -2.0]], [[0.0, 0.0]], [[9.0, -9.0]]])
    no, yes = np.zeros((3, 1), dtype=bool), np.ones((3, 1), dtype=bool)
    found = lambda_returns(best, won, no, yes, 0.5)
    assert found[:, 0, 0].tolist() == [0.5 * 4 + 0.5 * (2 + 3.5), 0.5 * 1 + 0.5 * 6, 6.0]
    assert (found[..., 1] == -found[..., 0]).all()
    slipped = yes.copy()
    slipped[0] = False
    assert lambda_returns(best, won, no, slipped, 0.5)[0, 0, 0] == 4.0
    over = no.copy()
    over[0] = True
    assert lambda_returns(best, won, over, yes, 0.5)[0, 0, 0] == 0.5 * 4 + 0.5 * 2
    assert (lambda_returns(best, won, no, yes, 0.0) == best).all()


@pytest.mark.parametrize(("rules", "depth"), [("mancala-world", 3), ("tonkin", 2), ("three-player", 2)])
def test_move_values_are_those_of_the_search_for_all_players(rules: str, depth: int) -> None:
    core = Core(rules)
    torch.manual_seed(0)
    first, second = (Learner(core, TDConfig()).module for _ in range(2))
    torch.nn.init.normal_(second.output.weight)
    search = MoveValues(core, depth, first.export({}))
    search.use(second.export({}))
    positions = random_positions(core, 40, seed=3)
    found, rows = search.values(positions), np.arange(len(positions))
    legal = core.legal_mask(positions)
    assert (np.isfinite(found).all(axis=2) == legal).all()
    assert found[legal].sum(axis=1) == pytest.approx(0, abs=0.1)
    if core.rules.players == 2:
        own = found[rows, :, positions.mover]
        wanted = Search(core, threads=1, net=second.export({})).values(positions, depth)
        assert (own[legal] == wanted[legal]).all()
    else:
        wanted = FullWidthSearch(core, depth, net=second.export({})).values(positions)
        close = np.abs(found[legal] - wanted[legal]) <= 2 / 64  # both round the net's values, and may break near ties
        assert close.mean() > 0.98


@pytest.mark.parametrize("rules", ["mancala-world", "four-player"])
def test_a_rollout_without_lambda_has_the_values_of_the_best_moves(rules: str) -> None:
    core = Core(rules)
    config = TDConfig(games=8, steps=3, lam=0.0)
    starts = RandomStarts(core, set_up_share=0.2, max_plies=6, seed=0)
    games, search = Games(core, config, starts), MoveValues(core, 1, Learner(core, config).module.export({}))
    positions, returns = games.play(search, 0.0, np.random.default_rng(0))
    assert returns.shape == (24, core.rules.players)
    assert not positions.over.any()
    values, rows = search.values(positions), np.arange(24)
    best = values[rows, values[rows, :, positions.mover].argmax(axis=1)]
    assert (returns == best).all()
    assert not games.positions.over.any()


@pytest.mark.parametrize("rules", ["mancala-world", "tonkin", "three-player"])
def test_a_net_learns_what_depends_on_the_board(rules: str) -> None:
    core = Core(rules)
    torch.manual_seed(0)
    learner, rng = Learner(core, TDConfig(batch_size=256, uses=40)), np.random.default_rng(0)

    def seeds_on_rows(seed: int) -> tuple[Any, Any]:
        positions = random_positions(core, 2000, seed=seed)
        seeds = positions.squares.reshape(len(positions), -1, 8)[:, :, :5].sum(axis=2, dtype=np.int64)
        return positions, relative_points(seeds)

    errors = [learner.learn(*seeds_on_rows(1), done, rng) for done in (0.0, 0.5)]
    positions, wanted = seeds_on_rows(9)
    assert errors[1] < errors[0]
    assert np.abs(learner.module.export({}).margins(positions) - wanted).mean() < 0.4 * wanted.std()


def test_a_position_and_its_mirror_image_have_one_value() -> None:
    core = Core()
    torch.manual_seed(0)
    net = Learner(core, TDConfig()).module.export({})
    net = net.__class__(**{**vars(net), "output_weight": net.hidden_bias + 1, "origin": {}})
    positions = random_positions(core, 200, seed=4)
    assert net.values(positions).std() > 0.1
    assert (net.values(positions) == net.values(mirror(positions, core.rules))).all()


# ---- runs ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    learn(run_in(folder))
    return folder


def test_a_run_leaves_a_net_with_its_history_that_plays(whole_run: Path) -> None:
    net = read_value_net(whole_run, SMALL["rules"])
    assert net.origin["plies"] == 6 * ITERATION
    assert net.origin["config"]["td"]["games"] == 32
    assert net.origin["command"] == "python train.py"
    core = Core(SMALL["rules"])
    positions = random_positions(core, 20, seed=1)
    for name in (f"minimax:nodes=100,net={whole_run}", f"selective:{whole_run}"):
        chosen = agents.make(name, core.rules).choose(positions, np.random.default_rng(0))
        assert core.legal_mask(positions)[np.arange(len(positions)), chosen].all()


@pytest.mark.parametrize("stops", [[ITERATION], [2 * ITERATION, 5 * ITERATION]])
def test_a_stopped_run_resumes_to_the_same_bits(whole_run: Path, tmp_path: Path, stops: list[int]) -> None:
    run = run_in(tmp_path / "run")
    for plies in stops:
        with pytest.raises(StopTrainingError):
            learn(run, plies)
        assert run.plies == plies
        run = TDRun.resume(tmp_path / "run", lambda _: None)
        assert run.plies == plies
    learn(run)
    assert weights(tmp_path / "run") == weights(whole_run)
    whole, parts = (unpack(folder / CHECKPOINT_NAME) for folder in (whole_run, tmp_path / "run"))
    assert all(torch.equal(parts[0][name], tensor) for name, tensor in whole[0].items())


class KilledError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("after", [0, 1, 3, 6])
def test_a_run_killed_anywhere_comes_to_the_same_net(after: int, whole_run: Path, tmp_path: Path) -> None:
    def kill(plies: int) -> None:
        if plies == after * ITERATION:
            raise KilledError

    with pytest.raises(KilledError):
        run_in(tmp_path / "run").learn(kill, lambda: False)
    learn(TDRun.resume(tmp_path / "run", lambda _: None))
    assert weights(tmp_path / "run") == weights(whole_run)


def test_the_seed_decides_and_evaluations_change_nothing(whole_run: Path, tmp_path: Path) -> None:
    learn(run_in(tmp_path / "other", seed=1))
    assert weights(tmp_path / "other") != weights(whole_run)
    learn(run_in(tmp_path / "seldom", evaluation={"every_plies": 10**9, "nodes": [50]}))
    assert weights(tmp_path / "seldom") == weights(whole_run)


@pytest.mark.parametrize(("rules", "player"), [("mancala-world", "minimax"), ("three-player", "maxn")])
def test_evaluations_measure_regret_on_the_development_part(tmp_path: Path, rules: str, player: str) -> None:
    said: list[str] = []
    run = run_in(tmp_path / "run", said.append, rules=rules, total_plies=ITERATION)
    learn(run)
    row = run.evaluations()[-1]
    assert row["regrets"][f"{player}:nodes=50"] == row["regret"]
    assert f"regret {row['regret']['regret']['mean']:.2f} at 50 nodes" in said[-1]


# ---- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("module.hidden.weight", lambda one: one * float("nan"), "hidden.weight is not finite"),
        ("optimizer.1.exp_avg", lambda one: one[:1], "1.exp_avg has the shape"),
        ("games.mover", lambda one: one + 2, "mover must be 0 to 1"),
        ("games.scores", lambda one: one[:5], "scores is .* of shape"),
        ("inputs.0", lambda one: one - 1000, "rollout 0 holds what no position has"),
        ("inputs.0", lambda one: one.int(), "0 is int32 of shape"),
        ("targets.1", lambda one: one / 0, "rollout 1 holds what no position has"),
    ],
)
def test_a_checkpoint_that_cannot_be_is_refused(
    whole_run: Path, tmp_path: Path, name: str, change: Callable[[torch.Tensor], torch.Tensor], message: str
) -> None:
    run = run_in(tmp_path / "run")
    run.close()
    tensors, metadata = unpack(whole_run / CHECKPOINT_NAME)
    tensors[name] = change(tensors[name])
    metadata.pop("digest")
    (tmp_path / "run" / CHECKPOINT_NAME).write_bytes(pack(tensors, metadata))
    with pytest.raises(FileError, match=rf"checkpoint\.safetensors: .*{message}"):
        TDRun.resume(tmp_path / "run", lambda _: None)


def test_a_diverged_run_stops_with_advice(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run")
    torch.nn.init.constant_(run.learner.module.hidden.weight, float("nan"))
    with pytest.raises(UsageError, match=r"hidden\.weight is not finite after 0 plies.*smaller td\.learning_rate"):
        learn(run)


# ---- the command line ------------------------------------------------------------------------------------------------


def test_train_py_trains_a_value_net_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, folder = tmp_path / "value.yaml", tmp_path / "run"
    config.write_text(yaml.safe_dump(SMALL))
    command = ["--config", str(config), "--output", str(folder), "--rules", "tonkin fields=3", "--td.lam", "0.7"]
    assert train.main(command) == 0
    assert f"net={folder}" in capsys.readouterr().out
    assert read_value_net(folder, "tonkin fields=3").origin["config"]["td"]["lam"] == 0.7
    (folder / VALUE_NET_NAME).unlink()
    assert train.main(["--resume", str(folder), "--threads", "2"]) == 0
    assert read_value_net(folder, "tonkin fields=3").origin["plies"] == 6 * ITERATION
    assert train.main(["--resume", str(folder), "--td.lam", "0.5"]) == 2
    assert "only --threads, --device, --total-plies go with it" in capsys.readouterr().err


def test_a_sweep_tells_the_regret_over_its_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "value.yaml"
    config.write_text(yaml.safe_dump({**SMALL, "rules": "mancala-world", "total_plies": ITERATION}))
    assert train.main(["--config", str(config), "--sweep", "0,1", "--jobs", "1", "--output", str(tmp_path / "s")]) == 0
    assert "regret minimax:nodes=50, points: " in capsys.readouterr().out
    assert (tmp_path / "s" / "seed-1" / VALUE_NET_NAME).is_file()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": "vietnamese refill=forfeit"}, "rules: value nets are for refill=borrow"),
        ({"td": {"depth": 128}}, "td.depth"),
        ({"td": {"learning_rate": 0}}, "td.learning_rate"),
        ({"td": {"lambda": 0.3}}, "td.lambda: unknown field"),
        ({"games": 3}, "games: unknown field"),
        ({"kind": "net"}, "kind: must be ppo or value"),
    ],
)
def test_impossible_configurations_are_refused(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "value.yaml"
    config.write_text(yaml.safe_dump({**SMALL, **change}))
    assert train.main(["--config", str(config), "--output", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert str(config) in said
    assert message in said
    assert not (tmp_path / "run").exists()


def test_the_projects_configuration_is_the_default() -> None:
    values = yaml.safe_load((Path(__file__).parents[1] / "configs" / "value.yaml").read_text())
    assert ValueConfig.model_validate(values) == ValueConfig()


def test_help_shows_the_settings_of_a_value_net(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        train.main(["--config", "configs/value.yaml", "--help"])
    assert not ended.value.code
    assert "--td.batch-size" in capsys.readouterr().out
