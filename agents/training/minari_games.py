"""Games as a Minari data set: players of mixed strength against one opponent, in `OAnQuan-v0`.

A game is first stored as a seed and the agent's actions, in `games-00000.npz` and so on: the environment repeats the
rest. In the end all games are replayed into a Minari data set, `DATASET_ID`, in the folder `minari`.
An episode holds observations, actions, rewards and, as `infos["action_mask"]`, the legal actions at each step.

    data = minari.load_dataset("oanquan/mixed-v0")  # with MINARI_DATASETS_PATH=FOLDER/minari in the environment
    env = data.recover_environment()
    seeds = [one["seed"] for one in data.storage.get_episode_metadata(data.episode_indices)]
    env.reset(seed=int(seeds[0]))  # and then the actions of the first episode
"""

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from rich.progress import Progress

from agents.players.mixed_play import mixed_players
from agents.support.extras import needing_extras
from oanquan_env import Core, __version__
from oanquan_env.arrays import Ints
from oanquan_env.files import naming_damage, npz_bytes, read_arrays, write_atomically

ENV_ID, DATASET_ID = "OAnQuan-v0", "oanquan/mixed-v0"
FOLDER_NAME, UNFINISHED_NAME = "minari", "minari-unfinished"
SHARD = 1000
"""Games of a file; no more are in memory at once, and no more are lost when the command is killed."""
GAMES_CHANCE = 1  # beside the seed; see `agents.training.datasets`
Played: TypeAlias = list[tuple[int, Ints]]
"""Of each game the seed of `reset` and the agent's actions."""


def check_games(options: dict[str, Any]) -> None:
    """Raises `ValueError` if there is no such environment, and `MissingExtraError` if Minari is not installed."""
    with needing_extras():
        import h5py  # noqa: F401
        import minari  # noqa: F401
    gymnasium.make(ENV_ID, **options).close()


def write_games(options: dict[str, Any], games: int, seed: int, folder: Path, progress: Progress) -> None:
    """Play the games that are not in the folder yet, and write the Minari data set unless it is there.

    `options` are the environment's, and all chance comes from the seed. Raises `FileError`.
    """
    import minari

    if (folder / FOLDER_NAME).exists():
        return
    env, players = gymnasium.make(ENV_ID, **options), mixed_players(Core(options["rules"]))
    playing, writing = (progress.add_task(name, total=games) for name in ("games", "Minari"))
    shards = [range(begin, min(begin + SHARD, games)) for begin in range(0, games, SHARD)]
    paths = [folder / f"games-{number:05}.npz" for number in range(len(shards))]
    for numbers, path in zip(shards, paths, strict=True):
        if path.exists():
            progress.advance(playing, len(numbers))
            continue
        played = []
        for number in numbers:
            rng = np.random.default_rng([seed, GAMES_CHANCE, number])
            played.append(play(env, players[rng.integers(len(players))], rng))
            progress.advance(playing)
        seeds, actions = zip(*played, strict=True)
        lengths, flat = np.array([*map(len, actions)]), np.concatenate(actions).astype(np.uint8)
        write_atomically(path, npz_bytes(seeds=np.array(seeds), lengths=lengths, actions=flat))
    with _place(folder) as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what Minari would like to know of authors and addresses
        data: Any = None
        for path in paths:
            episodes = [replay(env, number, actions) for number, actions in read_games(path)]
            if data is not None:
                data.update_dataset_from_buffer(episodes)
            else:
                data = minari.create_dataset_from_buffers(
                    DATASET_ID,
                    episodes,
                    env=env,
                    eval_env=env,
                    algorithm_name="players of mixed strength that make random moves now and then",
                    description="Games of Ô Ăn Quan; made by agents.training.datasets",
                    requirements=[f"oanquan=={__version__}"],
                    data_format="hdf5",
                )
            progress.advance(writing, len(episodes))
        del data
        os.replace(place, folder / FOLDER_NAME)


def play(env: gymnasium.Env[Any, Any], player: Any, rng: np.random.Generator) -> tuple[int, Ints]:
    """The seed and the agent's actions of one game; all chance comes from `rng`."""
    seed, actions, over = int(rng.integers(1 << 31)), [], False
    env.reset(seed=seed)
    game: Any = env.unwrapped
    while not over:  # there may be nothing to move where the opponent finished the game at once
        actions.append(int(player.choose(game.positions, rng)[0]) if game.action_masks().any() else 0)
        _, _, terminated, truncated, _ = env.step(actions[-1])
        over = terminated or truncated
    return seed, np.array(actions, dtype=np.intp)


def replay(env: gymnasium.Env[Any, Any], seed: int, actions: Ints) -> Any:
    """A game as Minari's `EpisodeBuffer`."""
    from minari.data_collector import EpisodeBuffer

    observation, info = env.reset(seed=seed)
    observations, masks, rewards, ends = [observation], [info["action_mask"]], [], []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        observations.append(observation)
        masks.append(info["action_mask"])
        rewards.append(float(reward))
        ends.append((terminated, truncated))
    return EpisodeBuffer(
        seed=seed,
        observations=np.array(observations),
        actions=actions.astype(np.int64),
        rewards=rewards,
        terminations=[end[0] for end in ends],
        truncations=[end[1] for end in ends],
        infos={"action_mask": np.array(masks)},
    )


@contextmanager
def _place(folder: Path) -> Iterator[Path]:
    """A new folder in which Minari writes data sets meanwhile."""
    place, before = folder / UNFINISHED_NAME, os.environ.get("MINARI_DATASETS_PATH")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    os.environ["MINARI_DATASETS_PATH"] = str(place)
    try:
        yield place
    finally:
        del os.environ["MINARI_DATASETS_PATH"]
        if before is not None:
            os.environ["MINARI_DATASETS_PATH"] = before


def read_games(path: Path) -> Played:
    """The games of a file; raises `ValueError` that names a file which holds something else."""
    with naming_damage(path, "not a file of games", "; delete it to make it anew"):
        data = read_arrays(path)
        ends = np.cumsum(data["lengths"])[:-1]
        return list(zip(data["seeds"].tolist(), np.split(data["actions"].astype(np.intp), ends), strict=True))
