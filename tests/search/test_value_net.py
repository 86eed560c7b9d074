"""Test value nets: their files, agreement of torch, NumPy and compiled leaves, and searches with a net."""

import io
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.evaluation.evaluation_run import hash_of_files
from agents.networks.value_nets import ValueModule
from oanquan_env import Core
from oanquan_env.engine.symmetry import canonical_sides
from oanquan_env.errors import UnavailableError
from oanquan_env.files import FileError
from oanquan_env.players import make
from oanquan_env.search.deepening import Search
from oanquan_env.search.leaf import horizon, with_net
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import MaxnSearch
from oanquan_env.search.search_state import compile_rules, mover_first
from oanquan_env.search.value_net import (
    HIDDEN,
    LARGEST,
    VALUE_NET_NAME,
    embedding_rows,
    read_value_net,
    shapes,
)
from tests.helpers.boards import random_positions
from tests.helpers.nets import leaf_values, random_net

VARIANTS = ["mancala-world", "vietnamese", "tonkin", "ludii", "app", "mancala-world fields=3 seeds=2"]


def test_a_file_reads_back_and_serves_only_its_own_rules(tmp_path: Path) -> None:
    path, net = tmp_path / VALUE_NET_NAME, random_net("vietnamese")
    with pytest.raises(FileError, match=f"{VALUE_NET_NAME}: no such file"):
        read_value_net(tmp_path)
    path.write_bytes(net.to_bytes())
    for name in (path, str(path), tmp_path):
        read = read_value_net(name, "vietnamese max_plies=50")
        assert (read.rules, read.origin) == (net.rules, {"seed": 0})
        assert all((getattr(read, array) == getattr(net, array)).all() for array in shapes(5))
    for error, message, refused in (
        (FileError, "for the rules 'vietnamese', not for 'mancala-world'", lambda: read_value_net(path)),
        (UnavailableError, "no value net for the rules", lambda: read_value_net("pretrained", "tonkin stone_value=4")),
        (ValueError, "rules 'vietnamese', not for 'tonkin'", lambda: MaxnSearch(Core("tonkin"), net=net)),
        (ValueError, "rules 'vietnamese', not for 'tonkin'", lambda: Search(Core("tonkin"), net=net)),
    ):
        with pytest.raises(error, match=message):
            refused()


@pytest.mark.parametrize("rules", [*VARIANTS, "three-player", "four-player", "three-player fields=3 seeds=2"])
def test_torch_numpy_and_compiled_leaves_agree(rules: str) -> None:
    core = Core(rules)
    positions, players = random_positions(core, 200, seed=1), core.rules.players
    torch.manual_seed(2)
    module = ValueModule(core.rules)
    net = module.export({})
    with torch.no_grad():
        wanted = module(torch.from_numpy(embedding_rows(core.rules, positions))).numpy()
    assert wanted.std(axis=0).min() > 0.3
    if players == 2:
        np.testing.assert_allclose(net.values(positions), wanted, atol=1e-4)
        rounded = 0.01 * wanted.std()  # compiled leaves have int16 weights
        np.testing.assert_allclose(leaf_values(core, net, positions), wanted, atol=rounded)
        return
    seats = (positions.mover[:, None] + np.arange(players)) % players
    margins = net.margins(positions)
    np.testing.assert_allclose(np.take_along_axis(margins, seats, 1), wanted, atol=1e-4)
    np.testing.assert_allclose(net.values(positions), wanted[:, 0], atol=1e-4)
    np.testing.assert_allclose(margins.sum(axis=1), 0, atol=1e-4)


@given(st.lists(st.integers(0, 255), min_size=12, max_size=12), st.lists(st.booleans(), min_size=2, max_size=2))
def test_any_counts_and_stones_have_the_values_of_the_sum_of_rows(counts: list[int], stones: list[bool]) -> None:
    """The expected values are computed square by square, as the module's documentation describes."""
    core, net = Core(), random_net("mancala-world")
    positions = core.start(1)
    positions.squares.reshape(2, 8)[:, :6] = np.reshape(counts, (2, 6))
    positions.squares.reshape(2, 8)[:, 7] = stones
    seen = canonical_sides(positions, core.rules).view(np.uint8).reshape(2, 8).astype(int)
    first = np.zeros(HIDDEN)
    for side, table in zip(seen, net.embedding.reshape(2, 5 * 18 + 48, HIDDEN), strict=True):
        first += sum(table[18 * field + min(side[field], 17)] for field in range(5))
        first += table[90 + 24 * side[7] + min(side[5], 23)]
    second = np.maximum(first, 0) @ net.hidden_weight + net.hidden_bias
    wanted = np.maximum(second, 0) @ net.output_weight + net.output_bias
    np.testing.assert_allclose(net.values(positions), wanted, rtol=1e-4, atol=1e-3)
    spread = np.abs(net.output_weight).sum() * np.abs(second).max()
    np.testing.assert_allclose(leaf_values(core, net, positions), wanted, atol=0.002 * spread)


class Trap:
    """An object that creates a file when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (Path("sprung"),)


def changed_file(**changes: object) -> bytes:
    """Return the bytes of a net's file with changed arrays; None omits an array."""
    with np.load(io.BytesIO(random_net("mancala-world").to_bytes())) as data:
        arrays = {**{name: data[name] for name in data.files}, **changes}
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nonsense", r"not a value net: not readable as \.npz: File is not a zip file"),
        (pickle.dumps(Trap()), "not a value net"),
        (changed_file(origin=np.array([Trap()], dtype=object)), "Object arrays cannot be loaded"),
        (changed_file(format=np.array(1)), "format is 1, but this version reads format 3"),
        (changed_file(hidden_bias=None), "hidden_bias"),
        (changed_file(hidden_bias=np.zeros(17, np.float32)), r"must be float32 of shape \(32,\)"),
        (changed_file(output_bias=np.array([np.nan], np.float32)), "output_bias must hold numbers"),
        (changed_file(output_bias=np.array([2 * LARGEST], np.float32)), "must hold numbers from -10000 to 10000"),
        (changed_file(rules=np.array("chess")), "unknown preset 'chess'"),
        (changed_file(rules=np.array("three-player")), r"embedding must be float32 .* of shape \(276, 256\)"),
    ],
)
def test_damaged_files_are_refused_by_name_and_run_nothing(
    content: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "net.npz"
    path.write_bytes(content)
    with pytest.raises(FileError, match=message) as raised:
        read_value_net(path)
    assert str(path) in str(raised.value)
    assert not (tmp_path / "sprung").exists()


def test_a_nets_guesses_save_nodes_and_change_little() -> None:
    """Up to depth 2, no guess replaces a search; at greater depths, the guesses of a good net are seldom wrong."""
    core = Core()
    net = read_value_net("pretrained", core.rules)
    positions = random_positions(core, 150, seed=5)
    full, guessed = Search(core, net=net, guess_depth=0), Search(core, net=net)
    for depth in (1, 2):
        assert full.best_moves(positions, Limits(depth=depth)) == guessed.best_moves(positions, Limits(depth=depth))
    exact, found = (search.best_moves(positions, Limits(depth=6)) for search in (full, guessed))
    assert sum(one.nodes for one in found) < 0.8 * sum(one.nodes for one in exact)
    differences = np.array([one.value - other.value for one, other in zip(exact, found, strict=True)])
    assert 0 < np.count_nonzero(differences) < 0.3 * len(positions)
    assert np.abs(differences).mean() < 0.5


def test_with_a_net_a_depth_that_was_begun_counts_as_far_as_it_was_searched() -> None:
    """The previous depth's move stays or is replaced by one that is better at the new depth; without a net it stays."""
    core = Core()
    positions = random_positions(core, 40, seed=7)
    for net in (random_net(str(core.rules)), None):
        search = Search(core, net=net, guess_depth=0)
        deeper = search.values(positions, 5)
        befores, wholes = (search.best_moves(positions, Limits(depth=depth)) for depth in (4, 5))
        partly = 0
        for row, (before, whole) in enumerate(zip(befores, wholes, strict=True)):
            found = search.best(positions[row : row + 1], Limits(depth=5, nodes=(before.nodes + whole.nodes) // 2))
            if found.depth == 4 or net is None:
                assert found.actions == (before.actions if found.depth == 4 else whole.actions)
            else:
                partly += found.actions != whole.actions
                assert all(deeper[row, action] == found.value for action in found.actions)
                assert found.value >= deeper[row, before.actions[0]]
        assert (partly > 0) == (net is not None)


def test_a_huge_net_stays_within_the_searchs_values() -> None:
    core, net = Core(), random_net("mancala-world")
    net.output_bias[:] = LARGEST
    net.output_weight[:] = LARGEST
    own, other = mover_first(core.start())[0].tolist()
    assert horizon(with_net(compile_rules(core), net), own, other) == 8000
    assert abs(Search(core, net=net).best(core.start(), Limits(depth=3)).value) <= 8000 + core.rules.total


def test_players_take_nets_by_name_and_hashes_of_files_tell_nets_apart(tmp_path: Path) -> None:
    names, core = ["maxn:depth=2"], Core("three-player")
    for seed in range(2):
        (tmp_path / f"{seed}.npz").write_bytes(random_net("three-player", seed=seed).to_bytes())
        names.append(f"maxn:depth=2,net={tmp_path}/{seed}.npz")
    positions, rng = random_positions(core, 100, seed=4), np.random.default_rng(0)
    assert len({tuple(make(name, core.rules).choose(positions, rng)) for name in names}) == 3
    assert len({hash_of_files(name, core.rules) for name in names}) == 3
