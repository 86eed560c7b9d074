"""Certificates out of proofs: a strategy of few positions for each bound that a solver has proved.

A table of proofs holds bounds of many positions, but no strategy: moves that each keep a bound may together lead round
in cycles, as the table keeps a position's best bound, whose proof may be longer than that of the one needed. So a
strategy is made in two steps. *Collecting* goes from the first position on through all replies. It takes a move that
keeps the prover's goal with a shorter proof than before; of these, the one with the fewest new positions after it.
*Choosing* forgets these moves. It ranks the positions collected from the ends of games upwards, by the moves that the
prover needs at most, and allows only moves that lead to lower ranks.

Cycles leave positions without a rank. If the first is one of them, these are collected again, one after the other, by
moves that do not lead back; and then all of them once more, with the goals known by then, as a position with a higher
goal may need another move and close another cycle. That search is exponential at worst, so it has a budget.
"""

import functools
import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from oanquan_env.arrays import Ints
from oanquan_env.engine.core import Core, RunawayGameError
from oanquan_env.engine.notation import format_position
from oanquan_env.search.certificates import (
    END,
    Certificate,
    Strategy,
    beginnings,
    follow,
    margin,
)
from oanquan_env.search.collecting import (
    NEVER,
    Detours,
    Goals,
    NoStrategyError,
    Prover,
    Tell,
    collect,
    highest,
    running_goals,
    tries_of,
)
from oanquan_env.search.proof import LimitReachedError
from oanquan_env.search.solver import Solver

ATTEMPTS = 30
"""How often positions are collected before a bound is given up."""


def certify(solver: Solver, deadline: float = math.inf, tell: Tell = lambda line: None) -> Certificate:
    """A certificate of the bounds that the solver has proved, as far as strategies are found for them.

    `tell` hears of the progress, and of a bound that is left out. The deadline is one of `time.monotonic()`.
    Raises `NoStrategyError` if no strategy is found for any bound.
    """
    core, progress = solver.core, solver.progress
    claims, prover = Certificate(core.rules, format_position(core, solver.position)), Prover(solver.table, deadline)
    found: dict[str, Strategy] = {}
    errors = []
    for name, bound in (("lower", progress.lower), ("upper", progress.upper)):
        if bound is None:
            continue
        begins = f"{name} bound {bound:+d}: "
        tell(f"{begins}looking for a strategy")
        try:
            found[name] = _strategy(claims, prover, bound, name == "lower", tell)
        except NoStrategyError as error:
            errors.append(f"{begins}no strategy found whose moves depend on the position alone: {error}")
        except LimitReachedError:
            errors.append(f"{begins}no strategy found in time")
        except RunawayGameError as error:
            errors.append(f"{begins}a move has no end: {error}")
    if errors and not found:
        raise NoStrategyError("; ".join(errors))
    for line in errors:
        tell(line)
    return Certificate(claims.rules, claims.position, **found)


def _strategy(claims: Certificate, prover: Prover, bound: int, is_lower: bool, tell: Tell) -> Strategy:
    """A strategy for a bound that is proved in the table."""
    core = claims.core
    begin = beginnings(core, claims.start(), is_lower)
    first = highest(running_goals(core, begin, (bound if is_lower else -bound) - margin(core, begin)))
    if not first:  # every move ends the game
        return Strategy(bound, np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.uint8))
    goals = collect(core, prover, first)
    for attempt in range(ATTEMPTS):
        moves = _moves(core, goals)
        ranks = _ranks(len(goals), moves)
        ranked = {key: goal for (key, goal), rank in zip(goals.items(), ranks.tolist(), strict=False) if rank < NEVER}
        tell(f"  {len(goals):,} positions collected, {len(ranked):,} of them without cycles")
        if first.keys() <= ranked.keys():
            chosen = _choose(list(goals), list(first), moves, ranks)
            graph = follow(core, begin, functools.partial(_actions, chosen))
            actions, left = np.array([chosen[key] for key in graph.numbers], dtype=np.uint8).reshape(-1, 2).T.copy()
            return Strategy(bound, actions, left)
        detours = Detours(core, prover, tell, Goals() if attempt else ranked, goals)
        if detours.reach_all(first) is not None:  # the goals known are too high to be kept all at once
            detours = Detours(core, prover, tell, Goals(), Goals())
            if detours.reach_all(first) is not None:
                raise NoStrategyError("all moves found lead back")
        goals = detours.goals
    raise NoStrategyError(f"positions were collected {ATTEMPTS} times")


def _actions(chosen: dict[bytes, tuple[int, int]], _: int, keys: Sequence[bytes]) -> Ints:
    """The actions chosen in the positions of these keys; see `follow`."""
    return np.array([chosen[key][0] for key in keys], dtype=np.intp)


# ---- choosing --------------------------------------------------------------------------------------------------------


class _Moves(NamedTuple):
    """The moves that keep the goals of N positions, whose replies lead to some of these only. K moves, E replies."""

    rows: Ints  # (K,) the position that each move is made in, ascending
    actions: Ints  # (K,) the moves
    begins: Ints  # (K,) the first reply to each
    children: Ints  # (E,) the position after each reply, or END


def _moves(core: Core, goals: Goals) -> _Moves:
    numbers = {key: number for number, key in enumerate(goals)}
    parts: list[tuple[Ints, Ints, Ints, Ints]] = []
    for begin, rows, actions, moves, reached, needed in tries_of(core, goals):
        children, kept, running = np.full(len(moves), END), needed <= 0, ~reached.over
        after = list(running_goals(core, reached, needed))
        children[running] = [numbers.get(key, END) for key, _ in after]
        kept[running] = [goals.get(key, -NEVER) >= goal for key, goal in after]
        good = np.bincount(moves, ~kept) == 0
        parts.append((begin + rows[good], actions[good], np.bincount(moves)[good], children[good[moves]]))
    rows, actions, counts, children = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Moves(rows, actions, np.cumsum(counts) - counts, children)


def _ranks(n: int, moves: _Moves) -> Ints:
    """(N + 1,) the most moves that the prover needs in each position, or NEVER; 0 for the end, in the last place."""
    ranks = np.full(n + 1, NEVER)
    ranks[END] = 0
    while True:
        worst = np.maximum.reduceat(ranks[moves.children], moves.begins)
        better = ranks.copy()
        np.minimum.at(better, moves.rows, worst + 1)
        if (better == ranks).all():
            return ranks
        ranks = better


def _choose(keys: list[bytes], begins: list[bytes], moves: _Moves, ranks: Ints) -> dict[bytes, tuple[int, int]]:
    """Action and rank in each position that a strategy can meet from where it begins."""
    options: list[list[tuple[int, set[int]]]] = [[] for _ in keys]
    after = np.split(moves.children, moves.begins[1:])
    worst = np.maximum.reduceat(ranks[moves.children], moves.begins)
    for move in (worst < ranks[moves.rows]).nonzero()[0].tolist():
        options[moves.rows[move]].append((int(moves.actions[move]), set(after[move].tolist())))
    numbers = {key: number for number, key in enumerate(keys)}
    met = {END, *(numbers[key] for key in begins)}
    waiting = [(-int(ranks[number]), number) for number in met - {END}]
    heapq.heapify(waiting)
    chosen = {}
    while waiting:  # the highest rank first: whatever leads there has been chosen
        rank, number = heapq.heappop(waiting)
        action, reached = min(options[number], key=lambda option: len(option[1] - met))
        chosen[keys[number]] = action, -rank
        for new in reached - met:
            heapq.heappush(waiting, (-int(ranks[new]), new))
        met |= reached
    return chosen
