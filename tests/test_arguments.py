"""Arguments of functions: rules as text, players by name, whole numbers."""

from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Rules, choose_move, divide, perft
from oanquan_env.benchmark.curves import learning_curve
from oanquan_env.benchmark.evaluation import REFERENCES, default_openings, reference_players
from oanquan_env.benchmark.suites import find_suite, load_suite
from oanquan_env.errors import UsageError
from oanquan_env.match.match import play_matches


@pytest.mark.parametrize("depth", [1.5, "3", True, None, float("nan"), -1])
def test_paths_are_counted_to_a_whole_depth(depth: Any) -> None:
    for count, least in ((perft, 0), (divide, 1)):
        with pytest.raises(UsageError, match=f"^depth must be a whole number of {least} or more; got {depth!r}$"):
            count("mancala-world", depth)
    assert perft("mancala-world", np.int64(2)) == sum(divide("mancala-world", np.int64(2)).values())


def test_rules_may_be_text_wherever_they_are_an_argument() -> None:
    assert default_openings("mancala-world") == "balanced"
    assert reference_players("three-player") == list(REFERENCES)
    assert load_suite("tonkin").core.rules == Rules.parse("tonkin")
    assert find_suite("tonkin seeds=4") is None


def test_players_by_name_choose_moves_and_play_matches() -> None:
    captures = Board.parse("1,0,5,5,5,0*/5,5,5,5,5,0* 9,0 0 1")
    assert all(choose_move("greedy", captures) == choose_move("maxn:depth=1", captures) for _ in range(5))
    rng = np.random.default_rng(0)
    (match,) = play_matches(["greedy", "random"], 1, rng, rules="vietnamese")
    assert match.outcome is not None
    for players, n, message in (
        (["greedy", "random"], 1.5, "^n must be a whole number of 0 or more; got 1.5$"),
        ("ab", 1, "^a match has two players; got ab$"),
    ):
        with pytest.raises(ValueError, match=message):
            play_matches(players, n, rng, rules="vietnamese")  # type: ignore[arg-type]


def test_a_run_of_a_curve_is_no_single_name() -> None:
    with pytest.raises(UsageError, match="each run must have 6 checkpoints"):
        learning_curve(range(6), ["random"])
    with pytest.raises(UsageError, match=r"^seed must be a whole number of 0 or more; got 0\.5$"):
        learning_curve([1], [["random"]], seed=0.5)  # type: ignore[arg-type]
