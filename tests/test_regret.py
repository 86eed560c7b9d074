"""Regret: what chosen moves are worth, suites as files, the committed suite."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.arrays import Ints
from oanquan_env.benchmark.regret import PHASES, Suite, judge, phases, regret
from oanquan_env.benchmark.suites import format_suite, load_suite, read_suite, regret_path
from oanquan_env.engine.keys import canonical_keys, first_of_each
from oanquan_env.files import FileError
from oanquan_env.search.deepening import Search
from tests.players import Fixed, rng
from tests.strategies import PRESET_NAMES, TWO_PLAYER_PRESETS


def hand_made() -> Suite:
    """Three positions with invented values: South to move 4 points behind, level scores, South 1 point ahead."""
    texts = (
        "1,1,1,0,0,0*/5,5,5,5,5,0* 9,13 0 8",
        "5,5,5,5,5,0/1,1,1,0,0,0* 16,16 1 9",
        "1,0,1,1,0,1*/2,0,1,0,0,0 27,26 0 30",
    )
    core = Core()
    positions = Positions.concatenate(Board.parse(text).positions for text in texts)
    values = np.full((3, 10), np.nan)
    values[0, :6] = [6, 4, 3, -5, 6, 0]
    values[1, :6] = [1, 1, 1, 0, -1, 0]
    values[2, [0, 1, 4, 5, 6, 7]] = [-20, 3, -20, 3, 3, -1]
    proved = np.isfinite(values)
    proved[1, :3] = False
    return Suite.searched("hand-made", core, positions, values, proved, {"by": "hand"})


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


def test_proved_bounds_of_the_values_bound_the_regret() -> None:
    suite = hand_made()
    judged = judge(suite, np.array([1, 1, 1]))
    assert (judged.least[0], judged.most[0]) == (2, 2)  # all values are proved
    assert (judged.least[1], judged.most[1]) == (0, np.inf)  # those of 1 point are not
    suite.lower[1, :3], suite.upper[1, :3] = [0.5, -2, 1], [4, 0.75, 1.5]
    judged = judge(suite, np.array([4, 1, 6]))
    assert judged.least.tolist() == [0, 0.25, 0]  # 1 at least, and 0.75 at most
    assert judged.most.tolist() == [0, 6, 0]
    row = regret(Fixed([4, 1, 6]), suite, rng())
    assert (row.least, row.most) == (pytest.approx(0.25 / 3), 2)
    assert row.mean == 0
    suite.upper[1, 0] = np.inf
    row = regret(Fixed([4, 1, 6]), suite, rng())
    assert (row.least, row.most) == (pytest.approx(0.25 / 3), None)


def test_a_single_legal_move_loses_nothing() -> None:
    board = Board.parse("5,0,0,0,0,0/1,1,1,0,0,0* 26,26 0 9", "mancala-world sowing=clockwise")
    values = np.where(board.core.legal_mask(board.positions), 3.0, np.nan)
    assert np.isfinite(values).sum() == 1
    suite = Suite.searched("one", board.core, board.positions, values, np.zeros(values.shape, dtype=np.bool_), {})
    judged = judge(suite, np.nanargmax(values, axis=1))
    assert (judged.regret, judged.least, judged.most) == (0, 0, 0)


def test_points_lost_without_another_result_are_no_blunder() -> None:
    suite = hand_made()
    suite.positions.scores[:] = [[30, 0], [0, 30], [30, 0]]
    judged = judge(suite, np.array([2, 4, 5]))
    assert judged.regret.tolist() == [3, 2, 0]
    assert judged.blunder.tolist() == [0, 0, 0]


def test_regret_is_summed_up_over_all_and_by_phase() -> None:
    suite = hand_made()
    row = regret(Fixed([2, 4, 1]), suite, rng())
    assert row.positions == 3
    assert row.mean == pytest.approx(5 / 3)
    assert row.optimal.mean == pytest.approx(1 / 3)
    assert row.blunders.mean == pytest.approx(2 / 3)
    assert (row.low, row.high) == (0, 3)  # three times the least or the largest: 1 / 27
    assert {name: measured.mean for name, measured in row.phases.items()} == {
        "middle": 2.5,
        "end": 0,
        "proved": 1.5,
    }


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


VALUES = [6, 4, 3, -5, 6, 0, None, None, None, None]
ALL_LEGAL = ["5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0", [0] * 10]
GOOD = ["1,1,1,0,0,0*/5,5,5,5,5,0* 9,13 0 8", VALUES, [6, 2, None, -5, *[None] * 6], [6, None, 9, *[None] * 7]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (GOOD[:3], r"expected \[position, values, lower bounds, upper bounds\]"),
        ([*GOOD[:3], 1], r"expected \[position, values, lower bounds, upper bounds\]"),
        ([GOOD[0][:-2], *GOOD[1:]], "column 33: a position has 4 words"),
        ([GOOD[0], [6, 4, 3, -5, 6, *[None] * 5], *GOOD[2:]], "values must be given for the legal moves"),
        ([GOOD[0], [6, 4, 3, -5, 6, 0, 1, *[None] * 3], *GOOD[2:]], "values must be given for the legal moves"),
        ([*GOOD[:3], [*[None] * 9, 1]], "values must be given for the legal moves, and for them only"),
        ([GOOD[0], VALUES[:9], *GOOD[2:]], "expected 10 whole numbers or nulls"),
        ([*GOOD[:3], [6]], "expected 10 whole numbers or nulls"),
        *[([*GOOD[:3], [wrong, *[None] * 9]], "expected 10 whole numbers") for wrong in (True, 6.0, 6.5, "6", [6])],
        ([*GOOD[:3], [5, *[None] * 9]], "a value must lie between its bounds"),
        ([*GOOD[:2], [7, *[None] * 9], GOOD[3]], "a value must lie between its bounds"),
    ],
)
def test_damaged_positions_are_named(tmp_path: Path, row: object, message: str) -> None:
    path = tmp_path / "suite.json"
    suite = {"format": 2, "rules": "mancala-world", "made": {}, "positions": [GOOD, row]}
    path.write_text(json.dumps(suite))
    with pytest.raises(FileError, match=f"position 2: {message}"):
        read_suite(path)
    suite["positions"] = [GOOD, [*ALL_LEGAL, [0, *[None] * 8, 0], [*[None] * 9, 0]]]
    path.write_text(json.dumps(suite))
    read = read_suite(path)
    assert (read.lower[0, 2], read.upper[0, 2]) == (-np.inf, 9)
    assert read.proved.nonzero()[1].tolist() == [0, 9]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not readable as JSON"),
        ("[]", "not a suite of positions"),
        ('{"rules": "mancala-world"}', "'format' is missing"),
        ('{"format": 2, "rules": "chess", "made": {}, "positions": []}', "unknown preset 'chess'"),
        ('{"format": 1, "rules": "tonkin", "made": {}, "positions": []}', "expected a suite of format 2"),
        ('{"format": 2, "rules": "tonkin", "made": {}, "positions": []}', "it holds no positions"),
    ],
)
def test_damaged_suites_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "suite.json"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_suite(path)


def test_missing_suites_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_suite(tmp_path / "none.json")
    with pytest.raises(
        FileError, match=r"there is no regret suite for 'tonkin seeds=3'.*python -m agents.evaluation.make_regret"
    ):
        load_suite(Core("tonkin seeds=3").rules)


FEWEST = {"vietnamese": 900, "three-player": 1200, "four-player": 1200}


@pytest.fixture(scope="module", params=PRESET_NAMES)
def committed(request: pytest.FixtureRequest) -> Suite:
    return load_suite(Rules.parse(request.param))


def test_the_committed_suite_keeps_its_conditions(committed: Suite) -> None:
    assert len(committed) >= FEWEST.get(str(committed.core.rules), 2400)
    assert regret_path(committed.core.rules).stat().st_size < 1_000_000
    assert (committed.core.legal_mask(committed.positions).sum(axis=1) >= 3).all()
    spread = np.nanmax(committed.values, axis=1) - np.nanmin(committed.values, axis=1)
    assert (spread >= 1).mean() > 0.99  # proofs may bring values together
    assert len(first_of_each(canonical_keys(committed.core, committed.positions))) == len(committed)
    assert min(Counter(committed.phases().tolist()).values()) >= 0.25 * len(committed)


def test_development_and_test_part_share_nothing(committed: Suite) -> None:
    development, test = committed.part("development"), committed.part("test")
    assert len(development) + len(test) == len(committed) == len(committed.part("all"))
    assert min(len(development), len(test)) >= 0.4 * len(committed)
    keys = np.concatenate([canonical_keys(one.core, one.positions) for one in (development, test)])
    assert len(first_of_each(keys)) == len(committed)


@pytest.mark.parametrize("rules", TWO_PLAYER_PRESETS)
def test_the_committed_values_are_those_of_the_search(rules: str) -> None:
    """Of the positions that are all proved, or most, and of these with the fewest points in play."""
    committed = load_suite(Rules.parse(rules))
    left = committed.core.rules.total - committed.positions.scores.sum(axis=1)
    unproved = (np.isfinite(committed.values) & ~committed.proved).sum(axis=1)
    few = committed.take(np.lexsort((left, unproved))[:40].astype(np.intp))
    values, proved = Search(few.core).proved_values(few.positions, 16)
    both = proved & few.proved  # proofs of the suite may be deeper
    assert both.sum() >= 10
    assert (values[both] == few.values[both]).all()
