"""A cache of a player's answers. An answer is the move, or the tied moves, that a player may choose in a position.

A player that chooses between moves at random is asked in one of two ways. By default it uses a generator derived from
the position (`position_generator`), which makes it a fixed policy. With `every_tie` it may play any of its tied moves.
A player may still draw in other ways, or depend on the clock. So it counts as a fixed policy only if it has given the
same answers when asked twice with equal generators (`asked_twice`). Evaluations and tournaments ask `repeats`.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Mask
from oanquan_env.engine.core import Core, sample_actions
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.symmetry import Keys
from oanquan_env.errors import UsageError
from oanquan_env.players import DrawingPolicy, Policy

Choice: TypeAlias = Literal["not random", "seeded by the position", "any tied move", "different when asked again"]

MOST_ANSWERS = 1 << 22
"""Maximum number of stored answers; if there are more, all are deleted."""
ASKED_TWICE = 256
"""Number of positions about which a player is asked twice before we claim that it is a fixed policy."""
ASKED = 16
"""Number of positions about which an evaluation asks each player twice."""
MOST_ASKED, QUESTION_SECONDS = 16_384, 0.5
"""Maximum number of positions in one call of the player, and the target duration of a call in seconds."""
NO_TIES = "every_tie needs a player that reports its tied moves, as minimax and maxn do"


def position_generator(positions: Positions, row: int = 0) -> np.random.Generator:
    """Return the generator that a randomising player uses when it is asked about the position in `row`."""
    return np.random.default_rng(int.from_bytes(position_keys(positions)[row].tobytes(), "little"))


def position_keys(positions: Positions) -> Keys:
    """Return (N,) opaque keys, equal for equal positions. They leave out the mover, which must follow from the ply."""
    columns = positions.squares, *(array.view(np.uint8) for array in (positions.scores, positions.ply[:, None]))
    content = np.ascontiguousarray(np.concatenate([*columns, positions.ended[:, None]], axis=1))
    return content.view(np.dtype((np.void, content.shape[1])))[:, 0]


def asked_twice(ask: Callable[[], npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], bool]:
    """Return the answers of a function that asks a player, and whether they are the same when it asks again."""
    answers = ask()
    return answers, np.array_equal(answers, ask())


def repeats(player: Policy, positions: Positions) -> bool:
    """Return whether a player repeats its moves in the first `ASKED` of N positions when asked with equal generators.

    If not, it has randomness of its own or depends on the clock, and a seed does not fix its results.
    """
    few = positions[:ASKED]
    return asked_twice(lambda: np.asarray(player.choose(few.copy(), np.random.default_rng(0))))[1]


@dataclass
class Answers:
    """A cache of a player's moves, which queries the player only for positions that it does not hold.

    Attributes:
        every_tie: whether the player may choose any of its tied moves.
        deadline: time of `time.monotonic()` after which the player is not asked.
        most: maximum number of positions about which the player is asked.
        twice: number of positions, from the first, about which `moves` asks twice.
        asked: number of positions about which the player was asked so far.
        draws: whether any answer depended on a random generator, or on the choice between tied moves.
        fixed: whether the player has always given the same answers when it was asked twice.
        batch: maximum number of positions in the next call of the player.
        known: the stored answers, by the key of the position.
    """

    player: Policy
    core: Core
    every_tie: bool
    deadline: float = math.inf
    most: float = math.inf
    twice: int = 0
    asked: int = 0
    draws: bool = False
    fixed: bool = True
    batch: int = 16
    known: dict[bytes, Mask] = field(default_factory=dict)

    @property
    def choice(self) -> Choice:
        """How the player has chosen its moves so far."""
        if not self.fixed:
            return "different when asked again"
        if not self.draws:
            return "not random"
        return "any tied move" if self.every_tie else "seeded by the position"

    def moves(self, positions: Positions) -> Mask | None:
        """Return (N, A) bool, moves that the player may choose in N different positions; None if a limit is reached."""
        keys = position_keys(positions).tolist()
        if len(self.known) > MOST_ANSWERS:
            self.known.clear()
        new = np.array([row for row, key in enumerate(keys) if key not in self.known], dtype=np.intp)
        if self.asked + len(new) > self.most:
            return None
        while time.monotonic() <= self.deadline:
            if not new.size:
                return np.array([self.known[key] for key in keys])
            rows, new = np.split(new, [self.batch])
            began = time.monotonic()
            ask = self.ask_twice if self.asked < self.twice else self.ask
            self.known.update(zip((keys[row] for row in rows), ask(positions[rows]), strict=True))
            fitting = len(rows) * QUESTION_SECONDS / max(time.monotonic() - began, 1e-9)
            self.batch = min(int(fitting) + 1, 2 * self.batch, MOST_ASKED)
            self.asked += len(rows)
        return None

    def ask_twice(self, positions: Positions) -> Mask:
        """Return the player's answers as `ask` does; ask again, and clear `fixed` if the answers differ."""
        answers, same = asked_twice(lambda: self.ask(positions))
        self.fixed &= same
        if self.every_tie and not self.fixed and not isinstance(self.player, DrawingPolicy):
            raise UsageError(NO_TIES)
        return answers

    def ask(self, positions: Positions) -> Mask:
        """Ask the player about N positions without using the cache; return its answers, (N, A) bool."""
        actions = np.arange(self.core.rules.actions)
        if isinstance(self.player, DrawingPolicy):
            tied = self.player.tied_moves(positions)
            several = (tied.sum(axis=1) > 1).nonzero()[0]
            self.draws |= bool(several.size)
            for row in () if self.every_tie else several:  # draw as `choose` does if asked only about this row
                tied[row] = actions == sample_actions(tied[row : row + 1], position_generator(positions, row))
            return tied
        rng = np.random.default_rng(0)
        if not self.draws:
            before = rng.bit_generator.state
            chosen = np.asarray(self.player.choose(positions, rng))
            self.draws = rng.bit_generator.state != before
        if self.draws and self.every_tie:
            raise UsageError(NO_TIES)
        if self.draws:
            each = (positions[np.array([row])] for row in range(len(positions)))
            chosen = np.concatenate([self.player.choose(position, position_generator(position)) for position in each])
        self.core.check(positions, chosen)
        answers: Mask = actions == chosen[:, None]
        return answers
