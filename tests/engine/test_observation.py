"""The encoder: layout, views, bounds."""

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import Core, Rules, rotate_seats
from oanquan_env.engine.notation import parse_position
from oanquan_env.observation import COUNTS, Encoder
from oanquan_env.players import RandomPolicy
from tests import strategies

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
def test_observations_stay_within_bounds_and_turn_with_the_seats(rules: Rules, seed: int) -> None:
    core = Core(rules)
    encoder, policy, rng = Encoder(core), RandomPolicy(core), np.random.default_rng(seed)
    positions = core.start(16)
    while len(positions):
        for viewer in (None, *range(rules.players)):
            seen = encoder.encode(positions, viewer)
            assert seen.dtype == np.int32
            assert ((seen >= encoder.low) & (seen <= encoder.high)).all()
        assert (encoder.encode(rotate_seats(positions)) == encoder.encode(positions)).all()
        core.play(positions, policy.choose(positions, rng))
        positions = positions[~positions.over]


def test_features_are_one_hot_counts_numbers_stones_and_plies() -> None:
    core = Core()
    encoder = Encoder(core)
    observation = encoder.encode(core.start(1))
    observation[0, 0] = 40
    (found,) = encoder.features(observation)
    assert found.shape == (encoder.feature_size,)
    counts = found[: 12 * COUNTS].reshape(12, COUNTS)
    assert (counts.sum(axis=1) == 1).all()
    assert counts.argmax(axis=1).tolist() == [COUNTS - 1, 5, 5, 5, 5, 0, 5, 5, 5, 5, 5, 0]
    assert found[-15:].tolist() == pytest.approx([4.0, 0.5, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0, 1, 1, 1])
