"""Test the encoder: the layout of observations, their viewers and their bounds."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings

from oanquan_env import Core, Rules, rotate_seats
from oanquan_env.engine.notation import parse_position
from oanquan_env.engine.observe import COUNTS
from oanquan_env.engine.positions import Positions
from oanquan_env.errors import UsageError
from oanquan_env.observation import Encoder
from oanquan_env.rollouts import play_randomly
from tests.helpers import strategies

SHORT, NORTH = "mancala-world max_plies=50", "1,2,3,4,0,7*/0,0,5,6,8,0 20,-6 1 9"
THREE = "1,2,0*/3,4,0/5,6,0* 9,8,2 1 7"


@pytest.mark.parametrize(
    ("rules", "text", "viewer", "seen"),
    [
        (SHORT, NORTH, None, [0, 0, 5, 6, 8, 0, 1, 2, 3, 4, 0, 7, 0, 1, -6, 20, 0, 41]),  # the mover first
        (SHORT, NORTH, 0, [1, 2, 3, 4, 0, 7, 0, 0, 5, 6, 8, 0, 1, 0, 20, -6, 1, 41]),
        ("three-player fields=2", THREE, 2, [5, 6, 0, 1, 2, 0, 3, 4, 0, 1, 1, 0, 2, 9, 8, 2, 993]),
    ],
)
def test_the_layout_is_the_documented_one(rules: str, text: str, viewer: int | None, seen: list[int]) -> None:
    core = Core(rules)
    assert Encoder(core).encode(parse_position(core, text, checked=False), viewer)[0].tolist() == seen


@given(strategies.two_sizes, strategies.seeds)
def test_counts_stay_within_bounds_and_turn_with_the_seats(rules: Rules, seed: int) -> None:
    core, rng = Core(rules), np.random.default_rng(seed)
    encoder, positions = Encoder(core), core.start(16)
    play_randomly(core, positions, rng.integers(0, 60, 16), rng)
    for viewer in (None, *range(rules.players)):
        seen = encoder.encode(positions, viewer)
        assert seen.dtype == np.int32
        assert ((seen >= encoder.low) & (seen <= encoder.high)).all()
    assert (encoder.encode(rotate_seats(positions)) == encoder.encode(positions)).all()


def test_planes_are_one_hot_counts_numbers_stones_scores_and_plies() -> None:
    core = Core()
    encoder = Encoder(core, "planes")
    (found,) = encoder.encode(parse_position(core, "40,5,5,5,5,0*/5,5,5,5,5,0* 0,-35 0 50", checked=False))
    counts = found[encoder.layout["counts"]].reshape(12, COUNTS)
    assert (counts.sum(axis=1) == 1).all()
    assert counts.argmax(axis=1).tolist() == [COUNTS - 1, 5, 5, 5, 5, 0, 5, 5, 5, 5, 5, 0]
    numbers = [4.0, 0.5, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0, 1, 1, 0, -0.5, 0.75]
    assert found[-17:].tolist() == pytest.approx(numbers)


def gains_by_action(core: Core, position: Positions) -> list[list[float]]:
    """Return the mover's gains in relative points / 10 by action (0 if illegal): at once, and after the best reply."""
    mover, won = position.mover[0], [[0.0] * core.rules.actions for _ in range(2)]

    def margins(after: Positions) -> npt.NDArray[np.float64]:
        gained = (core.standings(after) - position.scores).astype(float)
        return (gained * core.rules.players - gained.sum(axis=1, keepdims=True)) / (core.rules.players - 1) / 10

    after, _, actions = core.expand(position)
    for row, action in enumerate(actions):
        won[0][action] = won[1][action] = margins(after)[row, mover]
        if not after.over[row]:
            replied = margins(core.expand(after[row : row + 1])[0])
            best = replied[:, after.mover[row]].round(6) == replied[:, after.mover[row]].max().round(6)
            won[1][action] = replied[best, mover].min()
    return won


@settings(max_examples=20)
@given(strategies.usual_size, strategies.seeds)
def test_planes_are_the_same_compiled_or_not_within_bounds_and_turn_with_the_seats(rules: Rules, seed: int) -> None:
    core, plain, rng = Core(rules), Core(rules, compiled=False), np.random.default_rng(seed)
    positions = core.start(4)
    play_randomly(core, positions, rng.integers(0, 12, 4), rng)
    for name in ("planes", "moves"):
        encoder = Encoder(core, name)
        for viewer in (None, seed % rules.players):
            seen = encoder.encode(positions, viewer)
            assert seen.dtype == np.float32
            assert ((seen >= encoder.low) & (seen <= encoder.high)).all()
            assert (seen == Encoder(plain, name).encode(positions, viewer)).all()
        assert (encoder.encode(rotate_seats(positions)) == encoder.encode(positions)).all()
    moves = encoder.encode(positions)
    assert (moves[:, : -2 * rules.actions] == Encoder(core, "planes").encode(positions)).all()
    for row, over in enumerate(positions.over):
        expected = np.zeros((2, rules.actions)) if over else gains_by_action(core, positions[row : row + 1])
        assert moves[row, -2 * rules.actions :] == pytest.approx(np.ravel(expected), abs=1e-5)
    waiting = encoder.encode(positions, (positions.mover + 1) % rules.players)
    assert not waiting[:, -2 * rules.actions :].any()


def test_of_equal_replies_the_worst_for_the_mover_counts() -> None:
    """After 2A, the next player has two best replies, and one of them is worse for the mover."""
    core = Core("three-player fields=2 seeds=2")
    moves = Encoder(core, "moves").encode(parse_position(core, "1,1,3*/2,1,3*/0,0,2 9,0,0 0 6"))
    assert moves[0, -2] == pytest.approx(-1 / 10)


def test_an_unknown_observation_is_refused() -> None:
    with pytest.raises(UsageError, match="observation must be one of counts, planes, moves; got 'pixels'"):
        Encoder(Core(), "pixels")
