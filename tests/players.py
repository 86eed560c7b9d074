"""Players without chance, and generators, for tests."""

import contextlib
from collections.abc import Iterator

import numpy as np

from oanquan_env import Core, Positions
from oanquan_env.arrays import Ints, Mask


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class Fixed:
    """Plays the actions that it was given."""

    def __init__(self, actions: list[int]) -> None:
        self.actions = actions

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        assert len(positions) == len(self.actions)
        return np.array(self.actions)


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


def random_legal(mask: Mask, rng: np.random.Generator) -> Ints:
    """A legal action in each row; 0 where there is none."""
    return (rng.random(mask.shape) * mask).argmax(axis=1)


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Go on after the error for rules and seats by which the opponent ends every game before the agent's first move."""
    try:
        yield
    except ValueError as error:
        if "before the agent's first move" not in str(error):
            raise
