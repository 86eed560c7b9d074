"""Test the files of whole games, and that their episodes match the environment's."""

import hashlib
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import game_data
from agents.game_data import FIELDS, episodes, main, read_games
from oanquan_env import Core, Positions
from oanquan_env.array_types import Ints
from oanquan_env.envs.single import OAnQuanEnv

GAMES = ["--player", "greedy", "--opponent", "random"]


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.npz"))}


class Recorded:
    """An opponent that plays recorded actions."""

    def __init__(self, actions: Ints) -> None:
        self.actions = deque(actions.tolist())

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        return np.array([self.actions.popleft()])


@pytest.mark.parametrize(
    ("rules", "reward"),
    [("mancala-world max_plies=30", "margin"), pytest.param("three-player", "outcome", marks=pytest.mark.slow)],
)
def test_games_replay_and_episodes_are_those_of_the_environment(tmp_path: Path, rules: str, reward: str) -> None:
    options = ["--games", "12", "--rules", rules, "--reward", reward, "--opening-plies", "0"]
    assert main(["--output", str(tmp_path), *GAMES, *options]) == 0
    games, core = read_games(tmp_path / "games-00000.npz"), Core(rules)
    assert list(games) == list(FIELDS)
    assert games["rewards"].sum(axis=1) == pytest.approx(0, abs=1e-5)
    assert games["masks"][np.arange(len(games["actions"])), games["actions"]].all()
    assert set(games["seats"]) == set(range(core.rules.players))
    ends = np.append(games["begins"][1:], len(games["actions"]))
    for game, episode in enumerate(episodes(games)):
        plies, seat = slice(games["begins"][game], ends[game]), int(games["seats"][game])
        others = games["actions"][plies][games["movers"][plies] != seat]
        env = OAnQuanEnv(rules, opponent=Recorded(others), seat=seat, reward=reward)
        observation, info = env.reset()
        for step, action in enumerate(episode["actions"]):
            assert (observation == episode["observations"][step]).all()
            assert (info["action_mask"] == episode["masks"][step]).all()
            observation, paid, terminated, truncated, info = env.step(action)
            assert (paid, terminated, truncated) == (
                pytest.approx(episode["rewards"][step], abs=1e-6),
                episode["terminations"][step],
                episode["truncations"][step],
            )
        assert terminated or truncated
        assert (observation == episode["observations"][-1]).all()
        assert info["standings"].tolist() == games["standings"][game].tolist()


def test_files_depend_on_the_options_and_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(game_data, "GAMES", 4)
    for name in "ab":
        assert main(["--output", str(tmp_path / name), *GAMES, "--games", "10"]) == 0
    files = hashes(tmp_path / "a")
    assert len(files) == 3
    assert hashes(tmp_path / "b") == files
    (tmp_path / "a" / "games-00001.npz").unlink()
    assert main(["--output", str(tmp_path / "a"), *GAMES, "--games", "10"]) == 0
    assert hashes(tmp_path / "a") == files
    assert main(["--output", str(tmp_path / "a"), *GAMES, "--games", "11"]) == 2
    assert "choose another folder for" in capsys.readouterr().err
    (tmp_path / "a" / "games-00000.npz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"games-00000\.npz: not a file of games"):
        read_games(tmp_path / "a" / "games-00000.npz")


def test_minari_shows_the_episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari: Any = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    folder, name = tmp_path / "games", "oanquan/test-v0"
    assert main(["--output", str(folder), *GAMES, "--games", "6", "--minari", name]) == 0
    data, expected = minari.load_dataset(name), list(episodes(read_games(folder / "games-00000.npz")))
    assert data.total_episodes == len(expected)
    for found, episode in zip(data.iterate_episodes(), expected, strict=True):
        assert (found.observations == episode["observations"]).all()
        assert (found.actions == episode["actions"]).all()
        assert found.rewards == pytest.approx(episode["rewards"])
        assert (found.infos["action_mask"] == episode["masks"]).all()
    environment: Callable[[], Any] = data.recover_environment
    assert environment().unwrapped.observation_space == OAnQuanEnv().observation_space
