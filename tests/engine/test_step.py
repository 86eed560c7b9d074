"""Test the step of a game: its random generator, its uncompiled form, threads, and interruption by an opponent."""

import functools
import itertools
import os
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import Core, IllegalActionError
from oanquan_env.array_types import Ints, Mask
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.step import draw, game_type, generator_key, pick
from oanquan_env.envs.games import Games
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.players import EpsilonPolicy, RandomPolicy, as_policy
from tests.helpers import strategies
from tests.helpers.players import FirstMove, random_legal, refusing


def test_the_generator_is_the_published_one() -> None:
    """Keys are outputs of SplitMix64, made odd; draws equal Squares with four rounds, here in NumPy's uint64."""
    assert generator_key(0) == 0xE220A8397B1DCDAF
    keys = generator_key(np.arange(256, dtype=np.uint64))
    assert [generator_key(seed) for seed in range(256)] == keys.tolist()
    game = np.zeros(1, game_type(Rules()))[0]
    game.key = keys[7:8].view(np.int64)[0]
    with np.errstate(over="ignore"):
        for counter in range(100):
            x = y = np.uint64(counter) * keys[7]
            z = y + keys[7]
            for added in (y, z, y):
                x = x * x + added
                x = (x >> np.uint64(32)) | (x << np.uint64(32))
            assert draw(game, 2**31) == int((x * x + z) >> np.uint64(32)) >> 1


def test_actions_are_picked_equally_often() -> None:
    game = np.zeros(1, game_type(Rules()))[0]
    game.key = generator_key(3) >> 1
    counts = np.bincount([pick(Core().numbers, game, 0b1000110010) for _ in range(4000)], minlength=10)
    assert counts.nonzero()[0].tolist() == [1, 4, 5, 9]
    assert abs(counts[counts > 0] - 1000).max() < 5 * np.sqrt(4000 * 0.25 * 0.75)


@settings(max_examples=8)
@given(strategies.usual_size, st.sampled_from([None, "random", "greedy"]), strategies.seeds)
def test_the_step_is_the_same_without_numba(rules: Rules, opponent: str | None, seed: int) -> None:
    batches = [
        Games(3, rules, opponent=opponent, reward="mixed", opening_plies=2 * (rules.max_plies > 2)) for _ in "12"
    ]
    batches[1].core = Core(rules, compiled=False)
    batches[1]._prepare()
    rng = np.random.default_rng(seed)
    with refusing():
        for games in batches:
            games.seed(seed, np.arange(3), rng)
            games.begin(np.arange(3), rng)
        for _ in range(20):
            actions = np.where(rng.random(3) < 0.02, 0, random_legal(batches[0].mask == 1, rng))
            overs = [games.step(actions, rng) for games in batches]
            assert overs[0] == overs[1]
            assert (batches[0].records == batches[1].records).all()
            assert (batches[0].observation == batches[1].observation).all()
            assert (batches[0].mask == batches[1].mask).all()


def test_by_the_variable_nothing_loads_numba() -> None:
    script = "import sys, gymnasium, numpy, oanquan_env; games = gymnasium.make_vec('OAnQuan-v0', num_envs=2);"
    script += "games.reset(); games.step(numpy.array([0, 0])); print('numba' in sys.modules)"
    plain = os.environ | {"OANQUAN_COMPILED": "0"}
    run = subprocess.run([sys.executable, "-c", script], env=plain, capture_output=True, text=True)
    assert run.stdout.strip() == "False", run.stderr


@pytest.mark.parametrize("opponent", [None, "greedy", FirstMove(Core())])
def test_threads_change_nothing(opponent: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oanquan_env.envs.games.FEWEST_SHARED", 6)
    one, three = (OAnQuanVectorEnv(50, opponent=opponent, threads=threads) for threads in (1, 3))
    assert data_equivalence(one.reset(seed=4), three.reset(seed=4), exact=True)
    rng = np.random.default_rng(0)
    for _ in range(100):
        actions = random_legal(one.action_masks(), rng)
        assert data_equivalence(one.step(actions), three.step(actions), exact=True)
    for games in (one, three):
        with pytest.raises(IllegalActionError, match=r"action 10 in row 49 is outside 0 \.\. 9"):
            games.step(np.array([0] * 49 + [10]))
    actions = random_legal(one.action_masks(), rng)
    assert data_equivalence(one.step(actions), three.step(actions), exact=True)  # the refused step played nothing


@pytest.mark.parametrize("make", [OAnQuanEnv, functools.partial(OAnQuanVectorEnv, 2)])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, IllegalActionError])
def test_after_a_step_that_the_opponent_interrupted_a_reset_is_needed(make: Any, error: type[BaseException]) -> None:
    """The opponent's third choice raises the error, or is illegal."""
    choices = itertools.count(1)

    def choose(observations: Any, masks: Mask) -> Ints:
        number = next(choices)
        if number == 3 and error is not IllegalActionError:
            raise error
        return masks.argmin(axis=1) if number == 3 else masks.argmax(axis=1)

    game = make(opponent=choose, seat=1)  # so each call of the environment is one choice
    _, info = game.reset(seed=1)
    _, _, _, _, info = game.step(info["action_mask"].argmax(axis=-1))
    for wanted in (error, ResetNeeded, ResetNeeded):
        with pytest.raises(wanted, match="interrupted" if wanted is ResetNeeded else None):
            game.step(info["action_mask"].argmax(axis=-1))
    _, info = game.reset()
    game.step(info["action_mask"].argmax(axis=-1))
    game.close()
    with pytest.raises(ResetNeeded):
        game.step(info["action_mask"].argmax(axis=-1))


def test_the_info_has_the_index_of_each_game_s_opponent_and_none_in_self_play() -> None:
    games = OAnQuanVectorEnv(60, opponent=[FirstMove(Core()), "random", "greedy"])
    assert set(games.reset(seed=0)[1]["opponent"].tolist()) == {0, 1, 2}
    assert "opponent" not in OAnQuanVectorEnv(3, opponent=None).reset()[1]


def test_a_player_made_for_other_rules_and_a_limit_of_steps_are_refused() -> None:
    player = EpsilonPolicy(Core("tonkin"), RandomPolicy(Core("tonkin")), 0.5)
    for use in (as_policy, lambda opponent: OAnQuanEnv(opponent=opponent)):
        with pytest.raises(ValueError, match="plays 'tonkin', not 'mancala-world'"):
            use(player)
    with pytest.raises(ValueError, match=r"set a ply limit in the rules, such as .* got 10"):
        gymnasium.make_vec("OAnQuan-v0", num_envs=2, max_episode_steps=10)
