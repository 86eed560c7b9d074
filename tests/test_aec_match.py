"""Match play in the AEC environment."""

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from oanquan_env import MatchRules, RulesError, env, raw_env
from oanquan_env.engine.notation import Move
from oanquan_env.envs.aec import GameEnv, MatchEnv

pytestmark = pytest.mark.filterwarnings("ignore:.*[Oo]bservation.*:UserWarning")
"""See `test_aec`."""


def play_match(game: GameEnv, seed: int) -> list[tuple[str, float]]:
    """Random play to the end; the movers and what they were paid."""
    rng = np.random.default_rng(seed)
    game.reset()
    paid = []
    while not any(game.terminations.values()):
        mover = game.agent_selection
        seen = game.observe(mover)
        assert game.observation_space(mover).contains(seen)
        game.step(int(rng.choice(seen["action_mask"].nonzero()[0])))
        paid.append((mover, game.rewards[mover]))
    return paid


@pytest.mark.parametrize("rules", ["mancala-world", "tonkin"])
def test_matches_pass_pettingzoo_s_tests(rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    api_test(env(rules=rules, match="max_rounds=3"), num_cycles=400)
    seed_test(lambda: env(rules=rules, match="max_rounds=3"), num_cycles=50)
    render_test(lambda render_mode: env(rules=rules, match=True, render_mode=render_mode))


def test_a_match_is_asked_for_by_true_by_its_rules_or_by_their_text() -> None:
    for match in (True, MatchRules(), "match_measure=lack"):
        game = raw_env(match=match)
        assert isinstance(game, MatchEnv)
        assert game.match.match_rules == MatchRules()
    assert not any(isinstance(raw_env(match=match), MatchEnv) for match in (False, None))
    for text in ("", "  "):
        with pytest.raises(RulesError, match="match is an empty text; give match=True"):
            env(match=text)
    with pytest.raises(TypeError, match="match must be True, False, a MatchRules or its text; got 1"):
        raw_env(match=1)  # type: ignore[arg-type]


def test_a_match_pays_its_winner_at_its_end_alone() -> None:
    game = raw_env(match=True)
    assert isinstance(game, MatchEnv)
    paid = play_match(game, seed=1)
    outcome = game.match.outcome
    assert outcome is not None
    assert outcome.winner is not None
    assert all(reward == 0 for _, reward in paid[:-1])
    assert game.rewards[f"player_{outcome.winner}"] == 1
    assert sum(game.rewards.values()) == 0
    assert game.infos["player_0"]["termination"] == "fields_sold"
    assert game.infos["player_0"]["rounds"] == [list(finished.scores) for finished in game.match.rounds]
    assert len(game.match.rounds) > 1


def test_a_match_drawn_by_its_rounds_pays_nothing() -> None:
    game = raw_env(match="max_rounds=1", rules="mancala-world max_plies=1")
    play_match(game, seed=1)
    assert game.infos["player_1"]["termination"] == "max_rounds"
    assert set(game.rewards.values()) == {0.0}


def test_a_match_shows_who_owns_what_from_each_side() -> None:
    game = raw_env(match="max_rounds=9")
    assert isinstance(game, MatchEnv)
    game.reset()
    assert game.observe("player_0")["observation"][-12:].tolist() == [0] * 10 + [0, 9]
    game.step(Move.parse("5A").action)
    game.step(Move.parse("3A").action)  # 22-46: South's lack is 11, its leftmost field is sold, and it begins again
    assert game.agent_selection == "player_0"
    assert game.observe("player_0")["observation"][-12:].tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]
    assert game.observe("player_1")["observation"][-12:].tolist() == [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8]


def test_a_match_takes_no_other_reward_and_no_start_position() -> None:
    with pytest.raises(ValueError, match="a match pays its outcome: reward must be outcome; got 'margin'"):
        raw_env(match=True, reward="margin")
    with pytest.raises(ValueError, match="it takes no option 'position'"):
        raw_env(match=True).reset(options={"position": "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0"})
    with pytest.raises(RulesError, match="match play needs players=2, not 3"):
        raw_env("three-player", match=True)
