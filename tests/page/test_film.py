"""Test the page's animation of a game against `render.motion`, and its GIF."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from oanquan_env import Board
from oanquan_env.render.motion import film
from oanquan_env.render.theme import LIGHT
from tests import ROOT
from tests.helpers.boards import played_board
from tests.helpers.node import run_script
from tests.helpers.page_sessions import move_json
from tests.helpers.strategies import PRESET_NAMES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WEB = ROOT / "oanquan_env/play/web"
FILM = """
import { readFileSync } from "node:fs";
const { pictures } = await import(process.argv[1]);
console.log(JSON.stringify(pictures(JSON.parse(readFileSync(0, "utf8")))));
"""
FINAL = FILM.replace("pictures", "finalPicture")
GIF = """
import { readFileSync } from "node:fs";
const { Gif } = await import(process.argv[1]);
const { width, height, colours, pictures } = JSON.parse(readFileSync(0, "utf8")), gif = new Gif(width, height, colours);
for (const [number, picture] of pictures.entries())
    gif.add(picture.flatMap((colour) => [...colours[colour], 255]), 100 * number + 50);
process.stdout.write(gif.end());
"""
MAKE = """async game => {
    const { gif } = await import("./board/picture.js"), heard = [];
    const bytes = await gif(game, "en", share => heard.push(share));
    return [[...bytes], heard];
}"""


def run(script: str, module: str, asked: object) -> bytes:
    return run_script(script, (WEB / module).as_uri(), stdin=json.dumps(asked))


def game_of(boards: list[Board]) -> dict[str, Any]:
    """Return a game in the form that picture.js takes, given the board at the start and after each move."""
    start, last, outcome = boards[0], boards[-1], boards[-1].outcome
    rules = last.rules
    drawing = json.loads((WEB / f"data/drawing-{rules.players}-{rules.fields}.json").read_text(encoding="utf-8"))
    drawing["seats"] = {"en": ["A", "B"]}
    drawing["squares"] = [{**square, "name": {"en": ""}} for square in drawing["squares"]]
    return {
        "drawing": drawing,
        "start": {"seeds": start.seeds, "stones": start.stones, "scores": start.scores},
        "starter": start.mover,
        "moves": [move_json(trace, {}) for board in boards[1:] if (trace := board.last_trace)],
        "scores": outcome and outcome.scores,
        "winners": outcome and [0],
        "names": [["A & B", "", "easy"]] * rules.players,
        "labels": [str(board.history[-1]) for board in boards[1:]],
        "verdict": "over",
    }


@pytest.mark.parametrize("rules", PRESET_NAMES)
def test_the_pictures_are_those_of_python(rules: str) -> None:
    boards = list(played_board(rules, 1, 40).boards())
    pictures = json.loads(run(FILM, "board/picture.js", game_of(boards)))
    wanted = list(film(boards))
    assert len(pictures) == len(wanted) > 100
    for made, picture in zip(pictures, wanted, strict=True):
        board = picture.board
        scores = board.scores if board.outcome is None else board.outcome.scores
        assert [made["seeds"], made["stones"], made["scores"]] == [list(board.seeds), list(board.stones), list(scores)]
        assert made["ms"] == picture.milliseconds
        assert made["hand"] == (picture.hand and list(picture.hand))


def test_the_final_picture_counts_each_seed_once() -> None:
    """Check a finished game in which seeds are left in the squares: they are in the bowls, and only there."""
    boards = list(played_board("mancala-world", 1, 40).boards())
    outcome = boards[-1].outcome
    assert outcome is not None
    assert sum(boards[-1].seeds) > 0
    made = json.loads(run(FINAL, "board/picture.js", game_of(boards)))
    assert made["scores"] == list(outcome.scores)
    assert sum(made["seeds"]) + 10 * sum(made["stones"]) + sum(made["scores"]) == 70


def test_a_gif_holds_its_pictures_exactly() -> None:
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(2)
    width, height, colours = 150, 80, rng.integers(256, size=(100, 3)).tolist()
    first = rng.integers(100, size=width * height)  # enough codes that the table is restarted
    second = np.where(rng.random(first.size) < 0.3, 7, first)
    pictures = [first, second, second, np.zeros_like(first)]
    asked = {"width": width, "height": height, "colours": colours, "pictures": [one.tolist() for one in pictures]}
    made = image.open(io.BytesIO(run(GIF, "board/gif.js", asked)))
    assert (made.n_frames, made.info["loop"]) == (4, 0)
    for number, picture in enumerate(pictures):
        made.seek(number)
        assert made.info["duration"] == 100 * number + 50
        seen = np.asarray(made.convert("RGB"))
        assert (seen == np.array(colours, np.uint8)[picture].reshape(height, width, 3)).all()


@pytest.mark.slow  # a browser takes seconds
def test_a_gif_made_in_the_page_has_the_colours_of_the_board(browser: Browser) -> None:
    image = pytest.importorskip("PIL.Image")
    boards = list(played_board("mancala-world", 1, 6).boards())
    page = browser.new_page()
    page.route("**/*", lambda route: route.fulfill(path=WEB / route.request.url.removeprefix("http://page/")))
    page.goto("http://page/dom.js")
    content, heard = page.evaluate(MAKE, game_of(boards))
    page.close()
    made = image.open(io.BytesIO(bytes(content)))
    assert made.n_frames == len(list(film(boards)))
    assert heard == sorted(heard)
    assert made.size == (600, 350)
    drawing = game_of(boards)["drawing"]
    x, y = drawing["squares"][5]["stone"]  # the stone of the first mandarin, which is still on the board
    assert boards[-1].stones[0]
    made.seek(made.n_frames - 2)  # before the remaining pieces turn pale
    red, green, blue = made.convert("RGB").getpixel((round(600 / 768 * (x - 18)), round(600 / 768 * (y - 6))))
    assert f"#{red:02x}{green:02x}{blue:02x}" == LIGHT["stone"]
