"""Make data for offline learning: positions with the value of every move.

    python -m agents.data.position_data --output out/data --positions 100000 --depth 8 --net pretrained

Each position is up to `--random-plies` random plies after a position of a game between players of mixed strength. No
two positions are equivalent, and no position is in the rules' regret suite or one move after a position of the suite. A
search values every move. `numpy.load` reads the files `positions-00000.npz` and so on; `FIELDS` describes their arrays.
The same command resumes interrupted work and keeps finished files.
"""

import dataclasses
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import tyro
from pydantic import Field

from agents.config import Count, CountOrZero, Folder, Seed, Whole, command, command_of
from agents.folders import data_folder
from agents.suites.mixed_games import met_in_play, mixed_players
from agents.suites.resumable_pool import PoolOptions, ResumablePool
from agents.suites.worker_search import net_bytes, search_moves
from oanquan_env import Core, Positions
from oanquan_env.benchmark.suites import suite_keys
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.engine.symmetry import are_among, canonical_keys, first_of_each, key_hashes
from oanquan_env.files import naming_damage, npz_bytes, read_arrays, short_hash, write_atomically
from oanquan_env.observation import Encoder
from oanquan_env.rollouts import play_randomly
from oanquan_env.search.limits import Limits

PROG = "python -m agents.data.position_data"
POSITIONS_A_FILE = 5000
MOST_POSITIONS = 10**8  # the hashes of all positions are kept in memory
POSITIONS_A_GAME = 16  # one game is played for this many requested positions
FEW = 0.01  # drawing stops when one more draw adds less than this share of the requested positions
Columns: TypeAlias = dict[str, npt.NDArray[Any]]
FIELDS = {
    "observations": "(N, D) int32, the environments' observation of the position, see oanquan_env.observation",
    "seeds": "(N, P * (F + 1)) uint8, seeds in ring order, South's fields first",
    "stones": "(N, P) uint8, stones of the mandarin squares",
    "scores": "(N, P) int32, points so far",
    "mover": "(N,) uint8, seat of the player to move",
    "ply": "(N,) int32, moves played",
    "values": "(N, A) float32, future margin of each move from the mover's view, points; NaN for illegal moves",
    "proved": "(N, A) bool, whether each value holds at every depth of search",
}
"""The arrays of N positions (P players, F fields, A actions). `Core.setup` takes the arrays `seeds` to `ply`."""


@dataclass(frozen=True)
class Recipe:
    """The options that determine the data."""

    positions: Annotated[Count, Field(le=MOST_POSITIONS)]  # number of positions
    rules: str = DEFAULT_PRESET  # rules by name, for two players
    depth: Whole = 8  # plies of the search that values the moves
    net: str | None = None  # value net of the search: a file, a run's folder or `pretrained` (default: no net)
    random_plies: CountOrZero = 3  # maximum number of random plies played from a game position
    seed: Seed = 0  # seed of all randomness


def write_positions(recipe: Recipe, core: Core, folder: Path, workers: ResumablePool) -> None:
    """Make the files missing in `folder`. Raises `ValueError` if a file is damaged or too few positions are new."""
    work = functools.partial(search_moves, str(core.rules), recipe.depth, net_bytes(recipe.net, core))
    hashes, total, number = np.zeros(0, dtype=np.uint64), 0, 0
    while total < recipe.positions:
        path = folder / f"positions-{number:05}.npz"
        if path.exists():
            batch = read_positions(path, core)
        else:
            pool = draw_positions(
                core, POSITIONS_A_FILE, recipe.random_plies, np.random.default_rng([recipe.seed, 0, number])
            )
            new = ~are_among(key_hashes(canonical_keys(core, pool)), hashes)
            batch = pool[new][: recipe.positions - total]
            if len(batch) < min(recipe.positions - total, FEW * POSITIONS_A_FILE):
                most = f"games of '{core.rules}' hardly reach more than {total:,} different positions"
                raise ValueError(f"--positions: {most}; got {recipe.positions:,}")
            values, proved = workers.map_rows(path.stem, work, batch)
            columns: tuple[npt.NDArray[Any], ...] = (
                *(Encoder(core).encode(batch), core.seeds(batch).astype(np.uint8), core.stones(batch).astype(np.uint8)),
                *(batch.scores, batch.mover.astype(np.uint8), batch.ply, values.astype(np.float32), proved),
            )
            write_atomically(path, npz_bytes(**dict(zip(FIELDS, columns, strict=True))))
        hashes = np.sort(np.concatenate([hashes, key_hashes(canonical_keys(core, batch))]))
        total, number = total + len(batch), number + 1


def draw_positions(core: Core, wanted: int, random_plies: int, rng: np.random.Generator) -> Positions:
    """Draw up to `wanted` distinct positions outside the suite, 0 to `random_plies` plies after a game position."""
    withheld = np.sort(key_hashes(suite_keys(core)))
    pool = met_in_play(core, mixed_players(core), 1 + wanted // POSITIONS_A_GAME, rng)
    positions, before = core.start(0), -wanted
    while before + FEW * wanted < len(positions) < wanted:
        before = len(positions)
        more = pool[rng.integers(0, len(pool), wanted)]
        play_randomly(core, more, rng.integers(0, random_plies + 1, len(more)), rng)
        positions = Positions.concatenate([positions, more[~more.over]])
        keys = canonical_keys(core, positions)
        first = first_of_each(keys)
        positions = positions[first[~are_among(key_hashes(keys[first]), withheld)]]
    return positions[rng.permutation(len(positions))[:wanted]]


def read_columns(path: Path) -> Columns:
    """Read the arrays in `FIELDS` from a file. Raises `ValueError` if an array is missing or the lengths differ."""
    with naming_damage(path, "not a file of positions", "; delete it to make it anew"):
        data = read_arrays(path)
        columns = {name: data[name] for name in FIELDS}
        if len({len(array) for array in columns.values()}) > 1:
            raise ValueError("its arrays must have the same length")
    return columns


def read_positions(path: Path, core: Core) -> Positions:
    """Read the positions of a file. Raises `ValueError` if it is damaged or does not fit the rules of `core`."""
    columns = read_columns(path)
    with naming_damage(path, f"no positions of '{core.rules}'"):
        return core.setup(*(columns[name] for name in ("seeds", "stones", "scores", "mover", "ply")))


@dataclass(frozen=True, kw_only=True)
class Options(PoolOptions):
    """The options of the command line."""

    output: Folder  # folder to which the files are written
    recipe: tyro.conf.OmitArgPrefixes[Recipe]


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Make the data, or resume an interrupted command."""
    recipe, folder = options.recipe, options.output
    Limits(depth=recipe.depth)
    core = Core(recipe.rules)
    if core.rules.players > 2:
        raise ValueError(f"--rules: values of moves need rules for two players; '{core.rules}' has more")
    net = short_hash(net_bytes(recipe.net, core) or b"")
    settings = {**dataclasses.asdict(recipe), "rules": str(core.rules), "files": [net]}
    asked = command_of(PROG, recipe)
    with (
        data_folder(folder, "data", settings, FIELDS, asked) as complete,
        options.pool(folder / "positions") as workers,
    ):
        write_positions(recipe, core, folder, workers)
        complete({"positions": recipe.positions})
    print(f"{recipe.positions:,} positions in {folder}")


if __name__ == "__main__":
    raise SystemExit(main())
