"""Test episodes of the Gymnasium environment: rewards, starts and ends, seeds, copies, settings and pictures."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence

from oanquan_env import Core, IllegalActionError, Move, render
from oanquan_env.engine.notation import parse_position
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.players import RandomPolicy
from oanquan_env.rewards import REWARDS
from tests.helpers.boards import boards_of
from tests.helpers.players import FirstMove


def scripted(*moves: str) -> Any:
    """Return an opponent that plays `moves` in turn, for one game."""
    left = iter(moves)
    return lambda positions, rng: np.array([Move.parse(next(left)).action])


def from_text(text: str, **settings: Any) -> OAnQuanEnv:
    game = OAnQuanEnv(**{"opponent": None, **settings})
    game.reset(options={"position": text})
    return game


def play_out(game: OAnQuanEnv, seed: int) -> list[tuple[Any, ...]]:
    """Play random moves to the end of the game; return everything that `step` returned."""
    rng = np.random.default_rng(seed)
    steps: list[tuple[Any, ...]] = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        legal = game.action_masks().nonzero()[0]
        steps.append(game.step(int(rng.choice(legal)) if legal.size else 0))
    return steps


@pytest.mark.parametrize("reward", REWARDS)
def test_an_illegal_action_ends_the_game(reward: str) -> None:
    game = from_text("0,3,0,0,2,0*/5,5,5,5,5,0* 10,10 0 4", opponent=scripted(), seat=0, reward=reward)
    before = game.positions.copy()
    observation, paid, terminated, truncated, info = game.step(0)
    assert (paid, terminated, truncated) == (-1, True, False)
    assert game.observation_space.contains(observation)
    assert game.positions.same(before).all()
    assert not info.pop("action_mask").any()
    assert info.pop("standings").tolist() == [10, 10]
    assert info == {"termination": "illegal_action", "illegal_action": True, "seat": 0, "opponent": 0}
    with pytest.raises(ResetNeeded, match="the game is over or has not begun"):
        game.step(2)
    _, info = game.reset()
    info["action_mask"][:] = game.action_masks()[:] = False  # the masks belong to the caller
    assert game.action_masks().all()


@pytest.mark.parametrize("action", [-1, 10, 2.0, None])
def test_an_action_outside_the_space_raises(action: Any) -> None:
    game = OAnQuanEnv(opponent=None)
    with pytest.raises(ResetNeeded):
        game.step(0)
    game.reset()
    with pytest.raises(IllegalActionError, match=r"outside 0 \.\. 9|the action must be an integer, got"):
        game.step(action)
    assert game.positions.ply[0] == 0


def test_a_given_position_in_which_the_opponent_is_to_move() -> None:
    text = "0,3,0,0,2,0*/5,5,5,5,5,0* 10,10 1 4"
    game = OAnQuanEnv(opponent=scripted("2C"), seat=0)
    observation, _ = game.reset(options={"position": text})
    expected = parse_position(Core(), text)
    Core().play(expected, [Move.parse("2C").action])
    assert game.positions.same(expected).all()
    assert observation.tolist() == game._games.encoder.encode(expected, 0)[0].tolist()


def test_one_seed_one_game() -> None:
    game = OAnQuanEnv("three-player", opponent="random")
    seats, games = [], []
    for seed in [*range(12), *range(12)]:
        first = game.reset(seed=seed)
        seats.append(game.seat)
        games.append((first, play_out(game, seed=0)))
    assert set(seats) == {0, 1, 2}
    assert data_equivalence(games[:12], games[12:], exact=True)
    assert len({str(steps[:2]) for _, steps in games[:12]}) > 6


@pytest.mark.parametrize(
    ("rules", "opponent"),
    [("vietnamese", "minimax:depth=2"), ("three-player", "random")],
)
def test_copies_and_pickles_play_on_alike_and_apart(rules: str, opponent: str) -> None:
    game = OAnQuanEnv(rules, opponent=opponent, seat=0, render_mode="ansi")
    game.reset(seed=5)
    game.step(0)
    before = game.positions.ply[0]
    twins = [copy.deepcopy(game), pickle.loads(pickle.dumps(game))]
    played = play_out(game, seed=1)
    for twin in twins:
        assert twin.positions.ply[0] == before
        assert data_equivalence(play_out(twin, seed=1), played, exact=True)
        assert twin.render() == game.render()


def test_opponents_by_name_object_and_function() -> None:
    games = []
    for opponent in (
        FirstMove(Core()),
        lambda observations, masks: masks.argmax(axis=1),
        "tests.helpers.players:FirstMove",
    ):
        game = OAnQuanEnv(opponent=opponent, seat=1)
        game.reset(seed=2)
        games.append(play_out(game, seed=2))
    assert all(data_equivalence(games[0], other, exact=True) for other in games[1:])


SEAT = "seat must be random or a whole number from 0 to 1; got"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opponent": "gredy"}, r"unknown player 'gredy' \(did you mean greedy\?\)"),
        ({"opponent": 3}, "a player is a name, an object with a method choose.*; got int"),
        ({"opponent": []}, "a non-empty list of players; got an empty list"),
        ({"opponent": RandomPolicy}, r"RandomPolicy is a class: pass an instance, such as RandomPolicy\(\)"),
        *(({"seat": seat}, SEAT) for seat in (2, -1, True)),
        ({"opponent": None, "seat": 0}, "without one the agent plays every seat; got 0"),
        ({"reward": "points"}, "reward must be one of outcome, margin, mixed; got 'points'"),
        ({"render_mode": "ascii"}, "render_mode must be one of"),
    ],
)
def test_unknown_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OAnQuanEnv(**settings)


def test_an_illegal_action_of_the_opponent_is_attributed_to_it() -> None:
    with pytest.raises(IllegalActionError, match="the opponent's action is illegal: row 0: the player chose action 2"):
        from_text("0,3,0,0,2,0*/5,0,5,5,5,0* 10,15 1 4", opponent=scripted("2A"), seat=0)


def test_pictures_show_the_reply_and_need_a_mode() -> None:
    game = OAnQuanEnv(opponent=scripted("5C"), seat=0, render_mode="ansi")
    game.reset()
    game.step(0)
    board = boards_of("1A", "5C")[-1]
    assert game.render() == render.text(board, last=board.last_mark)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert OAnQuanEnv().render() is None
