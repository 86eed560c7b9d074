"""Value nets for tests."""

import numpy as np

from oanquan_env import Rules
from oanquan_env.search.value_net import ValueNet, shapes


def random_net(name: str, scale: float = 1.0, seed: int = 0) -> ValueNet:
    """Return a net for the rules `name`; its weights are normally distributed with standard deviation `scale`."""
    rng, rules = np.random.default_rng(seed), Rules.parse(name)
    arrays = {
        key: (rng.normal(size=shape) * scale).astype(np.float32)
        for key, shape in shapes(rules.fields, rules.players).items()
    }
    return ValueNet(rules=rules, **arrays, origin={"seed": seed})
