"""Test that all contestants of the speed benchmark play, and how their speeds are computed."""

import itertools

import numpy as np
import pytest

from experiments import speed
from tests.helpers import Patch


@pytest.mark.slow
def test_all_contestants_play(monkeypatch: Patch) -> None:
    monkeypatch.setattr(speed, "WARM_UP_STEPS", 1)
    found = speed.side_by_side(2)
    assert len(found) == 2 * len(speed.RULES) + len(speed.ENVIRONMENTS) + 1
    found |= speed.one_game(all_needed=False)
    assert {name for _, name, _ in found} >= {*speed.SINGLE, "one CartPole", "AEC, oanquan raw_env"}
    assert all(contestant(1e-9) > 0 for contestant in found.values())


def test_drawn_actions_are_legal() -> None:
    mask = np.eye(4, 10, 3, dtype=np.int8)
    assert speed.draw(mask, np.random.default_rng(0)).tolist() == [3, 4, 5, 6]


def test_a_speed_is_the_plies_of_all_calls_divided_by_their_seconds() -> None:
    assert speed.per_second(itertools.cycle([0.25, 0.75]), 8, 2.0) == 16.0
