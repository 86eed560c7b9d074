"""Test the fast core against the slow referee, published counts of move sequences and golden playthroughs."""

import re

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import Core, Positions, Rules, Termination, divide, perft
from tests import ROOT, golden
from tests.helpers.boards import boards_of
from tests.helpers.players import random_legal
from tests.helpers.referee import Referee
from tests.helpers.strategies import PRESET_NAMES, PRESETS_TO_COMPILE, rules, seeds


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
        actions = random_legal(core.legal_mask(positions), rng)
        played = core.play(positions, actions)
        for row, (referee, action) in enumerate(zip(referees, actions, strict=True)):
            assert referee.play(int(action)) == (played.captured[row], played.laps[row])
            assert_same(core, positions, row, referee)
        going = ~positions.over
        positions = positions[going]
        referees = [referee for referee, on in zip(referees, going, strict=True) if on]


CROWDED = [
    "fields=2 seeds=63 quan_non=200",
    "fields=2 seeds=60 stone_value=1",
    "three-player fields=2 seeds=41 refill_when=at_once",
]
"""Rules under which refills on credit bring more than 255 seeds into play."""


@pytest.mark.parametrize("text", [*PRESET_NAMES, *CROWDED])
def test_presets_and_crowded_boards_agree_with_the_referee(text: str) -> None:
    play_beside(Rules.parse(text), games=60, seed=1 + (text in CROWDED))


@given(rules(), seeds)
def test_random_rules_agree_with_the_referee(game_rules: Rules, seed: int) -> None:
    play_beside(game_rules, games=6, seed=seed)


PUBLISHED = {
    "mancala-world": (10, 80, 654, 4974, 36220),
    "mancala-world end=squares_empty": (10, 80, 664, 5132, 38548),
    "vietnamese": (10, 80, 664, 5128, 38500),
    "vietnamese refill=forfeit": (10, 80, 664, 5128, 38500),
    "vietnamese quan_non=5": (10, 80, 668, 5188, 39146),
    "vietnamese first_move_captures_mandarin=False": (10, 80, 668, 5184, 38944),
    "tonkin": (5, 20, 69, 247, 764),
    "ludii": (10, 80, 654, 4974, 36244),
    "app": (10, 80, 654, 5002, 37216),
    "mancala-world mandarin_seeds_capturable=False": (10, None, None, None, 36316),
    "three-player": (10, 80, 654, 5295, 42672),
    "four-player": (10, 80, 648, 5340, 43682),
}


@pytest.mark.parametrize("rules", PUBLISHED)
def test_published_counts(rules: str) -> None:
    for depth, paths in enumerate(PUBLISHED[rules], 1):
        assert paths in (None, perft(rules, depth))


def test_counts_divide_by_the_first_move_and_a_finished_game_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(perft.__globals__, "CHUNK", 7)  # which changes no count
    first, second, over = boards_of("5A", "3A")
    assert {str(move): paths for move, paths in divide(second, 2).items()}["3A"] == 1
    assert sum(divide(first, 4).values()) == perft(first, 4) == 4974
    assert over.outcome
    assert [perft(over, depth) for depth in (0, 1, 5)] == [1, 1, 1]
    assert (over, divide(over, 3)) == (boards_of("5A", "3A")[-1], {})
    for count, depth in ((perft, -1), (divide, 0)):
        with pytest.raises(ValueError, match=f"must be a whole number of {depth + 1} or more; got {depth}"):
            count("app", depth)


@pytest.mark.parametrize("preset", PRESETS_TO_COMPILE)
def test_a_game_answers_as_it_did(preset: str) -> None:
    now = "\n".join(golden.playthrough(preset)).splitlines()
    assert now == golden.path(preset).read_text(encoding="utf-8").splitlines(), "if meant: python -m tests.golden"


def test_the_referee_quotes_the_rules() -> None:
    specification = " ".join((ROOT / "docs" / "RULES.md").read_text(encoding="utf-8").replace("*", "").split())
    comments = re.sub(r"\n +#", "", (ROOT / "tests" / "helpers" / "referee.py").read_text(encoding="utf-8"))
    quoted = re.findall("“([^”]*)”", comments)
    assert len(quoted) > 20
    assert [text for text in quoted if text not in specification] == []
