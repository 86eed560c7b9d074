"""Test the AEC environment: PettingZoo's own tests, cases that they omit, and match play."""

import copy
import functools
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, render_test, seed_test

from oanquan_env import Core, IllegalActionError, MatchRules, Rules, RulesError, env, raw_env
from oanquan_env.engine.notation import Move
from oanquan_env.envs.aec import GameEnv, MatchEnv
from oanquan_env.observation import OBSERVATIONS
from oanquan_env.rewards import REWARDS, game_rewards
from tests.helpers.boards import fair_reward

# api_test warns about dict observations of environments that are not on its own list
pytestmark = pytest.mark.filterwarnings("ignore:.*[Oo]bservation.*:UserWarning")

SOUTH = "0,3,0,0,2,0*/5,5,5,5,5,0* 10,10 0 4"  # South may play actions 2, 3, 8 and 9


def from_text(text: str, make: Callable[..., GameEnv] = raw_env, **settings: str) -> GameEnv:
    game = make(**settings)
    game.reset(options={"position": text})
    return game


@pytest.mark.parametrize(
    ("preset", "match"), [("mancala-world", None), ("tonkin", "max_rounds=3"), ("three-player", None)]
)
def test_pettingzoo_s_tests_pass(preset: str, match: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    make = functools.partial(env, rules=preset, match=match)
    api_test(make(), num_cycles=400)
    if not match:
        for observation in OBSERVATIONS:
            api_test(raw_env(rules=preset, reward="margin", observation=observation), num_cycles=300)
    seed_test(make, num_cycles=50)
    render_test(lambda render_mode: make(render_mode=render_mode))


def test_both_makers_and_pettingzoo_s_registry_take_the_same_parameters() -> None:
    parameters = ["rules", "match", "reward", "opening_plies", "observation", "rules_visible", "render_mode"]
    assert list(inspect.signature(env).parameters) == parameters
    assert inspect.signature(env).parameters == inspect.signature(raw_env).parameters
    for make in (env, raw_env, functools.partial(pettingzoo.make, "aec", "OAnQuan-v0")):
        game = make(rules="tonkin fields=3", reward="margin", render_mode="ansi").unwrapped
        assert (game.core.rules, game.reward, game.render_mode) == (Rules.parse("tonkin fields=3"), "margin", "ansi")
        mask = game.observation_space("player_1")["action_mask"]
        assert (mask.dtype, mask.shape, *map(set, (mask.low, mask.high))) == (np.int8, (6,), {0}, {1})
    for match in (True, MatchRules(), "match_measure=lack"):
        assert env(match=match).unwrapped.match.match_rules == MatchRules()
    assert not any(isinstance(raw_env(match=match), MatchEnv) for match in (False, None))


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"match": True, "observation": "planes"}, ValueError, "observation must be counts in a match"),
    *(({"match": text}, RulesError, "match must not be an empty string; use match=True") for text in ("", "  ")),
    ({"match": 1}, TypeError, "match must be True, False, a MatchRules or its string; got 1"),
    ({"match": True, "reward": "margin"}, ValueError, "reward must be outcome in a match; got 'mar"),
    (
        {"match": True, "opening_plies": 2},
        ValueError,
        "opening_plies must be 0 in a match.* got 2",
    ),
]


def test_settings_that_no_match_has_are_refused() -> None:
    for settings, error, message in REFUSED:
        with pytest.raises(error, match=message):
            env(**settings)


def test_the_mask_is_of_the_mover_alone_and_observations_are_fresh() -> None:
    game = from_text(SOUTH)
    seen = game.observe("player_0")
    assert seen["action_mask"].nonzero()[0].tolist() == [2, 3, 8, 9]
    assert not game.observe("player_1")["action_mask"].any()
    seen["action_mask"][:] = 1
    seen["observation"][:] = -1
    assert game.observe("player_0")["action_mask"].sum() == 4
    assert game.state().tolist() == game.observe("player_0")["observation"].tolist()


@pytest.mark.parametrize("match", [False, True])
def test_an_action_is_any_kind_of_whole_number_and_nothing_else(match: bool) -> None:
    game = raw_env(match=match, render_mode="ansi")
    for action in (2, np.int8(2), np.uint64(2), np.array(2)):
        game.reset()
        for wrong in (2.0, np.float32(2), True, "2", [2], None):
            with pytest.raises(IllegalActionError, match="the action must be an integer, got"):
                game.step(wrong)
        game.step(action)
        assert game.positions.ply[0] == 1
        assert "2A" in game.render()


@pytest.mark.parametrize("match", [False, "max_rounds=1"])
def test_a_step_before_reset_or_after_the_last_agent_has_left_is_refused(match: Any) -> None:
    game = raw_env("max_plies=1", match=match)

    def refused(action: int | None) -> None:
        for call in (lambda: game.step(action), game.last):
            with pytest.raises(ResetNeeded, match=r"has not begun, or no agents are left: call reset\(\) first"):
                call()

    refused(0)
    game.reset()
    for action in (0, None, None):
        game.last()
        game.step(action)
    refused(None)


def test_an_illegal_action_raises_and_ends_the_wrapped_environment() -> None:
    with pytest.raises(IllegalActionError, match="illegal action 0 in row 0"):
        from_text(SOUTH).step(0)
    game = from_text(SOUTH, env)
    game.step(0)
    assert game.rewards == {"player_0": -1.0, "player_1": 0.0}
    assert all(game.terminations.values())


def test_outcomes_are_shared_and_margins_paid_as_points_are_won() -> None:
    core, seeds = Core("three-player fields=2"), [[0] * 9]
    for scores, paid in (([30, 15, 15], [1, -0.5, -0.5]), ([25, 25, 10], [0.5, 0.5, -1]), ([20] * 3, [0] * 3)):
        assert game_rewards("outcome", core, core.setup(seeds, [[0] * 3], [scores]))[0].tolist() == paid
    game = from_text("1,0,0,4,1,0*/1,0,0,0,0,0* 20,23 0 0", reward="margin")
    game.step(Move.parse("1A").action)
    assert game.rewards == {"player_0": 4 / 70, "player_1": -4 / 70}


@pytest.mark.parametrize("preset", ["mancala-world", "three-player"])
@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_sum_to_zero_and_in_all_to_what_a_game_pays(preset: str, reward: str) -> None:
    game = raw_env(rules=preset, reward=reward)
    rng = np.random.default_rng(0)
    for _ in range(5):
        game.reset()
        total = dict.fromkeys(game.possible_agents, 0.0)
        while not any(game.terminations.values()) and not any(game.truncations.values()):
            game.step(int(rng.choice(game.observe(game.agent_selection)["action_mask"].nonzero()[0])))
            assert sum(game.rewards.values()) == pytest.approx(0)
            total = {agent: total[agent] + game.rewards[agent] for agent in total}
        standings = np.array(game.infos["player_0"]["standings"])
        assert list(total.values()) == pytest.approx(fair_reward(reward, standings, game.core.rules.total))


def test_the_seed_draws_opening_plies_and_copies_and_pickles_play_on_alike() -> None:
    game, begun = env("vietnamese", opening_plies=3), []
    for seed in [*range(50), *range(50)]:
        game.reset(seed=seed)
        begun.append((int(game.unwrapped.positions.ply[0]), game.unwrapped.positions.squares.tolist()))
    assert begun[:50] == begun[50:]
    assert {ply for ply, _ in begun} == {0, 1, 2, 3}
    ply, action = begun[-1][0], int(game.observe(game.agent_selection)["action_mask"].argmax())
    twins = [copy.deepcopy(game), pickle.loads(pickle.dumps(game))]
    game.step(action)
    for twin in twins:
        assert twin.unwrapped.positions.ply[0] == ply
        twin.step(action)
        assert twin.unwrapped.positions.same(game.unwrapped.positions).all()


def test_a_match_pays_its_winner_at_its_end_alone() -> None:
    game, rng, paid = raw_env(match=True), np.random.default_rng(1), list[float]()
    game.reset()
    while not any(game.terminations.values()):
        mover = game.agent_selection
        seen = game.observe(mover)
        assert game.observation_space(mover).contains(seen)
        game.step(int(rng.choice(seen["action_mask"].nonzero()[0])))
        paid.append(game.rewards[mover])
    outcome = game.match.outcome
    assert outcome is not None
    assert set(paid[:-1]) == {0}
    assert game.rewards[f"player_{outcome.winner}"] == 1
    assert sum(game.rewards.values()) == 0
    assert game.infos["player_0"]["termination"] == "fields_sold"
    assert game.infos["player_0"]["rounds"] == [list(finished.scores) for finished in game.match.rounds]
    assert len(game.match.rounds) > 1
    drawn = raw_env(match="max_rounds=1", rules="max_plies=1")
    drawn.reset()
    drawn.step(0)
    assert drawn.infos["player_1"]["termination"] == "max_rounds"
    assert set(drawn.rewards.values()) == {0.0}


def test_a_match_shows_who_owns_what_from_each_side() -> None:
    game = raw_env(match="max_rounds=9")
    game.reset()
    assert game.observe("player_0")["observation"][-12:].tolist() == [0] * 10 + [0, 9]
    game.step(Move.parse("5A").action)
    game.step(Move.parse("3A").action)  # 22-46: South's lack is 11, its leftmost field is sold, and it moves first
    assert game.agent_selection == "player_0"
    assert game.observe("player_0")["observation"][-12:].tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]
    assert game.observe("player_1")["observation"][-12:].tolist() == [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8]
