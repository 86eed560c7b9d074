"""Test the step of a game: its random generator, its uncompiled form, threads, and interruption by an opponent."""

import os
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import Core, IllegalActionError, Positions
from oanquan_env.array_types import Ints
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.step import draw, game_type, generator_key, pick
from oanquan_env.envs.games import Games
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.players import EpsilonPolicy, RandomPolicy, as_policy
from tests.helpers import strategies
from tests.helpers.players import FirstMove, random_legal, refusing

NEIGHBOURS = 256


def drawn(seed: int, count: int, below: int = 2**31) -> list[int]:
    game = np.zeros(1, game_type(Rules()))[0]
    game.key = np.array(generator_key(seed), np.uint64).view(np.int64)
    return [draw(game, below) for _ in range(count)]


def test_generators_of_neighbouring_seeds_are_independent() -> None:
    """Bits are balanced, and neither neighbouring seeds nor successive draws are correlated."""
    numbers = np.array([drawn(seed, NEIGHBOURS) for seed in range(NEIGHBOURS)])
    assert len(np.unique(numbers)) > 0.999 * numbers.size  # 2^16 draws below 2^31 should contain one equal pair
    bits = (numbers[:, :, None] >> np.arange(31)) & 1
    assert abs(bits.mean(axis=(0, 1)) - 0.5).max() < 5 * 0.5 / NEIGHBOURS  # five standard deviations
    signs = 2 * bits - 1
    for one, other in ((signs[:-1], signs[1:]), (signs[:, :-1], signs[:, 1:]), (signs[:-1, :-1], signs[1:, 1:])):
        assert abs((one * other).mean(axis=(0, 1))).max() < 5 / NEIGHBOURS
    for shift in range(1, 8):  # no stream is a shifted copy of its neighbour
        assert not (numbers[:-1, shift:] == numbers[1:, :-shift]).all(axis=1).any()
        assert not (numbers[1:, shift:] == numbers[:-1, :-shift]).all(axis=1).any()


def test_the_generator_is_the_published_one() -> None:
    """The draws equal those of a second implementation of Squares with four rounds, in NumPy's uint64."""
    key = generator_key(7)
    with np.errstate(over="ignore"):
        for counter, number in enumerate(drawn(7, 100)):
            word = np.uint64(key)
            x = y = np.uint64(counter) * word
            z = y + word
            for added in (y, z, y):
                x = x * x + added
                x = (x >> np.uint64(32)) | (x << np.uint64(32))
            assert number == int((x * x + z) >> np.uint64(32)) >> 1


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


class Failing(FirstMove):
    """A player whose third choice raises `error`, or is an illegal move if `error` is None."""

    def __init__(self, core: Core, error: type[BaseException] | None) -> None:
        super().__init__(core)
        self.error, self.choices = error, 0

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        self.choices += 1
        if self.choices != 3:
            return super().choose(positions, rng)
        if self.error is None:
            return self.core.legal_mask(positions).argmin(axis=1)
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, None])
def test_after_a_step_that_the_opponent_interrupted_a_reset_is_needed(error: type[BaseException] | None) -> None:
    for make in (
        lambda player: OAnQuanEnv(opponent=player, seat=0),
        lambda player: OAnQuanVectorEnv(2, opponent=player),
    ):
        player = Failing(Core(), error)
        game = make(player)
        _, info = game.reset(seed=1)
        while player.choices < 2:
            _, _, _, _, info = game.step(info["action_mask"].argmax(axis=-1))
        with pytest.raises(error or IllegalActionError):
            game.step(info["action_mask"].argmax(axis=-1))
        for _ in range(2):
            with pytest.raises(ResetNeeded, match="interrupted"):
                game.step(info["action_mask"].argmax(axis=-1))
        _, info = game.reset()
        game.step(info["action_mask"].argmax(axis=-1))


def test_a_closed_environment_needs_a_reset() -> None:
    for game in (OAnQuanEnv(), OAnQuanVectorEnv(2)):
        game.reset(seed=0)
        game.close()
        with pytest.raises(ResetNeeded):
            game.step(np.zeros(2, int) if isinstance(game, OAnQuanVectorEnv) else 0)


def test_the_index_of_the_opponent_is_in_the_info() -> None:
    players = [FirstMove(Core()), "random", "greedy"]
    games = OAnQuanVectorEnv(60, opponent=players)
    _, info = games.reset(seed=0)
    first = info["opponent"]
    assert set(first.tolist()) == {0, 1, 2}
    for _ in range(20):
        *_, terminated, truncated, info = games.step(games.action_masks().argmax(axis=1))
        over = terminated | truncated
        assert (info["opponent"][over] == first[over]).all()
        first = info["opponent"]
    assert (OAnQuanVectorEnv(3).reset()[1]["opponent"] == 0).all()
    assert "opponent" not in OAnQuanVectorEnv(3, opponent=None).reset()[1]
    single = OAnQuanEnv(opponent=players)
    assert {single.reset(seed=seed)[1]["opponent"] for seed in range(20)} == {0, 1, 2}


def test_a_player_made_for_other_rules_is_refused() -> None:
    tonkin = Core("tonkin")
    for player in (RandomPolicy(tonkin), EpsilonPolicy(tonkin, RandomPolicy(tonkin), 0.5)):
        with pytest.raises(ValueError, match="plays 'tonkin', not 'mancala-world'"):
            as_policy(player)
        with pytest.raises(ValueError, match="plays 'tonkin', not 'mancala-world'"):
            OAnQuanEnv(opponent=player)


def test_a_limit_of_steps_belongs_to_the_rules() -> None:
    with pytest.raises(ValueError, match=r"set a ply limit in the rules, such as .* got 10"):
        gymnasium.make_vec("OAnQuan-v0", num_envs=2, max_episode_steps=10)
