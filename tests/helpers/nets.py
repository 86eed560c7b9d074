"""Value nets for tests, and the values that compiled code gives them."""

import numba
import numpy as np

from oanquan_env import Core, Positions, Rules
from oanquan_env.search.leaf import canonical, evaluate, with_net
from oanquan_env.search.search_state import SearchRules, compile_rules, mover_first
from oanquan_env.search.value_net import ValueNet, shapes


def random_net(name: str, scale: float = 1.0, seed: int = 0) -> ValueNet:
    """Return a net for the rules `name`; its weights are normally distributed with standard deviation `scale`.

    They are multiples of 1/64, so their sums are exact.
    """
    rng, rules = np.random.default_rng(seed), Rules.parse(name)
    arrays = {
        key: (np.rint(rng.normal(size=shape) * scale * 64) / 64).astype(np.float32)
        for key, shape in shapes(rules.fields, rules.players).items()
    }
    return ValueNet(rules=rules, **arrays, origin={"seed": seed})


@numba.njit
def leaf_value(rules: SearchRules, own: int, other: int) -> float:
    own, other = canonical(rules, own, other)
    return evaluate(rules, (own, other))[0]


def leaf_values(core: Core, net: ValueNet, positions: Positions) -> np.ndarray:
    """Return the (N,) values that compiled leaf code gives N positions, before rounding to whole points."""
    rules = with_net(compile_rules(core), net)
    return np.array([leaf_value(rules, own, other) for own, other in mover_first(positions)], dtype=np.float32)
