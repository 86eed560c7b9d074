"""Deterministic players, generators and random actions for tests."""

import contextlib
import itertools
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from oanquan_env import Core, Positions
from oanquan_env.array_types import Ints, Mask
from oanquan_env.benchmark import beams, exploit, policy_cache


def tick(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Give searches for best responses a clock that advances by `seconds` whenever it is read."""
    clock = SimpleNamespace(monotonic=itertools.count(0, seconds).__next__)
    for module in (policy_cache, beams, exploit):
        monkeypatch.setattr(module, "time", clock)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class Fixed:
    """A player that plays the given actions, one for each position."""

    def __init__(self, actions: list[int]) -> None:
        self.actions = actions

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        assert len(positions) == len(self.actions)
        return np.array(self.actions)


class FirstMove:
    """A player that chooses the legal action with the lowest index."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        return self.core.legal_mask(positions).argmax(axis=1)


class LastLegalMove(FirstMove):
    """A player that chooses the legal action with the highest index."""

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        mask = self.core.legal_mask(positions)
        return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


def random_legal(mask: Mask, rng: np.random.Generator) -> Ints:
    """Return a random legal action for each row of `mask`; 0 if the row has none."""
    return (rng.random(mask.shape) * mask).argmax(axis=1)


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Ignore the error that is raised if the opponent ends every game before the agent's first move."""
    try:
        yield
    except ValueError as error:
        if "before the agent's first move" not in str(error):
            raise
