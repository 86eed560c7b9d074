"""Batches of self-play games, and their state for checkpoints."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field

from agents import workers
from agents.config import Count, Share, Strict
from oanquan_env import Core, Positions
from oanquan_env.array_types import Ints, Mask, Points
from oanquan_env.engine.positions import turn_order
from oanquan_env.rollouts import play_randomly

BLOCK = 4096
"""Number of start positions made at once. In a small batch, a position takes ten times as long."""
PATIENCE = 32
"""Maximum number of draws of a start position. If the game is over after every draw, the set-up is used instead."""
MOST_PLIES = 2**24
"""Maximum number of plies in a rollout or replay buffer; larger buffers do not fit into memory."""
RewardFunction: TypeAlias = Callable[[Core, Points, Positions], npt.NDArray[np.float64]]
"""A function of the core, the scores (N, P) before a ply, and the positions after it, to the rewards (N, P) by seat."""
POSITION_NAMES = ("squares", "scores", "mover", "ply", "ended")


class StartsConfig(Strict):
    """Settings of the start positions of self-play games."""

    set_up_share: Share = Field(0.2, description="share of the games that begin at the set-up")
    max_plies: Count = Field(10, description="all other games begin after 1 to this number of random plies")
    beam_share: Share = Field(0.0, description="share of all games that begin in lines that beat the network")


class SelfPlayGames:
    """N games that restart from random positions, because self-play from only the set-up collapses onto one line.

    A start is the set-up with probability `set_up_share`, otherwise a running position 1 to `max_plies` random plies
    later (uniform). If there are `beams`, a share `beam_share` of all games starts from them instead. Starts depend
    only on the settings, the seed, the worker, `beams`, `block` (the number of starts that are made at once) and the
    number of starts drawn before.

    Attributes:
        positions: the current N positions.
        drawn: number of start positions drawn so far.
        beams: positions of lines that beat the network.
    """

    def __init__(self, core: Core, n: int, config: StartsConfig, seed: int, block: int = BLOCK) -> None:
        self.core, self.config, self.seed, self.drawn = core, config, workers.own_seed(seed), 0
        self._size = block
        self.use(core.start(0))
        self.positions = core.start(n)
        self.restart(np.arange(n))

    def use(self, beams: Positions) -> None:
        """Replace `beams`, the positions from lines that beat the network, for all starts drawn from now on."""
        self.beams, self._block, self._number = beams, self.core.start(0), -1

    def restart(self, rows: Ints) -> None:
        """Restart the games with the indices `rows`."""
        self.positions[rows] = self.draw(len(rows))

    def play(self, actions: npt.NDArray[Any], reward: RewardFunction) -> tuple[npt.NDArray[np.float32], Mask]:
        """Play one ply in every game, and restart finished games.

        Returns (N, P) rewards in turn order from the mover, and (N,) flags of finished games.
        """
        core, positions = self.core, self.positions
        mover, before = positions.mover.copy(), positions.scores.copy()
        core.play(positions, actions)
        rewards = np.take_along_axis(reward(core, before, positions), turn_order(mover, core.rules.players), axis=1)
        dones = positions.over
        self.restart(dones.nonzero()[0])
        return rewards.astype(np.float32), dones

    def draw(self, n: int) -> Positions:
        """Return the next `n` start positions, none of which is finished."""
        parts = [self.core.start(0)]
        while n > 0:
            number, begin = divmod(self.drawn, self._size)
            if number != self._number:
                self._block, self._number = self._make(np.random.default_rng([self.seed, number])), number
            parts.append(self._block[begin : begin + n])
            self.drawn += len(parts[-1])
            n -= len(parts[-1])
        return Positions.concatenate(parts)

    def _make(self, rng: np.random.Generator) -> Positions:
        block = self.core.start(self._size)
        missing = (rng.random(self._size) >= self.config.set_up_share).nonzero()[0]
        for _ in range(PATIENCE):
            starts = self.core.start(len(missing))
            play_randomly(self.core, starts, rng.integers(1, self.config.max_plies + 1, len(missing)), rng)
            block[missing[~starts.over]] = starts[~starts.over]
            missing = missing[starts.over]
        if len(self.beams):
            rows = (rng.random(self._size) < self.config.beam_share).nonzero()[0]
            block[rows] = self.beams[rng.integers(0, len(self.beams), len(rows))]
        return block

    def state_dict(self) -> dict[str, Any]:
        """Return the positions, the number of starts drawn, and `beams` unless it is empty."""
        state = {**_state(self.positions), "drawn": self.drawn}
        return {**state, "beams": _state(self.beams)} if len(self.beams) else state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state from `state_dict`. Raises `ValueError` unless it holds N running positions of these rules."""
        positions = self._running(state)
        if len(positions) != len(self.positions):
            raise ValueError("its number of games differs")
        self.use(self._running(state["beams"]) if "beams" in state else self.core.start(0))
        self.positions, self.drawn = positions, int(state["drawn"])

    def _running(self, state: dict[str, Any]) -> Positions:
        positions = Positions(*(state[name].numpy().copy() for name in POSITION_NAMES))
        kinds, n = [(array.dtype, array.shape) for array in positions.arrays()], len(positions.squares)
        if kinds != [(array.dtype, (n, *array.shape[1:])) for array in self.positions.arrays()]:
            raise ValueError("its number of games or its rules differ")
        columns = self.core.seeds(positions), self.core.stones(positions), positions.scores
        if not self.core.setup(*columns, positions.mover, positions.ply).same(positions).all():
            raise ValueError("it holds finished games or impossible positions")
        return positions


def _state(positions: Positions) -> dict[str, Any]:
    arrays = zip(POSITION_NAMES, positions.arrays(), strict=True)
    return {name: torch.from_numpy(array.copy()) for name, array in arrays}
