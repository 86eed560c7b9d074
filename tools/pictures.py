"""Draw the boards in docs/img with `oanquan_env.render`: `python -m tools.pictures`."""

from __future__ import annotations

from pathlib import Path

from benchmarks.report import RESULTS
from oanquan_env.board import Board
from oanquan_env.files import read_json, write_atomically
from oanquan_env.render import svg
from oanquan_env.render.animation import moving_svg
from oanquan_env.render.motion import film

FOLDER = Path(__file__).parents[1] / "docs" / "img"
MIDDLE_GAME = "4A 5A 5A 2C 3C 2C"
"""A relay through both mandarin squares that captures twice in a chain."""
PUZZLE = "5A 3A"
"""The shortest game: South captures a stone, and loses."""
RESPONSES = ("ludii", "north"), ("app", "south")
"""Rules and seats in which the network loses to short lines."""
THREE_PLAYERS = "3C 2A 1C 4A 5A 5C"
FOUR_PLAYERS = "3C 1C 2C 5A 2A 2C"


def played(moves: str, rules: str = "mancala-world") -> Board:
    """Return the board after these moves."""
    board = Board(rules)
    for move in moves.split():
        board.push(move)
    return board


def best_response(rules: str, seat: str, player: str = "ppo:pretrained") -> Board:
    """Return the game with the best response to a player that `benchmarks.exploit` found."""
    results = read_json(RESULTS / "exploit.json")["results"]
    (found,) = (one for one in results if (one["player"], one["rules"], one["seat"]) == (player, rules, seat))
    return played(" ".join(found["line"]), rules)


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
    game = [played(" ".join(PUZZLE.split()[:plies])) for plies in range(3)]
    drawn["game.svg"] = moving_svg(list(film(game)))
    for rules, seat in RESPONSES:
        drawn[f"response-{rules}-{seat}.svg"] = moving_svg(list(film(best_response(rules, seat).boards())))
    return drawn


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        write_atomically(FOLDER / name, picture.encode())


if __name__ == "__main__":
    main()
