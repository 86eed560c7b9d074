"""Test the pictures of environments, and the window of the mode `human`."""

import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from oanquan_env import Board, Move, raw_env, render
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import DRAWN_GAMES, OAnQuanVectorEnv
from oanquan_env.envs.video import RecordVideo
from oanquan_env.errors import MissingExtraError
from oanquan_env.render import LastMove, Window, window
from tests.helpers.boards import boards_of

RULES = "quan_non=20 max_plies=3"  # nothing is captured so early, so every game has three plies


def line(first: str) -> list[str]:
    """Return the moves of a game of three plies: `first`, and then always the first legal move."""
    board = Board(RULES)
    board.push(first)
    while not board.outcome:
        board.push(board.legal_moves[0])
    return [str(move) for move in board.history]


LINE, OTHER = line("1A"), line("2A")


def actions(moves: Iterable[str]) -> npt.NDArray[np.int64]:
    return np.array([Move.parse(move).action for move in moves])


def picture(*moves: str, rules: str = RULES) -> npt.NDArray[np.uint8]:
    """Return the picture of the position after `moves`, as RGB pixels of shape (height, width, 3)."""
    board = boards_of(*moves, rules=rules)[-1]
    return render.rgb(board, last=board.last_mark)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_game_that_restarted_is_drawn_at_its_beginning(mode: str) -> None:
    games: Any = OAnQuanVectorEnv(2, RULES, opponent=None, render_mode="rgb_array", autoreset_mode=mode)
    game = raw_env(RULES, render_mode="rgb_array")
    games.reset(), game.reset()
    assert np.array_equal(games.render(), [picture()] * 2)
    for both in zip(LINE, OTHER, strict=True):
        games.step(actions(both))
        game.step(actions(both)[0])
    last = [picture(*LINE), picture(*OTHER)]
    assert np.array_equal(game.render(), last[0])
    assert np.array_equal(games.render(), [picture()] * 2 if mode == "SameStep" else last)
    if mode == "NextStep":
        games.step(np.array([0, 0]))
        assert np.array_equal(games.render(), [picture()] * 2)
    if mode == "Disabled":
        games.reset(options={"reset_mask": np.array([False, True])})
        assert np.array_equal(games.render(), [last[0], picture()])


def test_the_first_games_of_a_large_batch_are_drawn() -> None:
    games = OAnQuanVectorEnv(DRAWN_GAMES + 1000, RULES, opponent=None, render_mode="rgb_array")
    games.reset()
    pictures: Any = games.render()
    assert len(pictures) == games.num_envs
    assert np.array_equal(pictures[DRAWN_GAMES - 1], picture())
    assert all(blank is pictures[-1] for blank in pictures[DRAWN_GAMES:])
    assert np.array_equal(pictures[-1], 0 * picture())


HOLD = Window.hold  # the real method, which conftest.py replaces in every test


class Shown:
    """A fake window that records the pictures, their marks and how long each was held, in seconds."""

    def __init__(self) -> None:
        self.pictures: list[render.Drawable] = []
        self.marks: list[LastMove | None] = []
        self.held: list[float] = []
        self.closes_after = 10**9

    def show(self, board: Any, *, last: LastMove | None = None, owners: Any = None) -> bool:
        self.pictures.append(board)
        self.marks.append(last)
        return len(self.pictures) < self.closes_after

    def hold(self, seconds: float) -> bool:
        self.held.append(seconds)
        return True


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    opened = Shown()
    monkeypatch.setattr(render, "Window", lambda: opened)
    return opened


@pytest.mark.parametrize(("seat", "moves"), [(0, ["1A", "5C"]), (1, ["5C"])])
def test_plies_of_the_agent_and_the_opponent_are_shown(shown: Shown, seat: int, moves: list[str]) -> None:
    reply = np.array([Move.parse("5C").action])
    game = OAnQuanEnv(opponent=lambda positions, rng: reply, seat=seat, render_mode="human")
    game.reset()
    if seat == 0:
        game.step(Move.parse("1A").action)
    first = {picture.ply: list(picture.seeds) for picture in reversed(shown.pictures)}  # the first of each ply
    assert first == {board.ply: board.seeds for board in boards_of(*moves)}
    assert list(dict.fromkeys(mark.label for mark in shown.marks if mark)) == moves


def test_the_sowing_is_shown_lap_by_lap_and_then_the_captures(shown: Shown) -> None:
    board = Board()
    board.push("1A")
    trace = board.sowing("3A")
    assert len(trace.laps) > 1
    game = raw_env(render_mode="human")
    game.reset(options={"position": board})
    game.step(Move.parse("3A").action)
    steps, marks = shown.pictures[1:], shown.marks[1:]
    assert [(tuple(one.seeds), tuple(one.scores)) for one in steps] == [(f.seeds, f.scores) for f in trace.frames()]
    board.push("3A")
    assert marks[-1] == board.last_mark
    path: tuple[int, ...] = ()
    for mark, lap in zip(marks[1:], trace.laps, strict=False):
        assert mark is not None
        path += tuple(lap.squares)
        assert (mark.last, mark.path, mark.captured) == (lap.last, path, ())


def test_a_ply_takes_the_time_of_the_frame_rate_unless_the_window_is_closed(shown: Shown) -> None:
    game = raw_env(render_mode="human")
    game.metadata = {**game.metadata, "render_fps": 4}
    game.reset()
    assert shown.held == [1 / 4]
    game.step(0)
    assert len(shown.held) == len(shown.pictures) > 2
    assert sum(shown.held[1:]) == pytest.approx(1 / 4)
    shown.closes_after = len(shown.pictures) + 2
    game.step(9)
    assert (len(shown.pictures), len(shown.held)) == (shown.closes_after, shown.closes_after - 1)


def test_a_picture_is_held_on_until_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    clock = SimpleNamespace(now=100.0)

    def sleep(seconds: float) -> None:
        assert 0 < seconds <= 0.05  # the window handles events between short sleeps
        clock.now += seconds

    monkeypatch.setattr(window, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=sleep))
    shown = Window(width=200)
    shown.show(Board())
    clock.now += 0.4  # spent on drawing
    assert HOLD(shown, 1.0)
    assert clock.now == pytest.approx(101.0)
    shown.close()
    assert not HOLD(shown, 9.0)
    assert clock.now == pytest.approx(101.0)


def test_a_video_shows_every_ply(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    game = OAnQuanEnv(RULES, opponent=lambda seen, masks: masks.argmax(axis=1), seat=0, render_mode="rgb_array")
    monkeypatch.setitem(sys.modules, "moviepy", ModuleType("moviepy"))
    recorded: Any = RecordVideo(game, str(tmp_path / "videos"), episode_trigger=lambda episode: True)
    recorded.reset()
    for first in LINE[::2]:
        recorded.step(Move.parse(first).action)
    frames = [picture(*LINE[:plies]) for plies in range(4)]
    assert np.array_equal(recorded.recorded_frames, frames)
    assert np.array_equal(game.render(), frames[-1])
    recorded.recorded_frames = []  # no film is written
    with pytest.raises(ValueError, match="needs the environment OAnQuan-v0 with render_mode='rgb_array'"):
        RecordVideo(OAnQuanEnv(render_mode="ansi"), str(tmp_path))
    monkeypatch.setitem(sys.modules, "moviepy", None)
    with pytest.raises(MissingExtraError, match=r"moviepy is missing; install it with: pip install .*\[video\]"):
        RecordVideo(game, str(tmp_path))
