"""Test regret: the points that chosen moves lose, suites as files, and the committed suites."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.array_types import Ints
from oanquan_env.benchmark.regret import PHASES, Suite, judge, phases, regret
from oanquan_env.benchmark.suites import format_suite, load_suite, read_suite, regret_path
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.files import FileError
from oanquan_env.search.deepening import Search
from tests.helpers.players import Fixed, rng
from tests.helpers.strategies import PRESET_NAMES


def hand_made() -> Suite:
    """Return a suite of three positions with invented values; the mover is 4 points behind, level, and 1 ahead."""
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


@pytest.mark.parametrize(
    ("actions", "regrets", "blunders", "scores"),
    [
        # 4 behind: +6 wins, +3 loses; level: +1 wins, -1 loses; 1 ahead: +3 wins, -20 loses
        ([2, 4, 0], [3, 2, 23], [1, 1, 1], None),
        ([1, 3, 7], [2, 1, 4], [1, 1, 1], None),  # each move turns a win into a draw
        ([4, 2, 6], [0, 0, 0], [0, 0, 0], None),
        ([2, 4, 5], [3, 2, 0], [0, 0, 0], [[30, 0], [0, 30], [30, 0]]),  # points are lost, but the result is the same
    ],
)
def test_moves_are_judged_by_points_and_by_the_result(
    actions: list[int], regrets: list[int], blunders: list[int], scores: list[list[int]] | None
) -> None:
    suite = hand_made()
    suite.positions.scores[:] = scores or suite.positions.scores
    judged = judge(suite, np.array(actions))
    assert (judged.regret.tolist(), judged.blunder.tolist()) == (regrets, blunders)
    assert judged.optimal.tolist() == [lost == 0 for lost in regrets]


def test_proved_bounds_of_the_values_bound_the_regret() -> None:
    suite = hand_made()
    judged = judge(suite, np.array([1, 1, 1]))
    assert (judged.least[:2].tolist(), judged.most[:2].tolist()) == ([2, 0], [2, np.inf])  # proved, and not proved
    suite.lower[1, :3], suite.upper[1, :3] = [0.5, -2, 1], [4, 0.75, 1.5]
    judged = judge(suite, np.array([4, 1, 6]))
    assert judged.least.tolist() == [0, 0.25, 0]  # the best move has at least 1, the chosen one at most 0.75
    assert judged.most.tolist() == [0, 6, 0]
    row = regret(Fixed([4, 1, 6]), suite, rng())
    assert (row.mean, row.least, row.most) == (0, pytest.approx(0.25 / 3), 2)
    suite.upper[1, 0] = np.inf
    row = regret(Fixed([4, 1, 6]), suite, rng())
    assert (row.least, row.most) == (pytest.approx(0.25 / 3), None)


def test_regret_is_summed_up_over_all_and_by_phase_and_agents_cannot_change_the_suite() -> None:
    class Vandal(Fixed):
        def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
            positions.scores[:] = 99
            return super().choose(positions, rng)

    suite = hand_made()
    row = regret(Vandal([2, 4, 1]), suite, rng())
    assert suite.positions.same(hand_made().positions).all()
    assert row.positions == 3
    assert np.isnan(row.low)  # too few losses for an interval
    assert (row.mean, row.optimal.mean, row.blunders.mean) == pytest.approx((5 / 3, 1 / 3, 2 / 3))
    assert {name: one.mean for name, one in row.phases.items()} == {"middle": 2.5, "end": 0, "proved": 1.5}


def test_phases_go_by_the_points_in_play() -> None:
    core = Core()
    positions = core.start(8)
    positions.scores[:4] = [[0, 0], [10, 10], [15, 5], [20, 20]]  # 70, 50, 50 and 30 points in play
    positions.scores[4:] = positions.scores[:4] - [1, 0]
    found = [PHASES[phase] for phase in phases(core.rules, positions)]
    assert found == ["opening", "middle", "middle", "end", "opening", "opening", "opening", "middle"]


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
GOOD = ["1,1,1,0,0,0*/5,5,5,5,5,0* 9,13 0 8", VALUES, [6, 2, None, -5, *[None] * 6], [6, None, 9, *[None] * 7]]
LEGAL, NUMBERS = "every legal move must have a value", "values and bounds must be lists of 10 whole numbers or nulls"


def header(**changes: Any) -> dict[str, Any]:
    """Return a valid suite of one position as JSON, with some changes."""
    return {"format": 2, "rules": "mancala-world", "made": {}, "positions": [GOOD], **changes}


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        (None, "no such file"),
        ([], "not a suite of positions"),
        ({"rules": "mancala-world"}, "'format' is missing"),
        (header(rules="chess"), "unknown preset 'chess'"),
        (header(format=1), "expected a suite with format 2"),
        (header(positions=[]), "there are no positions"),
        *(
            (header(positions=[GOOD, row]), f"position 2: {message}")
            for row, message in (
                (GOOD[:3], r"expected \[position, values, lower bounds, upper bounds\]"),
                ([GOOD[0][:-2], *GOOD[1:]], "column 33: a position has 4 words"),
                ([GOOD[0], [6, 4, 3, -5, 6, *[None] * 5], *GOOD[2:]], LEGAL),
                ([*GOOD[:3], [*[None] * 9, 1]], f"{LEGAL}, and no other move"),
                ([GOOD[0], VALUES[:9], *GOOD[2:]], NUMBERS),
                ([*GOOD[:3], [True, *[None] * 9]], NUMBERS),
                ([*GOOD[:3], [6.0, *[None] * 9]], NUMBERS),
                ([*GOOD[:3], ["6", *[None] * 9]], NUMBERS),
                ([*GOOD[:2], [7, *[None] * 9], GOOD[3]], "a value must lie between its bounds"),
            )
        ),
    ],
)
def test_damaged_and_missing_suites_are_named(tmp_path: Path, suite: Any, message: str) -> None:
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(header()))
    read = read_suite(path)
    assert (read.lower[0, 2], read.upper[0, 2]) == (-np.inf, 9)
    assert read.proved.nonzero()[1].tolist() == [0]
    path.write_text(json.dumps(suite))
    if suite is None:
        path.unlink()
    with pytest.raises(FileError, match=message):
        read_suite(path)


def test_rules_without_a_suite_say_how_to_make_one() -> None:
    with pytest.raises(FileError, match=r"no regret suite for 'tonkin seeds=3'.*python -m agents.suites regr"):
        load_suite(Core("tonkin seeds=3").rules)


@pytest.mark.parametrize("rules", PRESET_NAMES)
def test_the_committed_suite_keeps_its_conditions_and_its_parts_share_nothing(rules: str) -> None:
    suite = load_suite(Rules.parse(rules))
    assert len(suite) >= {"vietnamese": 900, "three-player": 1200, "four-player": 1200}.get(rules, 2400)
    assert regret_path(suite.core.rules).stat().st_size < 1_000_000
    assert (suite.core.legal_mask(suite.positions).sum(axis=1) >= 3).all()
    spread = np.nanmax(suite.values, axis=1) - np.nanmin(suite.values, axis=1)
    assert (spread >= 1).mean() > 0.99  # proofs may move values closer together
    assert min(Counter(suite.phases().tolist()).values()) >= 0.25 * len(suite)
    parts = suite.part("development"), suite.part("test")
    assert sum(map(len, parts)) == len(suite) == len(suite.part("all"))
    assert min(map(len, parts)) >= 0.4 * len(suite)
    keys = np.concatenate([canonical_keys(one.core, one.positions) for one in parts])
    assert len(first_of_each(keys)) == len(suite)


@pytest.mark.parametrize("rules", ["vietnamese", "tonkin"])
def test_the_committed_values_are_those_of_the_search(rules: str) -> None:
    """Compare proved values in the 40 positions with the fewest unproved moves; ties go to fewer points in play."""
    committed = load_suite(Rules.parse(rules))
    left = committed.core.rules.total - committed.positions.scores.sum(axis=1)
    unproved = (np.isfinite(committed.values) & ~committed.proved).sum(axis=1)
    few = committed.take(np.lexsort((left, unproved))[:40].astype(np.intp))
    values, proved = Search(few.core).proved_values(few.positions, 16)
    both = proved & few.proved  # the suite's proofs may be deeper
    assert both.sum() >= 10
    assert (values[both] == few.values[both]).all()
