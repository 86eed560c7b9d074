"""Test the seed and the options of `reset` in all environments: valid start positions, and what is refused."""

from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Core, NotationError, Positions, raw_env
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from tests.helpers.boards import random_positions

MAKERS = {
    "aec": lambda rules="mancala-world": raw_env(rules),
    "single": lambda rules="mancala-world": OAnQuanEnv(rules, opponent=None),
    "vector": lambda rules="mancala-world": OAnQuanVectorEnv(2, rules, opponent=None),
}

DECIDED = Core().start()
DECIDED.squares[0, 7::8], DECIDED.scores[0] = 0, (20, 0)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"position": Board("vietnamese")}, ValueError, "has the rules 'vietnamese', not 'mancala-world'"),
        ({"position": Core("fields=3").start()}, ValueError, "is not a position of 'mancala-world': "),
        ({"position": DECIDED}, ValueError, "is not a position of"),
        ({"position": Core().start(3)}, ValueError, "must be one position.* of a running game"),
        ({"position": "nonsense"}, NotationError, "a position has 4 words"),
        ({"position": [5] * 12}, TypeError, "'position' must be a string, a Board or Positions; got"),
        ({"postion": "5,5"}, ValueError, r"unknown option of reset 'postion' \(did you mean position\?\)"),
        (["position"], TypeError, "reset's options must be a dict or None; got"),
    ],
)
def test_what_is_no_position_of_the_rules_is_refused(
    make: Any, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make().reset(options=options)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("rules", ["vietnamese refill=forfeit", "three-player"])
def test_every_position_of_play_is_taken(make: Any, rules: str) -> None:
    game, positions = make(rules), random_positions(Core(rules), 60, seed=2)
    for row in range(len(positions)):
        given = positions[row : row + 1]
        board = Board.from_positions(Core(rules), given) if row % 2 else None
        game.reset(options={"position": board or given})
        assert game.positions[:1].same(given).all()
        actions = Core(rules).legal_mask(game.positions).argmax(axis=1)
        game.step(actions if len(actions) > 1 else int(actions[0]))
        assert board is None or board.positions.same(given).all()


def test_a_batch_is_refused_for_one_row_of_other_rules() -> None:
    positions = Positions.concatenate([Core().start(), Core("seeds=4").start()])
    with pytest.raises(ValueError, match="row 1: seeds, stones and scores make 60 points"):
        OAnQuanVectorEnv(2, opponent=None).reset(options={"position": positions})


@pytest.mark.parametrize(
    "make", [raw_env, lambda: raw_env(match=True), OAnQuanEnv], ids=["single game", "match", "gymnasium"]
)
def test_a_game_has_one_seed(make: Any) -> None:
    for seed in (5, np.int64(5), np.array(5), 2**64 - 1, None):
        make().reset(seed=seed)
    for wrong in ([5], (5,), np.array([5]), 5.0, True, "5", b"5", -1, 2**64):
        with pytest.raises(ValueError, match="seed must be a whole number from 0 to 18,446,744,073,709,551,615; got"):
            make().reset(seed=wrong)
