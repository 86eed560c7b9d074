"""Test that processes and Ray give the same results as one process, that failures are reported and sweeps resume."""

import json
import math
import os
import re
import signal
import socket
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evaluate
import train
from agents.checkpoint import CHECKPOINT_NAME
from agents.evaluation.evaluation_run import _play_pairing
from agents.parallel import in_order, spread
from agents.run import load_config
from agents.suites.make_regret import SuiteRecipe, make_regret_suite, prove_suite
from agents.suites.resumable_pool import ResumablePool
from agents.sweep import parse_sweep, sweep_configs, sweep_table, train_one
from oanquan_env import Core
from oanquan_env.benchmark.openings import random_suite
from oanquan_env.benchmark.suites import format_suite
from oanquan_env.benchmark.tournament import Tournament
from oanquan_env.errors import UsageError
from tests.helpers import Capture, Patch
from train import parse

SMALL = ["--total-plies", "512", "--ppo.n-envs", "8", "--ppo.n-steps", "16", "--ppo.batch-size", "64"]
SMALL += ["--evaluation.pairs", "5", "--evaluation.opponents", "random", "greedy", "--network.width", "16"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Yield the address of a Ray cluster of one machine with two processors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray uses deprecated names of other packages
        pytest.importorskip("ray")
        from ray.cluster_utils import Cluster
    one_machine = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    yield one_machine.address
    one_machine.shutdown()


def weights(folder: Path) -> list[bytes]:
    """Return the contents of the weights files of a sweep's agents."""
    return [path.read_bytes() for path in sorted(folder.glob("seed-*/agent.safetensors"))]


@pytest.mark.parametrize("processes", [1, 2])
def test_every_item_has_its_result(processes: int) -> None:
    assert sorted(spread(math.sqrt, [9, 1, 4], processes=processes)) == [(0, 3), (1, 1), (2, 2)]
    assert list(in_order(spread(math.sqrt, [9, 1, 4], processes=processes))) == [3, 1, 2]
    assert list(spread(math.sqrt, [], processes=processes)) == []
    with pytest.raises(ValueError, match="math domain error"):
        list(spread(math.sqrt, [1, -2, 3], processes=processes))


def test_a_worker_that_dies_is_an_error() -> None:
    with pytest.raises(UsageError, match="a worker process died, perhaps for lack of memory"):
        list(spread(signal.raise_signal, [0, signal.SIGKILL, 0], processes=2))


def test_no_ray_and_no_cluster_are_errors_at_once(monkeypatch: Patch) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "ray", None)
        with pytest.raises(UsageError, match=r'install it with: pip install -e "\.\[ray\]"'):
            list(spread(abs, [1], ray="auto"))
    pytest.importorskip("ray")
    monkeypatch.setattr("ray.init", lambda *_, **__: pytest.fail("Ray was asked, and would wait for minutes"))
    with socket.socket() as taken:  # bound but not listening
        taken.bind(("127.0.0.1", 0))
        for scheme in ("", "ray://"):
            address = f"{scheme}127.0.0.1:{taken.getsockname()[1]}"
            with pytest.raises(UsageError, match=f"no Ray cluster at '{address}': "):
                list(spread(abs, [1], ray=address))


@pytest.mark.daily
def test_ray_finds_the_same(cluster: str, tmp_path: Path, interrupt: Any) -> None:
    assert list(spread(os.path.abspath, ["x"], ray=cluster)) == [(0, os.path.abspath("x"))]
    assert list(spread(abs, [-3], ray=cluster, cpus=64)) == [(0, 3)]  # does not wait for a machine with 64 CPUs
    with pytest.raises(ValueError, match="math domain error"):
        list(spread(math.sqrt, [1, -2, 3], ray=cluster))
    with pytest.raises(UsageError, match="no Ray cluster at 'nonsense'"):
        list(spread(abs, [1], ray="nonsense"))
    for name, place in (("alone", ["--jobs", "1"]), ("ray", ["--ray", cluster])):
        assert train.main([*SMALL, "--sweep", "0,1", *place, "--output", str(tmp_path / name)]) == 0
    assert weights(tmp_path / "alone") == weights(tmp_path / "ray")
    recipe = SuiteRecipe(count=6, depths=(2, 2, 3), games=80, net="pretrained")
    suite = make_regret_suite(recipe)
    assert format_suite(suite) == format_suite(make_regret_suite(recipe, ResumablePool(ray=cluster)))
    assert format_suite(prove_suite(suite, 1000)) == format_suite(prove_suite(suite, 1000, ResumablePool(ray=cluster)))
    players, out = ["greedy", "random", "minimax:depth=2", "--pairs", "10", "--seed", "3"], str(tmp_path / "out")
    assert evaluate.main([*players, "--json", str(tmp_path / "one.json")]) == 0
    assert evaluate.main([*players, "--output", out, "--ray", cluster]) == 0
    one, spread_out = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "out/report.json"))
    assert (one["players"], one["pairings"]) == (spread_out["players"], spread_out["pairings"])
    played = interrupt(Tournament, "play_one")
    assert evaluate.main([*players, "--output", out]) == 0
    assert not played  # all pairings were kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (text, "--sweep takes")
            for text in ("", " ", "1,1", "seed=", "a=1 a=2", "4-2", "=3", "seed='0", "a=,1", "seed")
        ),
        ("0,x", "--sweep: seed: must be a whole number"),
        ("-1", "--sweep: seed: must be greater than or equal to 0"),
        ("ppo.gama=1", "--sweep: ppo.gama: unknown field; did you mean gamma?"),
        ("seed.x=1", "--sweep: seed.x: seed has no fields"),
        ("workers=2", "--sweep trains each run in one process"),
        ("ppo.gamma=0.5,.5", "--sweep: two runs have the same configuration or folder: ppo.gamma=.5/seed-0"),
    ],
)
def test_what_cannot_be_swept_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        sweep_configs(parse(SMALL).settings, parse_sweep(text))


def test_what_fails_on_a_worker_is_named(tmp_path: Path) -> None:
    openings = random_suite(Core(), 1, 4, np.random.default_rng(0))
    with pytest.raises(UsageError, match="the files or the version of greedy differ between machines"):
        _play_pairing("mancala-world", openings, 0, [("greedy", "0123"), ("random", "")])
    values = parse([*SMALL, "--ppo.learning-rate", "1e30", "--seed", "4"]).settings.model_dump()
    failure = train_one(tmp_path, "swept", ("seed-4", values))
    assert (failure.name, "training diverged: " in str(failure.error)) == ("seed-4", True)


def test_a_sweep_changes_any_fields_and_has_one_table() -> None:
    fields = parse_sweep("ppo.learning-rate=1e-3,3e-4 rules='tonkin seeds=4' seed=0-2")
    runs = sweep_configs(parse(SMALL).settings, fields)
    assert list(runs)[:2] == [f"ppo.learning-rate=1e-3,rules=tonkin_seeds=4/seed-{seed}" for seed in (0, 1)]
    configs = [config.model_dump() for _, config in runs.values()]
    assert [(one["ppo"]["learning_rate"], one["seed"]) for one in configs] == [
        (rate, seed) for rate in (1e-3, 3e-4) for seed in range(3)
    ]
    assert {one["rules"] for one in configs} == {"tonkin seeds=4"}
    assert parse_sweep("0,3") == {"seed": ["0", "3"]}
    measured = [({"x": x}, {"regret": float(seed)}) for x, seeds in (("a", 5), ("b", 2)) for seed in range(seeds)]
    heads, _, a, b = sweep_table(measured).splitlines()
    assert [cell.strip() for cell in heads.split("|")[1:-1]] == ["x", "runs", "regret"]
    assert re.match(r"\| a +\| +5 \| +2\.00 \(-?[0-9.]+ to [0-9.]+\) \|", a)
    assert re.match(r"\| b +\| +2 \| 0\.50; 2 runs, 0\.00 to 1\.00 \|", b)


@pytest.mark.slow
def test_a_sweep_goes_on_and_a_seed_that_fails_does_not_stop_the_others(tmp_path: Path, capsys: Capture) -> None:
    arguments, seeds = [*SMALL, "--sweep", "3,5", "--output", str(tmp_path)], [tmp_path / "seed-3", tmp_path / "seed-5"]
    assert train.main([*arguments, "--jobs", "1"]) == 0
    table = (tmp_path / "sweep.md").read_text().partition("\n\n")[2]
    assert "score against greedy, %" in table
    assert table in capsys.readouterr().out
    assert [load_config(folder / "config.yaml").seed for folder in seeds] == [3, 5]
    first, other = ((folder / "evaluations.jsonl").read_text() for folder in seeds)
    assert first != other
    found = weights(tmp_path)
    (seeds[1] / CHECKPOINT_NAME).unlink()  # as if killed before its first checkpoint
    assert train.main([*arguments, "--jobs", "2"]) == 0
    assert weights(tmp_path) == found
    assert (seeds[0] / "evaluations.jsonl").read_text() == first
    assert train.main([*arguments, "--ppo.gamma", "0.9"]) == 2
    assert "holds a run with another configuration" in capsys.readouterr().err
    (seeds[0] / CHECKPOINT_NAME).write_bytes(b"nothing of the kind")
    assert train.main([*arguments, "--jobs", "1"]) == 2  # but the other seed is still trained
    printed = capsys.readouterr()
    assert f"seed-5 is done, 2 of 2: {seeds[1]}" in printed.out.replace("\n", "")
    assert f"train.py: seed-3: {seeds[0] / CHECKPOINT_NAME}" in printed.err
    assert "seed-5" not in printed.err
