"""Play a move in each game of a batch with NumPy, the reference of the move (docs/RULES.md 2 to 4).

`BatchSowing` sows, relays and captures. `Turns` ends the turn: end test, next player, refill. Codes of squares are
absolute: they count sides from seat 0, and `move` counts them from the mover.
"""

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Bytes, Ints, Points
from oanquan_env.engine.positions import (
    MANDARIN_BYTE,
    RUNNING,
    SIDE_BYTES,
    STONE_BYTE,
    ZERO_BYTE,
    Positions,
    Termination,
)
from oanquan_env.engine.rules import LAP_LIMIT, MAX_SEEDS, Rules
from oanquan_env.engine.tables import BYTE_MASK, COUNT_STRIDE, Tables, side_masks


class BatchSowing:
    """Functions that sow and capture in place under one `Rules`; `tables` explains the codes of squares."""

    def __init__(self, rules: Rules, tables: Tables) -> None:
        self.rules = rules
        self.tables = tables
        # NumPy gathers and scatters rows ten times faster if each row is one element than if it is a row of a matrix.
        self._row_type = np.dtype((np.void, SIDE_BYTES * rules.players))
        self._stone_value = np.int32(rules.stone_value)
        self._protected_plies = 0 if rules.first_move_captures_mandarin else rules.players
        # Without a rule that protects something behind a gap, `capture` skips `_protect`.
        self._plain_capture = rules.quan_non == self._protected_plies == 0 and rules.mandarin_seeds_capturable

    def sow(self, positions: Positions, actions: npt.NDArray[np.integer]) -> tuple[Ints, npt.NDArray[np.int32]]:
        """Sow and relay (docs/RULES.md 2.1, 2.2).

        Returns:
            (N,) codes of the squares after the last seeds, NO_SQUARE for an endless relay; and (N,) numbers of laps.
        """
        tables = self.tables
        flat = positions.squares.reshape(-1)
        sides, lines = positions.sides, positions.squares.view(self._row_type)[:, 0]
        starts = positions.row_starts()
        code = tables.origin_code.take(positions.mover * self.rules.actions + actions)
        at = (code & BYTE_MASK) + starts
        lifted = flat.take(at)
        left: Bytes | int = 0
        laps = np.ones(len(positions), dtype=np.int32)
        stopped = code
        rows: Ints | None = None  # None: every row is still sowing
        for lap in range(2, LAP_LIMIT + 2):
            flat[at] = left
            key = code * COUNT_STRIDE
            key += lifted
            sown = tables.increment.take(key, axis=0)
            code = tables.after.take(key)
            if rows is None:
                sides += sown
                stopped = code
            else:
                sown += lines.take(rows).view(np.uint64).reshape(sown.shape)
                lines[rows] = sown.view(self._row_type)[:, 0]
                stopped[rows] = code
            at = (code & BYTE_MASK) + starts
            lifted = flat.take(at)
            if self.rules.mandarin_ahead == "take_one":
                code, at, lifted, left = _take_one(flat, code, at)
            relay = lifted.nonzero()[0]
            if not relay.size:
                return stopped, laps
            if relay.size < lifted.size:
                rows = relay if rows is None else rows.take(relay)
                code, at, starts, lifted = code.take(relay), at.take(relay), starts.take(relay), lifted.take(relay)
                left = left if isinstance(left, int) else left.take(relay)
            laps[slice(None) if rows is None else rows] = min(lap, LAP_LIMIT)
        stopped[slice(None) if rows is None else rows] = -1
        return stopped, laps

    def capture(self, positions: Positions, gap: Ints) -> Points:
        """Capture behind gaps (docs/RULES.md 2.3, 2.4), add the points to the movers' scores and return them (N,).

        `gap` holds the (N,) codes of the squares after the last seeds: empty fields, or mandarin squares.
        """
        rules, tables = self.rules, self.tables
        flat = positions.squares.reshape(-1)
        starts = positions.row_starts()
        captured = np.zeros(len(positions), dtype=np.int32)
        rows: Ints | None = None  # None: every row, before the first capture
        while True:
            seeds_at = tables.behind_seeds.take(gap)
            seeds_at += starts
            stone_at = tables.behind_stone.take(gap)
            stone_at += starts
            seeds, stone = flat.take(seeds_at), flat.take(stone_at)
            points = stone * self._stone_value
            points += seeds
            if not self._plain_capture:
                ply = positions.ply if rows is None else positions.ply.take(rows)
                staying = self._protect(gap, seeds, stone, points, ply)
            if rows is not None or rules.empty_mandarin == "gap":
                points *= (flat.take(tables.gap_seeds.take(gap) + starts) == 0) & (
                    flat.take(tables.gap_stone.take(gap) + starts) == 0
                )
            hit = points.nonzero()[0]
            if not hit.size:
                break
            rows = hit if rows is None else rows.take(hit)
            captured[rows] += points.take(hit)
            flat[seeds_at.take(hit)] = 0 if self._plain_capture else staying.take(hit)
            flat[stone_at.take(hit)] = 0
            if rules.capture == "single":
                break
            gap, starts = tables.next_gap.take(gap.take(hit)), starts.take(hit)
        if rows is not None:
            positions.scores.reshape(-1)[positions.seat_index()] += captured
        return captured

    def _protect(self, gap: Ints, seeds: Bytes, stone: Bytes, points: Points, ply: npt.NDArray[np.int32]) -> Bytes:
        """Reduce `points` in place to those that can be captured (docs/RULES.md 2.4); return the seeds that stay.

        All arrays are (M,), one entry for each gap: its code, the seeds, stone and points behind it, and the ply.
        """
        rules, is_mandarin = self.rules, self.tables.behind_stone.take(gap) % SIDE_BYTES == STONE_BYTE
        unripe = (stone != 0) & ((seeds < rules.quan_non) | (ply < self._protected_plies))
        stay = np.zeros_like(seeds)
        if not rules.mandarin_seeds_capturable:
            stay = seeds * is_mandarin
            points -= stay
        points *= ~unripe
        return stay


def _take_one(flat: Bytes, code: Ints, at: Ints) -> tuple[Ints, Ints, Bytes, Bytes]:
    """Apply SON's `take_one`: if a mandarin square with seeds comes next, lift one of its seeds for the next lap.

    Return the code, the byte index, the seeds lifted and the seeds left for each row's next lap.
    """
    giving = (code % SIDE_BYTES == ZERO_BYTE) & (flat.take(at - (ZERO_BYTE - MANDARIN_BYTE)) > 0)
    shift = giving * (ZERO_BYTE - MANDARIN_BYTE)
    code, at = code - shift, at - shift
    seeds = flat.take(at)
    left = (seeds - 1) * giving
    return code, at, seeds - left, left


# ---- the end of a turn -----------------------------------------------------------------------------------------------


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
