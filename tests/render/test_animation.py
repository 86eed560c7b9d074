"""Test animations of games: what is visible at each time, SVG and GIF files, and sold fields."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from oanquan_env import Board, GameRecord, Match, Move
from oanquan_env.records.match_records import match_records
from oanquan_env.render import image
from oanquan_env.render.animation import moving_svg
from oanquan_env.render.motion import film
from oanquan_env.render.scene import MOST_PEBBLES
from tests.helpers.boards import boards_of

SVG = "{http://www.w3.org/2000/svg}"
PUZZLE = boards_of("5A", "3A")
RECORD = GameRecord.from_board(PUZZLE[-1])
GAMES = [PUZZLE, boards_of("4A", "5A", "1A", "5A"), boards_of("3C", "2A", "1C", rules="three-player")]


def seen(document: str, share: float) -> list[ElementTree.Element]:
    """Return the SVG elements that are visible after the fraction `share` (0 to 1) of the animation's duration."""
    shown: list[ElementTree.Element] = []
    for part in ElementTree.fromstring(document):
        animate = part.find(f"{SVG}animate")
        if animate is None:
            shown.append(part)
            continue
        starts = [float(start) for start in animate.attrib["keyTimes"].split(";")]
        values = animate.attrib["values"].split(";")
        assert starts == sorted(starts)
        assert starts[0] == 0
        if [value for start, value in zip(starts, values, strict=True) if start <= share][-1] == "visible":
            shown += list(part)
    return shown


def test_a_record_becomes_an_svg_without_scripts(tmp_path: Path) -> None:
    path = tmp_path / "game.svg"
    RECORD.animate(path)
    text = path.read_text(encoding="utf-8")
    assert RECORD._repr_html_() == image(text)
    assert not re.search(r'<script|(href|src)="(?!#)', text)
    assert "prefers-color-scheme" in text
    assert len(text) < 100_000
    RECORD.animate(str(path), dark=True, width=300)  # it replaces the file
    dark = path.read_text(encoding="utf-8")
    assert 'width="300"' in dark
    assert "prefers-color-scheme" not in dark
    with pytest.raises(ValueError, match=r"an animation must be a \.svg or \.gif file; got 'game\.mp4'"):
        RECORD.animate(tmp_path / "game.mp4")
    assert [file.name for file in tmp_path.iterdir()] == ["game.svg"]


@pytest.mark.parametrize("boards", GAMES)
def test_every_seed_stone_and_point_is_seen_in_its_time(boards: list[Board]) -> None:
    pictures = list(film(boards))
    assert (pictures[0].board, pictures[-1].board) == (boards[0], boards[-1])
    document, whole, passed = moving_svg(pictures), sum(picture.milliseconds for picture in pictures), 0
    for board, _, hand, milliseconds in pictures:
        shown = seen(document, (passed + milliseconds / 2) / whole)
        passed += milliseconds
        used = [element.attrib["href"] for element in shown if element.tag == f"{SVG}use"]
        heaps = [*board.seeds, hand[1] if hand else 0]
        assert sum(heaps) + sum(board.scores) + 10 * sum(board.stones) == board.rules.total
        pebbles = [name for name in used if name.startswith("#pebble")]
        assert len(pebbles) == sum(min(seeds, MOST_PEBBLES) for seeds in heaps if not board.outcome)
        assert used.count("#quan") == sum(board.stones)
        words = {element.text for element in shown if element.tag == f"{SVG}text"}
        assert {str(score) for score in (board.outcome or board).scores} <= words


def test_a_film_sows_seed_by_seed() -> None:
    hands = [picture.hand for picture in film(PUZZLE)]
    assert hands[:7] == [None, (4, 5), (5, 4), (6, 3), (7, 2), (8, 1), None]


def test_a_record_becomes_a_gif(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    RECORD.animate(path, width=240)
    pictures, times = list(film(PUZZLE)), []
    with Image.open(path) as shown:
        for number in range(getattr(shown, "n_frames")):  # noqa: B009 - Pillow's types lack it
            shown.seek(number)
            times.append(shown.info["duration"])
        assert (shown.size, shown.info["loop"]) == ((240, 120), 0)
    assert sum(times) == sum(picture.milliseconds for picture in pictures)
    assert len(times) <= len(pictures)  # equal pictures are merged


def test_sold_fields_are_marked_in_a_round_of_a_match(tmp_path: Path) -> None:
    match, corner = Match(), '<polygon points="250,300 228,300 250,278"'  # of South's field 1
    for move in ("5A", "3A") * 2:
        match.step(Move.parse(move).action)
    for record, sold in zip(match_records(match), (False, True), strict=True):
        record.animate(tmp_path / "round.svg")
        assert (corner in (tmp_path / "round.svg").read_text(encoding="utf-8")) == sold
