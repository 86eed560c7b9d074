"""Players without chance, for tests."""

from __future__ import annotations

import numpy as np

from oanquan_env import Core, Positions
from oanquan_env.arrays import Ints


class FirstMove:
    """Plays the legal action of the lowest number."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        return self.core.legal_mask(positions).argmax(axis=1)


class LastMove(FirstMove):
    """Plays the legal action of the highest number."""

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        mask = self.core.legal_mask(positions)
        return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
