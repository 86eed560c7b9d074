"""Moving pictures of games: what is seen at each time, and that it is what the environments show."""

import re
import stat
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from oanquan_env import GameRecord, Match, Move
from oanquan_env.records.match_records import match_records
from oanquan_env.render import image
from oanquan_env.render.animation import moving_svg
from oanquan_env.render.motion import Picture, film
from oanquan_env.render.scene import MOST_PEBBLES
from tests.boards import boards_of

SVG = "{http://www.w3.org/2000/svg}"
PUZZLE = ("5A", "3A")
LONG = ("4A", "5A", "1A", "5A")


def record(*moves: str) -> GameRecord:
    return GameRecord.from_board(boards_of(*moves)[-1])


def seen(document: str, share: float) -> list[ElementTree.Element]:
    """The elements that are drawn at this share of the whole time."""
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


def check_every_picture(pictures: list[Picture]) -> None:
    """Pebbles, stones and points of each picture are seen in its time."""
    document, whole = moving_svg(pictures), sum(picture.milliseconds for picture in pictures)
    passed = 0
    for picture in pictures:
        shown = seen(document, (passed + picture.milliseconds / 2) / whole)
        passed += picture.milliseconds
        used = [element.attrib["href"] for element in shown if element.tag == f"{SVG}use"]
        held = picture.hand[1] if picture.hand else 0
        heaps = [min(seeds, MOST_PEBBLES) for seeds in (*picture.board.seeds, held)]
        assert len([name for name in used if name.startswith("#pebble")]) == sum(heaps) * (
            picture.board.outcome is None
        )
        assert used.count("#quan") == sum(picture.board.stones)
        words = [element.text for element in shown if element.tag == f"{SVG}text"]
        outcome = picture.board.outcome
        for score in picture.board.scores if outcome is None else outcome.scores:
            assert str(score) in words


def test_every_seed_is_seen_where_it_lies() -> None:
    for boards in (boards_of(*PUZZLE), boards_of(*LONG), boards_of("3C", "2A", "1C", rules="three-player")):
        check_every_picture(list(film(boards)))


def test_a_film_sows_seed_by_seed_and_ends_on_the_board() -> None:
    row = boards_of(*PUZZLE)
    pictures = list(film(row))
    assert pictures[0].board is row[0]
    assert pictures[-1].board is row[-1]
    trace = row[1].last_trace
    assert trace is not None
    first = pictures[1 : pictures.index(next(picture for picture in pictures if picture.board is row[1]))]
    assert len(first) == sum(1 + lap.seeds for lap in trace.laps) + 2 * len(trace.takings)
    held = [picture.hand for picture in first[:6]]
    assert held == [(4, 5), (5, 4), (6, 3), (7, 2), (8, 1), None]
    assert all(sum(picture.board.seeds) + sum(picture.board.scores) + 10 * sum(picture.board.stones)
               + (picture.hand[1] if picture.hand else 0) == 70 for picture in first)  # fmt: skip


def test_a_record_becomes_an_svg_without_scripts(tmp_path: Path) -> None:
    path = tmp_path / "game.svg"
    record(*PUZZLE).animate(path)
    text = path.read_text(encoding="utf-8")
    assert record(*PUZZLE)._repr_html_() == image(text)
    assert "<script" not in text
    assert not re.search(r'(href|src)="(?!#)', text)
    assert "prefers-color-scheme" in text
    assert len(text) < 100_000
    assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRUSR
    record(*PUZZLE).animate(str(path), dark=True, width=300)  # it replaces the file
    assert 'width="300"' in path.read_text(encoding="utf-8")
    assert "prefers-color-scheme" not in path.read_text(encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["game.svg"]


def test_a_record_becomes_a_gif(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    record(*PUZZLE).animate(path, width=240)
    pictures = list(film(boards_of(*PUZZLE)))
    with Image.open(path) as shown:
        frames, times = getattr(shown, "n_frames"), []  # noqa: B009 - Pillow's types lack it
        for number in range(frames):
            shown.seek(number)
            times.append(shown.info["duration"])
        assert shown.size == (240, 120)
        assert shown.info["loop"] == 0
    assert sum(times) == sum(picture.milliseconds for picture in pictures)
    assert frames <= len(pictures)  # equal pictures are one


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a moving picture is a \.svg or a \.gif file; got 'game\.mp4'"):
        record(*PUZZLE).animate(tmp_path / "game.mp4")
    assert not list(tmp_path.iterdir())


def test_sold_fields_are_marked_in_a_round_of_a_match(tmp_path: Path) -> None:
    match = Match()
    for move in (*PUZZLE, *PUZZLE):
        match.step(Move.parse(move).action)
    first, second = match_records(match)
    first.animate(tmp_path / "first.svg")
    second.animate(tmp_path / "second.svg")
    corner = re.compile(r'<polygon points="250,300 228,300 250,278"')  # of South's field 1
    assert not corner.search((tmp_path / "first.svg").read_text(encoding="utf-8"))
    assert corner.search((tmp_path / "second.svg").read_text(encoding="utf-8"))
