"""Games played side by side by self-play, which are kept in checkpoints."""

from typing import Any

import numpy as np
import torch
from pydantic import Field

from agents.config import Count, Share, Strict
from agents.support import workers
from oanquan_env import Core, Positions
from oanquan_env.arrays import Ints
from oanquan_env.playing import play_randomly

BLOCK = 4096
"""Start positions made at once: one costs a tenth in a large batch of its time in a small one."""
PATIENCE = 32
"""Draws of a start position; if all of these games are over by then, the game starts at the set-up."""
MOST_PLIES = 2**24
"""Most plies of a rollout or a replay: a machine's memory holds no larger ones."""
POSITION_NAMES = ("squares", "scores", "mover", "ply", "ended")


class StartsConfig(Strict):
    """Start positions of games."""

    set_up_share: Share = Field(0.2, description="share of games that begin at the set-up")
    max_plies: Count = Field(10, description="the others begin 1 to this many random plies in, unless over by then")
    beam_share: Share = Field(0.0, description="share of all games that begin in lines that beat the network")


class Games:
    """N games that restart from random positions, as play from the set-up alone collapses onto one line.

    The start positions are the set-up and positions 1 .. `max_plies` random plies after it, each number equally often;
    a game that is over by then is drawn again. A share `beam_share` begins in positions of `beams` instead, if there
    are any. Starts depend on the seed, the worker, `beams` and how many were drawn before.

    Attributes:
        positions: the N positions to move in.
        drawn: start positions drawn so far.
        beams: positions of lines that beat the network.
    """

    def __init__(self, core: Core, n: int, config: StartsConfig, seed: int) -> None:
        self.core, self.config, self.seed, self.drawn = core, config, workers.own_seed(seed), 0
        self.use(core.start(0))
        self.positions = core.start(n)
        self.restart(np.arange(n))

    def use(self, beams: Positions) -> None:
        """Draw games that begin in lines that beat the network from these positions."""
        self.beams, self._block, self._number = beams, self.core.start(0), -1

    def restart(self, rows: Ints) -> None:
        """Begin the games of these rows anew."""
        self.positions[rows] = self.draw(len(rows))

    def draw(self, n: int) -> Positions:
        """The next `n` start positions, all running."""
        parts = [self.core.start(0)]
        while n > 0:
            number, begin = divmod(self.drawn, BLOCK)
            if number != self._number:
                self._block, self._number = self._make(np.random.default_rng([self.seed, number])), number
            parts.append(self._block[begin : begin + n])
            self.drawn += len(parts[-1])
            n -= len(parts[-1])
        return Positions.concatenate(parts)

    def _make(self, rng: np.random.Generator) -> Positions:
        block = self.core.start(BLOCK)
        missing = (rng.random(BLOCK) >= self.config.set_up_share).nonzero()[0]
        for _ in range(PATIENCE):
            drawn = self.core.start(len(missing))
            play_randomly(self.core, drawn, rng.integers(1, self.config.max_plies + 1, len(missing)), rng)
            block[missing[~drawn.over]] = drawn[~drawn.over]
            missing = missing[drawn.over]
        if len(self.beams):
            rows = (rng.random(BLOCK) < self.config.beam_share).nonzero()[0]
            block[rows] = self.beams[rng.integers(0, len(self.beams), len(rows))]
        return block

    def state_dict(self) -> dict[str, Any]:
        """Positions, how many starts were drawn, and `beams` if it has positions."""
        state = {**_state(self.positions), "drawn": self.drawn}
        return {**state, "beams": _state(self.beams)} if len(self.beams) else state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` gave; raises `ValueError` for positions that are not N running ones."""
        positions = self._running(state)
        if len(positions) != len(self.positions):
            raise ValueError("its games are of another number")
        self.use(self._running(state["beams"]) if "beams" in state else self.core.start(0))
        self.positions, self.drawn = positions, int(state["drawn"])

    def _running(self, state: dict[str, Any]) -> Positions:
        positions = Positions(*(state[name].numpy().copy() for name in POSITION_NAMES))
        kinds = [(array.dtype, array.shape[1:], len(array)) for array in positions.arrays()]
        n = len(positions.squares)
        if kinds != [(array.dtype, array.shape[1:], n) for array in self.positions.arrays()]:
            raise ValueError("its games are of another number or of other rules")
        columns = self.core.seeds(positions), self.core.stones(positions), positions.scores
        if not self.core.setup(*columns, positions.mover, positions.ply).same(positions).all():
            raise ValueError("it holds games that are over, or impossible positions")
        return positions


def _state(positions: Positions) -> dict[str, Any]:
    arrays = zip(POSITION_NAMES, positions.arrays(), strict=True)
    return {name: torch.from_numpy(array.copy()) for name, array in arrays}
