"""Draw the boards in docs/img, and the charts in experiments/results from the measurements stored beside them.

Run `python -m tools.write_pictures`; nothing is measured again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from agents.reports import curves
from agents.reports.tournaments import draw_scores, read_report
from experiments import generalisation
from experiments.common import RESULTS, published
from experiments.methods import Results
from oanquan_env.benchmark.charts import png
from oanquan_env.benchmark.report import PICTURE
from oanquan_env.board import Board
from oanquan_env.engine.rules import Rules
from oanquan_env.files import read_json, write_atomically
from oanquan_env.render import svg
from oanquan_env.render.animation import moving_svg
from oanquan_env.render.layout import layout_of
from oanquan_env.render.motion import film
from oanquan_env.render.theme import LIGHT

FOLDER = Path(__file__).parents[1] / "docs" / "img"
MIDDLE_GAME = "4A 5A 5A 2C 3C 2C"
"""Moves, the last of which is a relay through both mandarin squares with two captures in a chain."""
PUZZLE = "5A 3A"
"""One of the shortest games: South captures a stone but loses."""
RESPONSES = ("tonkin", "north"), ("app", "north")
"""Pairs (rules, seat): the network in this seat loses to a short line under these rules."""
THREE_PLAYERS = "3C 2A 1C 4A 5A 5C"
FOUR_PLAYERS = "3C 1C 2C 5A 2A 2C"
EARTH, CHALK = "#a07c56", "#f7f0e3"


def played(moves: str, rules: str = "mancala-world") -> Board:
    """Return the board after `moves`, which are separated by spaces."""
    board = Board(rules)
    for move in moves.split():
        board.push(move)
    return board


def best_response(rules: str, seat: str, player: str = "ppo:pretrained") -> Board:
    """Return the final board of the best response under `rules` to `player` in `seat`, from exploit.json."""
    results = published("exploit")["results"]
    wanted = {"player": player, "rules": rules, "seat": seat}
    (response,) = (result for result in results if wanted.items() <= result.items())
    return played(" ".join(response["line"]), rules)


def on_the_ground(picture: str) -> str:
    """Return a light picture of a board with two rows, without names and points, in the colours of chalk on earth."""
    chalk = ("edge", "count", "ink", "faint", "accent")
    for roles, colour in ((("card", "field", "mandarin", "drop"), EARTH), (chalk, CHALK)):
        for role in roles:
            picture = picture.replace(LIGHT[role], colour)
    left, top, width, height = (round(number) for number in layout_of(Rules()).board_box)
    return re.sub(
        r'viewBox="[^"]*" width="\d+" height="\d+"', f'viewBox="{left} {top} {width} {height}"', picture, count=1
    )


def pictures() -> dict[str, str]:
    """Return the SVG pictures by file name."""
    boards = {
        "board": played(MIDDLE_GAME),
        "start": Board(),
        "triangle": played(THREE_PLAYERS, "three-player"),
        "square": played(FOUR_PLAYERS, "four-player"),
    }
    looks = {"light": False, "dark": True}
    drawn = {
        f"{name}-{look}.svg": svg(board, last=board.last_mark, dark=dark)
        for name, board in boards.items()
        for look, dark in looks.items()
    }
    drawn["ground.svg"] = on_the_ground(svg(Board("vietnamese"), dark=False))
    game = [played(" ".join(PUZZLE.split()[:plies])) for plies in range(3)]
    drawn["game.svg"] = moving_svg(list(film(game)))
    for rules, seat in RESPONSES:
        drawn[f"response-{rules}-{seat}.svg"] = moving_svg(list(film(best_response(rules, seat).boards())))
    return drawn


def charts() -> Iterator[tuple[Path, bytes]]:
    """Yield the path and content of each chart."""
    for path in sorted(RESULTS.rglob("report.json")):
        yield path.with_name(PICTURE), png(draw_scores(read_report(path)))
    for path in sorted(RESULTS.rglob("learning.json")):
        content = read_json(path)
        runs = [curves.MeasuredRun(**run) for run in content["runs"]]
        yield path.with_suffix(".png"), curves.draw(runs, content["references"])
    for name, picture in Results(RESULTS / "methods.json").pictures():
        yield RESULTS / name, picture
    if drawn := generalisation.picture(published("generalisation")):
        yield RESULTS / "generalisation.png", drawn


def main() -> None:
    """Write all pictures and charts."""
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        write_atomically(FOLDER / name, picture.encode())
    for path, chart in charts():
        write_atomically(path, chart)


if __name__ == "__main__":
    main()
