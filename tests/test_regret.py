"""Regret: what chosen moves are worth, suites as files, how suites are made, the committed suite."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import agents
from agents.evaluation.make_regret import SuiteRecipe, main, make_suite
from agents.evaluation.prove_regret import main as prove_main
from agents.evaluation.prove_regret import prove_suite
from agents.players.mixed_play import met_in_play
from agents.search.deepening import Search
from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.arrays import Ints
from oanquan_env.benchmark.regret import PHASES, Suite, judge, phases, regret
from oanquan_env.benchmark.suites import SuiteError, format_suite, load_suite, read_suite, regret_path
from oanquan_env.keys import canonical_keys, first_of_each
from oanquan_env.players import EpsilonPolicy, GreedyPolicy, RandomPolicy
from oanquan_env.players.value_net import read_value_net
from tests.strategies import TWO_PLAYER_PRESETS

NONE = np.nan


class Fixed:
    """Plays the actions that it was given."""

    def __init__(self, actions: list[int]) -> None:
        self.actions = actions

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        assert len(positions) == len(self.actions)
        return np.array(self.actions)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def hand_made() -> Suite:
    """Three positions with invented values: South to move 4 points behind, level scores, South 1 point ahead."""
    texts = (
        "1,1,1,0,0,0*/5,5,5,5,5,0* 9,13 0 8",
        "5,5,5,5,5,0/1,1,1,0,0,0* 16,16 1 9",
        "1,0,1,1,0,1*/2,0,1,0,0,0 27,26 0 30",
    )
    core = Core()
    positions = Positions.concatenate(Board.parse(text).positions for text in texts)
    values = np.full((3, 10), NONE)
    values[0, :6] = [6, 4, 3, -5, 6, 0]
    values[1, :6] = [1, 1, 1, 0, -1, 0]
    values[2, [0, 1, 4, 5, 6, 7]] = [-20, 3, -20, 3, 3, -1]
    proved = np.isfinite(values)
    proved[1, :3] = False
    return Suite("hand-made", core, positions, values, proved, {"by": "hand"})


# ---- judging ---------------------------------------------------------------------------------------------------------


def test_moves_are_judged_by_points_and_by_the_result() -> None:
    suite = hand_made()
    worst = judge(suite, np.array([2, 4, 0]))
    assert worst.regret.tolist() == [3, 2, 23]
    assert worst.optimal.tolist() == [0, 0, 0]
    # 4 behind: +6 wins, +3 loses; level: +1 wins, -1 loses; 1 ahead: +3 wins, -20 loses
    assert worst.blunder.tolist() == [1, 1, 1]
    near = judge(suite, np.array([1, 3, 7]))
    assert near.regret.tolist() == [2, 1, 4]
    assert near.blunder.tolist() == [1, 1, 1]  # each of them turns a win into a draw
    best = judge(suite, np.array([4, 2, 6]))
    assert (best.regret.tolist(), best.optimal.tolist(), best.blunder.tolist()) == ([0] * 3, [1] * 3, [0] * 3)


def test_points_lost_without_another_result_are_no_blunder() -> None:
    suite = hand_made()
    suite.positions.scores[:] = [[30, 0], [0, 30], [30, 0]]
    judged = judge(suite, np.array([2, 4, 5]))
    assert judged.regret.tolist() == [3, 2, 0]
    assert judged.blunder.tolist() == [0, 0, 0]


def test_regret_is_summed_up_over_all_and_by_phase() -> None:
    suite = hand_made()
    row = regret(Fixed([2, 4, 1]), suite, rng(), "fixed")
    assert row.agent == "fixed"
    assert row.overall.positions == 3
    assert row.overall.regret.mean == pytest.approx(5 / 3)
    assert row.overall.optimal.mean == pytest.approx(1 / 3)
    assert row.overall.blunders.mean == pytest.approx(2 / 3)
    assert row.overall.regret.low <= row.overall.regret.mean <= row.overall.regret.high
    assert {name: measured.regret.mean for name, measured in row.phases.items()} == {"middle": 2.5, "end": 0}


def test_agents_cannot_change_the_suite() -> None:
    class Vandal(Fixed):
        def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
            positions.scores[:] = 99
            return super().choose(positions, rng)

    suite = hand_made()
    regret(Vandal([4, 2, 6]), suite, rng())
    assert (suite.positions.scores != 99).all()


def test_phases_go_by_the_points_in_play() -> None:
    core = Core()
    positions = core.start(4)
    positions.scores[:] = [[0, 0], [10, 10], [15, 5], [20, 20]]  # 70, 50, 50 and 30 points in play
    assert [PHASES[phase] for phase in phases(core.rules, positions)] == ["opening", "middle", "middle", "end"]
    positions.scores[:, 0] -= 1
    assert [PHASES[phase] for phase in phases(core.rules, positions)] == ["opening", "opening", "opening", "middle"]


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_suite_survives_its_file(tmp_path: Path) -> None:
    suite = hand_made()
    path = tmp_path / "hand-made.json"
    path.write_text(format_suite(suite))
    read = read_suite(path)
    assert read.positions.same(suite.positions).all()
    assert np.array_equal(read.values, suite.values, equal_nan=True)
    assert (read.proved == suite.proved).all()
    assert read.all_proved().tolist() == [True, False, True]
    assert (read.name, read.made, read.core.rules) == ("hand-made", {"by": "hand"}, suite.core.rules)
    assert read.digest() == suite.digest() != suite.take(np.array([0, 1])).digest()


GOOD = ["1,1,1,0,0,0*/5,5,5,5,5,0* 9,13 0 8", [6, 4, 3, -5, 6, 0, None, None, None, None], [0, 2]]
ALL_LEGAL = ["5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0", [0] * 10]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (GOOD[:2], r"position 2: expected \[position, values, actions proved\]"),
        ([GOOD[0], GOOD[1], 1], r"position 2: expected \[position, values, actions proved\]"),
        ([GOOD[0][:-2], GOOD[1], []], "position 2: column 33: a position has 4 words"),
        (
            [GOOD[0], [6, 4, 3, -5, 6, None, None, None, None, None], [0, 2]],
            "position 2: values must be given for the legal",
        ),
        (
            [GOOD[0], [6, 4, 3, -5, 6, 0, 1, None, None, None], []],
            "position 2: values must be given for the legal moves",
        ),
        (
            [GOOD[0], [6, 4, 3, -5, 6, 0.5, None, None, None, None], [0, 2]],
            "position 2: expected 10 whole numbers or nulls",
        ),
        ([GOOD[0], GOOD[1][:9], []], "position 2: expected 10 whole numbers or nulls"),
        ([GOOD[0], GOOD[1], [0, 6]], "position 2: only legal moves can be proved"),
        ([*ALL_LEGAL, [9, -1]], "position 2: only legal moves can be proved"),
        ([*ALL_LEGAL, [10]], "position 2: only legal moves can be proved"),
        ([*ALL_LEGAL, [True]], "position 2: only legal moves can be proved"),
        ([*ALL_LEGAL, [1.0]], "position 2: only legal moves can be proved"),
        ([*ALL_LEGAL, ["1"]], "position 2: only legal moves can be proved"),
    ],
)
def test_damaged_positions_are_named(tmp_path: Path, row: object, message: str) -> None:
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"format": 1, "rules": "mancala-world", "made": {}, "positions": [GOOD, row]}))
    with pytest.raises(SuiteError, match=message):
        read_suite(path)


def test_the_first_and_the_last_action_can_be_proved(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    row = [*ALL_LEGAL, [0, 9]]
    path.write_text(json.dumps({"format": 1, "rules": "mancala-world", "made": {}, "positions": [row]}))
    assert read_suite(path).proved[0].nonzero()[0].tolist() == [0, 9]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a suite of positions"),
        ("[]", "not a suite of positions"),
        ('{"rules": "mancala-world"}', "the entry 'format' is missing"),
        ('{"format": 1, "rules": "chess", "made": {}, "positions": []}', "unknown preset 'chess'"),
        (
            '{"format": 2, "rules": "tonkin", "made": {}, "positions": []}',
            "expected a suite of format 1",
        ),
        ('{"format": 1, "rules": "tonkin", "made": {}, "positions": []}', "it holds no positions"),
    ],
)
def test_damaged_suites_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "suite.json"
    path.write_text(text)
    with pytest.raises(SuiteError, match=message):
        read_suite(path)


def test_missing_suites_are_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no such file"):
        read_suite(tmp_path / "none.json")
    with pytest.raises(
        SuiteError, match=r"there is no regret suite for 'tonkin seeds=3'.*python -m agents.evaluation.make_regret"
    ):
        load_suite(Core("tonkin seeds=3").rules)


# ---- making ----------------------------------------------------------------------------------------------------------

SMALL = SuiteRecipe(rules="mancala-world seeds=3", count=30, depths=(3, 4, 5), games=60, seed=4)


def test_the_search_that_made_a_suite_has_no_regret() -> None:
    suite = make_suite(SMALL)
    phase = suite.phases()
    assert Counter(phase.tolist()) == {0: 10, 1: 10, 2: 10}
    for number, depth in enumerate(SMALL.depths):
        part = suite.take(phase == number)
        row = regret(agents.make(f"minimax:depth={depth}", suite.core.rules), part, rng())
        assert (row.overall.regret.mean, row.overall.optimal.mean, row.overall.blunders.mean) == (0, 1, 0)
    assert regret(RandomPolicy(suite.core), suite, rng()).overall.regret.mean > 1


def test_a_made_suite_keeps_its_conditions() -> None:
    suite = make_suite(SMALL)
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


def test_too_few_games_for_a_suite_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "600", "--depths", "1", "1", "1", "--games", "3"]) == 2
    assert "positions too few of the phase 'opening': play more of them" in capsys.readouterr().err
    assert main(["--count", "7"]) == 2
    assert "count must be a multiple of 3" in capsys.readouterr().err


def test_random_moves_are_as_frequent_as_asked() -> None:
    core = Core()
    positions = core.start(20_000)
    greedy = GreedyPolicy(core).choose(positions, rng())
    assert len(set(greedy.tolist())) > 1
    only = Fixed([0] * 20_000)
    moves = EpsilonPolicy(core, only, 0.3).choose(positions, rng())
    assert (moves != 0).mean() == pytest.approx(0.3 * 0.9, abs=0.02)
    assert (EpsilonPolicy(core, only, 0.0).choose(positions, rng()) == 0).all()


def test_positions_met_in_play_are_running_and_start_early() -> None:
    core = Core()
    met = met_in_play(core, [RandomPolicy(core), GreedyPolicy(core)], 100, rng())
    assert not met.over.any()
    assert {0, 1, 8} <= set(met.ply.tolist())
    assert core.legal_mask(met).any(axis=1).all()


# ---- the committed suite ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=TWO_PLAYER_PRESETS)
def committed(request: pytest.FixtureRequest) -> Suite:
    return load_suite(Rules.parse(request.param))


def test_the_committed_suite_keeps_its_conditions(committed: Suite) -> None:
    assert len(committed) >= (900 if committed.name == "regret-vietnamese" else 2400)
    assert regret_path(committed.core.rules).stat().st_size < 1_000_000
    assert (committed.core.legal_mask(committed.positions).sum(axis=1) >= 3).all()
    assert (np.nanmax(committed.values, axis=1) - np.nanmin(committed.values, axis=1) >= 1).all()
    assert len(first_of_each(canonical_keys(committed.core, committed.positions))) == len(committed)
    assert min(Counter(committed.phases().tolist()).values()) >= 0.25 * len(committed)


def test_development_and_test_part_share_nothing(committed: Suite) -> None:
    development, test = committed.part("development"), committed.part("test")
    assert len(development) + len(test) == len(committed) == len(committed.part("all"))
    assert min(len(development), len(test)) >= 0.4 * len(committed)
    keys = np.concatenate([canonical_keys(one.core, one.positions) for one in (development, test)])
    assert len(first_of_each(keys)) == len(committed)


def test_the_committed_values_are_those_of_the_search(committed: Suite) -> None:
    """Of the positions with the most proved values, and of these with the fewest points in play."""
    left = committed.core.rules.total - committed.positions.scores.sum(axis=1)
    few = committed.take(np.lexsort((left, -committed.proved.sum(axis=1)))[:6].astype(np.intp))
    values, proved = Search(few.core).proved_values(few.positions, 16)
    both = proved & few.proved  # proofs of the suite may be deeper
    assert both.sum() >= 10
    assert (values[both] == few.values[both]).all()


# ---- proving ---------------------------------------------------------------------------------------------------------

PROVING = SuiteRecipe(
    rules="mancala-world fields=3 seeds=3 stone_value=3", count=6, depths=(3, 3, 3), games=200, seed=1
)


def test_proofs_do_not_depend_on_the_guesses() -> None:
    suite = make_suite(PROVING)
    found = prove_suite(suite, 300_000, threads=1)
    assert found.proved.sum() >= 0.8 * np.isfinite(suite.values).sum()
    for shift in (-3, 3):
        guessed = dataclasses.replace(suite, values=suite.values + shift)
        again = prove_suite(guessed, 300_000, threads=2)
        both = found.proved & again.proved
        assert both.sum() >= 0.9 * found.proved.sum()
        assert (found.values[both] == again.values[both]).all()


@pytest.mark.parametrize("nodes", [100, 3000])
def test_every_position_is_proved_for_itself(nodes: int) -> None:
    suite = make_suite(PROVING)
    backwards = np.arange(len(suite))[::-1]
    whole, turned = prove_suite(suite, nodes, threads=1), prove_suite(suite.take(backwards), nodes, threads=1)
    assert (whole.proved[backwards] == turned.proved).all()


def test_proved_values_are_those_of_deep_searches() -> None:
    suite = prove_suite(make_suite(PROVING), 300_000, threads=1)
    deep = Search(suite.core).values(suite.positions, 40)
    assert suite.proved.sum() > 10
    assert (deep[suite.proved] == suite.values[suite.proved]).all()


def test_without_nodes_only_finished_games_are_proved() -> None:
    board = Board.parse("0,0,1,0,0,0/0,0,0,0,1,0* 34,24 0 40")  # 3A sows to 4; then 5 is empty: nothing is taken
    core = board.core
    positions = Positions.concatenate([board.positions, Board.parse("1,0,0,0,0,0/0,0,0,0,0,7* 30,22 0 40").positions])
    values = Search(core).values(positions, 6)
    suite = Suite("two", core, positions, values, np.zeros(values.shape, dtype=np.bool_), {})
    found = prove_suite(suite, 1, threads=1)
    ends = core.expand(positions)
    over = np.zeros(values.shape, dtype=np.bool_)
    over[ends.rows, ends.actions] = ends.positions.over
    assert (found.proved == over).all()
    assert np.array_equal(found.values, values, equal_nan=True)
    assert found.made["proved_by"] == "python -m agents.evaluation.prove_regret oanquan_env/data/two.json.gz --nodes 1"


def test_proving_replaces_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "suite.json"
    path.write_text(format_suite(make_suite(PROVING)))
    assert prove_main([str(path), "--nodes", "20000"]) == 0
    assert re.search(r"\d+ of \d+ moves proved, all moves of \d+ of 6 positions", capsys.readouterr().out)
    assert read_suite(path).proved.any()
    assert prove_main([str(path), "--nodes", "0"]) == 2
    assert "--nodes and --threads must be 1 or more" in capsys.readouterr().err
