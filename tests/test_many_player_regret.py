"""Regret against max^n search, for three and four players: judging, files, making, the committed suite."""

from pathlib import Path

import numpy as np
import pytest

from agents.evaluation.make_regret import SuiteRecipe, make_suite, value_chunk
from agents.evaluation.prove_regret import prove_suite
from agents.search.move_values import MoveValues
from oanquan_env import Board, Core, Positions
from oanquan_env.benchmark.regret import PHASES, Suite, judge, regret
from oanquan_env.benchmark.suites import format_suite, load_suite, read_suite
from oanquan_env.engine.keys import canonical_keys, first_of_each
from oanquan_env.players import make
from oanquan_env.players.full_width import FullWidthSearch
from oanquan_env.players.value_net import read_value_net

RECIPE = SuiteRecipe(rules="three-player seeds=3", count=9, depths=(2, 2, 2), games=60)


def own_values(core: Core, suite: Suite, depth: int) -> np.ndarray:
    """(N, A) what max^n search says that moves are worth to the mover; NaN for illegal ones."""
    values = FullWidthSearch(core, depth).values(suite.positions)
    own = values[np.arange(len(suite)), :, suite.positions.mover]
    return np.where(np.isfinite(own), own, np.nan)


def test_a_blunder_changes_on_which_side_of_the_others_mean_a_player_ends() -> None:
    board = Board.parse("1,1,1,0,0,0*/5,5,5,5,5,0*/3,3,3,3,3,0* 12,15,5 0 9", "three-player stone_value=5")
    values = np.full((3, 10), np.nan)
    values[:, :6] = [3, 2, -1.5, -2, -2.5, -9]  # 12 points are 2 above the mean of 15 and 5
    positions = Positions.concatenate([board.positions] * 3)
    suite = Suite("made", board.core, positions, values, np.zeros(values.shape, dtype=np.bool_), {})
    for actions, blunders in (([0, 1, 2], [0, 0, 0]), ([3, 4, 5], [1, 1, 1])):
        judged = judge(suite, np.array(actions))
        assert judged.blunder.tolist() == blunders
        assert judged.regret.tolist() == [3 - values[0, action] for action in actions]


def test_a_made_suite_has_the_values_of_the_search_and_survives_its_file(tmp_path: Path) -> None:
    suite = make_suite(RECIPE)
    core = suite.core
    assert len(suite) == 9
    assert not suite.proved.any()
    assert np.array_equal(suite.values, own_values(core, suite, 2), equal_nan=True)
    assert (suite.values % 1 == 0.5).any()  # margins over the mean of two others
    assert suite.made["players"] == ["random", "greedy", "maxn:depth=1", "maxn:depth=2", "maxn:depth=3"]
    path = tmp_path / "suite.json"
    path.write_text(format_suite(suite))
    read = read_suite(path)
    assert read.positions.same(suite.positions).all()
    assert np.array_equal(read.values, suite.values, equal_nan=True)
    values, proved = value_chunk(str(core.rules), 2, None, suite.positions)
    assert np.array_equal(values, suite.values, equal_nan=True)
    assert not proved.any()
    found = regret(make("maxn:depth=2", core.rules), suite, np.random.default_rng(0))
    assert (found.overall.regret.mean, found.overall.optimal.mean, found.overall.blunders.mean) == (0, 1, 0)
    with pytest.raises(ValueError, match="values are proved for two players; 'three-player seeds=3' has 3"):
        prove_suite(suite, 100, 1)


@pytest.mark.parametrize(("rules", "depth"), [("three-player", 8), ("four-player", 8)])
def test_the_committed_suite_keeps_its_conditions(rules: str, depth: int) -> None:
    suite = load_suite(Core(rules).rules)
    assert len(suite) == 1200
    assert np.bincount(suite.phases()).tolist() == [400] * len(PHASES)
    assert len(first_of_each(canonical_keys(suite.core, suite.positions))) == len(suite)
    assert (np.isfinite(suite.values) == suite.core.legal_mask(suite.positions)).all()
    assert (np.nanmax(suite.values, axis=1) - np.nanmin(suite.values, axis=1) >= 1).all()
    some = suite.take((suite.phases() == 2).nonzero()[0][::40])
    search = MoveValues(some.core, depth, read_value_net("pretrained", some.core.rules))
    searched, others = search.movers_values(some.positions)[0], some.core.rules.players - 1
    assert np.array_equal(some.values, np.rint(searched * others) / others, equal_nan=True)  # the file's parts
    parts = [suite.part("development"), suite.part("test")]
    assert sum(map(len, parts)) == len(suite)
    assert min(map(len, parts)) > 500
    players = [make(name, rules) for name in ("random", "greedy", "maxn:depth=2", "maxn:depth=4,net=pretrained")]
    regrets = [regret(player, suite, np.random.default_rng(0)).overall.regret.mean for player in players]
    assert regrets == sorted(regrets, reverse=True)
