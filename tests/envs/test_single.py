"""Test the Gymnasium environment with Gymnasium's checker, and step by step against the AEC environment."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import Rules, raw_env
from oanquan_env.board import shared_core
from oanquan_env.envs.aec import GameEnv
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.rewards import REWARDS
from tests.helpers import strategies
from tests.helpers.players import LastLegalMove


@pytest.mark.parametrize(("preset", "opponent"), [("tonkin", "random"), ("three-player", "greedy"), ("app", None)])
def test_gymnasium_s_checker_finds_nothing(preset: str, opponent: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    check_env(gymnasium.make("OAnQuan-v0", rules=preset, opponent=opponent).unwrapped)


@settings(max_examples=12)
@given(strategies.two_sizes, st.sampled_from(sorted(REWARDS)), strategies.seeds)
def test_the_self_play_view_is_the_aec_environment(rules: Rules, reward: str, seed: int) -> None:
    game, other = OAnQuanEnv(rules, opponent=None, reward=reward), raw_env(rules, reward=reward)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        observation, info = game.reset()
        other.reset()
        over = False
        while not over:
            mover = other.agent_selection
            seen = other.observe(mover)
            assert observation.tolist() == seen["observation"].tolist()
            assert info["action_mask"].tolist() == game.action_masks().tolist() == seen["action_mask"].tolist()
            action = int(rng.choice(seen["action_mask"].nonzero()[0]))
            other.step(action)
            observation, paid, terminated, truncated, info = game.step(action)
            assert paid == pytest.approx(other.rewards[mover])
            assert (terminated, truncated) == (other.terminations[mover], other.truncations[mover])
            over = terminated or truncated
        ending = other.infos[mover]
        assert info["seat"] == game.seat == other.possible_agents.index(mover)
        assert not info.pop("action_mask").any()
        assert (info["termination"], info["standings"].tolist()) == (ending["termination"], ending["standings"])
        assert info["illegal_action"] is False


def compare_game_with_opponent(
    game: OAnQuanEnv, other: GameEnv, player: LastLegalMove, seat: int, rng: np.random.Generator
) -> None:
    """Compare one game in both environments; a step's reward must sum the agent's AEC rewards until its next turn."""
    other.reset()
    agent = other.possible_agents[seat]
    expected = 0.0

    def ply(action: int) -> None:
        nonlocal expected
        other.step(action)
        expected += other.rewards[agent]

    def replies() -> None:
        while other.agent_selection != agent and not other.positions.over[0]:
            ply(int(player.choose(other.positions, rng)[0]))

    replies()
    if other.positions.over[0]:
        with pytest.raises(ValueError, match="before the agent's first move"):
            game.reset()
        return
    observation, info = game.reset()
    over = False
    while not over:
        seen = other.observe(agent)
        assert observation.tolist() == seen["observation"].tolist()
        assert info["action_mask"].tolist() == (seen["action_mask"] * ~other.positions.over[0]).tolist()
        action = int(rng.choice(info["action_mask"].nonzero()[0]))
        ply(action)
        replies()
        observation, paid, terminated, truncated, info = game.step(action)
        assert paid == pytest.approx(expected)
        expected = 0.0
        assert (terminated, truncated) == (other.positions.terminated[0], other.positions.truncated[0])
        over = terminated or truncated
    assert observation.tolist() == other.observe(agent)["observation"].tolist()
    assert info["standings"].tolist() == other.infos[agent]["standings"]
    assert info["seat"] == game.seat


@settings(max_examples=12)
@given(strategies.usual_size, st.integers(0, 3), st.sampled_from(sorted(REWARDS)), strategies.seeds)
def test_games_against_an_opponent_are_the_aec_environment_s(rules: Rules, seat: int, reward: str, seed: int) -> None:
    player, rng = LastLegalMove(shared_core(rules)), np.random.default_rng(seed)
    seat %= rules.players
    game, other = OAnQuanEnv(rules, opponent=player, seat=seat, reward=reward), raw_env(rules, reward=reward)
    for _ in range(2):
        compare_game_with_opponent(game, other, player, seat, rng)
