"""The options of `reset`, in all three environments: where a game may begin, and what is refused."""

from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Core, NotationError, Positions, raw_env
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from tests.boards import random_positions

MAKERS = {
    "aec": lambda rules="mancala-world": raw_env(rules),
    "single": lambda rules="mancala-world": OAnQuanEnv(rules, opponent=None),
    "vector": lambda rules="mancala-world": OAnQuanVectorEnv(2, rules, opponent=None),
}

every_environment = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@every_environment
def test_a_board_is_a_position(make: Any) -> None:
    board, game = Board(), make()
    board.push("5A")
    game.reset(options={"position": board})
    assert game.positions[:1].same(board.positions).all()
    game.step(np.array([0, 0]) if len(game.positions) == 2 else 0)
    assert board.ply == 1


OTHER_RULES = ("fields=3", "seeds=4", "three-player", "stones=False end=squares_empty mandarin_seeds=10")
REFUSED: list[tuple[object, type[Exception], str]] = [
    (Board("vietnamese"), ValueError, "is a board of 'vietnamese', not of 'mancala-world'"),
    (Board("max_plies=40"), ValueError, "is a board of '.*', not of 'mancala-world'"),
    *((Core(rules).start(), ValueError, "is no position of 'mancala-world': ") for rules in OTHER_RULES),
    (Core().start(3), ValueError, "must be one position.* of a running game"),
    ("nonsense", NotationError, "a position has 4 words"),
    *((given, TypeError, "'position' must be a text, a Board or Positions; got") for given in (3, [5] * 12, Core())),
]


@every_environment
@pytest.mark.parametrize(("position", "error", "message"), REFUSED)
def test_what_is_no_position_of_the_rules_is_refused(
    make: Any, position: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make().reset(options={"position": position})


@every_environment
def test_positions_past_the_ply_limit_and_of_a_game_that_should_be_over_are_refused(make: Any) -> None:
    late, decided = Core().start(), Core().start()
    late.ply[:] = 200
    decided.squares[0, 7::8], decided.scores[0] = 0, (20, 0)
    for positions in (late, decided):
        with pytest.raises(ValueError, match="is no position of"):
            make().reset(options={"position": positions})


@every_environment
@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "vietnamese refill=forfeit", "refill_when=at_once"])
def test_every_position_of_play_is_taken(make: Any, rules: str) -> None:
    game = make(rules)
    positions = random_positions(Core(rules), 60, seed=2)
    for row in range(len(positions)):
        game.reset(options={"position": positions[row : row + 1]})
        assert game.positions[:1].same(positions[row : row + 1]).all()


@every_environment
def test_other_things_are_no_options(make: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown option of reset 'postion' \(did you mean position\?\)"):
        make().reset(options={"postion": "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0"})
    for options in (3, ["position"], "position"):
        with pytest.raises(TypeError, match="reset's options must be a dict or None; got"):
            make().reset(options=options)


def test_a_batch_is_refused_for_one_row_of_other_rules() -> None:
    positions = Positions.concatenate([Core().start(), Core("seeds=4").start()])
    with pytest.raises(ValueError, match="row 1: seeds, stones and scores make 60 points"):
        OAnQuanVectorEnv(2, opponent=None).reset(options={"position": positions})
