"""Positions as text and as SVG: every piece and number, the last move, ownership, how a game ended."""

import importlib.util
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oanquan_env import Board, Outcome, Rules, Termination
from oanquan_env.render import LastMove, Snapshot, coloured, svg, text
from oanquan_env.render.drawable import status_line
from oanquan_env.render.scene import MOST_PEBBLES
from oanquan_env.render.theme import DARK, LIGHT, PEBBLES
from tests.boards import BIG, PUZZLE_MARK, boards_of, played_board
from tests.strategies import PRESET_NAMES
from tests.strategies import seeds as random_seeds

OWNERS = [[0, 1, 2, 0, 0], [2, 2, 0, 0, 1]]


def test_a_move_as_text() -> None:
    assert text(boards_of("5A")[-1], last=PUZZLE_MARK) == (
        "▶ North 0\n"
        "               5       4       3       2       1\n"
        "   ╭───────┬───────┬───────┬───────┬───────┬───────┬───────╮\n"
        "   │   ◉   │    0  │    6  │    6  │    6  │    6  │       │\n"
        "   │       ├───────┼───────┼───────┼───────┼───────┤       │\n"
        "   │    1  │    6  │    6  │    6  │  ● 6  │  ○ 0  │  × 0  │\n"
        "   ╰───────┴───────┴───────┴───────┴───────┴───────┴───────╯\n"
        "               1       2       3       4       5\n"
        "  South 11\n"
        "\n"
        "North to move, ply 1, South played 5A"
    )


def test_a_narrow_terminal_gets_the_same_signs_numbers_and_words_on_a_narrow_board() -> None:
    board = boards_of("5A")[-1]
    narrow, wide = (text(board, last=PUZZLE_MARK, columns=columns) for columns in (59, 60))
    assert wide == text(board, last=PUZZLE_MARK)
    assert max(map(len, narrow.split("\n"))) == 37
    assert re.findall(r"[▶◉○●×]|\w+", narrow) == re.findall(r"[▶◉○●×]|\w+", wide)


def test_colours_mark_the_mover_the_stones_and_the_last_move() -> None:
    drawn = text(boards_of("5A")[-1], last=PUZZLE_MARK)
    shown = coloured(drawn)
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == drawn
    for words in ("\x1b[1m▶ North 0\x1b[0m", "\x1b[1;31m◉\x1b[0m", "\x1b[33m● 6\x1b[0m", "\x1b[31m× 0\x1b[0m"):
        assert words in shown


def test_big_heaps_negative_scores_and_ownership_as_text() -> None:
    lines = text(BIG, owners=OWNERS).split("\n")
    assert lines[1].split() == ["5½", "4", "3", "2$", "1$"]
    assert lines[7].split() == ["1", "2½", "3$", "4", "5"]
    assert re.findall(r"\d+", lines[3]) == ["11", "2", "0", "9", "0"]
    assert re.findall(r"\d+", lines[5]) == ["0", "17", "0", "3", "12", "1", "23"]
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
    assert all(mark in drawn for mark in ("[○10 ]", "[●12 ]", "[×14 ]"))
    assert drawn.endswith("East to move, ply 0, South played 1A")
    south = next(line for line in drawn.split("\n") if "[○10 ]" in line)
    fields = re.findall(r"\[.(\d\d) \]", south)
    assert fields[fields.index("10") :][:5] == ["10", "11", "12", "13", "14"]


@pytest.mark.parametrize(
    ("rules", "scores", "winner", "words"),
    [
        ("mancala-world", (46, 24), 0, "South wins"),
        ("mancala-world", (35, 35), None, "A draw"),
        ("three-player", (40, 25, 40), None, "South and West share the win"),
        ("four-player", (40, 40, 20, 40), None, "South, East and West share the win"),
        ("four-player", (35, 35, 35, 35), None, "A draw"),
    ],
)
def test_how_a_game_ended_in_words(rules: str, scores: tuple[int, ...], winner: int | None, words: str) -> None:
    game = Rules.parse(rules)
    outcome = Outcome(scores, winner, Termination.STONES_CAPTURED)
    board = Snapshot(game, (0,) * game.squares, (0,) * game.players, (0,) * game.players, 0, 9, outcome)
    assert status_line(board) == words
    drawn = text(board)
    assert drawn.endswith(f"{words}, stones captured, ply 9")
    assert "▶" not in drawn
    assert all(str(score) in drawn for score in scores)  # the final points, not the scores before the leftovers
    assert f">{words}<" in svg(board)
    assert ">stones captured · ply 9<" in svg(board)


def elements(picture: str) -> list[tuple[str, str, str]]:
    """(tag, class, text) of every element."""
    root = ElementTree.fromstring(picture)
    return [(node.tag.rpartition("}")[2], node.get("class", ""), node.text or "") for node in root.iter()]


@given(st.sampled_from(PRESET_NAMES), random_seeds, st.integers(0, 39))
def test_every_piece_and_number_is_in_the_picture(preset: str, seed: int, plies: int) -> None:
    board = played_board(preset, seed, plies)
    drawn = elements(svg(board))
    roles = Counter(kind.split()[0] for _, kind, _ in drawn if kind)
    in_play = board.seeds if board.outcome is None else []  # what a finished game left is counted, and in brackets
    assert sum(roles[f"f-{role}"] for role in PEBBLES) == sum(min(MOST_PEBBLES, count) for count in in_play)
    assert sum(kind == "f-stone s-stone_rim" for _, kind, _ in drawn) == sum(board.stones)
    words = Counter(word for tag, _, word in drawn if tag == "text")
    numbers = Counter(str(count) for count in in_play if count)
    left = Counter(f"({count})" for count in board.seeds if count and board.outcome is not None)
    assert Counter({word: n for word, n in words.items() if word.startswith("(")}) == left
    scores = board.scores if board.outcome is None else board.outcome.scores
    numbers += Counter(str(score).replace("-", "−") for score in scores)
    labels = Counter(str(field + 1) for field in range(board.rules.fields) for _ in range(board.rules.players))
    assert Counter({word: n for word, n in words.items() if re.fullmatch(r"−?\d+", word)}) == numbers + labels


def test_ownership_is_marked() -> None:
    added = Counter(kind for _, kind, _ in elements(svg(BIG, owners=OWNERS)))
    added -= Counter(kind for _, kind, _ in elements(svg(BIG)))
    assert added == {"f-accent s-edge": 3, "f-card s-accent": 2}
    assert svg(BIG, owners=np.array(OWNERS)) == svg(BIG, owners=OWNERS)


def test_light_dark_and_whatever_the_reader_prefers() -> None:
    light, dark, either = (svg(BIG, dark=dark) for dark in (False, True, None))
    assert "<style>" not in light + dark
    assert "prefers-color-scheme:dark" in either
    body = re.sub(r'<style>.*</style>\n| class="[^"]*"', "", either)
    assert body == re.sub(r' class="[^"]*"', "", light)
    used = {kind for _, kinds, _ in elements(either) for kind in kinds.split() if not kind.startswith("oanquan")}
    changed = {f"{kind}" for kind in used if LIGHT[kind[2:]] != DARK[kind[2:]]}
    assert all(f".oanquan-auto .{kind}{{" in either for kind in changed)


def test_svg_scales_and_escapes() -> None:
    root = ElementTree.fromstring(svg(BIG, width=400))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("400", "200", "0 0 800 400")
    sly = LastMove(0, (1,), 1, (), '<script>"&')
    texts = [word for tag, _, word in elements(svg(BIG, last=sly)) if tag == "text"]
    assert 'South played <script>"& · ply 31' in texts
    assert elements(svg(Board()))[1] == ("title", "", "Ô Ăn Quan: 0 : 0, South to move")


def test_the_pictures_of_the_docs_are_up_to_date() -> None:
    script = Path(__file__).parents[1] / "docs" / "make_pictures.py"
    spec = importlib.util.spec_from_file_location("make_pictures", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pictures = module.pictures()
    assert {path.name for path in module.FOLDER.glob("*.svg")} == set(pictures)
    for name, picture in pictures.items():
        assert (module.FOLDER / name).read_text(encoding="utf-8") == picture, f"run docs/make_pictures.py: {name}"
