"""The fast core beside the slow referee: every number after every ply, for all presets and random rules."""

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import Core, Move, Positions, Rules, RunawayGameError, Termination
from tests.referee import Referee, perft
from tests.strategies import PRESET_NAMES, rules, seeds


def assert_same(core: Core, positions: Positions, row: int, referee: Referee) -> None:
    here = positions[row : row + 1]
    assert core.seeds(here)[0].tolist() == referee.seeds
    assert core.stones(here)[0].tolist() == referee.stones
    assert here.scores[0].tolist() == referee.scores
    assert (here.mover[0], here.ply[0]) == (referee.mover, referee.ply)
    ended = None if not here.ended[0] else str(Termination(here.ended[0]))
    assert ended == referee.ended
    assert core.legal_mask(here)[0].nonzero()[0].tolist() == sorted(referee.legal_actions())
    if ended:
        assert core.standings(here)[0].tolist() == referee.final_scores()


def play_beside(game_rules: Rules, games: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    core = Core(game_rules)
    positions = core.start(games)
    referees = [Referee(game_rules) for _ in range(games)]
    while len(positions):
        mask = core.legal_mask(positions)
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        played = core.play(positions, actions)
        for row, (referee, action) in enumerate(zip(referees, actions, strict=True)):
            assert referee.play(int(action)) == (played.captured[row], played.laps[row])
            assert_same(core, positions, row, referee)
        going = ~positions.over
        positions = positions[going]
        referees = [referee for referee, on in zip(referees, going, strict=True) if on]


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_presets_agree_with_the_referee(preset: str) -> None:
    play_beside(Rules.parse(preset), games=60, seed=1)


@given(rules(), seeds)
def test_random_rules_agree_with_the_referee(game_rules: Rules, seed: int) -> None:
    try:
        play_beside(game_rules, games=6, seed=seed)
    except RunawayGameError:
        pytest.fail(f"an endless relay under {game_rules}")


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_the_referee_counts_the_published_move_paths(preset: str) -> None:
    published = {"tonkin": 69, "four-player": 648}
    assert perft(Rules.parse(preset), 3) == published.get(preset, 664 if preset == "vietnamese" else 654)


@pytest.mark.parametrize("settings", ["", "mandarin_seeds_capturable=False", "capture=single", "three-player"])
@pytest.mark.parametrize("quan_non", range(10))
def test_every_ripeness_agrees_with_the_referee(quan_non: int, settings: str) -> None:
    """A stone with 0 to 9 seeds lies behind the gap; alone and in a batch, which are played by different code."""
    core = Core(f"{settings} quan_non={quan_non}".strip())
    action, squares = Move.parse("3A").action, core.rules.squares
    seeds = np.zeros((10, squares), dtype=int)
    seeds[:, 2], seeds[:, 5], seeds[:, 6:8] = 1, range(10), 4
    stones = np.ones((10, core.rules.players), dtype=int)
    batch = core.setup(seeds, stones, np.zeros_like(stones), checked=False)
    alone = [batch[row : row + 1] for row in range(10)]
    played = core.play(batch, np.full(10, action))
    for row in range(10):
        referee = Referee(core.rules)
        referee.seeds = seeds[row].tolist()
        captured, laps = referee.play(action)
        assert (captured, laps) == (played.captured[row], played.laps[row])
        assert_same(core, batch, row, referee)
        assert core.play(alone[row], [action]).captured.tolist() == [captured]
        assert_same(core, alone[row], 0, referee)
        assert (captured > 0) == (row >= quan_non)
