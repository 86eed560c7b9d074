"""The mode `human`: each ply is shown, its sowing lap by lap, and for as long as `render_fps` says."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Move, raw_env, render
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.render import LastMove, Window, window
from tests.boards import boards_of

HOLD = Window.hold  # the real one, which other tests do without


class Shown:
    """Stands for a window; notes the pictures, their marks and how long each was held."""

    def __init__(self) -> None:
        self.pictures: list[render.Snapshot] = []
        self.marks: list[LastMove | None] = []
        self.held: list[float] = []
        self.closes_after = 10**9

    def show(self, board: Any, *, last: LastMove | None = None, owners: Any = None) -> bool:
        seeds, stones, scores = tuple(board.seeds), tuple(board.stones), tuple(board.scores)
        self.pictures.append(render.Snapshot(board.rules, seeds, stones, scores, board.mover, board.ply))
        self.marks.append(last)
        return len(self.pictures) < self.closes_after

    def hold(self, seconds: float) -> bool:
        self.held.append(seconds)
        return True

    def close(self) -> None:
        pass


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    opened = Shown()
    monkeypatch.setattr(render, "Window", lambda: opened)
    return opened


def finished_plies(shown: Shown) -> list[tuple[int, tuple[int, ...]]]:
    """Plies played and seeds, of the first picture after each ply; the steps of a ply count as before it."""
    return list({picture.ply: picture.seeds for picture in reversed(shown.pictures)}.items())[::-1]


def pictures_of(history: list[Board]) -> list[tuple[int, tuple[int, ...]]]:
    return [(board.ply, tuple(board.seeds)) for board in history]


def test_one_s_own_ply_and_the_reply_are_both_shown(shown: Shown) -> None:
    game = OAnQuanEnv(opponent=lambda positions, rng: np.array([Move.parse("5C").action]), seat=0, render_mode="human")
    game.reset()
    game.step(Move.parse("1A").action)
    assert finished_plies(shown) == pictures_of(boards_of("1A", "5C"))
    labels = list(dict.fromkeys(mark.label for mark in shown.marks if mark))
    assert labels == ["1A", "5C"]


def test_an_opening_ply_of_the_opponent_is_shown(shown: Shown) -> None:
    game = OAnQuanEnv(opponent=lambda positions, rng: np.array([Move.parse("5C").action]), seat=1, render_mode="human")
    game.reset()
    assert finished_plies(shown) == pictures_of(boards_of("5C"))


def test_each_ply_of_a_pettingzoo_game_is_shown_from_its_beginning_on(shown: Shown) -> None:
    game = raw_env(render_mode="human")
    game.reset()
    for move in ("1A", "5C", "3A"):
        game.step(Move.parse(move).action)
    assert finished_plies(shown) == pictures_of(boards_of("1A", "5C", "3A"))


def test_the_sowing_is_shown_lap_by_lap_and_then_the_captures(shown: Shown) -> None:
    board = Board()
    board.push("1A")
    trace = board.sowing("3A")
    assert len(trace.laps) > 1
    game = raw_env(render_mode="human")
    game.reset(options={"position": board})
    game.step(Move.parse("3A").action)
    steps = shown.pictures[1:]
    assert [picture.seeds for picture in steps] == [frame.seeds for frame in trace.frames()]
    assert [picture.scores for picture in steps] == [frame.scores for frame in trace.frames()]
    marks = shown.marks[1:]
    board.push("3A")
    assert marks[-1] == board.last_mark
    for number, lap in enumerate(trace.laps, 1):
        mark = marks[number]
        assert mark is not None
        assert mark.last == lap.last
        assert mark.path == tuple(square for lap in trace.laps[:number] for square in lap.squares)
        assert mark.captured == ()


@pytest.mark.parametrize("fps", [1, 4])
def test_a_ply_takes_what_the_frame_rate_says(shown: Shown, fps: int) -> None:
    game = raw_env(render_mode="human")
    game.metadata = {**game.metadata, "render_fps": fps}
    game.reset()
    assert shown.held == [1 / fps]
    game.step(0)
    assert len(shown.held) == len(shown.pictures) > 2
    assert sum(shown.held[1:]) == pytest.approx(1 / fps)


def test_a_window_that_its_user_closes_holds_nothing_up(shown: Shown) -> None:
    shown.closes_after = 3
    game = raw_env(render_mode="human")
    game.reset()
    game.step(0)
    assert (len(shown.pictures), len(shown.held)) == (3, 2)


def test_a_picture_is_held_on_until_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    clock = SimpleNamespace(now=100.0)

    def sleep(seconds: float) -> None:
        assert 0 < seconds <= 0.05  # in between, what the user does is handled
        clock.now += seconds

    monkeypatch.setattr(window, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=sleep))
    shown = Window(width=200)
    shown.show(Board())
    clock.now += 0.4  # spent on drawing
    assert HOLD(shown, 1.0)
    assert clock.now == pytest.approx(101.0)
    assert HOLD(shown, 0.5)
    assert clock.now == pytest.approx(101.0)
    shown.close()
    assert not HOLD(shown, 9.0)
    assert clock.now == pytest.approx(101.0)
