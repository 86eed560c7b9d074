"""Test the data for offline learning: positions with the values of their moves."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.data import position_data
from agents.data.position_data import FIELDS, main, read_columns, read_positions
from agents.folders import ABOUT_NAME
from agents.suites import resumable_pool
from examples import offline_learning
from oanquan_env import Core
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import load_suite, suite_keys
from oanquan_env.engine.symmetry import canonical_keys
from oanquan_env.observation import Encoder
from oanquan_env.players import make
from oanquan_env.search.deepening import Search
from oanquan_env.search.value_net import read_value_net
from tests.helpers import Capture, Patch
from tests.helpers.players import rng

SMALL = ["--depth", "2", "--jobs", "1"]


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: Patch) -> None:
    monkeypatch.setattr(position_data, "POSITIONS_A_FILE", 40)
    monkeypatch.setattr(resumable_pool, "CHUNK", 16)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.npz"))}


def make_data(folder: Path, *options: str) -> dict[str, bytes]:
    """Write a small data set to `folder` with the command and `options`; return the content of each file."""
    assert main(["--output", str(folder), *SMALL, *options]) == 0
    return contents(folder)


def refusal(capsys: Capture, *options: str) -> str:
    capsys.readouterr()
    assert main([*SMALL, *options]) == 2
    return capsys.readouterr().err


def test_files_hold_different_positions_with_the_values_that_a_search_finds(tmp_path: Path) -> None:
    files = make_data(tmp_path, "--positions", "100", "--depth", "3", "--net", "pretrained")
    assert list(files) == [f"positions-0000{number}.npz" for number in range(len(files))]
    core, keys, total = Core(), set[bytes](), 0
    search = Search(core, threads=1, net=read_value_net("pretrained"))
    for name in files:
        found, positions = read_columns(tmp_path / name), read_positions(tmp_path / name, core)
        values, proved = search.proved_values(positions, 3)
        assert list(found) == list(FIELDS)
        assert not positions.over.any()
        assert (found["observations"] == Encoder(core).encode(positions)).all()
        np.testing.assert_array_equal(found["values"], values)
        assert (found["proved"] == proved).all()
        keys |= {key.tobytes() for key in canonical_keys(core, positions)}
        total += len(positions)
    assert total == len(keys) == 100
    assert not keys & {key.tobytes() for key in suite_keys(core)}
    about = json.loads((tmp_path / ABOUT_NAME).read_text())
    assert (about["fields"], about["asked"]["depth"]) == (FIELDS, 3)


def test_work_that_was_killed_goes_on_and_comes_to_the_same_data(
    tmp_path: Path, capsys: Capture, interrupt: Any
) -> None:
    whole, folder = make_data(tmp_path / "whole", "--positions", "100"), tmp_path / "killed"
    interrupt(position_data, "write_atomically", at=2)
    assert main(["--output", str(folder), *SMALL, "--positions", "100"]) == 130
    assert not capsys.readouterr().err
    assert list(contents(folder)) == ["positions-00000.npz"]
    time = (folder / "positions-00000.npz").stat().st_mtime_ns
    assert make_data(folder, "--positions", "100") == whole
    assert (folder / "positions-00000.npz").stat().st_mtime_ns == time
    other = make_data(tmp_path / "other", "--positions", "100", "--seed", "1")
    assert set(other.values()).isdisjoint(whole.values())


def test_damaged_files_are_named_and_run_no_code(tmp_path: Path, capsys: Capture) -> None:
    make_data(tmp_path, "--positions", "30")
    path, options = tmp_path / "positions-00000.npz", ["--output", str(tmp_path), "--positions", "30"]
    error = refusal(capsys, *options, "--seed", "1")
    assert f"{tmp_path} holds data made with seed 0, not 1; " in error
    assert "choose another folder" in error
    whole, columns = path.read_bytes(), dict(read_columns(path))
    path.write_bytes(whole[:-30])
    assert f"{path}: not a file of positions" in refusal(capsys, *options)
    for change, message in (
        ({"values": np.array([print], dtype=object)}, "not a file of positions: not readable as .npz"),
        ({"ply": columns["ply"][1:]}, "not a file of positions: its arrays must have the same length"),
        ({"stones": 2 + columns["stones"]}, "no positions of 'mancala-world'"),
    ):
        np.savez(path, **{**columns, **change})
        assert f"{path}: {message}" in refusal(capsys, *options)


@pytest.mark.slow
def test_a_network_learns_from_the_files(tmp_path: Path) -> None:
    make_data(tmp_path, "--positions", "1500", "--depth", "3")
    net = str(tmp_path / "offline.npz")
    options = ["--epochs", "20", "--batch-size", "256", "--save", net]
    found = offline_learning.main([str(tmp_path), *options])["value net"].regret
    suite = load_suite(Core().rules).part("development")
    greedy, again = (regret(make(name), suite, rng()) for name in ("greedy", f"maxn:depth=1,net={net}"))
    assert found.mean == pytest.approx(again.mean, abs=0.2)  # ties are broken at random
    assert again.high < greedy.low
