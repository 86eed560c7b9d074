"""Make rule pairs: positions whose best moves differ between two rule sets (see `oanquan_env.benchmark.rule_pairs`)."""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import tyro

from agents.config import Count, OptionalFile, Seed, Size, Whole, command_of
from agents.suites.make_regret import prove_moves
from agents.suites.mixed_games import met_in_play, mixed_players
from agents.suites.resumable_pool import Arrays, PoolOptions
from agents.suites.worker_search import search_moves
from oanquan_env import Core, Positions, Rules
from oanquan_env.array_types import Mask
from oanquan_env.benchmark.regret import PHASES, Suite
from oanquan_env.benchmark.rule_pairs import PATH, RulePairs, are_possible, best_moves, changed_field, seed_phases
from oanquan_env.benchmark.suites import format_suites
from oanquan_env.engine.notation import format_position, parse_position
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.files import text_bytes, write_atomically

PROG = "python -m agents.suites pairs"
FIRST_MOVE = "first_move_captures_mandarin=False"
CHANGES: dict[str, tuple[str, ...]] = {
    "stone_value=1": ("mancala-world", "vietnamese fields=4", "app fields=3"),
    "sowing=counterclockwise": ("vietnamese", "mancala-world fields=4", "ludii fields=3"),
    "mandarin_ahead=take_one": ("mancala-world", "app fields=4", "vietnamese fields=3"),
    "empty_mandarin=gap": ("mancala-world", "app fields=4", "ludii fields=3"),
    "capture=single": ("mancala-world", "vietnamese fields=4", "mancala-world fields=3"),
    "quan_non=5": ("vietnamese", "mancala-world fields=4", "vietnamese fields=3"),
    "mandarin_seeds_capturable=False": ("mancala-world", "app fields=4", "ludii fields=3"),
    "refill_when=at_once": ("mancala-world", "vietnamese fields=4", "app fields=3"),
    "end=squares_empty": ("mancala-world", "app fields=4", "ludii fields=3"),
    "leftovers=split": ("mancala-world", "app fields=4", "mancala-world fields=3"),
    FIRST_MOVE: tuple(
        f"{preset} fields={fields} seeds={seeds}"
        for seeds, fields, preset in itertools.product(range(2, 9), (3, 4, 5), ("mancala-world", "app"))
    ),
}
"""The rule sets to which each change of a single field is applied. A first move has few positions, so it has many.

`mandarin_leftovers` is missing: a split gives both players the same, so no best move changes.
"""
PRESET_PAIRS = (("ludii", "app"), ("vietnamese", "app"), ("vietnamese", "ludii"), ("vietnamese", "mancala-world"))
"""Presets that differ in several fields."""
SCREEN_DEPTH, SCREENED = 8, 2000
"""Plies of the search that looks for candidates, and the maximum number of positions that it searches in a cell."""


@dataclass(frozen=True)
class PairsRecipe:
    """Parameters of a file of rule pairs."""

    count: Size = 600  # number of positions
    depths: tuple[Whole, Whole, Whole] = (12, 14, 16)  # plies of the search in opening, middle and end
    nodes: tuple[Count, Count, Count] = (50_000, 200_000, 600_000)  # node limits of one proof, by phase
    games: Size = 1500  # games from which positions are drawn, under each rule set
    cell: Size = 12  # maximum number of positions for a phase and two rule sets
    seed: Seed = 0  # seed of all randomness


def contrasts() -> list[tuple[str, str]]:
    """Return the pairs of rule sets."""
    changed = [(base, str(Rules.parse(f"{base} {change}"))) for change, bases in CHANGES.items() for base in bases]
    return [(str(Rules.parse(base)), other) for base, other in changed] + list(PRESET_PAIRS)


def find_pairs(recipe: PairsRecipe, cell: tuple[str, str, int]) -> Arrays:
    """Return the texts of N positions of a phase under two rule sets, proved ones first, and their numbers.

    The numbers are (2, 3, N, A) values, lower and upper bounds under both rule sets.
    """
    *names, phase = cell
    cores, rng = [Core(name) for name in names], np.random.default_rng([recipe.seed, phase])
    pool = possible(cores, phase, recipe.games, rng)
    screened = paired(cores, pool, SCREEN_DEPTH)
    searched = paired(cores, pool[screened.hold()][: 2 * recipe.cell], recipe.depths[phase])
    searched = searched.take(searched.hold().nonzero()[0][: recipe.cell])
    pairs = proved(searched, recipe.nodes[phase])
    pairs = pairs.take(pairs.hold())
    pairs = pairs.take(np.argsort(~pairs.proved(), kind="stable"))
    texts = [format_position(cores[0], pairs.given.positions, row) for row in range(len(pairs))]
    return np.array(texts), np.array([[suite.values, suite.lower, suite.upper] for suite in (pairs.given, pairs.other)])


def possible(cores: list[Core], phase: int, games: int, rng: np.random.Generator) -> Positions:
    """Draw positions that are possible under both rule sets and have at least two legal moves, in random order."""
    core, other = cores
    if core.rules.first_move_captures_mandarin == other.rules.first_move_captures_mandarin:
        pool = Positions.concatenate([met_in_play(rules, mixed_players(rules), games, rng) for rules in cores])
    else:
        pool = Positions.concatenate([core.start(), core.expand(core.start())[0]])
        pool = pool[~pool.over]
    pool = pool[(seed_phases(core, pool) == phase) & (core.legal_mask(pool).sum(axis=1) > 1)]
    pool = pool[first_of_each(canonical_keys(core, pool))]
    pool = pool[rng.permutation(len(pool))][:SCREENED]
    return pool[are_possible(core, other.rules, pool)]


def paired(cores: list[Core], positions: Positions, depth: int) -> RulePairs:
    """Return positions with the values of a search under both rule sets."""
    values = [search_moves(str(core.rules), depth, None, positions) for core in cores]
    return RulePairs(*(
        Suite.searched("", core, positions, *columns, {}) for core, columns in zip(cores, values, strict=True)
    ))  # fmt: skip


def proved(pairs: RulePairs, nodes: int) -> RulePairs:
    """Try to prove the best moves' values of each position, and all values if that succeeds under both rule sets.

    If one of the rule sets has `first_move_captures_mandarin=False`, which proofs do not support, nothing is tried.
    """
    if not all(suite.core.rules.first_move_captures_mandarin for suite in (pairs.given, pairs.other)):
        return pairs
    given, other = (
        dataclasses.replace(suite, lower=suite.lower.copy(), upper=suite.upper.copy())
        for suite in (pairs.given, pairs.other)
    )
    for row in range(len(pairs)):
        if all(narrow(suite, row, best_moves(suite)[row], nodes) for suite in (given, other)):
            for suite in (given, other):
                narrow(suite, row, np.isfinite(suite.values[row]), nodes)
    return RulePairs(*(
        dataclasses.replace(suite, values=np.clip(suite.values, suite.lower, suite.upper)) for suite in (given, other)
    ))  # fmt: skip


def narrow(suite: Suite, row: int, moves: Mask, nodes: int) -> bool:
    """Try to prove the values of (A,) `moves` in one position, in place; return whether all of them are proved."""
    asked = np.where(moves, suite.values[row], np.nan)
    numbers = suite.positions[row : row + 1], asked, suite.lower[row], suite.upper[row]
    suite.lower[row], suite.upper[row] = prove_moves(str(suite.core.rules), nodes, numbers)
    return bool(suite.proved[row, moves].all())


def balanced(keys: Iterable[tuple[object, ...]], count: int) -> list[int]:
    """Return the indices of `count` keys (field, phase, contrast), as evenly over fields and then phases as possible.

    Each level takes turns: a field's n-th entry comes before any other field's entry n + 1.
    """
    order = list(enumerate(keys))
    for level in (3, 2, 1):
        seen, ranked = dict[tuple[object, ...], int](), []
        for number, key in order:
            seen[key[:level]] = seen.get(key[:level], -1) + 1
            ranked.append((seen[key[:level]], number, key))
        order = [(number, key) for _, number, key in sorted(ranked, key=lambda entry: entry[0])]
    return sorted(number for number, _ in order[:count])


@dataclass(frozen=True, kw_only=True)
class MakePairs(PoolOptions):
    """Make rule pairs: positions whose best moves differ between two rule sets, which mostly differ in one field.

        python -m agents.suites pairs

    Players of mixed strength play games under both rule sets. A search to eight plies looks for positions in which each
    rule set's best moves lose at least three points under the other. A search to --depths values all moves, and a proof
    search with up to --nodes tries to prove the best moves' values and, if it succeeds under both rule sets, all
    values; both options have a number for opening, middle and end. Positions that no longer fulfil the condition are
    dropped. The others, proved ones first, are chosen so that fields, and then phases, have equal numbers as far as
    there are enough. The same command resumes interrupted work.
    """

    recipe: tyro.conf.OmitArgPrefixes[PairsRecipe] = field(default_factory=PairsRecipe)
    output: OptionalFile = None  # the file (default: the package's own)

    def run(self) -> None:
        """Find the pairs and write their file."""
        path, recipe = self.output or PATH, self.recipe
        cells = [
            (*names, phase) for names in contrasts() for phase in range(1 if FIRST_MOVE in names[1] else len(PHASES))
        ]
        with self.pool(path) as pool:
            arrays = list(pool.map("pairs", functools.partial(find_pairs, recipe), cells))
            suites = list(chosen(recipe, cells, arrays))
            write_atomically(path, text_bytes(path, format_suites(suites)))
        print(f"{sum(map(len, suites)) // 2} positions under {len(suites) // 2} pairs of rule sets in {path}")


def chosen(recipe: PairsRecipe, cells: list[tuple[str, str, int]], arrays: list[Arrays]) -> Iterator[Suite]:
    """Yield two suites for each pair of rule sets, with the positions that `balanced` chooses from all cells."""
    entries = [(number, row) for number, (texts, _) in enumerate(arrays) for row in range(len(texts))]
    keys = [(_field(cells[number]), cells[number][2], cells[number][:2]) for number, _ in entries]
    kept = [entries[place] for place in balanced(keys, recipe.count)]
    for contrast, group in itertools.groupby(kept, key=lambda entry: cells[entry[0]][:2]):
        rows = list(group)
        numbers = np.array([arrays[number][1][:, :, row] for number, row in rows]).transpose(1, 2, 0, 3)
        for rules, (values, lower, upper) in zip(contrast, numbers, strict=True):
            core = Core(rules)
            positions = Positions.concatenate(
                [parse_position(core, str(arrays[number][0][row])) for number, row in rows]
            )
            yield Suite("", core, positions, values, lower, upper, {"version": 1, "command": command_of(PROG, recipe)})


def _field(cell: tuple[str, str, int]) -> str:
    return changed_field(*map(Rules.parse, cell[:2]))
