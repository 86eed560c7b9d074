"""Start positions of self-play: the set-up, and positions a few random plies into a game."""

import numpy as np

from oanquan_env import Core, Positions
from oanquan_env.playing import play_randomly

BLOCK = 4096
"""Start positions made at once: one costs a tenth in a large batch of its time in a small one."""
PATIENCE = 32
"""Draws of a start position; if all of these games are over by then, the game starts at the set-up."""


class RandomStarts:
    """An endless sequence of start positions: the set-up, and positions a few random plies into a game.

    Play from the set-up alone collapses onto one line, and the agent then knows nothing else. The sequence depends on
    the seed alone, so `drawn` is all that a checkpoint has to keep.

    The set-up comes with probability `set_up_share`. The others are 1 .. `max_plies` random plies in. Each number is
    drawn equally often; a game that is over by then is drawn again, so large numbers are rarer among the positions.
    """

    def __init__(self, core: Core, *, set_up_share: float, max_plies: int, seed: int) -> None:
        self.core = core
        self.set_up_share = set_up_share
        self.max_plies = max_plies
        self.seed = seed
        self.drawn = 0
        self._block, self._block_number = core.start(0), -1

    def draw(self, n: int) -> Positions:
        """The next `n` positions, all running."""
        parts = [self.core.start(0)]
        while n > 0:
            number, begin = divmod(self.drawn, BLOCK)
            if number != self._block_number:
                self._block, self._block_number = self._make(np.random.default_rng([self.seed, number])), number
            part = self._block[begin : begin + n]
            parts.append(part)
            self.drawn += len(part)
            n -= len(part)
        return Positions.concatenate(parts)

    def _make(self, rng: np.random.Generator) -> Positions:
        block = self.core.start(BLOCK)
        missing = (rng.random(BLOCK) >= self.set_up_share).nonzero()[0]
        for _ in range(PATIENCE):
            drawn = self.core.start(len(missing))
            play_randomly(self.core, drawn, rng.integers(1, self.max_plies + 1, len(missing)), rng)
            block[missing[~drawn.over]] = drawn[~drawn.over]
            missing = missing[drawn.over]
        return block
