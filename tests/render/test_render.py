"""Test positions as text and as SVG: every piece and number, the last move, ownership, and how a game ended."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest
from hypothesis import given

from oanquan_env import Board, Outcome, Rules, Termination
from oanquan_env.render import LastMove, Snapshot, coloured, svg, text
from oanquan_env.render.scene import MOST_PEBBLES
from oanquan_env.render.theme import PEBBLES
from tests.helpers.boards import BIG, PUZZLE_MARK, boards, boards_of
from tools import write_pictures

OWNERS = [[0, 1, 2, 0, 0], [2, 2, 0, 0, 1]]
PUZZLE = """\
▶ North 0
               5       4       3       2       1
   ╭───────┬───────┬───────┬───────┬───────┬───────┬───────╮
   │   ◉   │    0  │    6  │    6  │    6  │    6  │       │
   │       ├───────┼───────┼───────┼───────┼───────┤       │
   │    1  │    6  │    6  │    6  │  ● 6  │  ○ 0  │  × 0  │
   ╰───────┴───────┴───────┴───────┴───────┴───────┴───────╯
               1       2       3       4       5
  South 11

North to move, ply 1, South played 5A"""


def test_a_move_as_text_wide_narrow_and_coloured() -> None:
    board = boards_of("5A")[-1]
    assert text(board, last=PUZZLE_MARK) == text(board, last=PUZZLE_MARK, columns=60) == PUZZLE
    narrow = text(board, last=PUZZLE_MARK, columns=59)
    assert max(map(len, narrow.split("\n"))) == 37
    assert re.findall(r"[▶◉○●×]|\w+", narrow) == re.findall(r"[▶◉○●×]|\w+", PUZZLE)
    shown = coloured(PUZZLE)
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == PUZZLE
    for words in ("\x1b[1m▶ North 0\x1b[0m", "\x1b[1;31m◉\x1b[0m", "\x1b[33m● 6\x1b[0m", "\x1b[31m× 0\x1b[0m"):
        assert words in shown
    assert "\x1b[1m▶ Your friend 0\x1b[0m" in coloured(text(board, seats=("you", "your friend")))


def test_big_heaps_negative_scores_and_ownership_as_text() -> None:
    lines = text(BIG, owners=OWNERS).split("\n")
    assert [lines[1].split(), lines[7].split()] == [["5½", "4", "3", "2$", "1$"], ["1", "2½", "3$", "4", "5"]]
    assert " ".join(re.findall(r"\d+", lines[3] + lines[5])) == "11 2 0 9 0 0 17 0 3 12 1 23"
    assert lines[8] == "  South -7"


@pytest.mark.parametrize(("players", "names"), [(3, "South East West"), (4, "South East North West")])
def test_triangle_and_square_as_text(players: int, names: str) -> None:
    rules = Rules(players=players)
    seeds = tuple(range(10, 10 + rules.squares))
    board = Snapshot(rules, seeds, (1, 0, 1, 0)[:players], tuple(range(70, 70 + players)), mover=1)
    drawn = text(board, last=LastMove(0, (1, 2), 2, (4,), "1A"))
    assert sorted(re.findall(r"[\[(].(..) ?.[\])]", drawn)) == [str(count) for count in seeds]
    assert drawn.count("◉") == sum(board.stones)
    for player, name in enumerate(names.split()):
        assert f"{'▶' if player == 1 else ' '} {name} {70 + player}" in drawn
    south = next(line for line in drawn.split("\n") if "[○10 ]" in line)
    assert re.search(r"\[○10 \].*\[.11 \].*\[●12 \].*\[.13 \].*\[×14 \]", south)
    assert drawn.endswith("East to move, ply 0, South played 1A")


def test_how_a_game_ended_in_words() -> None:
    for scores, winner, words in (
        *(((46, 24), 0, "South wins"), ((35, 35), None, "A draw"), ((35, 35, 35, 35), None, "A draw")),
        ((40, 25, 40), None, "South and West share the win"),
        ((40, 40, 20, 40), None, "South, East and West share the win"),
    ):
        game, none = Rules(players=len(scores)), (0,) * len(scores)
        outcome = Outcome(scores, winner, Termination.STONES_CAPTURED)
        board = Snapshot(game, (0,) * game.squares, none, none, 0, 9, outcome)
        drawn = text(board)
        assert drawn.endswith(f"{words}, stones captured, ply 9")
        assert "▶" not in drawn
        assert all(str(score) in drawn for score in scores)  # the final points, not the scores before the leftovers
        assert all(f">{line}<" in svg(board) for line in (words, "stones captured · ply 9"))


def elements(picture: str) -> list[tuple[str, str, str]]:
    """Return the (tag, class, text) of every element of an SVG."""
    root = ElementTree.fromstring(picture)
    return [(node.tag.rpartition("}")[2], node.get("class", ""), node.text or "") for node in root.iter()]


@given(boards())
def test_every_piece_and_number_is_in_the_picture(board: Board) -> None:
    drawn = elements(svg(board))
    roles = Counter(kind.split()[0] for _, kind, _ in drawn if kind)
    in_play = board.seeds if board.outcome is None else []  # leftovers of a finished game are numbers in brackets
    assert sum(roles[f"f-{role}"] for role in PEBBLES) == sum(min(MOST_PEBBLES, count) for count in in_play)
    assert sum(kind == "f-stone s-stone_rim" for _, kind, _ in drawn) == sum(board.stones)
    numbers = [str(count) for count in in_play if count]
    numbers += [f"({count})" for count in board.seeds if count and board.outcome is not None]
    scores = board.scores if board.outcome is None else board.outcome.scores
    numbers += [str(score).replace("-", "−") for score in scores]
    numbers += [str(field + 1) for field in range(board.rules.fields)] * board.rules.players
    words = [word for tag, _, word in drawn if tag == "text"]
    assert sorted(word for word in words if re.fullmatch(r"−?\d+|\(.*", word)) == sorted(numbers)


def test_ownership_is_marked_and_labels_are_escaped() -> None:
    added = Counter(kind for _, kind, _ in elements(svg(BIG, owners=OWNERS)))
    added -= Counter(kind for _, kind, _ in elements(svg(BIG)))
    assert added == {"f-accent s-edge": 3, "f-card s-accent": 2}
    assert 'viewBox="0 0 800 400" width="400" height="200"' in svg(BIG, width=400)
    sly = elements(svg(BIG, last=LastMove(0, (1,), 1, (), '<script>"&')))
    assert 'South played <script>"& · ply 31' in [word for _, _, word in sly]
    assert elements(svg(Board()))[1] == ("title", "", "Ô Ăn Quan: 0 : 0, South to move")


def test_the_pictures_of_the_docs_are_up_to_date() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in write_pictures.FOLDER.glob("*.svg")}
    del stored["architecture.svg"]  # drawn by hand
    assert stored == write_pictures.pictures(), "run python -m tools.write_pictures"


@pytest.mark.slow
def test_every_chart_is_drawn_from_the_measurements_beside_it() -> None:
    assert {path for path, _ in write_pictures.charts()} == {*write_pictures.RESULTS.rglob("*.png")}
