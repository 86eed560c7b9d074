"""The encoder: layout, views, bounds."""

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import Core, Move, Rules, rotate_seats
from oanquan_env.engine.notation import parse_position
from oanquan_env.observation import Encoder
from oanquan_env.players import RandomPolicy
from tests import strategies


def test_the_layout_is_the_documented_one() -> None:
    core = Core("mancala-world max_plies=50")
    position = parse_position(core, "1,2,3,4,0,7*/0,0,5,6,8,0* 20,-6 1 9", checked=False)
    own_first = [0, 0, 5, 6, 8, 0, 1, 2, 3, 4, 0, 7, 1, 1, -6, 20, 0, 41]
    assert Encoder(core).encode(position)[0].tolist() == own_first
    as_south = [1, 2, 3, 4, 0, 7, 0, 0, 5, 6, 8, 0, 1, 1, 20, -6, 1, 41]
    assert Encoder(core).encode(position, 0)[0].tolist() == as_south


def test_stones_follow_their_sides() -> None:
    core = Core()
    position = parse_position(core, "1,2,3,4,0,7*/0,0,5,6,8,0 30,-6 1 9", checked=False)
    stones = Encoder(core).layout["stones"]
    assert Encoder(core).encode(position)[0, stones].tolist() == [0, 1]
    assert Encoder(core).encode(position, 0)[0, stones].tolist() == [1, 0]


def test_more_players_see_themselves_first() -> None:
    core = Core("three-player fields=2")
    position = core.setup([[1, 2, 0, 3, 4, 0, 5, 6, 0]], [[1, 0, 1]], [[9, 8, 2]], mover=1, ply=7)
    encoder = Encoder(core)
    assert encoder.encode(position, 2)[0].tolist() == [5, 6, 0, 1, 2, 0, 3, 4, 0, 1, 1, 0, 2, 9, 8, 2, 993]


@given(strategies.rules(), strategies.seeds)
def test_observations_stay_within_bounds_and_turn_with_the_seats(rules: Rules, seed: int) -> None:
    core = Core(rules)
    encoder, policy, rng = Encoder(core), RandomPolicy(core), np.random.default_rng(seed)
    positions = core.start(16)
    while len(positions):
        for viewer in (None, *range(rules.players)):
            seen = encoder.encode(positions, viewer)
            assert seen.dtype == np.int32
            assert (seen >= encoder.low).all()
            assert (seen <= encoder.high).all()
        assert (encoder.encode(rotate_seats(positions)) == encoder.encode(positions)).all()
        core.play(positions, policy.choose(positions, rng))
        positions = positions[~positions.over]


@pytest.mark.parametrize("fields", [2, 3, 4, 5])
def test_size_follows_the_rules(fields: int) -> None:
    encoder = Encoder(Core(f"fields={fields}"))
    assert encoder.size == encoder.encode(encoder.core.start(3)).shape[1] == 2 * (fields + 1) + 2 + 2 + 2


@pytest.mark.parametrize("players", [2, 3, 4])
def test_scores_are_bounded_by_a_refill_on_credit_at_each_ply(players: int) -> None:
    rules = Rules(players=players, fields=4, max_plies=30)
    encoder = Encoder(Core(rules))
    scores = encoder.layout["scores"]
    assert set(encoder.low[scores].tolist()) == {-4 * 30}
    assert set(encoder.high[scores].tolist()) == {rules.total + (players - 1) * 4 * 30}


def test_the_deepest_debt_is_observed_within_bounds() -> None:
    """North has 10 points of debt, the most with which a position of 4 plies may begin, and borrows its row again."""
    core = Core("max_plies=4")
    position = parse_position(core, "0,0,0,1,1,0*/0,0,0,0,0,3* 55,-10 0 2", checked=False)
    core.play(position, [Move.parse("4A").action])
    encoder = Encoder(core)
    seen = encoder.encode(position)[0]
    assert position.scores[0, 1] == -15
    assert (seen >= encoder.low).all()
