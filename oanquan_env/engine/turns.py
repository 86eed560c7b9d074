"""The end of a turn in each game of a batch: end test, next player, refill (docs/RULES.md 3, 4)."""

import numpy as np

from oanquan_env.array_types import Points
from oanquan_env.engine.positions import RUNNING, Positions, Termination
from oanquan_env.engine.rules import MAX_SEEDS, Rules
from oanquan_env.engine.tables import Tables, side_masks


class Turns:
    """Functions that end turns and games under one `Rules`, in place, and divide the leftovers of finished games."""

    def __init__(self, rules: Rules, tables: Tables) -> None:
        self.rules = rules
        self.tables = tables
        self._next_seat = np.array([*range(1, rules.players), 0], dtype=np.intp)
        self._end = np.uint8(
            Termination.STONES_CAPTURED if rules.end == "stones_captured" else Termination.SQUARES_EMPTY
        )
        masks = side_masks(rules.fields, rules.end == "squares_empty")
        self._fields, self._unfinished, self._refill = np.array(masks, dtype=np.uint64)
        self._refilled_seats = rules.players if rules.refill_when == "at_once" else 1

    def finish(self, positions: Positions) -> None:
        """Apply the end test and the ply limit, pass the turn, and refill (docs/RULES.md 3)."""
        positions.ply += 1
        self.mark_ended(positions)
        positions.mover[:] = self._next_seat.take(positions.mover)
        for offset in range(self._refilled_seats):
            self._refill_seat(positions, offset)

    def mark_ended(self, positions: Positions) -> None:
        """Apply the end test (docs/RULES.md 4) and the ply limit; if both hold, the end test gives the reason."""
        sides = positions.sides
        unfinished = sides[:, 0] | sides[:, 1]
        for seat in range(2, self.rules.players):
            unfinished |= sides[:, seat]
        unfinished &= self._unfinished
        truncated = (positions.ply >= self.rules.max_plies).nonzero()[0]
        if truncated.size:
            positions.ended[truncated] = Termination.MAX_PLIES
        ended = (unfinished == 0).nonzero()[0]
        if ended.size:
            positions.ended[ended] = self._end

    def _refill_seat(self, positions: Positions, offset: int) -> None:
        """Refill the empty rows of players `offset` seats after the movers, or end games (forfeit, too many seeds)."""
        seat = positions.seat_index(offset)
        row_words = positions.sides.reshape(-1).take(seat)
        row_words &= self._fields
        rows = (row_words == 0).nonzero()[0]
        if not rows.size:
            return
        rows = rows[positions.ended.take(rows) == RUNNING]
        scores, seat = positions.scores.reshape(-1), seat.take(rows)
        if self.rules.refill == "forfeit":
            able = scores.take(seat) >= self.rules.fields
            positions.ended[rows[~able]] = Termination.FORFEIT
            rows, seat = rows[able], seat[able]
        in_play = self.tables.seeds(positions.squares[rows]).sum(axis=1, dtype=np.int64) + self.rules.fields
        full = in_play > MAX_SEEDS
        positions.ended[rows[full]] = Termination.TOO_MANY_SEEDS
        seat = seat[~full]
        positions.sides.reshape(-1)[seat] += self._refill
        scores[seat] -= self.rules.fields

    def leftovers(self, positions: Positions) -> Points:
        """Return the (N, P) points that players get for the seeds left on the board at the end (docs/RULES.md 4)."""
        players = self.rules.players
        squares = self.tables.seeds(positions.squares).astype(np.int32)
        seeds = squares.reshape(len(positions), players, self.rules.fields + 1)
        rows: Points
        rows, mandarins = seeds[:, :, :-1].sum(axis=2, dtype=np.int32), seeds[:, :, -1].sum(axis=1, dtype=np.int32)
        if self.rules.leftovers == "split":
            rows[:] = rows.sum(axis=1, keepdims=True) // players
        if self.rules.mandarin_leftovers == "split":
            rows += (mandarins * ~positions.truncated // players)[:, None]
        return rows
