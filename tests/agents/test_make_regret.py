"""Test how regret suites are made for two and for more players, and how their values are proved."""

import dataclasses
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.suites import resumable_pool
from agents.suites.__main__ import main
from agents.suites.make_regret import MakeRegret, SuiteRecipe, make_regret_suite, prove_suite
from agents.suites.resumable_pool import HERE, ResumablePool
from oanquan_env import Board, Core, Positions
from oanquan_env.benchmark.regret import Suite, judge, regret
from oanquan_env.benchmark.suites import format_suite, load_suite, read_suite
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.errors import UsageError
from oanquan_env.players import EpsilonPolicy
from oanquan_env.search.deepening import Search
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.value_net import read_value_net
from tests.helpers import Capture, Patch
from tests.helpers.plain_search import plain_maxn
from tests.helpers.players import Fixed, rng

SMALL = SuiteRecipe(rules="mancala-world seeds=3", count=30, depths=(3, 4, 5), games=60, seed=4)


RECIPES = [
    SuiteRecipe(count=6, depths=(2, 3, 3), games=60, net="pretrained"),
    pytest.param(
        SuiteRecipe(rules="three-player seeds=3", count=9, depths=(2, 2, 2), games=60), marks=pytest.mark.slow
    ),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.rules} {recipe.net}")
def test_a_made_suite_has_the_values_of_the_search(recipe: SuiteRecipe) -> None:
    suite, net = make_regret_suite(recipe), recipe.net and read_value_net(recipe.net)
    core, phase, legal = suite.core, suite.phases(), suite.core.legal_mask(suite.positions)
    assert Counter(phase.tolist()) == dict.fromkeys(range(3), recipe.count // 3)
    assert (legal.sum(axis=1) >= 3).all()
    assert (np.nanmax(suite.values, axis=1) - np.nanmin(suite.values, axis=1) >= 1).all()
    assert len(first_of_each(canonical_keys(core, suite.positions))) == len(suite)
    for number, depth in enumerate(recipe.depths):
        part = suite.take(phase == number)
        if core.rules.players == 2:
            wanted, proved = Search(core, net=net or None).proved_values(part.positions, depth)
        else:
            wanted = plain_maxn(core, part.positions, depth)[np.arange(len(part)), :, part.positions.mover]
            proved = np.zeros_like(part.proved)
            assert (part.values % 1 == 0.5).any()  # a margin over the mean of two others can end in .5
        assert np.array_equal(part.values, np.where(np.isfinite(wanted), wanted, np.nan), equal_nan=True)
        assert (part.proved == proved).all()
        if not net:
            row = regret(agents.make(f"maxn:depth={depth}", core.rules), part, rng())
            assert (row.mean, row.optimal.mean, row.blunders.mean) == (0, 1, 0)
    assert ("--net pretrained" in str(suite.made["command"])) == bool(net)


@pytest.mark.slow
def test_games_with_too_few_positions_are_refused_with_a_count_that_they_have() -> None:
    recipe = SuiteRecipe("mancala-world fields=2 seeds=2", count=90, depths=(2, 2, 2), games=30)
    with pytest.raises(ValueError, match=r"had \d+ of 30 positions .* raise --games, or lower --count to \d+ or less"):
        make_regret_suite(recipe)


def test_a_finished_suite_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    path.write_text("proved values")
    with pytest.raises(UsageError, match=r"suite\.json exists; prove its values with prove-regret, or choose another"):
        MakeRegret(recipe=SMALL, output=path).run()
    assert path.read_text() == "proved values"


def test_a_suite_goes_on_from_its_parts(tmp_path: Path, monkeypatch: Patch, interrupt: Any) -> None:
    whole, parts = format_suite(make_regret_suite(SMALL)), ResumablePool(parts=tmp_path)
    monkeypatch.setattr(resumable_pool, "CHUNK", 4)
    searches = interrupt(MoveValues, "movers_values", at=4)
    with pytest.raises(KeyboardInterrupt):
        make_regret_suite(SMALL, parts)
    assert len(list(tmp_path.rglob("*.json"))) == 3
    assert format_suite(make_regret_suite(SMALL, parts)) == whole
    searches.clear()
    assert format_suite(make_regret_suite(SMALL, parts)) == whole
    assert not searches
    make_regret_suite(dataclasses.replace(SMALL, depths=(2, 4, 5)), parts)  # no values are stored for this depth
    assert searches


def test_random_moves_are_as_frequent_as_asked() -> None:
    core, only = Core(), Fixed([0] * 20_000)
    for epsilon in (0.3, 0.0):
        moves = EpsilonPolicy(core, only, epsilon).choose(core.start(20_000), rng())
        assert (moves != 0).mean() == pytest.approx(epsilon * 0.9, abs=0.05 * epsilon)


@pytest.fixture(scope="module")
def searched() -> Suite:
    """Make a suite in which the search has proved some of the values."""
    recipe = SuiteRecipe("mancala-world fields=3 seeds=3 stone_value=3", count=6, depths=(3, 3, 3), games=200, seed=1)
    return make_regret_suite(recipe)


@pytest.mark.slow
def test_proofs_are_right_and_depend_neither_on_guesses_nor_on_order(searched: Suite) -> None:
    found = prove_suite(searched, 300_000)
    deep = Search(searched.core).values(searched.positions, 40)
    assert (deep[found.proved] == found.values[found.proved]).all()
    assert found.proved.sum() >= 0.8 * np.isfinite(searched.values).sum() > 8
    for shift in (-3, 3):
        guessed = dataclasses.replace(searched, values=searched.values + shift * ~searched.proved)
        again = prove_suite(guessed, 300_000)
        both = found.proved & again.proved
        assert both.sum() >= 0.9 * found.proved.sum()
        assert (found.values[both] == again.values[both]).all()
    backwards = np.arange(len(searched))[::-1]
    for nodes in (100, 3000):
        whole, turned = prove_suite(searched, nodes), prove_suite(searched.take(backwards), nodes)
        assert (whole.proved[backwards] == turned.proved).all()


@pytest.mark.slow
def test_proving_replaces_the_file_of_a_suite_of_two_players(searched: Suite, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "suite.json"
    path.write_text(format_suite(searched))
    assert main(["prove-regret", str(path), "--nodes", "20000"]) == 0
    assert re.search(r"\d+ of \d+ moves proved, all moves of \d+ of 6 positions", capsys.readouterr().out)
    assert read_suite(path).proved.any()
    assert list(tmp_path.iterdir()) == [path]  # no finished parts are left
    kept = ResumablePool(parts=tmp_path / "parts")
    assert len({format_suite(prove_suite(searched, 100, pool)) for pool in (HERE, kept, kept)}) == 1
    with pytest.raises(ValueError, match="proofs need rules for two players; 'three-player' has 3"):
        prove_suite(load_suite(Core("three-player").rules).take(np.arange(1)), 100)


def test_a_blunder_changes_on_which_side_of_the_others_mean_a_player_ends() -> None:
    board = Board.parse("1,1,1,0,0,0*/5,5,5,5,5,0*/3,3,3,3,3,0* 12,15,5 0 9", "three-player stone_value=5")
    values = np.full((6, 10), np.nan)
    values[:, :6] = [3, 2, -1.5, -2, -2.5, -9]  # 12 points are 2 above the mean of 15 and 5
    positions = Positions.concatenate([board.positions] * 6)
    judged = judge(Suite.searched("made", board.core, positions, values, values > 99, {}), np.arange(6))
    assert judged.blunder.tolist() == [0, 0, 0, 1, 1, 1]
    assert judged.regret.tolist() == (3 - values[0, :6]).tolist()


def test_the_committed_values_are_those_of_the_search_and_rank_players() -> None:
    rules, suite = "three-player", load_suite(Core("three-player").rules)
    some = suite.take((suite.phases() == 2).nonzero()[0][::80])
    searched = MoveValues(some.core, 8, read_value_net("pretrained", rules)).movers_values(some.positions)[0]
    away = abs(some.values - searched)[np.isfinite(some.values)]
    assert (away < 0.5).mean() > 0.95  # values in the file are rounded, and near ties may break differently
    names = ("random", "greedy", "maxn:depth=2", "maxn:depth=4,net=pretrained")
    regrets = [regret(agents.make(name, rules), suite.part("development"), rng()).mean for name in names]
    assert regrets == sorted(regrets, reverse=True)
