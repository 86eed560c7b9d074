"""Give the loops the rules of games, and ask opponents for moves in games that draw their rules from a list."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints, Mask
from oanquan_env.engine.core import Core
from oanquan_env.engine.move import rule_numbers
from oanquan_env.engine.observe import vector_type
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.step import GREEDY
from oanquan_env.envs.opponents import ObservingOpponent, Opponents


def rules_array(core: Core, rule_sets: Sequence[Rules], vectors: npt.NDArray[np.float32] | None) -> Any:
    """Return the rules of `core`, or the rule sets of a list if `vectors` is not None, in the form that the loops take.

    The (R, L) `vectors` are the numbers with which observations end under each of the R rule sets.
    """
    if not core.compiled:
        if vectors is None:
            return [core.numbers]
        records = np.ascontiguousarray(vectors).view(vector_type(vectors.shape[1]))
        pairs = zip(rule_sets, records, strict=True)
        return [SimpleNamespace(**rule_numbers(rules)._asdict(), vector=vector) for rules, vector in pairs]
    from oanquan_env.engine.compiled import RULES, rule_table, zeros  # imports Numba

    if vectors is not None:
        return rule_table(rule_sets, vectors)
    rules = zeros(RULES, 1)
    rules[0] = core.record
    return rules


def choose(
    opponents: Opponents,
    games: npt.NDArray[Any],
    rows: Ints,
    masks: Mask,
    observe: Callable[..., object],
    draw: Callable[..., object],
    rng: np.random.Generator,
) -> Ints:
    """Return the (M,) actions of the opponents in games `rows` (M,), which draw their rules from a list.

    `masks` (M, A) are the legal actions. `observe(rows, encoder, observations)` writes observations of the movers, and
    `draw(games, rows, greedy, actions)` the actions of `random` or `greedy`. Functions may draw from `rng`.
    """
    in_pool, actions = games["opponent_in_pool"][rows], np.zeros(len(rows), np.int64)
    for index, player in opponents.of(in_pool):
        mine = (in_pool == index).nonzero()[0]
        if isinstance(player, ObservingOpponent):
            seen = np.zeros(len(games), player.encoder.row_type)
            observe(rows[mine], player.encoder, seen)
            actions[mine] = player.choose(seen["row"][rows[mine]], masks[mine], rng)
        else:
            chosen = np.zeros(len(mine), np.int64)
            draw(games, rows[mine], player == GREEDY, chosen)
            actions[mine] = chosen
    return actions
