"""Test what all environments take: settings, and the seed and the options of `reset`."""

from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Core, NotationError, raw_env
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from tests.helpers.boards import random_positions

MAKERS = {
    "aec": raw_env,
    "single": lambda *rules, **settings: OAnQuanEnv(*rules, opponent=None, **settings),
    "vector": lambda *rules, **settings: OAnQuanVectorEnv(2, *rules, opponent=None, **settings),
}
each_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@each_maker
@pytest.mark.parametrize("rules", ["vietnamese refill=forfeit", "three-player"])
def test_a_game_may_begin_from_every_position_of_play(make: Any, rules: str) -> None:
    game, positions = make(rules), random_positions(Core(rules), 60, seed=2)
    for row in range(len(positions)):
        given = positions[row : row + 1]
        board = Board.from_positions(Core(rules), given) if row % 2 else None
        game.reset(options={"position": board or given})
        assert game.positions[:1].same(given).all()
        actions = Core(rules).legal_mask(game.positions).argmax(axis=1)
        game.step(actions if len(actions) > 1 else int(actions[0]))
        assert board is None or board.positions.same(given).all()


DECIDED = Core().start()
DECIDED.squares[0, 7::8], DECIDED.scores[0] = 0, (20, 0)


@each_maker
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"position": Board("vietnamese")}, ValueError, "has the rules 'vietnamese', not 'mancala-world'"),
        ({"position": Core("fields=3").start()}, ValueError, "is not a position of 'mancala-world': "),
        ({"position": Core("seeds=4").start()}, ValueError, "seeds, stones and scores make 60 points"),
        ({"position": DECIDED}, ValueError, "is not a position of"),
        ({"position": Core().start(3)}, ValueError, "must be one position.* of a running game"),
        ({"position": "nonsense"}, NotationError, "a position has 4 words"),
        ({"position": [5] * 12}, TypeError, "'position' must be a string, a Board or Positions; got"),
        ({"postion": "5,5"}, ValueError, r"unknown option of reset 'postion' \(did you mean position\?\)"),
        (["position"], TypeError, "reset's options must be a dict or None; got"),
    ],
)
def test_options_that_are_no_position_of_the_rules_are_refused(
    make: Any, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make().reset(options=options)


@each_maker
@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("reward", ["points"], "one of outcome, margin, mixed"),
        ("observation", ["planes "], "one of counts, planes, moves"),
        ("render_mode", ["ascii"], "one of "),
        ("opening_plies", [-1, 1.5, 2.0, True, "3", float("nan"), 201, 10**30], "a whole number from 0 to 200"),
    ],
)
def test_unknown_settings_are_refused(make: Any, name: str, values: list[Any], message: str) -> None:
    for value in values:
        with pytest.raises(ValueError, match=f"{name} must be {message}.*; got {value!r}"):
            make(**{name: value})


@pytest.mark.parametrize(
    "make", [raw_env, lambda: raw_env(match=True), OAnQuanEnv], ids=["single game", "match", "gymnasium"]
)
def test_a_game_has_one_seed(make: Any) -> None:
    for seed in (5, np.int64(5), np.array(5), 2**64 - 1, None):
        make().reset(seed=seed)
    for wrong in ([5], (5,), np.array([5]), 5.0, True, "5", b"5", -1, 2**64):
        with pytest.raises(ValueError, match="seed must be a whole number from 0 to 18,446,744,073,709,551,615; got"):
            make().reset(seed=wrong)
