"""Test the page's puzzles: their themes, their files and their proofs."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from oanquan_env import PRESETS, Board, Core, Positions
from oanquan_env.engine.notation import Move
from oanquan_env.engine.symmetry import canonical_keys
from oanquan_env.play.levels import LEVELS
from oanquan_env.search.deepening import Search
from tools.puzzle_themes import THEMES, is_largest_badge, points_lead, themes_of
from tools.write_puzzles import (
    BADGES,
    FEWEST,
    FOLDER,
    GOAL,
    LONGEST,
    NAMES,
    Prover,
    UnsolvedError,
    choose,
    level_of,
    line_of,
    share_found,
    untimed,
)

MOST_BYTES = 60_000
FEWEST_OF_A_LEVEL = 20
WORKED = "2,3,1,0,0,4*/3,0,1,2,0,0 22,22 0 30"
"""A position of the default rules in which 3A captures the last stone and wins 42 to 28."""


def puzzles_of(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the level and the entry of each puzzle of a preset."""
    levels = json.loads((FOLDER / f"puzzles-{name}.json").read_text())
    return [(level, puzzle) for level, members in levels.items() for puzzle in members]


# ---- themes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theme", "position", "line", "other"),
    [
        ("mandarin", "1,0,0,4,0,1*/4,0,5,1,3,0* 16,15 0 20", "1A", "4A"),
        ("ends", WORKED, "3A", "1A"),
        ("starve", "1,0,0,0,2,0*/0,0,0,1,0,0* 23,23 0 30", "1C", "1A"),
        ("quiet", "1,0,1,0,2,0*/0,4,0,0,0,0* 21,21 0 20", "1C 2A 3C", "3C"),
        ("deny", "3,0,1,0,4,0*/1,0,0,5,0,0* 18,18 0 20", "1A", "1C"),
        ("double", "2,0,0,2,0,0*/0,1,5,0,0,0* 20,20 0 20", "4C", "1A"),
    ],
)
def test_themes(theme: str, position: str, line: str, other: str) -> None:
    board = Board.parse(position)
    assert theme in themes_of(board, line.split())
    assert theme not in themes_of(board, other.split())


@pytest.mark.parametrize(("points", "counts"), [("8/1,1,1,1,1,5 26,25", True), ("4/1,1,1,1,1,5 28,27", False)])
def test_a_mandarin_without_a_stone_counts_by_its_seeds(points: str, counts: bool) -> None:
    board = Board.parse(f"0,0,1,0,0,{points} 0 20", "tonkin")
    assert ("mandarin" in themes_of(board, ["3A"])) == counts


# ---- proofs and lines ------------------------------------------------------------------------------------------------


def test_the_prover_tells_right_moves_from_wrong_ones() -> None:
    board, prover = Board.parse(WORKED), Prover(Core(), 20_000)
    assert prover.reaches(board, "3A") == 1  # it ends the game
    assert "3A" in prover.step(board).right
    behind = Board.parse("2,3,1,0,0,4*/3,0,1,2,0,0 4,40 0 30")  # the stone is not enough
    assert prover.reaches(behind, "3A") == 0
    with pytest.raises(UnsolvedError):
        Prover(Core(), 1).reaches(Board(), "4A")


def test_levels_take_the_longest_lines_and_few_answers_of_the_largest_badge() -> None:
    shares = {"easy": 0.4, "medium": 0.1, "hard": 0.0}
    assert [level_of(share) for share in shares.values()] == list(shares)
    found = [
        {"id": f"{number}{level}{badge}", "found": share, "badge": badge, "line": ["1A"] * (5 if number % 4 else 3)}
        for number in range(100)
        for level, share in shares.items()
        for badge in (True, False)
    ]
    levels = choose(found)
    assert [len(members) for members in levels.values()] == [40, 40, 40]
    assert [sum("True" in one["id"] for one in members) for members in levels.values()] == [4, 0, 0]  # of the first 6
    assert {len(one["line"]) for members in levels.values() for one in members} == {5}
    assert [len(members) for members in choose(found[:60]).values()] == [16, 10, 10]


def test_a_level_without_a_clock() -> None:
    assert untimed(LEVELS["hard"]).players == ("minimax:depth=6,net=pretrained",)
    assert untimed(LEVELS["perfect"]).players == ("book:minimax:nodes=1000000,net=pretrained",)


def test_trials_of_a_puzzle_that_ends_at_once() -> None:
    board, rng = Board.parse(WORKED), np.random.default_rng(0)
    alone, several = (share_found(board.core, board, [right], rng) for right in ("3A", "3A 1A 1C 2A 2C 3C"))
    assert 0.4 < alone < 0.8  # greedy players, except in random moves; the weakest avoids the end
    assert several == 1


# ---- the files -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_files_hold_what_they_promise(name: str) -> None:
    core, found = Core(PRESETS[name].rules), puzzles_of(name)
    assert min(Counter(level for level, _ in found).values()) >= FEWEST_OF_A_LEVEL
    assert (FOLDER / f"puzzles-{name}.json").stat().st_size <= MOST_BYTES
    assert len(found) >= 100
    boards = [Board.parse(puzzle["position"], core.rules) for _, puzzle in found]
    keys = canonical_keys(core, Positions.concatenate(board.positions for board in boards))
    assert len(set(keys.tolist())) == len({puzzle["id"] for _, puzzle in found}) == len(found)
    badges = []
    for (level, puzzle), board in zip(found, boards, strict=True):
        line = puzzle["line"]
        assert len(board.legal_moves) >= FEWEST
        assert 2 <= (len(line) + 1) / 2 <= LONGEST
        assert level == level_of(puzzle["found"])
        assert not any(" " in moves for moves in line[:-1])
        assert puzzle["themes"] == themes_of(board, [moves.split()[0] for moves in line])
        assert set(puzzle["themes"]) <= set(THEMES)
        badges += [level] * is_largest_badge(board, line[0])
    assert badges == ["easy"] * len(badges)
    assert len(badges) <= BADGES


def agrees(board: Board, line: list[str], search: Search, depth: int) -> int:
    """Check that `search` to `depth` plies agrees with a puzzle's line; return the number of moves that it proved."""
    compared, board = 0, board.copy()
    for ply, moves in enumerate(line):
        if ply % 2 == 0:
            (values,), (proved,) = search.proved_values(board.positions, depth)
            for action in proved.nonzero()[0]:
                right = str(Move.from_action(int(action))) in moves.split()
                assert (values[action] + points_lead(board) >= GOAL) == right
                compared += 1
        board.push(moves.split()[0])
    return compared


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("every", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_lines_are_proved_again_and_a_plain_search_agrees(name: str, every: int) -> None:
    core = Core(PRESETS[name].rules)
    search = Search(core, threads=1)
    lines = [(Board.parse(puzzle["position"], core.rules), puzzle["line"]) for _, puzzle in puzzles_of(name)]
    for board, line in lines[::every]:
        assert line_of(board, Prover(core)) == line
    late = sorted(lines, key=lambda one: core.seeds(one[0].positions)[0].sum())
    compared, depth, least = (lines, 8, 40) if every == 1 else (late[:16], 14, 8)
    assert sum(agrees(board, line, search, depth) for board, line in compared) >= least
