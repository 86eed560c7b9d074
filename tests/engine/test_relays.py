"""Test the laps of relays: their bound if mandarin squares stop relays, and endless relays."""

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import Core, Positions, Rules, Termination
from oanquan_env.engine.notation import parse_position
from oanquan_env.engine.rules import LAP_LIMIT
from oanquan_env.rollouts import play_randomly
from tests.helpers import strategies
from tests.helpers.boards import ENDLESS, endless_rules


def laps_of_every_move(core: Core, positions: Positions) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of laps of all M legal moves, (M,), and the index of each move's position, (M,)."""
    rows, actions = core.legal_mask(positions).nonzero()
    moved = positions[rows]
    return core.play(moved, actions).laps, rows


def most_laps(core: Core, positions: Positions) -> np.ndarray:
    """Return each position's bound, (N,), from docs/RULES.md section 2: F * (S + 1) laps for S seeds on fields."""
    fields = core.rules.fields
    seeds = core.seeds(positions).reshape(len(positions), core.rules.players, fields + 1)
    bounds: np.ndarray = fields * (seeds[:, :, :fields].sum(axis=(1, 2)) + 1)
    return bounds


@given(strategies.rules(), strategies.seeds)
def test_a_relay_that_mandarin_squares_stop_has_few_laps(rules: Rules, seed: int) -> None:
    """The bound holds in positions of random games, and on random boards with few or many seeds."""
    core, rng = Core(rules.replace(mandarin_ahead="stop")), np.random.default_rng(seed)
    played = core.start(100)
    play_randomly(core, played, rng.integers(0, 30, 100), rng)
    most = 255 // rules.squares
    counts = rng.integers(0, 1 + rng.integers(0, most + 1, (300, 1)), (300, rules.squares))
    counts[rng.random(counts.shape) < rng.random((300, 1))] = 0
    zeros = np.zeros((300, rules.players), dtype=np.int64)
    random = core.setup(counts, zeros + rules.stones, zeros, checked=False)
    for positions in (played, random):
        laps, rows = laps_of_every_move(core, positions)
        assert (laps <= most_laps(core, positions)[rows]).all()
        assert not (core.expand(positions).positions.ended == Termination.ENDLESS_RELAY).any()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_relay_without_an_end_ends_the_game(compiled: bool) -> None:
    """`Rules` refuses `take_one` with three players because of endless relays; none is known for two players."""
    core = Core(endless_rules(), compiled=compiled)
    position = parse_position(core, ENDLESS, checked=False)
    moved = Positions.concatenate([position, position])
    assert core.play(moved, [0, 0]).laps.tolist() == [LAP_LIMIT] * 2
    assert set(moved.ended) == {Termination.ENDLESS_RELAY}
    assert (moved.squares == position.squares).all()
