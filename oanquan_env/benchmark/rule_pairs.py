"""Rule pairs: positions whose best moves differ between two rule sets. They show whether a player follows its rules.

Each position is possible under both rule sets, and every move that is best under one of them is legal under the other
and loses at least `LEAST_LOSS` points there. A player that is given one of the rule sets *follows* it if its move is
best under these rules, and *reverts* if its move is best under the other rules.

A file of rule pairs is a JSON list of suites (see `oanquan_env.benchmark.suites`), two for each pair of rule sets. Both
suites have the same positions.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from oanquan_env.array_types import Floats, Ints, Mask
from oanquan_env.benchmark.regret import END_SHARE, OPENING_SHARE, PROVED, Suite
from oanquan_env.benchmark.statistics import Estimate, score_estimate
from oanquan_env.benchmark.suites import read_suites
from oanquan_env.board import Board
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import NotationError, format_position
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UsageError
from oanquan_env.files import DATA, FileError, naming_damage
from oanquan_env.players import Policy, as_policy

PATH = DATA / "pairs.json.gz"
LEAST_LOSS = 3
"""Minimum loss in points, under each rule set, of the moves that are best under the other."""
SAME = ("players", "fields", "seeds", "stones", "mandarin_seeds", "refill", "max_plies")
"""The fields in which the two rule sets never differ."""
SEVERAL = "several"
"""The field of two rule sets that differ in several fields."""


@dataclass(frozen=True)
class RulePairs:
    """N positions under two rule sets, with the values of all moves under both."""

    given: Suite
    other: Suite

    def __len__(self) -> int:
        return len(self.given)

    def swapped(self) -> "RulePairs":
        """Return the same positions with the rule sets exchanged."""
        return RulePairs(self.other, self.given)

    def take(self, rows: Ints | Mask) -> "RulePairs":
        """Return only the positions in `rows`, which are indices or a mask."""
        return RulePairs(self.given.take(rows), self.other.take(rows))

    @property
    def field(self) -> str:
        """The field in which the rule sets differ, or `SEVERAL`."""
        return changed_field(self.given.core.rules, self.other.core.rules)

    def losses(self) -> Floats:
        """Return the (N,) points that the other rules' best moves lose at least; -inf if such a move is illegal."""
        lost = np.nan_to_num(self.given.move_losses(), nan=-np.inf)
        worst: Floats = np.where(best_moves(self.other), lost, np.inf).min(axis=1)
        return worst

    def hold(self) -> Mask:
        """Return (N,) bool, whether each rule set's best moves lose `LEAST_LOSS` points under the other."""
        fulfilled: Mask = (self.losses() >= LEAST_LOSS) & (self.swapped().losses() >= LEAST_LOSS)
        return fulfilled

    def proved(self) -> Mask:
        """Return (N,) bool, whether bounds prove, under both rule sets, which moves are best and what others lose."""
        both = np.ones(len(self), dtype=np.bool_)
        for pairs in (self, self.swapped()):
            best, top = best_moves(pairs.given), np.nanmax(pairs.given.values, axis=1, keepdims=True)
            floor = np.where(best, pairs.given.lower >= top, True).all(axis=1)
            most = np.where(best_moves(pairs.other), top - LEAST_LOSS, np.where(best, top, top - 1))
            both &= floor & (np.isnan(pairs.given.upper) | (pairs.given.upper <= most)).all(axis=1)
        return both


def changed_field(rules: Rules, other: Rules) -> str:
    """Return the field in which two rule sets differ, or `SEVERAL`."""
    names = list(rules.differences(other))
    return names[0] if len(names) == 1 else SEVERAL


def best_moves(suite: Suite) -> Mask:
    """Return (N, A) bool, whether each move is best."""
    best: Mask = suite.move_losses() == 0
    return best


def seed_phases(core: Core, positions: Positions) -> Ints:
    """Return (N,) indices into `PHASES` by the seeds on the board, which are the same under both rule sets."""
    share = core.seeds(positions).sum(axis=1) / core.rules.total_seeds
    return np.where(share > OPENING_SHARE, 0, np.where(share <= END_SHARE, 2, 1)).astype(np.intp)


def check_rule_sets(rules: Rules, other: Rules) -> None:
    """Raise `ValueError` if the two rule sets differ in one of `SAME`, or do not differ."""
    names = list(rules.differences(other))
    if not names or (wrong := [name for name in names if name in SAME]):
        reason = f"differ in {', '.join(wrong)}" if names else "are the same"
        raise ValueError(f"the rule sets '{rules}' and '{other}' {reason}")


def are_possible(core: Core, other: Rules, positions: Positions) -> Mask:
    """Return (N,) bool, whether positions are possible and the game goes on under the rules of `core` and `other`.

    If the rule sets differ in `stone_value`, the points add up under both only while both stones lie. If they differ in
    `first_move_captures_mandarin`, the position must be the set-up or have one move behind it.
    """
    rows = np.ones(len(positions), dtype=np.bool_)
    if "first_move_captures_mandarin" in core.rules.differences(other):
        rows &= positions.ply <= 1
    for row in rows.nonzero()[0].tolist():
        text = format_position(core, positions, row)
        rows[row] = _runs(text, core.rules) and _runs(text, other)
    return rows


def _runs(text: str, rules: Rules) -> bool:
    try:
        board = Board.parse(text, rules)
    except NotationError:
        return False
    return board.outcome is None and not board.status()


# ---- files -----------------------------------------------------------------------------------------------------------


@functools.cache
def load_rule_pairs() -> tuple[RulePairs, ...]:
    """Return the package's rule pairs, one entry for each pair of rule sets."""
    return read_rule_pairs(PATH)


def read_rule_pairs(path: Path) -> tuple[RulePairs, ...]:
    """Read a file of rule pairs. Raises `FileError` if it is missing or damaged, or a position does not fit."""
    suites = read_suites(path)
    if not suites or len(suites) % 2:
        raise FileError(f"{path}: expected two suites for each pair of rule sets; got {len(suites)} suites")
    return tuple(_pair(RulePairs(*suites[begin : begin + 2]), path) for begin in range(0, len(suites), 2))


def _pair(pairs: RulePairs, path: Path) -> RulePairs:
    given, other = pairs.given, pairs.other
    with naming_damage(path, f"suites '{given.core.rules}' and '{other.core.rules}'"):
        check_rule_sets(given.core.rules, other.core.rules)
        if len(given) != len(other) or not given.positions.same(other.positions).all():
            raise ValueError("their positions differ")
        for faulty, reason in (
            (~are_possible(given.core, other.core.rules, given.positions), "is impossible or over under one of them"),
            (~pairs.hold(), f"has best moves that do not lose {LEAST_LOSS} points under the other rules"),
        ):
            if faulty.any():
                raise ValueError(f"position {int(faulty.argmax()) + 1} {reason}")
    return pairs


# ---- measuring -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RuleFollowing:
    """Shares of a player's moves that are best under the given rules, under the other rules, and under neither.

    Each position is asked under both rule sets, or under the one that the player can play; the mean over both is one
    sample of the intervals.

    Attributes:
        positions: number of positions.
        follows, reverts, neither: shares of moves, 0 to 1, with intervals.
        random_follows, random_reverts: the same shares of a random legal move.
        groups: the shares in the positions of each field in which the rule sets differ, and in `PROVED`.
    """

    positions: int
    follows: Estimate
    reverts: Estimate
    neither: Estimate
    random_follows: float
    random_reverts: float
    groups: dict[str, "RuleFollowing"] = dataclasses.field(default_factory=dict)


Chooser: TypeAlias = Callable[[RulePairs], Policy]
"""A function that returns the player that is asked about positions under the rules `given`."""


def named(player: object) -> Chooser:
    """Return a function that makes `player` (see `as_policy`) for the given rules."""
    return lambda pairs: as_policy(player, pairs.given.core)


def follow_rules(
    choose: Chooser, rule_pairs: Sequence[RulePairs], rng: np.random.Generator, runs: int = 1
) -> RuleFollowing:
    """Ask a player for a move in every position under both rule sets, `runs` times; return the shares of its moves.

    Rules for which `choose` raises `ValueError`, because the player cannot play them, are left out. Raises `UsageError`
    if nothing is left, and `IllegalActionError` unless the player chooses a legal action in each position.
    """
    shares, fields, is_proved = list[Floats](), list[str](), list[Mask]()
    for pairs in rule_pairs:
        asked = list[Floats]()
        for side in (pairs, pairs.swapped()):
            try:
                player = choose(side)
            except ValueError:  # it cannot play these rules
                continue
            asked.append(_asked(player, side, rng, runs))
        if asked:
            shares.append(np.mean(asked, axis=0))
            fields += [pairs.field] * len(pairs)
            is_proved.append(pairs.proved())
    if not shares:
        raise UsageError("the player cannot play any of the rules of the rule pairs")
    samples, of_field = np.concatenate(shares, axis=1).mean(axis=0), np.array(fields)
    groups = {name: of_field == name for name in dict.fromkeys(fields)} | {PROVED: np.concatenate(is_proved)}
    measured = {name: _shares(samples[rows]) for name, rows in groups.items() if rows.any()}
    return dataclasses.replace(_shares(samples), groups=measured)


def _asked(player: Policy, pairs: RulePairs, rng: np.random.Generator, runs: int) -> Floats:
    """Return (runs, N, 5) shares: follows, reverts and neither, and follows and reverts of a random legal move."""
    suite, rows, shares = pairs.given, np.arange(len(pairs)), []
    best = best_moves(pairs.given), best_moves(pairs.other)
    legal = np.isfinite(suite.values)
    by_chance = [(moves & legal).sum(axis=1) / legal.sum(axis=1) for moves in best]
    for _ in range(runs):
        actions = np.asarray(player.choose(suite.positions.copy(), rng))
        suite.core.check(suite.positions, actions)
        follows, reverts = (moves[rows, actions] for moves in best)
        shares.append(np.stack([follows, reverts, ~(follows | reverts), *by_chance], axis=1))
    return np.array(shares, dtype=np.float64)


def _shares(samples: Floats) -> RuleFollowing:
    follows, reverts, neither = (score_estimate(column) for column in samples.T[:3])
    return RuleFollowing(len(samples), follows, reverts, neither, *samples[:, 3:].mean(axis=0).tolist())
