"""Test the Gymnasium environment: against the AEC environment, and its episodes, seeds, copies and pictures."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import Board, Core, IllegalActionError, Move, Rules, raw_env, render
from oanquan_env.board import shared_core
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.observation import Encoder
from oanquan_env.players import RandomPolicy
from oanquan_env.rewards import REWARDS
from tests.helpers import strategies
from tests.helpers.players import LastLegalMove


@pytest.mark.parametrize(("preset", "opponent"), [("tonkin", "random"), ("three-player", "greedy"), ("app", None)])
def test_gymnasium_s_checker_finds_nothing(preset: str, opponent: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    check_env(gymnasium.make("OAnQuan-v0", rules=preset, opponent=opponent).unwrapped)


class Replying:
    """The AEC environment with replies of `player`, as the agent in `seat` sees it; without a player, every seat."""

    def __init__(self, rules: Rules, reward: str, player: LastLegalMove | None, seat: int) -> None:
        self.game, self.player, self.seat, self.paid = raw_env(rules, reward=reward), player, seat, 0.0
        self.game.reset()
        self.reply()

    def reply(self) -> None:
        """Play the player's moves until it is the agent's turn again, or the game is over."""
        game = self.game
        self.agent = game.possible_agents[self.seat] if self.player else game.agent_selection
        while self.player and game.agent_selection != self.agent and not game.positions.over[0]:
            self.ply(int(self.player.choose(game.positions, np.random.default_rng(0))[0]))

    def ply(self, action: int) -> None:
        self.game.step(action)
        self.paid += self.game.rewards[self.agent]

    def step(self, action: int) -> float:
        """Play an action and the replies; return the sum of the agent's rewards since its last action."""
        self.ply(action)
        if self.player or not self.game.positions.over[0]:
            self.reply()
        paid, self.paid = self.paid, 0.0
        return paid


@settings(max_examples=24)
@given(strategies.usual_size, st.none() | st.integers(0, 3), st.sampled_from(sorted(REWARDS)), strategies.seeds)
def test_a_game_is_one_of_the_aec_environment(rules: Rules, seat: int | None, reward: str, seed: int) -> None:
    """Without a seat, the agent plays every seat; with one, a step's reward sums the agent's until its next turn."""
    player, rng = None if seat is None else LastLegalMove(shared_core(rules)), np.random.default_rng(seed)
    seat = (seat or 0) % rules.players
    game = OAnQuanEnv(rules, opponent=player, seat="random" if player is None else seat, reward=reward)
    other = Replying(rules, reward, player, seat)
    if other.game.positions.over[0]:
        with pytest.raises(ValueError, match="before the agent's first move"):
            game.reset()
        return
    observation, info = game.reset()
    over = False
    while not over:
        seen = other.game.observe(other.agent)
        assert observation.tolist() == seen["observation"].tolist()
        assert info["action_mask"].tolist() == game.action_masks().tolist() == seen["action_mask"].tolist()
        action = int(rng.choice(info["action_mask"].nonzero()[0]))
        expected = other.step(action)
        observation, paid, terminated, truncated, info = game.step(action)
        assert paid == pytest.approx(expected)
        positions = other.game.positions
        assert (terminated, truncated) == (positions.terminated[0], positions.truncated[0])
        over = terminated or truncated
    assert not info["action_mask"].any()
    assert player is None or observation.tolist() == other.game.observe(other.agent)["observation"].tolist()
    ending = other.game.infos[other.agent]
    assert (info["termination"], info["standings"].tolist()) == (ending["termination"], ending["standings"])
    assert info["seat"] == game.seat == other.game.possible_agents.index(other.agent)
    assert info["illegal_action"] is False


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


def test_an_action_outside_the_space_raises() -> None:
    game = OAnQuanEnv(opponent=None)
    with pytest.raises(ResetNeeded):
        game.step(0)
    game.reset()
    for wrong in (-1, 10, 2.0, None):
        with pytest.raises(IllegalActionError, match=r"outside 0 \.\. 9|the action must be an integer, got"):
            game.step(wrong)  # type: ignore[arg-type]
    assert game.positions.ply[0] == 0


def test_a_seed_draws_the_seat_and_the_game() -> None:
    game = OAnQuanEnv("three-player", opponent="random")
    first, again = (
        [(game.reset(seed=seed), game.seat, play_out(game, seed=0)) for seed in range(12)] for _ in range(2)
    )
    assert {seat for _, seat, _ in first} == {0, 1, 2}
    assert len({str(steps[:2]) for _, _, steps in first}) > 6
    assert data_equivalence(first, again, exact=True)


def test_copies_and_pickles_play_on_alike_and_apart() -> None:
    game = OAnQuanEnv("vietnamese", opponent="minimax:depth=2", seat=0, render_mode="ansi")
    game.reset(seed=5)
    game.step(0)
    twins = [copy.deepcopy(game), pickle.loads(pickle.dumps(game))]
    played = play_out(game, seed=1)
    for twin in twins:
        assert data_equivalence(play_out(twin, seed=1), played, exact=True)
        assert twin.render() == game.render()


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
    ],
)
def test_opponents_and_seats_that_do_not_exist_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OAnQuanEnv(**settings)


def test_the_opponent_may_move_first_and_pictures_show_its_reply() -> None:
    text, game = "0,3,0,0,2,0*/5,0,5,5,5,0* 10,15 1 4", OAnQuanEnv(opponent=scripted("3C"), seat=0, render_mode="ansi")
    observation, _ = game.reset(options={"position": text})
    board = Board.parse(text)
    board.push("3C")
    assert game.positions.same(board.positions).all()
    assert observation.tolist() == Encoder(Core()).encode(board.positions, 0)[0].tolist()
    assert game.render() == render.text(board, last=board.last_mark)
    with pytest.raises(IllegalActionError, match="the opponent's action is illegal: row 0: the player chose action 2"):
        from_text(text, opponent=scripted("2A"), seat=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert OAnQuanEnv().render() is None
