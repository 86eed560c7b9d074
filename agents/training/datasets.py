"""Data for offline learning: positions with the value of every move, and games as a Minari data set.

    python -m agents.training.datasets --output out/data --positions 100000 --depth 8 --net pretrained
    python -m agents.training.datasets --output out/games --games 10000 --opponent greedy

Positions come from games of players of mixed strength, or lie up to some random plies off them; no two are equivalent,
and none is in the rules' regret suite or follows from a move there. A search values every move. The files are
`positions-00000.npz` and so on, for `numpy.load`; `FIELDS` describes their arrays. Games are those of players of mixed
strength against one opponent in `OAnQuan-v0`, see `agents.training.minari_games`.

The data depend on the options alone, threads excepted. The same command resumes interrupted work and keeps finished
files.
"""

import dataclasses
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import tyro
from rich.progress import Progress

from agents.players.mixed_play import LONGEST_START, met_in_play, mixed_players
from agents.support.command_line import command, progress_bar
from agents.support.extras import INTERRUPTED
from agents.support.folder_lock import FolderLock
from agents.training.minari_games import check_games, write_games
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats, Mask
from oanquan_env.benchmark.suites import suite_keys
from oanquan_env.engine.keys import are_among, canonical_keys, first_of_each, key_hashes
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import naming_damage, npz_bytes, read_arrays, read_json, short_hash, write_atomically
from oanquan_env.observation import Encoder
from oanquan_env.playing import play_randomly
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.value_net import read_value_net

PROG = "python -m agents.training.datasets"
ABOUT_NAME = "about.json"  # the file with the options of the data
SHARD = 5000
"""Positions of a file. No more are in memory at once, and no more are lost when the command is killed."""
CHUNK = 250  # positions valued between two steps of the progress bar
POSITIONS_CHANCE = 0  # beside the seed; other numbers are for the games
Columns: TypeAlias = dict[str, npt.NDArray[Any]]

POSITIONS_A_GAME = 16  # positions wanted for each game that is played for them
FEW = 0.01
"""Share of the positions wanted; where a draw brings fewer new ones, there are hardly any more."""

FIELDS = {
    "observations": "(N, D) int32, the environments' observation of the position, see oanquan_env.observation",
    "seeds": "(N, P * (F + 1)) uint8, seeds in ring order, South's fields first",
    "stones": "(N, P) uint8, stones of the mandarin squares",
    "scores": "(N, P) int32, points so far",
    "mover": "(N,) uint8, who is to move",
    "ply": "(N,) int32, moves played",
    "values": "(N, A) float32, future margin of each move from the mover's view, points; NaN for illegal moves",
    "proved": "(N, A) bool, which values hold at every depth of search",
}
"""The arrays of a file of N positions. `Core.setup(seeds, stones, scores, mover, ply)` gives the positions back."""


@dataclass(frozen=True)
class Recipe:
    """The options that the data depend on."""

    rules: str = DEFAULT_PRESET  # rules by name, of two players
    positions: int = 0  # how many positions with the values of their moves
    depth: int = 8  # plies of the search that values them
    net: str | None = None  # value net of the search, a file, a run's folder or `pretrained`; none if left out
    random_plies: int = 3  # positions are up to this many random plies off those that the games meet
    games: int = 0  # how many games of the Minari data set
    opponent: str = "greedy"  # whom the games are played against, a player's name
    reward: str = "margin"  # of the games: outcome, margin or mixed
    opening_plies: int = LONGEST_START  # games begin up to this many random plies after the set-up
    seed: int = 0  # seed of all chance

    def options_of_env(self) -> dict[str, Any]:
        """The arguments of `gymnasium.make` for the games, such that Minari can write them down."""
        rules = str(Core(self.rules).rules)
        return {"rules": rules, "opponent": self.opponent, "reward": self.reward, "opening_plies": self.opening_plies}

    def check(self) -> Core:
        """The core of the rules; raises `ValueError` for what cannot be made."""
        for name in ("positions", "games", "random_plies", "seed"):
            if getattr(self, name) < 0:
                raise ValueError(f"--{name.replace('_', '-')} must be 0 or more; got {getattr(self, name)}")
        if not self.positions and not self.games:
            raise ValueError("there is nothing to make: give --positions or --games")
        core = Core(self.rules)
        if self.positions:
            Limits(depth=self.depth)
            if core.rules.players > 2:
                raise ValueError(f"--positions: moves are valued for two players; '{core.rules}' has more")
        if self.games:
            check_games(self.options_of_env())
        return core


def write_positions(recipe: Recipe, core: Core, folder: Path, threads: int, progress: Progress) -> int:
    """Write the files of positions that are not there yet; returns how many positions they hold in all.

    Raises `ValueError` for a file that is damaged, and if play meets too few positions.
    """
    net = None if recipe.net is None else read_value_net(recipe.net, core.rules)
    search = Search(core, threads=threads, net=net)
    task = progress.add_task("positions", total=recipe.positions)
    known, total, number = np.zeros(0, dtype=np.uint64), 0, 0
    while total < recipe.positions:
        path = folder / f"positions-{number:05}.npz"
        if path.exists():
            some = read_positions(path, core)
            progress.advance(task, len(some))
        else:
            rng = np.random.default_rng([recipe.seed, POSITIONS_CHANCE, number])
            drawn = draw_positions(core, SHARD, recipe.random_plies, rng)
            new = ~are_among(key_hashes(canonical_keys(core, drawn)), known)
            some = drawn[new][: recipe.positions - total]
            if len(some) < min(recipe.positions - total, FEW * SHARD):
                found = f"play of '{core.rules}' meets hardly more than {total:,} different ones"
                raise ValueError(f"--positions: {found}; got {recipe.positions:,}")
            parts = []
            for begin in range(0, len(some), CHUNK):
                parts.append(search.proved_values(some[begin : begin + CHUNK], recipe.depth))
                progress.advance(task, len(parts[-1][0]))
            values, proved = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            write_atomically(path, npz_bytes(**columns(core, some, values, proved)))
        known = np.sort(np.concatenate([known, key_hashes(canonical_keys(core, some))]))
        total, number = total + len(some), number + 1
    return total


def draw_positions(core: Core, wanted: int, random_plies: int, rng: np.random.Generator) -> Positions:
    """At most `wanted` running positions, no two of which play alike, at most `random_plies` off those of the games.

    There are fewer where play meets so few.
    """
    withheld = np.sort(key_hashes(suite_keys(core)))
    games = 1 + wanted // POSITIONS_A_GAME
    met = met_in_play(core, mixed_players(core), games, rng)
    drawn, known = core.start(0), -wanted
    while known + FEW * wanted < len(drawn) < wanted:
        known = len(drawn)
        more = met[rng.integers(0, len(met), wanted)]
        play_randomly(core, more, rng.integers(0, random_plies + 1, len(more)), rng)
        drawn = Positions.concatenate([drawn, more[~more.over]])
        keys = canonical_keys(core, drawn)
        first = first_of_each(keys)
        drawn = drawn[first[~are_among(key_hashes(keys[first]), withheld)]]
    return drawn[rng.permutation(len(drawn))[:wanted]]


def columns(core: Core, positions: Positions, values: Floats, proved: Mask) -> Columns:
    """The arrays of a file, see `FIELDS`."""
    return {
        "observations": Encoder(core).encode(positions),
        "seeds": core.seeds(positions).astype(np.uint8),
        "stones": core.stones(positions).astype(np.uint8),
        "scores": positions.scores,
        "mover": positions.mover.astype(np.uint8),
        "ply": positions.ply,
        "values": values.astype(np.float32),
        "proved": proved,
    }


def read_columns(path: Path) -> Columns:
    """The arrays of a file, see `FIELDS`; raises `ValueError` that names a file which holds something else."""
    with naming_damage(path, "not a file of positions", "; delete it to make it anew"):
        data = read_arrays(path)
        found = {name: data[name] for name in FIELDS}
        if len({len(array) for array in found.values()}) > 1:
            raise ValueError("its arrays differ in length")
    return found


def read_positions(path: Path, core: Core) -> Positions:
    """The positions of a file; raises `ValueError` for one that holds none of these rules."""
    found = read_columns(path)
    with naming_damage(path, f"no positions of '{core.rules}'"):
        return core.setup(*(found[name] for name in ("seeds", "stones", "scores", "mover", "ply")))


@dataclass(frozen=True)
class Options:
    """The command line."""

    output: Annotated[Path, tyro.conf.arg(metavar="FOLDER")]  # the folder of the data
    recipe: tyro.conf.OmitArgPrefixes[Recipe] = field(default_factory=Recipe)
    # threads that search; the same data come of any number
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)


def begin(recipe: Recipe, core: Core, folder: Path) -> None:
    """Note in the folder what was asked for; raises `ValueError` if it holds data that were asked for otherwise."""
    asked: dict[str, Any] = {**dataclasses.asdict(recipe), "rules": str(core.rules)}
    if recipe.net is not None:
        asked["net_digest"] = short_hash(read_value_net(recipe.net, core.rules).to_bytes())
    path = folder / ABOUT_NAME
    if not path.exists():
        about = {"format": 1, "asked": asked, "fields": FIELDS if recipe.positions else {}}
        write_atomically(path, (json.dumps(about, indent=1) + "\n").encode())
        return
    with naming_damage(path, "does not tell what was asked for"):
        before = dict(read_json(path)["asked"])
    for name in sorted({*before, *asked}):
        if before.get(name) != asked.get(name):
            told = f"{folder} holds data of {name} {before.get(name)!r}"
            raise ValueError(f"{told}; got {asked.get(name)!r}: take another folder for other data")


@command(Options, PROG, __doc__)
def main(options: Options) -> int:
    """Make the data."""
    recipe, folder = options.recipe, options.output
    if options.threads < 1:
        raise ValueError(f"--threads must be 1 or more; got {options.threads}")
    core = recipe.check()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FolderLock(folder), progress_bar() as bar:
            begin(recipe, core, folder)
            if recipe.positions:
                write_positions(recipe, core, folder, options.threads, bar)
            if recipe.games:
                write_games(recipe.options_of_env(), recipe.games, recipe.seed, folder, bar)
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on with {folder}", file=sys.stderr)
        return INTERRUPTED
    made = [f"{count:,} {what}" for count, what in ((recipe.positions, "positions"), (recipe.games, "games")) if count]
    print(f"{' and '.join(made)} in {folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
