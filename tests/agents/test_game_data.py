"""Test the files of whole games, and that their episodes match the environment's."""

import json
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import folders
from agents.data import game_data
from agents.data.game_data import FIELDS, decoded, episodes, game_files, main, read_episodes, read_games
from agents.folders import ABOUT_NAME, checksum
from examples import offline_learning
from oanquan_env import Core, Positions
from oanquan_env.array_types import Ints
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.observation import Encoder
from oanquan_env.players import make
from tests.helpers import Capture, Patch

GAMES = ["--player", "greedy", "--opponent", "random"]


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in game_files(folder)]


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


def test_files_depend_on_the_options_are_kept_and_have_a_card(
    tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    monkeypatch.setattr(game_data, "GAMES_A_FILE", 4)
    folder, other = tmp_path / "a", tmp_path / "b"
    for one in (folder, other):
        assert main(["--output", str(one), *GAMES, "--games", "10"]) == 0
    files = contents(folder)
    assert (contents(other), len(files)) == (files, 3)
    game_files(folder)[1].unlink()
    assert main(["--output", str(folder), *GAMES, "--games", "10"]) == 0
    assert contents(folder) == files
    card = json.loads((folder / ABOUT_NAME).read_text())
    plies = sum(len(read_games(path)["actions"]) for path in game_files(folder))
    assert card["counts"] == {"games": 10, "plies": plies, "files": 3}
    assert card["command"].startswith("python -m agents.data.game_data --games 10 --player greedy --opponent random")
    assert (card["rules"], card["licence"]) == ("mancala-world", "MIT")
    assert {"python", "oanquan", "numpy", "numba"} <= card["versions"].keys()
    assert "commit" in card
    assert card["checksum"] == checksum(folder)
    with pytest.MonkeyPatch.context() as patch:  # a later commit did not make these files
        patch.setattr(folders, "origin", lambda command: {"commit": "later"})
        assert main(["--output", str(folder), *GAMES, "--games", "10"]) == 0
    assert json.loads((folder / ABOUT_NAME).read_text()) == card
    assert main(["--output", str(tmp_path / "c"), *GAMES, "--games", "10", "--player", "gredy"]) == 2
    assert not (tmp_path / "c").exists()
    assert main(["--output", str(folder), *GAMES, "--games", "11"]) == 2
    assert "made with games 10, not 11; choose another folder" in capsys.readouterr().err
    game_files(folder)[0].write_bytes(b"nothing")
    assert card["checksum"] != checksum(folder)
    with pytest.raises(ValueError, match=r"games-00000\.npz: not a file of games"):
        read_games(game_files(folder)[0])


@pytest.mark.parametrize("rules", ["mancala-world", pytest.param("three-player", marks=pytest.mark.slow), "tonkin"])
def test_batches_of_plies_are_those_of_the_episodes(tmp_path: Path, monkeypatch: Patch, rules: str) -> None:
    monkeypatch.setattr(game_data, "GAMES_A_FILE", 4)
    assert main(["--output", str(tmp_path), *GAMES, "--games", "6", "--rules", rules]) == 0
    plain = list(read_episodes(tmp_path))
    assert [len(batch["begins"]) for batch in plain] == [4, 2]
    for batch, path in zip(read_episodes(tmp_path, "planes", returns_to_go=True), game_files(tmp_path), strict=True):
        whole, begin = list(episodes(read_games(path))), 0
        for episode, begins in zip(whole, batch["begins"], strict=True):
            assert begins == begin
            end = begin + len(episode["actions"])
            rewards = episode["rewards"].tolist()
            assert batch["returns"][begin:end] == pytest.approx(
                [sum(rewards[t:]) for t in range(len(rewards))], abs=1e-5
            )
            assert (batch["actions"][begin:end] == episode["actions"]).all()
            assert (batch["masks"][begin:end] == episode["masks"][:-1]).all()
            begin = end
        assert batch["observations"].shape == (begin, Encoder(Core(rules), "planes").size)
    env = OAnQuanVectorEnv(64, rules, observation="planes")
    both = env.reset(seed=0)[0], Encoder(env.encoder.core).encode(env.positions)
    assert (env.encoder.encode(decoded(env.encoder.core, both[1])) == both[0]).all()
    with pytest.raises(ValueError, match=r"holds no games; make some with python -m agents\.data\.game_data --output"):
        next(read_episodes(tmp_path / "nothing"))


@pytest.mark.slow
def test_policies_are_learned_from_games(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(offline_learning, "WIDTH", 128)
    assert main(["--output", str(tmp_path), *GAMES, "--games", "1500"]) == 0
    found = offline_learning.main([str(tmp_path), "--epochs", "10", "--batch-size", "128"])
    assert list(found) == ["behaviour cloning", "return-conditioned"]
    random = regret(make("random"), load_suite(Core().rules).part("development"), np.random.default_rng(0))
    assert all(one.regret is not None and one.regret.mean < random.mean - 1 for one in found.values())


def test_minari_shows_the_episodes(tmp_path: Path, monkeypatch: Patch) -> None:
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
