"""Pictures of environments in a row: Gymnasium's `RecordVideo`, the VectorEnv's tiles, and a PettingZoo game."""

import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.wrappers import RecordVideo
from gymnasium.wrappers.vector import RecordVideo as RecordVectorVideo

from oanquan_env import Board, Move, env, raw_env, render
from oanquan_env.envs.vector import DRAWN_GAMES, OAnQuanVectorEnv
from tests.boards import boards_of

RULES = "quan_non=20 max_plies=3"  # no stone is taken so soon: every game has three plies

Frames = list[npt.NDArray[np.uint8]]


@pytest.fixture
def videos(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Frames, int]]:
    """Stands for moviepy, which need not be installed: the name, the frames and the frame rate of each video."""
    written: list[tuple[str, Frames, int]] = []

    class Clip:
        def __init__(self, frames: Frames, fps: int) -> None:
            self.frames, self.fps = frames, fps

        def write_videofile(self, path: str, logger: object = None) -> None:
            written.append((Path(path).stem, list(self.frames), self.fps))

    clips = ModuleType("moviepy.video.io.ImageSequenceClip")
    clips.ImageSequenceClip = Clip  # type: ignore[attr-defined]
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, clips.__name__, clips)
    return written


def line(first: str) -> list[str]:
    """A game of three plies: `first`, and then always the first legal move."""
    board = Board(RULES)
    board.push(first)
    while not board.outcome:
        board.push(board.legal_moves[0])
    return [str(move) for move in board.history]


LINE, OTHER = line("1A"), line("2A")


def actions(moves: Iterable[str]) -> npt.NDArray[np.int64]:
    return np.array([Move.parse(move).action for move in moves])


def picture(*moves: str, rules: str = RULES) -> npt.NDArray[np.uint8]:
    """The picture after these moves."""
    board = boards_of(*moves, rules=rules)[-1]
    return render.rgb(board, last=board.last_mark)


def test_a_video_of_a_gymnasium_game(videos: list[tuple[str, Frames, int]], tmp_path: Path) -> None:
    game = gymnasium.make("OAnQuan-v0", rules=RULES, opponent=None, render_mode="rgb_array")
    filmed = RecordVideo(game, str(tmp_path / "videos"), episode_trigger=lambda _: True)
    for _ in range(2):
        filmed.reset()
        for action in actions(LINE):
            filmed.step(action)
    filmed.close()  # type: ignore[no-untyped-call]
    assert [name for name, _, _ in videos] == ["rl-video-episode-0", "rl-video-episode-1"]
    for _, frames, fps in videos:
        assert fps == 1
        assert np.array_equal(frames, [picture(*LINE[:plies]) for plies in range(4)])


def test_a_video_of_a_batch_lays_its_games_out_as_tiles(videos: list[tuple[str, Frames, int]], tmp_path: Path) -> None:
    games = gymnasium.make_vec("OAnQuan-v0", num_envs=2, rules=RULES, opponent=None, render_mode="rgb_array")
    filmed = RecordVectorVideo(games, str(tmp_path / "videos"), episode_trigger=lambda _: True)
    filmed.reset()
    for both in list(zip(LINE, OTHER, strict=True))[:2]:
        filmed.step(actions(both))
    filmed.close()
    ((name, frames, fps),) = videos
    height, width, _ = picture().shape
    assert (name, fps, len(frames)) == ("rl-video-episode-0", 1, 3)
    tiles = [frame.reshape(-1, height, frame.shape[1] // width, width, 3).swapaxes(1, 2) for frame in frames]
    for plies, tile in enumerate(tiles):
        pictures = tile.reshape(-1, height, width, 3)
        assert np.array_equal(pictures, [picture(*LINE[:plies]), picture(*OTHER[:plies])])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_game_that_began_anew_is_drawn_at_its_beginning(mode: str) -> None:
    games: Any = OAnQuanVectorEnv(2, RULES, opponent=None, render_mode="rgb_array", autoreset_mode=mode)
    games.reset()
    assert np.array_equal(games.render(), [picture()] * 2)
    for both in zip(LINE, OTHER, strict=True):
        games.step(actions(both))
    last = [picture(*LINE), picture(*OTHER)]
    assert np.array_equal(games.render(), [picture()] * 2 if mode == "SameStep" else last)
    if mode == "NextStep":
        games.step(np.array([0, 0]))
        assert np.array_equal(games.render(), [picture()] * 2)
    if mode == "Disabled":
        games.reset(options={"reset_mask": np.array([False, True])})
        assert np.array_equal(games.render(), [last[0], picture()])


def test_pictures_show_the_opponent_s_reply() -> None:
    def opponent(positions: Any, rng: np.random.Generator) -> Any:
        return actions([LINE[1], OTHER[1]])

    games = OAnQuanVectorEnv(2, RULES, opponent=opponent, seat=0, render_mode="ansi")
    games.reset()
    games.step(actions([LINE[0], OTHER[0]]))
    boards = [boards_of(*moves[:2], rules=RULES)[-1] for moves in (LINE, OTHER)]
    assert games.render() == tuple(render.text(board, last=board.last_mark) for board in boards)


def test_the_first_games_of_a_large_batch_are_drawn() -> None:
    games = OAnQuanVectorEnv(DRAWN_GAMES + 1000, RULES, opponent=None, render_mode="rgb_array")
    games.reset()
    pictures: Any = games.render()
    assert len(pictures) == games.num_envs
    assert np.array_equal(pictures[DRAWN_GAMES - 1], picture())
    assert all(blank is pictures[-1] for blank in pictures[DRAWN_GAMES:])
    assert pictures[-1].shape == picture().shape
    assert not np.any(pictures[-1])
    alone = OAnQuanVectorEnv(1, RULES, opponent=None, render_mode="ansi")
    alone.reset()
    assert alone.render() == (render.text(Board(RULES)),)


@pytest.mark.parametrize("make", [env, raw_env])
def test_a_pettingzoo_game_is_filmed_picture_by_picture(make: Any) -> None:
    game = make(RULES, render_mode="rgb_array") if make is raw_env else make(rules=RULES, render_mode="rgb_array")
    game.reset()
    frames: list[Any] = [game.render()]
    for action in actions(LINE):
        game.step(action)
        frames.append(game.render())
    assert np.array_equal(frames, [picture(*LINE[:plies]) for plies in range(4)])
    assert game.metadata["render_fps"] == 1
