"""The TD(lambda) example: its targets, a net that gets better, chance that repeats, bad settings."""

import ast
import json
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")


from examples import td_lambda  # noqa: E402
from examples.td_lambda import ValueModule, draw_moves, lambda_returns, main, random_starts, regrets  # noqa: E402
from oanquan_env import Core  # noqa: E402
from oanquan_env.benchmark.regret import Suite  # noqa: E402
from oanquan_env.benchmark.suites import load_suite  # noqa: E402
from oanquan_env.players import MaxnPolicy  # noqa: E402
from oanquan_env.search.numpy_maxn import MaxnSearch  # noqa: E402
from oanquan_env.search.value_net import embedding_rows, read_value_net  # noqa: E402

SMALL = "mancala-world fields=3 seeds=3"
QUICK = ["--rules", SMALL, "--games", "64", "--minibatch", "256"]


def test_a_target_is_built_from_later_values_of_the_opponent() -> None:
    best = np.array([[5.0], [2.0], [1.0]])
    won, over, followed = np.array([[4.0], [3.0], [9.0]]), np.zeros((3, 1), np.bool_), np.ones((3, 1), np.bool_)
    second = 0.5 * 2 + 0.5 * (3 - 1)
    found = lambda_returns(best, won, over, followed, lam=0.5)
    assert found[:, 0].tolist() == [0.5 * 5 + 0.5 * (4 - second), second, 1.0]
    assert lambda_returns(best, won, over, followed, lam=0.0).tolist() == best.tolist()
    assert lambda_returns(best, won, over, followed, lam=1.0)[0, 0] == 4 - (3 - 1)


def test_a_target_looks_no_further_than_the_end_of_a_game_or_a_bad_move() -> None:
    best, won = np.full((3, 2), 5.0), np.full((3, 2), 4.0)
    over, followed = np.zeros((3, 2), np.bool_), np.ones((3, 2), np.bool_)
    over[0, 0], followed[0, 1] = True, False
    assert lambda_returns(best, won, over, followed, lam=1.0)[0].tolist() == [4.0, 5.0]


def test_moves_are_drawn_by_a_softmax_or_uniformly_and_are_legal() -> None:
    values = np.tile([0.0, -np.inf, np.log(3.0)], (20_000, 1))
    for random_share, expected in ((0.0, 0.75), (1.0, 0.5)):
        actions = draw_moves(values, 1.0, random_share, np.random.default_rng(0))
        assert set(actions.tolist()) == {0, 2}
        assert (actions == 2).mean() == pytest.approx(expected, abs=0.02)


def test_games_start_at_the_set_up_or_some_random_plies_later() -> None:
    starts = random_starts(Core(), 3, np.random.default_rng(0), n=400)
    assert not starts.over.any()
    assert set(starts.ply.tolist()) == {0, 1, 2, 3}


def test_the_exported_net_gives_the_values_of_the_module() -> None:
    core = Core()
    module, positions = ValueModule(core.rules), random_starts(core, 5, np.random.default_rng(0), n=50)
    torch.nn.init.normal_(module.output.weight)
    with torch.no_grad():
        expected = module(torch.from_numpy(embedding_rows(core.rules, positions))).numpy() * td_lambda.POINTS
    assert module.export({}).values(positions) == pytest.approx(expected, abs=1e-3)


def test_training_lowers_the_regret_on_a_small_board() -> None:
    core = Core(SMALL)
    positions = random_starts(core, 8, np.random.default_rng(1), n=200)
    values = MaxnSearch(core, 6).movers_values(positions)
    values[~np.isfinite(values)] = np.nan
    suite = Suite.searched("small", core, positions, values, np.zeros(values.shape, np.bool_), {})
    before = regrets(core, ValueModule(core.rules).export({}), suite)["regret_one_ply"]
    after = regrets(core, main([*QUICK, "--plies", "40000"]), suite)["regret_one_ply"]
    assert after < 0.75 * before


def test_the_net_is_saved_and_plays_and_the_curve_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, results = tmp_path / "td.npz", tmp_path / "td.json"
    main(["--plies", "8000", "--every", "4096", "--save", str(file), "--results", str(results)])
    net, core = read_value_net(file), Core()
    assert MaxnPolicy(core, 2, net=net).choose(core.start(3), np.random.default_rng(0)).shape == (3,)
    content = json.loads(results.read_text())
    assert content["command"] == net.origin["command"]
    assert content["rules"] == "mancala-world"
    assert [row["plies"] for row in content["curve"]] == [4096, 8192]
    last = content["curve"][-1]
    assert regrets(core, net, load_suite(core.rules).part("development")).items() <= last.items()
    assert f"regret_two_plies {last['regret_two_plies']}" in capsys.readouterr().out.split("\n")[1]


def test_chance_repeats_with_the_seed_alone() -> None:
    nets = [main([*QUICK, "--plies", "2000", "--seed", seed]) for seed in "001"]
    assert (nets[0].embedding == nets[1].embedding).all()
    assert (nets[0].embedding != nets[2].embedding).any()


def test_the_example_needs_numpy_torch_and_oanquan_env_alone() -> None:
    tree = ast.parse(Path(td_lambda.__file__).read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    packages = {name.partition(".")[0] for name in names}
    assert packages - set(sys.stdlib_module_names) == {"numpy", "torch", "oanquan_env"}
