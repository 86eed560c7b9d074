"""Make whole games for offline reinforcement learning, as `.npz` files and as a Minari data set.

    python -m agents.data.game_data --output out/games --games 1000 --player minimax:depth=4 --opponent greedy
    python -m agents.data.game_data --output out/games --games 1000 --minari oanquan/minimax-v0

The player's seat is drawn for each game, and the opponent plays all other seats. `numpy.load` reads the files
`games-00000.npz` and so on; `FIELDS` describes their arrays. They depend only on the options and the players' files. A
repeated command keeps finished files. A Minari data set (`pip install -e ".[minari]"`) holds the same games as the
player observes them in the environment `OAnQuan-v0`, with the masks of legal actions in `infos["action_mask"]`.
"""

import dataclasses
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
import tyro

from agents.config import Count, CountOrZero, Folder, Seed, command, command_of, progress_bar
from agents.evaluation.evaluation_run import hash_of_files
from agents.folders import ABOUT_NAME, data_folder
from oanquan_env import Core, Positions
from oanquan_env.engine.core import advance
from oanquan_env.engine.positions import Termination
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.errors import UsageError, needing_extra
from oanquan_env.files import naming_damage, npz_bytes, read_arrays, read_json, write_atomically
from oanquan_env.observation import Encoder
from oanquan_env.players import Policy, as_policy
from oanquan_env.rewards import check_reward, ply_rewards
from oanquan_env.rollouts import play_randomly, seated

PROG = "python -m agents.data.game_data"
GAMES_A_FILE = 500  # a killed command loses the games of its unfinished file
Columns: TypeAlias = dict[str, npt.NDArray[Any]]
FIELDS = {
    "observations": "(M, D) int32, the position before each ply as its mover sees it, see oanquan_env.observation",
    "masks": "(M, A) bool, the legal actions",
    "actions": "(M,) uint8, the action played",
    "movers": "(M,) uint8, the seat of the player that played the action",
    "rewards": "(M, P) float32, the reward of each seat for the ply",
    "begins": "(G,) int64, index of each game's first ply; its last ply is before the next game's first",
    "seats": "(G,) uint8, the player's seat; the opponent plays all others",
    "standings": "(G, P) int32, points at the end",
    "terminations": "(G,) uint8, why the game ended, as in oanquan_env.envs.TERMINATIONS",
    "final_observations": "(G, D) int32, the final position as the player sees it",
}
"""The arrays of a file of G games with M plies in total (P players, A actions, D numbers per observation)."""
PLIES = "observations", "masks", "actions", "rewards"
"""The arrays of `episodes` that have an entry for each of the player's plies."""


@dataclass(frozen=True)
class Recipe:
    """The options that determine the games."""

    games: Count  # number of games
    player: str = "minimax:depth=4"  # name of the player whose observations Minari stores
    opponent: str = "greedy"  # name of the player in all other seats
    rules: str = DEFAULT_PRESET  # rules by name
    reward: str = "margin"  # reward of a ply: margin, outcome or mixed
    opening_plies: CountOrZero = 8  # maximum number of random plies at the start of a game
    seed: Seed = 0  # seed of all randomness


def play_games(core: Core, players: tuple[Policy, Policy], n: int, recipe: Recipe, rng: np.random.Generator) -> Columns:
    """Play `n` games between the player and the opponent; return the arrays of `FIELDS`."""
    positions, seats = core.start(n), rng.integers(0, core.rules.players, n)
    play_randomly(core, positions, rng.integers(0, recipe.opening_plies + 1, n), rng)
    ended = positions.over.nonzero()[0]
    positions[ended] = core.start(len(ended))  # games that ended in the opening start at the set-up
    encoder, reward = Encoder(core), check_reward(recipe.reward)
    seating = (np.arange(core.rules.players) != seats[:, None]).astype(np.intp)
    plies: list[tuple[npt.NDArray[Any], ...]] = []
    before = positions.copy()
    for rows, actions in advance(core, positions, seated(players, seating, rng)):
        batch, after = before[rows], positions[rows]
        rewards = ply_rewards(reward, core, batch.scores, after).astype(np.float32)
        moves = core.legal_mask(batch), actions.astype(np.uint8), batch.mover.astype(np.uint8)
        plies.append((rows, encoder.encode(batch), *moves, rewards))
        before[rows] = after
    game, *columns = (np.concatenate(parts) for parts in zip(*plies, strict=True))
    order = game.argsort(kind="stable")
    by_game = (np.searchsorted(game[order], np.arange(n)), seats.astype(np.uint8), core.standings(positions))
    ends = positions.ended, encoder.encode(positions, seats)
    return dict(zip(FIELDS, (*(column[order] for column in columns), *by_game, *ends), strict=True))


def write_games(recipe: Recipe, core: Core, players: tuple[Policy, Policy], folder: Path) -> None:
    """Play the games of each file that is missing in `folder`, and write the file."""
    with progress_bar() as bar:
        for number in bar.track(range(-(-recipe.games // GAMES_A_FILE)), description="files"):
            path = folder / f"games-{number:05}.npz"
            if not path.exists():
                n = min(GAMES_A_FILE, recipe.games - number * GAMES_A_FILE)
                games = play_games(core, players, n, recipe, np.random.default_rng([recipe.seed, number]))
                write_atomically(path, npz_bytes(**games))


def game_files(folder: Path) -> list[Path]:
    """Return the files of games in a folder, in order."""
    return sorted(folder.glob("games-*.npz"))


def read_games(path: Path | str) -> Columns:
    """Read the arrays in `FIELDS` from a file. Raises `ValueError` if an array is missing or the file is damaged."""
    path = Path(path)
    with naming_damage(path, "not a file of games", "; delete it to make it anew"):
        data = read_arrays(path)
        return {name: data[name] for name in FIELDS}


def episodes(games: Columns) -> Iterator[Columns]:
    """Yield each game as an episode of the environment `OAnQuan-v0`, from the player's side.

    An episode has T steps: `observations` (T+1, D), `masks` (T+1, A), and `actions`, `rewards`, `terminations` and
    `truncations` (T,). A reward covers the player's ply and all replies; the first reward also covers the plies before
    the player's first. Games in which the player never moved are skipped.
    """
    ends = np.append(games["begins"][1:], len(games["actions"]))
    for game, (begin, end) in enumerate(zip(games["begins"], ends, strict=True)):
        seat = games["seats"][game]
        turns = begin + (games["movers"][begin:end] == seat).nonzero()[0]
        if not turns.size:
            continue
        last, truncated = np.arange(len(turns)) == len(turns) - 1, games["terminations"][game] >= Termination.MAX_PLIES
        masks = games["masks"][turns]
        yield {
            "observations": np.concatenate([games["observations"][turns], games["final_observations"][[game]]]),
            "masks": np.concatenate([masks, np.zeros_like(masks[:1])]),
            "actions": games["actions"][turns].astype(np.int64),
            "rewards": np.add.reduceat(games["rewards"][begin:end, seat], np.append(0, turns[1:] - begin)),
            "terminations": last & (not truncated),
            "truncations": last & truncated,
        }


def read_episodes(folder: Path | str, observation: str = "counts", *, returns_to_go: bool = False) -> Iterator[Columns]:
    """Yield the player's plies from a folder of games, one batch for each file, so that memory does not grow.

    A batch of B plies has `observations` (B, D) in the layout `observation`, `masks` (B, A) bool, `actions` (B,) int64,
    `rewards` (B,) float32, and `begins` (E,) int64, the index of the first ply of each episode. An episode is a game as
    in `episodes`, without its final observation. With `returns_to_go`, `returns` (B,) float32 are the sums of the
    rewards from each ply to the end of its episode.

    Raises `ValueError` for a folder without games, for an unknown observation, and if a file is damaged.
    """
    folder = Path(folder)
    if not (files := game_files(folder)):
        raise UsageError(f"{folder} holds no games; make some with {PROG} --output {folder} --games 1000")
    core = Core(read_json(folder / ABOUT_NAME)["asked"]["rules"])
    encoder = Encoder(core, observation)
    for path in files:
        parts = list(episodes(read_games(path)))
        lengths = [len(part["actions"]) for part in parts]
        batch = {
            name: np.concatenate([part[name][:length] for part, length in zip(parts, lengths, strict=True)])
            for name in PLIES
        }
        begins = np.append(0, np.cumsum(lengths)[:-1])
        if observation != "counts":
            batch["observations"] = encoder.encode(decoded(core, batch["observations"]))
        if returns_to_go:
            total = np.append(0, np.cumsum(batch["rewards"], dtype=np.float64))
            ends = np.repeat(total[np.append(begins[1:], len(total) - 1)], lengths)
            batch["returns"] = (ends - total[:-1]).astype(np.float32)
        yield {**batch, "begins": begins}


def decoded(core: Core, observations: npt.NDArray[np.int32]) -> Positions:
    """Return positions that the mover sees as the (N, D) observations `counts`, with the mover in seat 0."""
    parts = {name: observations[:, part] for name, part in Encoder(core).layout.items()}
    ply = core.rules.max_plies - parts["plies"][:, 0]
    return core.setup(parts["seeds"], parts["stones"], parts["scores"], np.zeros_like(ply), ply)


def write_minari(name: str, recipe: Recipe, folder: Path) -> int:
    """Write a Minari data set of the player's episodes from a folder's files; return the number of episodes."""
    with needing_extra("minari"):
        import minari
        from minari.data_collector import EpisodeBuffer
    games = (episode for path in game_files(folder) for episode in episodes(read_games(path)))
    buffers = []
    for number, episode in enumerate(games):
        masks = episode.pop("masks").astype(np.int8)
        parts = {key: list(column) for key, column in episode.items()}
        buffers.append(EpisodeBuffer(id=number, infos={"action_mask": list(masks)}, **parts))
    settings: Any = {name: getattr(recipe, name) for name in ("rules", "opponent", "reward", "opening_plies")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Minari warns that author and permalink are missing
        minari.create_dataset_from_buffers(
            name,
            buffers,
            env=gymnasium.make("OAnQuan-v0", **settings),
            algorithm_name=recipe.player,
            description=f"Ô Ăn Quan, made by {command_of(PROG, recipe)}",
        )
    return len(buffers)


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    output: Folder  # folder to which the files are written
    recipe: tyro.conf.OmitArgPrefixes[Recipe]
    # also write a Minari data set of this name, such as oanquan/minimax-v0; MINARI_DATASETS_PATH sets its folder
    minari: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = None


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Play the games and write their files."""
    recipe, folder = options.recipe, options.output
    core = Core(recipe.rules)
    check_reward(recipe.reward)
    players = as_policy(recipe.player, core), as_policy(recipe.opponent, core)  # refuses a misspelt name first
    files = [hash_of_files(name, core.rules) for name in (recipe.player, recipe.opponent)]
    settings = {**dataclasses.asdict(recipe), "rules": str(core.rules), "files": files}
    with data_folder(folder, "games", settings, FIELDS, command_of(PROG, recipe)) as complete:
        write_games(recipe, core, players, folder)
        plies = sum(len(read_games(path)["actions"]) for path in game_files(folder))
        complete({"games": recipe.games, "plies": plies})
        print(f"{recipe.games:,} games in {folder}")
        if options.minari is not None:
            print(f"{write_minari(options.minari, recipe, folder):,} episodes in the Minari data set {options.minari}")


if __name__ == "__main__":
    raise SystemExit(main())
