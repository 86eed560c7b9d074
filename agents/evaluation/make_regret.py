"""Make a regret suite: positions from play of mixed strength, with the value of every legal move.

    python -m agents.evaluation.make_regret --rules mancala-world --count 2400

Games begin with up to eight random plies. Players from weak to strong, which also make random moves, take the seats.
The suite takes one of equivalent positions (up to seats and mirror), if it has at least three legal moves, and the best
is worth at least one point more than the worst. Each phase of the game has equally many positions. A search values all
moves, the deeper the fewer points are in play; --net names the value net at its leaves. Then
`python -m agents.evaluation.prove_regret` proves as many values as it can. With --ray a Ray cluster values the
positions; the suite is the same. --parts keeps finished values in a folder, and the same command resumes.

With three or four players max^n search values the moves, and nothing is proved:

    python -m agents.evaluation.make_regret --rules three-player --count 300 --depths 7 7 8 --games 400
"""

import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import tyro
from rich.progress import Progress

from agents.config import (
    OptionalFile,
    OptionalFolder,
    RayAddress,
    Seed,
    Size,
    Whole,
    command,
    command_of,
    progress_bar,
)
from agents.evaluation.finished_parts import FinishedParts
from agents.players.mixed_play import EPSILONS, LONGEST_START, met_in_play, mixed_players, player_names
from agents.support.parallel import in_order, spread
from oanquan_env import Core, Positions, Rules
from oanquan_env.arrays import Floats, Mask
from oanquan_env.benchmark.regret import PHASES, Suite, phases
from oanquan_env.benchmark.suites import format_suite, regret_path, suite_name
from oanquan_env.engine.keys import canonical_keys, first_of_each
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import short_hash, text_bytes, write_atomically
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.value_net import ValueNet, read_value_net

PROG = "python -m agents.evaluation.make_regret"
FEWEST_MOVES = 3
LEAST_SPREAD = 1
Values: TypeAlias = tuple[Floats, Mask]
CHUNK = 100  # positions valued at once, between two steps of the progress bar


@dataclass(frozen=True)
class SuiteRecipe:
    """Parameters of a suite."""

    rules: str = DEFAULT_PRESET  # rules by name
    count: Size = 2400  # number of positions, a multiple of 3: as many of each phase
    depths: tuple[Whole, Whole, Whole] = (18, 22, 24)  # plies of the search in opening, middle and end
    games: Size = 3000  # games from which positions are drawn
    seed: Seed = 0  # seed of all chance
    net: str | None = None  # value net of the search, a file, a run's folder or `pretrained`; none if left out


def make_suite(
    recipe: SuiteRecipe, progress: Progress | None = None, ray: str | None = None, parts: Path | None = None
) -> Suite:
    """Draw positions, phase by phase, until each has its share; a Ray cluster at the address `ray` may value them.

    With a folder for `parts`, values found are stored there, and those stored before are not searched again. Raises
    `ValueError` if the count does not divide among the phases, or the games met too few positions of a phase.
    """
    if recipe.count < 1 or recipe.count % len(PHASES):
        raise ValueError(f"count must be a multiple of {len(PHASES)}, as many of each phase; got {recipe.count}")
    core, progress = Core(recipe.rules), progress or Progress(disable=True)
    rng = np.random.default_rng(recipe.seed)
    met = met_in_play(core, mixed_players(core), recipe.games, rng)
    met = met[core.legal_mask(met).sum(axis=1) >= FEWEST_MOVES]
    met = met[first_of_each(canonical_keys(core, met))]
    met = met[rng.permutation(len(met))]
    phase = phases(core.rules, met)
    net = None if recipe.net is None else read_value_net(recipe.net, core.rules)
    chosen: list[tuple[Positions, Floats, Mask]] = []
    for number, (name, depth) in enumerate(zip(PHASES, recipe.depths, strict=True)):
        missing = recipe.count // len(PHASES)
        task = progress.add_task(name, total=missing)
        candidates = met[(phase == number).nonzero()[0]]
        found = searched_values(core, candidates, depth, parts and parts / name, net=net, ray=ray)
        for place, (values, proved) in found:  # no more are valued than it takes
            some = candidates[place]
            rows = (np.nanmax(values, axis=1) - np.nanmin(values, axis=1) >= LEAST_SPREAD).nonzero()[0][:missing]
            chosen.append((some[rows], values[rows], proved[rows]))
            missing -= len(rows)
            progress.advance(task, len(rows))
            if not missing:
                break
        if missing:
            raise ValueError(f"the games met {missing} positions too few of the phase {name!r}: play more of them")
    batches, values_of, proofs_of = zip(*chosen, strict=True)
    positions = Positions.concatenate(batches)
    name = suite_name(regret_path(core.rules))
    made = {
        "version": 1,
        "command": command_of(PROG, recipe),
        "players": player_names(core.rules),
        "epsilons": list(EPSILONS),
        "random_plies": [0, LONGEST_START],
        "fewest_moves": FEWEST_MOVES,
        "least_spread": LEAST_SPREAD,
    }
    return Suite.searched(name, core, positions, np.concatenate(values_of), np.concatenate(proofs_of), made)


def searched_values(
    core: Core, positions: Positions, depth: int, parts: Path | None, *, net: ValueNet | None, ray: str | None
) -> Iterator[tuple[slice, Values]]:
    """Values of all moves and which are proved, `CHUNK` positions at a time, with these positions' place among all.

    Those stored in the folder `parts` come first, and new ones are stored there.
    """
    places = [slice(begin, begin + CHUNK) for begin in range(0, len(positions), CHUNK)]
    chunks, finished = [positions[place] for place in places], FinishedParts(parts)
    common = {"rules": str(core.rules), "depth": depth, "net": short_hash(net.to_bytes()) if net else None}

    def settings(chunk: Positions) -> dict[str, Any]:
        return {**common, "positions": short_hash(*(array.tobytes() for array in chunk.arrays()))}

    done = 0
    for chunk in chunks:
        content = finished.find([str(done)], settings(chunk))
        if content is None:
            break
        yield places[done], (np.array(content["values"], dtype=np.float64), np.array(content["proved"], dtype=np.bool_))
        done += 1
    work = functools.partial(value_chunk, str(core.rules), depth, net.to_bytes() if net else None, 1 if ray else None)
    for number, found in enumerate(in_order(spread(work, chunks[done:], ray=ray)), done):
        values, proved = found
        content = {"values": np.where(np.isnan(values), None, values).tolist(), "proved": proved.tolist()}  # type: ignore[call-overload]
        finished.store([str(number)], settings(chunks[number]), content)
        yield places[number], found


def value_chunk(rules: str, depth: int, net: bytes | None, threads: int | None, positions: Positions) -> Values:
    """The values of a chunk, perhaps by a worker of a Ray cluster: rules and net come as text and bytes."""
    return _search(rules, depth, net, threads).movers_values(positions)


@functools.lru_cache(maxsize=1)
def _search(rules: str, depth: int, net: bytes | None, threads: int | None) -> MoveValues:
    """The search of a process: it compiles and takes its memory once."""
    return MoveValues(Core(rules), depth, ValueNet.from_bytes(net) if net else None, threads)


@dataclass(frozen=True)
class Options:
    """The command line."""

    recipe: tyro.conf.OmitArgPrefixes[SuiteRecipe] = field(default_factory=SuiteRecipe)
    output: OptionalFile = None  # the suite's file (default: the package's own)
    parts: OptionalFolder = None  # folder for values found so far, from which the same command goes on
    ray: RayAddress = None


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Make a suite."""
    rules = Rules.parse(options.recipe.rules)
    recipe = dataclasses.replace(options.recipe, rules=str(rules))
    path = options.output or regret_path(rules)
    with progress_bar() as bar:
        suite = make_suite(recipe, bar, options.ray, options.parts)
    write_atomically(path, text_bytes(path, format_suite(suite)))
    print(f"{len(suite)} positions in {path}")


if __name__ == "__main__":
    raise SystemExit(main())
