"""Work spread over processes and over Ray: the same results, and nothing lost when a worker dies."""

import json
import os
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import evaluate
import train
from agents.evaluation.make_regret import SuiteRecipe, make_suite
from agents.evaluation.prove_regret import prove_suite
from agents.evaluation.tournament import Tournament, play_pairing
from agents.run import CHECKPOINT_NAME, load_config
from agents.support.parallel import in_order, spread
from agents.sweep import train_seed
from oanquan_env import Core
from oanquan_env.benchmark.openings import random_suite
from oanquan_env.benchmark.suites import format_suite
from oanquan_env.errors import UsageError
from tests.scale_work import die, refuse, square, where
from train import parse, parse_seeds

ROOT = Path(__file__).parent.parent
SMALL = ["--total-plies", "512", "--ppo.n-envs", "8", "--ppo.n-steps", "16", "--ppo.batch-size", "64"]
SMALL += ["--evaluation.pairs", "5", "--evaluation.opponents", "random", "greedy", "--network.width", "16"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a Ray cluster of one machine with two processors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's modules use names that others deprecate
        pytest.importorskip("ray")
        from ray.cluster_utils import Cluster
    one_machine = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    yield one_machine.address
    one_machine.shutdown()


@pytest.mark.parametrize("processes", [1, 2])
def test_every_item_has_its_result(processes: int) -> None:
    assert sorted(spread(square, [3, 1, 2], processes=processes)) == [(0, 9), (1, 1), (2, 4)]
    assert list(in_order(spread(square, [3, 1, 2], processes=processes))) == [9, 1, 4]
    assert list(spread(square, [], processes=processes)) == []
    with pytest.raises(ValueError, match="no 2s here"):
        list(spread(refuse, [1, 2, 3], processes=processes))


def test_a_worker_that_dies_is_an_error() -> None:
    with pytest.raises(UsageError, match="a worker process died, perhaps for lack of memory"):
        list(spread(die, [0, 1, 2], processes=2))


def test_without_ray_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r'this needs ray: pip install -e "\.\[ray\]"'):
        list(spread(square, [1], ray="auto"))


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_cluster_that_does_not_answer_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr("ray.init", lambda *_, **__: pytest.fail("Ray was asked, and would wait for minutes"))
    with socket.socket() as taken:  # bound, and listens to nobody
        taken.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(UsageError, match=f"no Ray cluster at '{address}': "):
            list(spread(square, [1], ray=address))


def test_ray_is_imported_only_when_asked_for() -> None:
    told = "import sys, agents.support.parallel, evaluate, train; print('ray' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", told], cwd=ROOT, text=True) == "False\n"


@pytest.mark.slow
def test_ray_finds_the_same(cluster: str) -> None:
    assert list(spread(where, [0], ray=cluster)) == [(0, os.getcwd())]
    assert list(spread(square, [3], ray=cluster, cpus=64)) == [(0, 9)]  # does not wait for so large a machine
    with pytest.raises(ValueError, match=r"^no 2s here$"):
        list(spread(refuse, [1, 2, 3], ray=cluster))


@pytest.mark.slow
def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch, cluster: str) -> None:
    with pytest.raises(UsageError, match="no Ray cluster at 'nonsense'"):
        list(spread(square, [1], ray="nonsense"))


@pytest.mark.slow
def test_a_tournament_on_ray_has_the_same_results(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    players = ["greedy", "random", "minimax:depth=2", "--pairs", "10", "--seed", "3"]
    assert evaluate.main([*players, "--json", str(tmp_path / "one.json")]) == 0
    alone = capsys.readouterr().out
    assert evaluate.main([*players, "--output", str(tmp_path / "out"), "--ray", cluster]) == 0
    assert capsys.readouterr().out == alone
    one, spread_out = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "out/report.json"))
    assert one["arena"] == spread_out["arena"]

    def played_again(self: Tournament, *arguments: object) -> None:
        raise AssertionError("a finished pairing is played again")

    monkeypatch.setattr(Tournament, "play_one", played_again)
    assert evaluate.main([*players, "--output", str(tmp_path / "out")]) == 0  # all pairings were kept


@pytest.mark.slow
def test_a_regret_suite_made_on_ray_is_the_same(cluster: str) -> None:
    recipe = SuiteRecipe(count=6, depths=(2, 2, 3), games=80, net="pretrained")
    alone, spread_out = make_suite(recipe), make_suite(recipe, ray=cluster)
    assert format_suite(alone) == format_suite(spread_out)
    assert format_suite(prove_suite(alone, 1000, 1)) == format_suite(prove_suite(alone, 1000, 1, ray=cluster))


@pytest.mark.slow
def test_a_sweep_on_ray(cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone, spread_out = tmp_path / "alone", tmp_path / "ray"
    assert train.main([*SMALL, "--sweep", "0,1", "--jobs", "1", "--output", str(alone)]) == 0
    assert train.main([*SMALL, "--sweep", "0,1", "--ray", cluster, "--output", str(spread_out)]) == 0
    for seed in ("seed-0", "seed-1"):
        assert (alone / seed / "agent.safetensors").read_bytes() == (
            spread_out / seed / "agent.safetensors"
        ).read_bytes()


def test_other_agent_files_on_a_worker_are_noticed() -> None:
    openings = random_suite(Core(), 1, 4, np.random.default_rng(0))
    with pytest.raises(UsageError, match="the files or the version of greedy differ between machines"):
        play_pairing("mancala-world", openings, 0, [["a", "greedy", "0123"], ["b", "random", ""]])


@pytest.mark.parametrize("text", ["", "0,x", "1,1", "-1", "0;1"])
def test_seeds_must_be_different_numbers(text: str) -> None:
    with pytest.raises(UsageError, match="--sweep takes"):
        parse_seeds(text)


@pytest.mark.slow
def test_a_sweep_goes_on_and_a_seed_that_fails_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*SMALL, "--sweep", "3,5", "--output", str(tmp_path)]
    assert train.main([*arguments, "--jobs", "1"]) == 0
    assert "score against greedy, %: " in capsys.readouterr().out
    assert load_config(tmp_path / "seed-5" / "config.yaml").seed == 5
    first, other = (tmp_path / f"seed-{seed}" / "evaluations.jsonl" for seed in (3, 5))
    kept = first.read_text()
    assert kept != other.read_text()
    agent = (tmp_path / "seed-5" / "agent.safetensors").read_bytes()
    (tmp_path / "seed-5" / CHECKPOINT_NAME).unlink()  # as if killed before the first
    assert train.main([*arguments, "--jobs", "2"]) == 0
    assert (tmp_path / "seed-5" / "agent.safetensors").read_bytes() == agent
    assert first.read_text() == kept
    assert train.main([*SMALL, "--ppo.gamma", "0.9", "--sweep", "3,5", "--output", str(tmp_path)]) == 2
    assert "holds a run of another configuration" in capsys.readouterr().err
    (tmp_path / "seed-3" / CHECKPOINT_NAME).write_bytes(b"nothing of the kind")
    assert train.main([*arguments, "--jobs", "1"]) == 2  # and the other seed is not stopped
    printed = capsys.readouterr()
    assert f"seed 5 is done, 2 of 2: {tmp_path / 'seed-5'}" in printed.out.replace("\n", "")
    assert "±" not in printed.out
    assert f"train.py: seed 3: {tmp_path / 'seed-3' / CHECKPOINT_NAME}" in printed.err
    assert "seed 5" not in printed.err


def test_a_seed_that_diverges_says_so(tmp_path: Path) -> None:
    config = parse([*SMALL, "--ppo.learning-rate", "1e30", "--seed", "4"]).settings
    failure = train_seed(tmp_path, "swept", config)
    assert failure.error
    assert (failure.seed, failure.folder) == (4, tmp_path / "seed-4")
    assert "training diverged: " in failure.error


@pytest.mark.slow
def test_a_killed_sweep_leaves_no_worker_and_loses_nothing(tmp_path: Path) -> None:
    longer = ["12000" if word == "512" else word for word in SMALL]
    command = [sys.executable, "train.py", *longer, "--checkpoint-seconds", "0.2", "--sweep", "0,1", "--jobs", "2"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run([*command, "--output", str(whole)], cwd=ROOT, check=True, capture_output=True)
    sweep = subprocess.Popen([*command, "--output", str(killed)], cwd=ROOT, stdout=subprocess.DEVNULL)
    _wait_for(killed / "seed-0" / "agent.yaml")
    sweep.kill()
    sweep.wait()
    time.sleep(5)  # workers notice that nobody waits for them
    subprocess.run([*command, "--output", str(killed)], cwd=ROOT, check=True, capture_output=True)
    for seed in ("seed-0", "seed-1"):
        assert (whole / seed / "agent.safetensors").read_bytes() == (killed / seed / "agent.safetensors").read_bytes()


def _wait_for(path: Path) -> None:
    for _ in range(1200):
        if path.exists():
            return
        time.sleep(0.1)
    pytest.fail(f"{path} was never written")
