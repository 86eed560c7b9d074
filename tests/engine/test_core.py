"""Test the core: conserved points, symmetries, independent rows, and the checks of actions and positions."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import (
    Core,
    IllegalActionError,
    PositionError,
    Positions,
    Rules,
    Termination,
    mirror,
    mirror_actions,
    rotate_seats,
)
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.positions import score_bounds
from oanquan_env.players import RandomPolicy
from tests.helpers import strategies
from tests.helpers.boards import random_positions


def points_in_game(core: Core, positions: Positions) -> np.ndarray:
    on_board = core.seeds(positions).sum(axis=1) + core.stones(positions).sum(axis=1) * core.rules.stone_value
    return on_board + positions.scores.sum(axis=1)


@given(strategies.rules(), strategies.seeds)
def test_a_ply_conserves_points_turns_with_the_seats_and_feels_no_neighbours(rules: Rules, seed: int) -> None:
    core = Core(rules)
    positions = random_positions(core, 24, seed)
    swapped, row = rotate_seats(positions), seed % len(positions)
    alone = positions[row : row + 1]
    assert (points_in_game(core, positions) == rules.total).all()
    actions = RandomPolicy(core).choose(positions, np.random.default_rng(seed))
    played, alone_played = core.play(positions, actions), core.play(alone, actions[row : row + 1])
    assert (points_in_game(core, positions) == rules.total).all()
    assert (played.captured >= 0).all()
    assert positions[row : row + 1].same(alone).all()
    assert (played.captured[row], played.laps[row]) == (alone_played.captured[0], alone_played.laps[0])
    core.play(swapped, actions)
    assert rotate_seats(positions).same(swapped).all()
    assert (np.roll(core.standings(positions), 1, axis=1) == core.standings(swapped)).all()


@given(strategies.rules(players=2), strategies.seeds)
def test_mirroring_commutes_with_play(rules: Rules, seed: int) -> None:
    core, mirrored_core = Core(rules), Core(rules.mirrored())
    positions = random_positions(core, 24, seed)
    mirrored = mirror(positions, rules)
    assert (mirrored_core.legal_mask(mirrored) == core.legal_mask(positions)[:, ::-1]).all()
    actions = RandomPolicy(core).choose(positions, np.random.default_rng(seed))
    core.play(positions, actions)
    mirrored_core.play(mirrored, mirror_actions(actions, rules))
    assert mirror(positions, rules).same(mirrored).all()


def test_positions_that_differ_in_anything_are_not_the_same() -> None:
    start = Core().start(2)
    for name in ("squares", "scores", "mover", "ply", "ended"):
        other = start.copy()
        getattr(other, name)[1] += 1
        assert start.same(other).tolist() == [True, False]
    assert start != start.copy()  # `==` compares identity, `same` compares contents


def test_illegal_actions_are_refused_by_row_and_change_nothing() -> None:
    for rules, before, action, legal in (
        *(("mancala-world", [], action, "0, 1, 2") for action in (-1, 10)),
        ("tonkin", [], 1, "0, 2, 4, 6, 8"),
        ("mancala-world", [0, 9], 0, "2, 3, 4"),  # an empty field
    ):
        core = Core(rules)
        positions = core.start(3)
        for played in before:
            core.play(positions, [played] * 3)
        kept, first = positions.copy(), int(core.legal_mask(positions)[0].argmax())
        with pytest.raises(IllegalActionError, match=rf"illegal action {action} in row 2; legal: \[{legal}"):
            core.play(positions, [first, first, action])
        assert positions.same(kept).all()


def test_a_finished_game_takes_no_action_and_a_running_one_none_of_a_wrong_shape_or_kind() -> None:
    core = Core()
    over = core.setup([[1, 0, 0, 0, 0, 0] * 2], [[0, 0]], [[40, 28]])
    assert over.ended[0] == Termination.STONES_CAPTURED
    assert not core.legal_mask(over).any()
    for positions, actions, message in (
        (over, [0], r"the game is over \(stones_captured\)"),
        *((core.start(2), wrong, "actions must be an array of 2 integers") for wrong in ([0], [0.0, 1.0], [[0, 1]])),
        (core.start(), [2.0], "the action must be an integer, got 2.0"),
        (core.start(), [True], "the action must be an integer, got True"),
        (core.start(), [[0]], r"the action must be an integer, got int64 of shape \(1, 1\)"),
    ):
        with pytest.raises(IllegalActionError, match=message):
            core.play(positions, actions)


IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"seeds": [[5] * 11]}, "seeds must have shape"),
    ({"seeds": [[4, 5, 5, 5, 5, 0, 5, 5, 5, 5, 5, 0]]}, "make 69 points, not the 70"),
    ({"seeds": [[-1, 11, 5, 5, 5, 0, 5, 5, 5, 5, 5, 0]]}, "seeds must be 0 to 255"),
    ({"stones": [[1, 2]]}, "stones must be 0 to 1"),
    ({"mover": 2}, "mover must be 0 to 1"),
    ({"ply": -1}, "ply must be 0 to 200"),
    ({"scores": [[0.5, -0.5]]}, "whole numbers"),
    ({"scores": [[-1001, 1001]]}, "scores must be -500 to 570"),
    ({"scores": np.array([[2**64 - 7, 7]], dtype=np.uint64)}, "scores must be -500 to 570"),
    ({"scores": [[2**70, 0]]}, "scores must be whole numbers of at most 64 bits"),
    ({"seeds": [[5] * 12, [5] * 11]}, "seeds must be rows of equal length"),
    ({"mover": [0, 1, 0]}, "mover must be one number or 1 numbers; got shape"),
    ({"seeds": [[0] * 6 + [5] * 5 + [0]], "scores": [[25, 0]]}, "so it cannot move"),
]


def test_impossible_positions_are_refused_with_the_reason() -> None:
    start: dict[str, Any] = {"seeds": [[5, 5, 5, 5, 5, 0] * 2], "stones": [[1, 1]], "scores": [[0, 0]]}
    for changes, message in IMPOSSIBLE:
        with pytest.raises(PositionError, match=message):
            Core().setup(**start | changes)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_deepest_debt_is_let_in_and_overflows_nothing(players: int) -> None:
    rules = Rules(players=players, max_plies=1_000_000, stone_value=1000)
    low, high = score_bounds(rules, -(-rules.max_plies // players))
    scores = [low] * (players - 1) + [high]
    seeds = [0] * rules.squares
    positions = Core(rules).setup([seeds], [[0] * players], [scores], checked=False)
    assert positions.scores.tolist() == [scores]
    assert relative_points(positions.scores).tolist() == [relative_points(np.array([scores], dtype=object))[0].tolist()]
    for wrong in (low - 1, high + 1):
        with pytest.raises(PositionError, match=f"scores must be {low} to {high}"):
            Core(rules).setup([seeds], [[0] * players], [[wrong, *scores[1:]]], checked=False)


SIDE, EMPTY = [1, 0, 0, 0, 0, 0], [0] * 6
FORFEITS = [
    ("turn", [EMPTY, SIDE, SIDE], [4, 9, 9], 0, Termination.FORFEIT),
    ("turn", [EMPTY, SIDE, SIDE], [5, 0, 0], 0, Termination.RUNNING),  # South can pay for its refill
    ("turn", [SIDE, EMPTY, SIDE], [9, 4, 9], 0, Termination.RUNNING),  # not due yet
    ("at_once", [SIDE, EMPTY, SIDE], [9, 4, 9], 0, Termination.FORFEIT),
    ("at_once", [EMPTY, SIDE, SIDE], [4, 9, 9], 1, Termination.FORFEIT),  # two seats after the mover
    ("at_once", [SIDE, EMPTY, SIDE], [0, 5, 0], 0, Termination.RUNNING),
    ("at_once", [EMPTY, EMPTY, SIDE], [9, 4, 9], 0, Termination.RUNNING),  # the first player due can pay
    ("at_once", [EMPTY, EMPTY, SIDE], [9, 4, 9], 1, Termination.FORFEIT),
]


def test_forfeits_of_positions_set_up_by_hand() -> None:
    for refill_when, sides, scores, mover, ended in FORFEITS:
        core, lent = (Core(f"three-player refill_when={refill_when} refill={way}") for way in ("forfeit", "borrow"))
        columns = np.reshape(sides, (1, -1)), [[1, 1, 1]], [scores], mover
        assert core.setup(*columns, checked=False).ended.tolist() == [ended]
        late = core.setup(*columns, ply=core.rules.max_plies, checked=False)
        assert late.ended.tolist() == [Termination.MAX_PLIES]
        assert lent.setup(*columns, checked=False).ended.tolist() == [Termination.RUNNING]


def test_winners_share_a_tie_and_running_games_have_none() -> None:
    core, seeds = Core(), [[5, 0, 0, 0, 0, 0] * 2]
    tied, won = (core.setup(seeds, [[0, 0]], [scores]) for scores in ([30, 30], [31, 29]))
    assert relative_points(np.array([[30, 20]])).tolist() == [[10, -10]]  # own points minus the mean of the others
    assert relative_points(np.array([[30, 20, 10]])).tolist() == [[15, 0, -15]]
    winners = core.winners(Positions.concatenate([tied, won, core.start()]))
    assert winners.tolist() == [[True, True], [True, False], [False, False]]


def test_rows_are_copies_and_pickles_are_equal() -> None:
    positions = random_positions(Core(), 12, seed=5)
    for rows in (slice(0, 8, 2), np.array([0, 2, 4, 6]), np.arange(len(positions)) % 2 == 0):
        taken = positions[rows]
        taken.squares[:] = 9
        assert (positions.squares != 9).any(axis=1).all()
    assert pickle.loads(pickle.dumps(positions)).same(positions).all()
    assert positions.at(np.arange(len(positions))) is positions  # no copy
    some = positions.at(np.array([0, 2]))
    assert some.same(positions[np.array([0, 2])]).all()
    some.squares[:] = 0
    assert positions.squares.any(axis=1).all()
