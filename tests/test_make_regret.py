"""How regret suites are made, for two players and for more, and their values proved."""

import dataclasses
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from rich.progress import Progress

import agents
from agents.evaluation import make_regret, prove_regret
from agents.evaluation.make_regret import SuiteRecipe, Values, main, make_suite, value_chunk
from agents.evaluation.prove_regret import main as prove_main
from agents.evaluation.prove_regret import prove_suite
from oanquan_env import Board, Core, Positions
from oanquan_env.benchmark.regret import Suite, judge, regret
from oanquan_env.benchmark.suites import format_suite, load_suite, read_suite
from oanquan_env.engine.keys import canonical_keys, first_of_each
from oanquan_env.players import EpsilonPolicy, GreedyPolicy, RandomPolicy, make
from oanquan_env.search.deepening import Search
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.numpy_maxn import MaxnSearch
from oanquan_env.search.value_net import read_value_net
from tests.boards import random_positions
from tests.plain_search import endless, plain_values
from tests.players import Fixed, rng

SMALL = SuiteRecipe(rules="mancala-world seeds=3", count=30, depths=(3, 4, 5), games=60, seed=4)


def test_a_made_suite_keeps_its_conditions_and_its_search_has_no_regret() -> None:
    suite = make_suite(SMALL)
    phase = suite.phases()
    assert Counter(phase.tolist()) == {0: 10, 1: 10, 2: 10}
    for number, depth in enumerate(SMALL.depths):
        part = suite.take(phase == number)
        row = regret(agents.make(f"minimax:depth={depth}", suite.core.rules), part, rng())
        assert (row.mean, row.optimal.mean, row.blunders.mean) == (0, 1, 0)
    assert regret(RandomPolicy(suite.core), suite, rng()).mean > 1
    assert (suite.core.legal_mask(suite.positions).sum(axis=1) >= 3).all()
    assert (np.isfinite(suite.values) == suite.core.legal_mask(suite.positions)).all()
    assert (np.nanmax(suite.values, axis=1) - np.nanmin(suite.values, axis=1) >= 1).all()
    assert len(first_of_each(canonical_keys(suite.core, suite.positions))) == len(suite)


def test_a_suite_is_repeated_by_its_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "suite.json"
    options = ["--count", "6", "--depths", "2", "2", "3", "--games", "80", "--output", str(path)]
    assert main(["--rules", "mancala-world seeds=2", *options]) == 0
    assert "6 positions" in capsys.readouterr().out
    first = path.read_text()
    command = read_suite(path).made["command"]
    assert command == (
        "python -m agents.evaluation.make_regret --rules 'mancala-world seeds=2' --count 6 --depths 2 2 3 --games 80 "
        "--seed 0"
    )
    main(["--rules", "mancala-world seeds=2", *options])
    assert path.read_text() == first


def test_a_suite_by_a_search_with_a_net_has_its_values() -> None:
    recipe = SuiteRecipe(count=6, depths=(2, 3, 3), games=60, net="pretrained")
    suite = make_suite(recipe)
    search = Search(suite.core, net=read_value_net("pretrained"))
    for number, depth in enumerate(recipe.depths):
        rows = (suite.phases() == number).nonzero()[0]
        assert np.array_equal(suite.values[rows], search.values(suite.positions[rows], depth), equal_nan=True)
    assert str(suite.made["command"]).endswith(" --net pretrained")


def test_a_suite_goes_on_from_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_suite(SMALL)
    searched: list[int] = []
    monkeypatch.setattr(make_regret, "CHUNK", 8)

    class Stopping(MoveValues):
        def movers_values(self, positions: Positions) -> Values:
            if len(searched) == 3:
                raise KeyboardInterrupt
            searched.append(self.depth)
            return super().movers_values(positions)

    monkeypatch.setattr(make_regret, "MoveValues", Stopping)
    with pytest.raises(KeyboardInterrupt):
        make_suite(SMALL, parts=tmp_path)
    assert len(list(tmp_path.rglob("*.json"))) == 3
    searched.clear()
    monkeypatch.setattr(make_regret, "MoveValues", MoveValues)
    assert format_suite(make_suite(SMALL, parts=tmp_path)) == format_suite(whole)
    monkeypatch.setattr(make_regret, "MoveValues", Stopping)
    searched.extend([0, 0, 0])  # so one more search would stop it
    assert format_suite(make_suite(SMALL, parts=tmp_path)) == format_suite(whole)
    with pytest.raises(KeyboardInterrupt):  # values of another depth are not kept
        make_suite(dataclasses.replace(SMALL, depths=(2, 4, 5)), parts=tmp_path)


def test_random_moves_are_as_frequent_as_asked() -> None:
    core = Core()
    positions = core.start(20_000)
    greedy = GreedyPolicy(core).choose(positions, rng())
    assert len(set(greedy.tolist())) > 1
    only = Fixed([0] * 20_000)
    moves = EpsilonPolicy(core, only, 0.3).choose(positions, rng())
    assert (moves != 0).mean() == pytest.approx(0.3 * 0.9, abs=0.02)
    assert (EpsilonPolicy(core, only, 0.0).choose(positions, rng()) == 0).all()


@pytest.fixture(scope="module")
def searched() -> Suite:
    """A suite of which the search has proved some values."""
    recipe = SuiteRecipe("mancala-world fields=3 seeds=3 stone_value=3", count=6, depths=(3, 3, 3), games=200, seed=1)
    return make_suite(recipe)


def test_proofs_do_not_depend_on_the_guesses(searched: Suite) -> None:
    found = prove_suite(searched, 300_000, threads=1)
    assert found.proved.sum() >= 0.8 * np.isfinite(searched.values).sum()
    for shift in (-3, 3):
        guessed = dataclasses.replace(searched, values=searched.values + shift * ~searched.proved)
        again = prove_suite(guessed, 300_000, threads=2)
        both = found.proved & again.proved
        assert both.sum() >= 0.9 * found.proved.sum()
        assert (found.values[both] == again.values[both]).all()


@pytest.mark.parametrize("nodes", [100, 3000])
def test_every_position_is_proved_for_itself(nodes: int, searched: Suite) -> None:
    backwards = np.arange(len(searched))[::-1]
    whole, turned = prove_suite(searched, nodes, threads=1), prove_suite(searched.take(backwards), nodes, threads=1)
    assert (whole.proved[backwards] == turned.proved).all()


def test_proved_values_are_those_of_deep_searches(searched: Suite) -> None:
    suite = prove_suite(searched, 300_000, threads=1)
    deep = Search(suite.core).values(suite.positions, 40)
    assert suite.proved.sum() > 10
    assert (deep[suite.proved] == suite.values[suite.proved]).all()


@pytest.mark.parametrize("nodes", [200, 100_000])
def test_near_the_ply_limit_what_is_proved_counts_the_plies_that_are_left(nodes: int) -> None:
    core = Core("tonkin")
    positions = random_positions(core, 24, seed=1)
    positions.ply[:] = core.rules.max_plies - np.resize([1, 2, 5], len(positions))
    truth = plain_values(core, positions, 5)
    truth[np.isinf(truth)] = np.nan
    guesses = Search(endless("tonkin")).values(positions, 5)  # play that goes on after the limit
    found = prove_suite(
        Suite.searched("late", core, positions, guesses, np.zeros(truth.shape, dtype=np.bool_), {}), nodes, 1
    )
    assert (guesses != truth)[found.proved].any()
    assert (found.values == truth)[found.proved].all()
    assert found.proved.sum() == np.isfinite(truth).sum() if nodes > 200 else found.proved.any()


def test_without_nodes_only_finished_games_are_proved() -> None:
    board = Board.parse("0,0,1,0,0,0/0,0,0,0,1,0* 34,24 0 40")  # 3A sows to 4; then 5 is empty: nothing is taken
    core = board.core
    positions = Positions.concatenate([board.positions, Board.parse("1,0,0,0,0,0/0,0,0,0,0,7* 30,22 0 40").positions])
    values = Search(core).values(positions, 6)
    suite = Suite.searched("two", core, positions, values, np.zeros(values.shape, dtype=np.bool_), {})
    found = prove_suite(suite, 1, threads=1)
    ends = core.expand(positions)
    over = np.zeros(values.shape, dtype=np.bool_)
    over[ends.rows, ends.actions] = ends.positions.over
    assert (found.proved == over).all()
    assert np.array_equal(found.values, values, equal_nan=True)
    assert found.made["proved_by"] == "python -m agents.evaluation.prove_regret oanquan_env/data/two.json.gz --nodes 1"


def test_interrupted_proofs_go_on_from_the_values_proved(searched: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Progress):
        def advance(self, *_: object) -> None:
            if saved:
                raise KeyboardInterrupt

    saved: list[Suite] = []
    monkeypatch.setattr(prove_regret, "SAVED", 2)
    with pytest.raises(KeyboardInterrupt):
        prove_suite(searched, 300_000, 1, Interrupted(disable=True), save=saved.append)
    begun = saved[0]
    assert 0 < begun.proved.sum() < begun.proved.size
    whole, again = prove_suite(searched, 300_000, 1), prove_suite(begun, 300_000, 1)
    assert (again.proved >= whole.proved).all()
    assert (again.values[whole.proved] == whole.values[whole.proved]).all()
    assert (again.lower >= begun.lower)[np.isfinite(begun.values)].all()
    assert (again.upper <= begun.upper)[np.isfinite(begun.values)].all()


def test_proving_replaces_the_file(searched: Suite, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "suite.json"
    path.write_text(format_suite(searched))
    assert prove_main([str(path), "--nodes", "20000"]) == 0
    assert re.search(r"\d+ of \d+ moves proved, all moves of \d+ of 6 positions", capsys.readouterr().out)
    assert read_suite(path).proved.any()


def test_a_blunder_changes_on_which_side_of_the_others_mean_a_player_ends() -> None:
    board = Board.parse("1,1,1,0,0,0*/5,5,5,5,5,0*/3,3,3,3,3,0* 12,15,5 0 9", "three-player stone_value=5")
    values = np.full((3, 10), np.nan)
    values[:, :6] = [3, 2, -1.5, -2, -2.5, -9]  # 12 points are 2 above the mean of 15 and 5
    positions = Positions.concatenate([board.positions] * 3)
    suite = Suite.searched("made", board.core, positions, values, np.zeros(values.shape, dtype=np.bool_), {})
    for actions, blunders in (([0, 1, 2], [0, 0, 0]), ([3, 4, 5], [1, 1, 1])):
        judged = judge(suite, np.array(actions))
        assert judged.blunder.tolist() == blunders
        assert judged.regret.tolist() == [3 - values[0, action] for action in actions]


def test_a_made_suite_has_the_values_of_the_search_and_survives_its_file(tmp_path: Path) -> None:
    suite = make_suite(SuiteRecipe(rules="three-player seeds=3", count=9, depths=(2, 2, 2), games=60))
    core = suite.core
    assert len(suite) == 9
    assert not suite.proved.any()
    searched = MaxnSearch(core, 2).movers_values(suite.positions)
    assert np.array_equal(suite.values, np.where(np.isfinite(searched), searched, np.nan), equal_nan=True)
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
    assert (found.mean, found.optimal.mean, found.blunders.mean) == (0, 1, 0)
    with pytest.raises(ValueError, match="values are proved for two players; 'three-player seeds=3' has 3"):
        prove_suite(suite, 100, 1)


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_the_committed_values_are_those_of_the_search_and_rank_players(rules: str) -> None:
    suite = load_suite(Core(rules).rules)
    some = suite.take((suite.phases() == 2).nonzero()[0][::40])
    searched = MoveValues(some.core, 8, read_value_net("pretrained", rules)).movers_values(some.positions)[0]
    away = abs(some.values - searched)[np.isfinite(some.values)]
    assert (away < 0.5).mean() > 0.95  # the file rounds, and a choice between near equals may turn out otherwise
    players = [make(name, rules) for name in ("random", "greedy", "maxn:depth=2", "maxn:depth=4,net=pretrained")]
    regrets = [regret(player, suite, np.random.default_rng(0)).mean for player in players]
    assert regrets == sorted(regrets, reverse=True)
