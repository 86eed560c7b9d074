"""Test Monte Carlo tree search with random playouts, with searched leaves and with priors."""

from typing import Any

import numpy as np
import pytest

from oanquan_env import Core, Positions, mirror, rotate_seats
from oanquan_env.array_types import Floats
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.notation import parse_position
from oanquan_env.players import GreedyPolicy, make, move_gains
from oanquan_env.players.search_player import MCTSPlayer
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.mcts import SEARCH_EXPLORATION, UCT_EXPLORATION, RandomPlayouts, SearchedLeaves
from tests.helpers.boards import random_positions

CAPTURE = "0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0"
"""3A captures the last stone and wins the game by two points, 36 to 34; 3C loses."""
QUIET = "0,1,0,3,0,0*/1,0,1,0,0,0 27,27 0 0"
"""4C wins by 14 points within nine plies; other moves lose by ten or more, though some gain more at once."""


LEAVES = {RandomPlayouts: UCT_EXPLORATION, SearchedLeaves: SEARCH_EXPLORATION}


@pytest.mark.parametrize(("leaves", "exploration"), LEAVES.items())
def test_a_win_at_once_is_found(leaves: Any, exploration: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The win is also found if a large batch is searched in parts."""
    core = Core()
    position = parse_position(core, CAPTURE)
    mirrored = mirror(position, core.rules)
    positions = Positions.concatenate([position, mirrored, rotate_seats(position), rotate_seats(mirrored)])
    wins, rng = [4, 5, 4, 5], np.random.default_rng(0)
    visits, values = MCTSPlayer(leaves(core), 60, exploration=exploration).search(positions, rng)
    assert (visits.sum(axis=1) == 60).all()
    assert values[np.arange(4), wins] == pytest.approx([2 / core.rules.total] * 4)  # the exact final margin
    assert (visits[~core.legal_mask(positions)] == 0).all()
    monkeypatch.setattr("oanquan_env.players.search_player.MAX_NODES", 100)
    player = MCTSPlayer(leaves(core), 40, exploration=exploration)
    assert player.choose(Positions.concatenate([positions] * 3), rng).tolist() == wins * 3


def test_a_forced_win_behind_a_quiet_move_is_found() -> None:
    core = Core()
    position = parse_position(core, QUIET)
    proved = Search(core).best(position, Limits(depth=9))
    assert (proved.actions, proved.value, proved.proved) == ((7,), 14, True)
    assert GreedyPolicy(core).choose(position, np.random.default_rng(0)).tolist() != [7]
    copies = Positions.concatenate([position] * 10)
    chosen = MCTSPlayer(RandomPlayouts(core), 400).choose(copies, np.random.default_rng(0))
    assert chosen.tolist() == [7] * 10
    visits, values = MCTSPlayer(RandomPlayouts(core), 4000).search(position, np.random.default_rng(1))
    assert visits[0, 7] > 3000
    assert values[0, 7] * core.rules.total == pytest.approx(14, abs=3)  # close to the proved value
    deep = MCTSPlayer(SearchedLeaves(core), 400, exploration=SEARCH_EXPLORATION)
    assert deep.search(copies, np.random.default_rng(0))[0][:, 7].min() > 350  # searched leaves have no noise


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])
def test_searched_leaves_are_worth_what_the_best_move_brings(rules: str) -> None:
    core = Core(rules)
    positions, rng = random_positions(core, 30, seed=6), np.random.default_rng(0)
    values = SearchedLeaves(core, 1).evaluate(positions, rng) * core.rules.total
    assert values.sum(axis=1) == pytest.approx(np.zeros(len(positions)), abs=1e-9)
    rows, mover = np.arange(len(positions)), positions.mover
    gains = np.where(core.legal_mask(positions), move_gains(core, positions), -np.inf)
    assert values[rows, mover] == pytest.approx(relative_points(positions.scores)[rows, mover] + gains.max(axis=1))
    seen, turned = (SearchedLeaves(core).evaluate(some, rng) for some in (positions, rotate_seats(positions)))
    assert turned == pytest.approx(np.roll(seen, 1, axis=1))


def test_leaves_are_searched_with_more_than_two_players_or_a_depth() -> None:
    for name, *leaves in (
        ("mcts:simulations=9", RandomPlayouts, SearchedLeaves),
        ("mcts:simulations=9,depth=1", SearchedLeaves, SearchedLeaves),
        ("mcts:simulations=9,depth=0", RandomPlayouts, RandomPlayouts),
    ):
        assert [type(make(name, rules).evaluator) for rules in ("mancala-world", "three-player")] == leaves


def test_a_single_legal_move_is_played_without_search() -> None:
    only = parse_position(Core("tonkin"), "0,0,0,0,3,10/5,5,5,5,5,10 22,0 0 0")
    player: Any = make("mcts:simulations=9", "tonkin")
    player.search = None  # calling it would be an error
    assert player.choose(only, np.random.default_rng(0)).tolist() == [8]


def test_the_last_choice_goes_by_visits_and_of_equals_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    visits = [[3, 3, 3, 1, 0, 0, 0, 0, 0, 0], [3, 2, 2, 2, 1, 0, 0, 0, 0, 0], [5, 5, 0, 0, 0, 0, 0, 0, 0, 0]]
    values = [[-0.5, 0.2, 0.1, 1, 0, 0, 0, 0, 0, 0], [-1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [0, -0.9, 0, 0, 0, 0, 0, 0, 0, 0]]
    player = MCTSPlayer(RandomPlayouts(Core()), 10)
    monkeypatch.setattr(player, "search", lambda positions, rng: (np.array(visits, float), np.array(values, float)))
    for seed in range(5):
        assert player.choose(Core().start(3), np.random.default_rng(seed)).tolist() == [1, 0, 0]


class Scripted:
    """An evaluator whose calls give South the next of `values`, and North its negative, for any position."""

    def __init__(self, values: Floats) -> None:
        self.core, self.values = Core(), iter(values)

    def evaluate(self, positions: Positions, rng: np.random.Generator) -> Floats:
        value: Floats = next(self.values) * np.array([[1.0, -1.0]])
        return value


@pytest.mark.parametrize("exploration", [UCT_EXPLORATION, 2.0])
def test_the_root_s_visits_are_those_of_uct(exploration: float) -> None:
    """The root follows the formula of Kocsis and Szepesvári; every move is tried once before any is tried again."""
    script, rng = np.random.default_rng(0).uniform(-0.2, 0.3, 24), np.random.default_rng(0)
    once, _ = MCTSPlayer(Scripted(script), 10, exploration=exploration).search(Core().start(), rng)
    assert once.tolist() == [[1] * 10]
    evaluator = Scripted(script)
    rng = np.random.default_rng(0)
    found, values = MCTSPlayer(evaluator, 24, exploration=exploration).search(Core().start(), rng)
    assert list(evaluator.values) == []  # every simulation ended at a running position
    assert (found > 0).all()
    visits, sums = np.ones(10), values[0] * found[0]
    assert sums.sum() == pytest.approx(script.sum())
    for _ in range(14):
        bonus = exploration * np.sqrt(np.log(visits.sum()) / visits)
        visits[(values[0] + bonus).argmax()] += 1
    assert found.sum() == visits.sum() == 24
    assert np.abs(found[0] - visits).max() <= (6 if exploration < 1 else 2)


class Priors:
    """An evaluator that gives every position the same (A,) priors and the same `value` to South."""

    def __init__(self, priors: list[float], value: float = 0.0) -> None:
        self.core, self.priors, self.value = Core(), np.array(priors), value

    def evaluate_with_priors(self, positions: Positions, rng: np.random.Generator) -> tuple[Floats, Floats]:
        return np.tile([self.value, -self.value], (len(positions), 1)), np.tile(self.priors, (len(positions), 1))


@pytest.mark.parametrize("value", [0.0, 0.5, -0.5])
def test_priors_divide_the_visits_of_equal_moves_as_puct_does(value: float) -> None:
    """With equal values, which untried moves share, PUCT is D'Hondt's method of allocating seats by votes."""
    priors, rng = [0.31, 0.05, 0.02, 0.12, 0.08, 0.17, 0.03, 0.01, 0.15, 0.06], np.random.default_rng(0)
    for simulations in (1, 24):
        visits, values = MCTSPlayer(Priors(priors, value), simulations, exploration=0.5).search(Core().start(2), rng)
        seats = np.zeros(10)
        for _ in range(simulations):
            seats[(np.array(priors) / (1 + seats)).argmax()] += 1
        assert (visits == seats).all()
        assert (values == np.where(seats, value, 0)).all()


def test_a_move_of_small_prior_is_found_once_the_others_are_worse() -> None:
    """An untried move has the mean value of the tried moves, and the priors of illegal moves are ignored."""
    core, rng = Core(), np.random.default_rng(0)
    position = parse_position(core, CAPTURE)
    assert core.legal_mask(position)[0].nonzero()[0].tolist() == [4, 5]
    priors = [0.1, 0.1, 0.9, 0.1, 0.1, 0.3, 0.1, 0.1, 0.1, 0.1]
    assert MCTSPlayer(Priors(priors), 1).choose(position, rng).tolist() == [5]
    visits, values = MCTSPlayer(Priors(priors), 400).search(position, rng)
    assert visits.sum() == visits[0, 4:6].sum() == 400
    assert values[0, 4] == pytest.approx(2 / core.rules.total)
    assert MCTSPlayer(Priors(priors), 400).choose(position, rng).tolist() == [4]
