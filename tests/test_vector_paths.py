"""The native VectorEnv by compiled loops and by NumPy: the same games, errors and arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings

from oanquan_env import Core, Positions, Rules, RunawayGameError
from oanquan_env.board import shared_core
from oanquan_env.engine.notation import parse_position
from oanquan_env.envs.opponent_games import OpponentGames
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.rewards import REWARDS
from tests import strategies
from tests.players import FirstMove, random_legal


def made_twice(*arguments: Any, **settings: Any) -> tuple[OAnQuanVectorEnv, OAnQuanVectorEnv]:
    """The same games by compiled loops and by NumPy."""
    shared_core.cache_clear()
    compiled = OAnQuanVectorEnv(*arguments, **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OANQUAN_COMPILED", "0")
        shared_core.cache_clear()
        by_numpy = OAnQuanVectorEnv(*arguments, **settings)
    shared_core.cache_clear()
    assert (type(compiled._games).__name__, type(by_numpy._games)) == ("CompiledGames", OpponentGames)
    return compiled, by_numpy


def outcomes_of(games: tuple[OAnQuanVectorEnv, ...], call: Callable[[OAnQuanVectorEnv], Any]) -> list[Any]:
    """What both return, which is the same; or none, as both raise the same error."""
    found: list[Any] = []
    for one in games:
        try:
            found.append(call(one))
        except (ValueError, RunawayGameError) as error:
            found.append((type(error), str(error)))
    if isinstance(found[0], tuple) and isinstance(found[0][0], type):
        assert found[0] == found[1]
        return []
    assert data_equivalence(found[0], found[1], exact=True)
    return found


def compare_paths(rules: Rules, choice: np.random.Generator, steps: int) -> int:
    """Both paths with settings, actions and resets drawn at random; returns the steps that were compared."""
    first, n, mode = FirstMove(shared_core(rules)), int(choice.integers(1, 9)), choice.choice(list(AutoresetMode))
    opponent = [None, "random", "greedy", first, ["greedy", first, "random"]][choice.integers(5)]
    settings: dict[str, Any] = {"opponent": opponent, "reward": str(choice.choice(REWARDS)), "autoreset_mode": mode}
    settings |= {"seat": ["random", *range(rules.players)][choice.integers(rules.players + 1)]} if opponent else {}
    settings |= {"opening_plies": int(choice.integers(0, min(6, rules.max_plies))) * int(choice.integers(2))}
    games = made_twice(n, rules, copy=bool(choice.integers(2)), **settings)
    second = Core(rules).expand(Core(rules).start()).positions[:1]
    if not outcomes_of(games, lambda one: one.reset(seed=3)):
        return 0
    for step in range(steps):
        masks = games[1].action_masks()
        actions = np.where(choice.random(n) < 0.02, choice.integers(rules.actions, size=n), random_legal(masks, choice))
        stepped = outcomes_of(games, lambda one, actions=actions: one.step(actions))
        if not stepped:
            return step
        assert (games[0].action_masks() == games[1].action_masks()).all()
        assert (games[0].seats == games[1].seats).all()
        assert games[0].positions.same(games[1].positions).all()
        over, some = stepped[1][2] | stepped[1][3], choice.random(n) < 0.2
        if mode == AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over | some}
        elif some.any() and not second.over.any() and choice.random() < 0.05:
            options = {"reset_mask": some, "position": second}
        else:
            continue
        if not outcomes_of(games, lambda one, options=options: one.reset(options=options)):
            return step
    return steps


@given(strategies.rules(), strategies.seeds)
def test_compiled_games_are_those_by_numpy(rules: Rules, seed: int) -> None:
    compare_paths(rules, np.random.default_rng(seed), 50)


@pytest.mark.slow
def test_a_hundred_thousand_steps_are_those_by_numpy() -> None:
    compared = 0

    @settings(max_examples=300)
    @given(strategies.rules(), strategies.seeds)
    def compare(rules: Rules, seed: int) -> None:
        nonlocal compared
        compared += compare_paths(rules, np.random.default_rng(seed), 400)

    compare()
    assert compared >= 100_000


def test_a_runaway_is_the_same_error_and_changes_nothing() -> None:
    """That of the agent's move, and of the opponent's reply."""
    quiet = Core().start()
    runaway = parse_position(Core(), "1,0,0,0,0,250*/0,0,0,0,0,0* 0,0 0 0", checked=False)  # North's refill
    before, refused = Positions.concatenate([quiet, runaway]), []
    for opponent in (None, "greedy", "random"):
        for seed in range(6):
            games = made_twice(2, opponent=opponent)
            for one in games:
                one.reset(seed=0)
                one._games.positions[:] = before
                one._games.seats[:] = 1
            if opponent is None:
                refused += [outcomes_of(games, lambda one: one.step(np.array([0, 0]))) == []]
            else:
                chance = iter([np.random.default_rng(seed), np.random.default_rng(seed)])
                refused += [outcomes_of(games, lambda one, chance=chance: one._games._reply(next(chance))) == []]
            assert all(one.positions.same(before).all() for one in games) == refused[-1]
            assert games[0].positions.same(games[1].positions).all()
    assert all(refused[:12])
    assert any(refused[12:])
