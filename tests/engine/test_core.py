"""Test the core: batches of games, symmetries, relays, and the checks of actions and positions."""

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
from oanquan_env.engine.notation import parse_position
from oanquan_env.engine.positions import score_bounds
from oanquan_env.engine.rules import LAP_LIMIT
from oanquan_env.players import RandomPolicy
from oanquan_env.rollouts import play_randomly
from tests.helpers import strategies
from tests.helpers.boards import ENDLESS, endless_rules, random_positions


def test_one_call_plays_a_move_in_each_game_of_a_batch() -> None:
    core = Core()
    positions = core.start(2)
    played = core.play(positions, [8, 4])  # 5A and 3A
    assert played.captured.tolist() == [11, 6]
    assert positions.scores.tolist() == [[11, 0], [6, 0]]
    core.play(positions, [4, 2])  # 3A and 2A; the first game ends
    assert positions.ended.tolist() == [Termination.STONES_CAPTURED, Termination.RUNNING]
    assert core.legal_mask(positions).any(axis=1).tolist() == [False, True]
    assert core.standings(positions)[0].tolist() == [22, 46]
    assert core.winners(positions).tolist() == [[False, True], [False, False]]


@given(strategies.rules(), strategies.seeds)
def test_a_ply_conserves_points_and_turns_with_the_seats(rules: Rules, seed: int) -> None:
    core = Core(rules)
    positions = random_positions(core, 24, seed)
    swapped = rotate_seats(positions)
    actions = RandomPolicy(core).choose(positions, np.random.default_rng(seed))
    core.play(positions, actions)
    on_board = core.seeds(positions).sum(axis=1) + core.stones(positions).sum(axis=1) * rules.stone_value
    assert (on_board + positions.scores.sum(axis=1) == rules.total).all()
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


def test_positions_are_the_same_by_content_also_after_pickling_and_rows_are_copies() -> None:
    positions = random_positions(Core(), 12, seed=5)
    assert positions != positions.copy()  # `==` compares identity, `same` compares contents
    assert pickle.loads(pickle.dumps(positions)).same(positions).all()
    for name in ("squares", "scores", "mover", "ply", "ended"):
        other = positions[:2]
        getattr(other, name)[1] += 1
        assert positions[:2].same(other).tolist() == [True, False]
    assert positions.at(np.arange(len(positions))) is positions  # no copy
    for rows in (slice(0, 4, 2), np.array([0, 2]), np.arange(len(positions)) < 3):
        for taken in (positions[rows], positions.at(np.arange(len(positions))[rows])):
            taken.squares[:] = 0
            assert positions.squares.any(axis=1).all()


def test_a_game_takes_no_action_of_a_wrong_shape_or_kind_and_none_once_it_is_over() -> None:
    core = Core()
    over = core.setup([[1, 0, 0, 0, 0, 0] * 2], [[0, 0]], [[40, 28]])
    for positions, actions, message in (
        (over, [0], r"the game is over \(stones_captured\)"),
        *((core.start(2), wrong, "actions must be an array of 2 integers") for wrong in ([0], [0.0, 1.0], [[0, 1]])),
        (core.start(), [2.0], "the action must be an integer, got 2.0"),
        (core.start(), [True], "the action must be an integer, got True"),
        (core.start(), [[0]], r"the action must be an integer, got int64 of shape \(1, 1\)"),
    ):
        with pytest.raises(IllegalActionError, match=message):
            core.play(positions, actions)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": [[5] * 11]}, "seeds must have shape"),
        ({"seeds": [[-1, 11, 5, 5, 5, 0, 5, 5, 5, 5, 5, 0]]}, "seeds must be 0 to 255"),
        ({"stones": [[1, 2]]}, "stones must be 0 to 1"),
        ({"ply": -1}, "ply must be 0 to 200"),
        ({"scores": [[0.5, -0.5]]}, "whole numbers"),
        ({"scores": np.array([[2**64 - 7, 7]], dtype=np.uint64)}, "scores must be -500 to 570"),
        ({"scores": [[2**70, 0]]}, "scores must be whole numbers of at most 64 bits"),
        ({"seeds": [[5] * 12, [5] * 11]}, "seeds must be rows of equal length"),
        ({"mover": [0, 1, 0]}, "mover must be one number or 1 numbers; got shape"),
    ],
)
def test_a_position_that_is_set_up_with_wrong_columns_is_refused(changes: dict[str, Any], message: str) -> None:
    """`test_notation` has the refusals that texts of positions can cause."""
    start: dict[str, Any] = {"seeds": [[5, 5, 5, 5, 5, 0] * 2], "stones": [[1, 1]], "scores": [[0, 0]]}
    with pytest.raises(PositionError, match=message):
        Core().setup(**start | changes)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_deepest_debt_is_let_in_and_overflows_nothing(players: int) -> None:
    rules = Rules(players=players, max_plies=1_000_000, stone_value=1000)
    low, high = score_bounds(rules, -(-rules.max_plies // players))
    scores = [low] * (players - 1) + [high]
    columns = [[0] * rules.squares], [[0] * players]
    positions = Core(rules).setup(*columns, [scores], checked=False)
    assert positions.scores.tolist() == [scores]
    assert relative_points(positions.scores).tolist() == [relative_points(np.array([scores], dtype=object))[0].tolist()]
    for wrong in (low - 1, high + 1):
        with pytest.raises(PositionError, match=f"scores must be {low} to {high}"):
            Core(rules).setup(*columns, [[wrong, *scores[1:]]], checked=False)


SIDE, EMPTY = [1, 0, 0, 0, 0, 0], [0] * 6


@pytest.mark.parametrize(
    ("when", "sides", "scores", "mover", "ended"),
    [
        ("turn", [EMPTY, SIDE, SIDE], [4, 9, 9], 0, Termination.FORFEIT),
        ("turn", [EMPTY, SIDE, SIDE], [5, 0, 0], 0, Termination.RUNNING),  # South can pay for its refill
        ("turn", [SIDE, EMPTY, SIDE], [9, 4, 9], 0, Termination.RUNNING),  # not due yet
        ("at_once", [EMPTY, SIDE, SIDE], [4, 9, 9], 1, Termination.FORFEIT),  # two seats after the mover
        ("at_once", [EMPTY, EMPTY, SIDE], [9, 4, 9], 0, Termination.RUNNING),  # the first player due can pay
        ("at_once", [EMPTY, EMPTY, SIDE], [9, 4, 9], 1, Termination.FORFEIT),
    ],
)
def test_a_position_set_up_by_hand_can_be_forfeited(
    when: str, sides: list[list[int]], scores: list[int], mover: int, ended: Termination
) -> None:
    core, lent = (Core(f"three-player refill_when={when} refill={way}") for way in ("forfeit", "borrow"))
    columns = np.reshape(sides, (1, -1)), [[1, 1, 1]], [scores], mover
    assert core.setup(*columns, checked=False).ended.tolist() == [ended]
    late = core.setup(*columns, ply=core.rules.max_plies, checked=False)
    assert late.ended.tolist() == [Termination.MAX_PLIES]
    assert lent.setup(*columns, checked=False).ended.tolist() == [Termination.RUNNING]


def test_winners_share_a_tie_and_points_are_relative_to_the_mean_of_the_others() -> None:
    tied = Core().setup([[5, 0, 0, 0, 0, 0] * 2], [[0, 0]], [[30, 30]])
    assert Core().winners(tied).tolist() == [[True, True]]
    assert relative_points(np.array([[30, 20, 10]])).tolist() == [[15, 0, -15]]


@given(strategies.rules(), strategies.seeds)
def test_a_relay_that_mandarin_squares_stop_has_few_laps(rules: Rules, seed: int) -> None:
    """The bound of docs/RULES.md 2 holds in random games, and on random boards with few or many seeds."""
    core, rng = Core(rules.replace(mandarin_ahead="stop")), np.random.default_rng(seed)
    played = core.start(100)
    play_randomly(core, played, rng.integers(0, 30, 100), rng)
    most = 255 // rules.squares
    counts = rng.integers(0, 1 + rng.integers(0, most + 1, (300, 1)), (300, rules.squares))
    counts[rng.random(counts.shape) < rng.random((300, 1))] = 0
    zeros = np.zeros((300, rules.players), dtype=np.int64)
    random = core.setup(counts, zeros + rules.stones, zeros, checked=False)
    for positions in (played, random):
        rows, actions = core.legal_mask(positions).nonzero()
        moved = positions[rows]
        on_fields = core.seeds(positions).reshape(-1, rules.players, rules.fields + 1)[:, :, :-1].sum(axis=(1, 2))
        assert (core.play(moved, actions).laps <= rules.fields * (on_fields + 1)[rows]).all()
        assert not (moved.ended == Termination.ENDLESS_RELAY).any()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_relay_without_an_end_ends_the_game(compiled: bool) -> None:
    """`Rules` refuses `take_one` with three players because of endless relays; none is known for two players."""
    core = Core(endless_rules(), compiled=compiled)
    position = parse_position(core, ENDLESS, checked=False)
    moved = Positions.concatenate([position, position])
    assert core.play(moved, [0, 0]).laps.tolist() == [LAP_LIMIT] * 2
    assert set(moved.ended) == {Termination.ENDLESS_RELAY}
    assert (moved.squares == position.squares).all()
