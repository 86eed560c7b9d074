"""A slow, plain referee of Ô Ăn Quan, written only from the specification RULES.md.

It shares no code or data layout with the fast engine. Section numbers in the comments are those of RULES.md.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oanquan_env import Rules

LAP_LIMIT = 10_000
MOST_SEEDS = 255
TRUNCATIONS = ("max_plies", "endless_relay", "too_many_seeds")


class Referee:
    """A game: its position and its rules."""

    def __init__(self, rules: Rules) -> None:
        """Set up the first position of a game (section 1)."""
        self.rules = rules
        side = [rules.seeds] * rules.fields + [rules.mandarin_seeds]
        self.seeds: list[int] = side * rules.players
        self.stones: list[int] = [1 if rules.stones else 0] * rules.players
        self.scores: list[int] = [0] * rules.players
        self.mover: int = 0
        self.ply: int = 0
        self.ended: str | None = None

    def copy(self) -> Referee:
        twin = copy.copy(self)
        twin.seeds = self.seeds.copy()
        twin.stones = self.stones.copy()
        twin.scores = self.scores.copy()
        return twin

    def own_fields(self, player: int) -> list[int]:
        """Return the ring indices of a player's fields, from its left to its right."""
        # Section 1: “Side p has the squares p·(F+1) … p·(F+1)+F, and the last of them is a mandarin square.”
        first = player * (self.rules.fields + 1)
        return list(range(first, first + self.rules.fields))

    def mandarin_square(self, side: int) -> int:
        return side * (self.rules.fields + 1) + self.rules.fields

    def is_mandarin(self, square: int) -> bool:
        return square % (self.rules.fields + 1) == self.rules.fields

    def has_stone(self, square: int) -> bool:
        return self.is_mandarin(square) and self.stones[square // (self.rules.fields + 1)] == 1

    def is_empty(self, square: int) -> bool:
        # Section 1: “A square is empty when it holds neither seed nor stone.”
        return self.seeds[square] == 0 and not self.has_stone(square)

    def after(self, square: int, step: int) -> int:
        return (square + step) % len(self.seeds)

    def row_is_empty(self, player: int) -> bool:
        return all(self.seeds[field] == 0 for field in self.own_fields(player))

    def legal_actions(self) -> list[int]:
        """Return the legal actions in ascending order, or an empty list if the game is over."""
        # Section 2: “A player may choose any of its own fields that is not empty, and either direction (unless `sowing`
        # fixes one).”
        if self.ended is not None:
            return []
        directions = {"either": [0, 1], "counterclockwise": [0], "clockwise": [1]}
        return [
            2 * field + direction
            for field, square in enumerate(self.own_fields(self.mover))
            if self.seeds[square] > 0
            for direction in directions[self.rules.sowing]
        ]

    def play(self, action: int) -> tuple[int, int]:
        """Play an action; return the points captured and the number of laps.

        Raises ValueError if the action is illegal. A move that cannot be completed captures nothing and ends the game
        on the board before the move (section 3).
        """
        if action not in self.legal_actions():
            raise ValueError(f"illegal action {action}")
        before = self.copy()
        square = self.own_fields(self.mover)[action // 2]
        step = 1 if action % 2 == 0 else -1
        try:
            gap, laps = self.relay(square, step)
        except RuntimeError:
            self.undo(before, "endless_relay")
            return 0, LAP_LIMIT
        points = 0 if gap is None else self.captures(gap, step)
        self.scores[self.mover] += points
        self.finish_move()
        if self.ended is None and sum(self.seeds) > MOST_SEEDS:
            self.undo(before, "too_many_seeds")
            points = 0
        return points, laps

    def undo(self, before: Referee, reason: str) -> None:
        """Restore the board of `before` and end the game for `reason`; the ply counts and the turn passes."""
        self.seeds, self.stones, self.scores = before.seeds, before.stones, before.scores
        self.mover, self.ply = (before.mover + 1) % self.rules.players, before.ply + 1
        self.ended = reason

    def sow(self, square: int, step: int) -> int:
        """Sow all seeds of a field in the direction `step` (1 or -1); return the square of the last seed."""
        # Section 2.1: “Lift all seeds of the field, and drop them one by one into the following squares in the chosen
        # direction, including mandarin squares. If the seeds go all the way round the ring, the original field also
        # gets one”.
        hand = self.seeds[square]
        self.seeds[square] = 0
        for _ in range(hand):
            square = self.after(square, step)
            self.seeds[square] += 1
        return square

    def relay(self, square: int, step: int) -> tuple[int | None, int]:
        """Sow until a gap or a stop; return the gap, if any, and the number of laps. Raises RuntimeError if endless."""
        laps = 1
        last = self.sow(square, step)
        while True:
            # Section 2.2: “Let n be the square after the last seed.”
            n = self.after(last, step)
            if self.is_empty(n):
                # “n is an empty field → it is a gap”; an empty mandarin square may be one.
                return (n if self.is_gap(n) else None), laps
            if self.is_mandarin(n) and not self.can_take_one(n):
                # “n is a mandarin square and not empty → `mandarin_ahead = "stop"`: the turn ends”.
                return None, laps
            laps += 1
            if laps > LAP_LIMIT:
                raise RuntimeError(f"more than {LAP_LIMIT} laps in one move")
            # “n is a non-empty field → lift its seeds and go to 1, in the same direction.”
            last = self.take_one(n, step) if self.is_mandarin(n) else self.sow(n, step)

    def is_gap(self, square: int) -> bool:
        # Section 2.2: “n is an empty mandarin square → `empty_mandarin = "stop"`: the turn ends”, “it is a gap”.
        # Section 2.3: “Under `empty_mandarin = "stop"` an empty mandarin square is not a gap in a chain either”.
        if not self.is_empty(square):
            return False
        return not self.is_mandarin(square) or self.rules.empty_mandarin == "gap"

    def can_take_one(self, square: int) -> bool:
        """Return whether the relay can continue with a seed of this mandarin square."""
        # Section 2.2: “If a mandarin square holds its stone but no seed, the turn ends.”
        return self.rules.mandarin_ahead == "take_one" and self.seeds[square] > 0

    def take_one(self, square: int, step: int) -> int:
        """Move one seed from a mandarin square to the next square in the direction `step`, and return that square."""
        # Section 2.2: “`"take_one"` (SON): the player lifts one seed from it and drops it into the next square, a
        # field. The relay goes on from there”.
        target = self.after(square, step)
        self.seeds[square] -= 1
        self.seeds[target] += 1
        return target

    def captures(self, gap: int, step: int) -> int:
        # Section 2.3: “If m is empty, the turn ends. Otherwise the mover captures everything in m”, “with `capture =
        # "chain"`”, “let n' be the square after m: if n' is a gap and the square after it is not empty, the mover
        # captures that square as well, and so on.”
        points = 0
        while self.is_gap(gap):
            m = self.after(gap, step)
            if self.is_empty(m) or not self.is_capturable(m):
                break
            points += self.capture_square(m)
            if self.rules.capture == "single":
                break
            gap = self.after(m, step)
        return points

    def is_capturable(self, square: int) -> bool:
        if not self.is_mandarin(square):
            return True
        # Section 2.4: “a mandarin square that holds its stone and fewer than `quan_non` seeds cannot be captured; the
        # turn ends instead.”
        if self.has_stone(square) and self.seeds[square] < self.rules.quan_non:
            return False
        # Section 2.4: “no player's first move captures a stone”.
        if self.has_stone(square) and self.ply < self.rules.players and not self.rules.first_move_captures_mandarin:
            return False
        # Section 2.4: “A mandarin square that holds only seeds then cannot be captured; the turn ends instead.”
        return self.rules.mandarin_seeds_capturable or self.has_stone(square)

    def capture_square(self, square: int) -> int:
        """Take the captured pieces of a square off the board; return their points."""
        points = 0
        if self.has_stone(square):
            self.stones[square // (self.rules.fields + 1)] = 0
            points += self.rules.stone_value
        # Section 2.4: “a capture takes only the stone, and the seeds on the square stay.”
        if self.rules.mandarin_seeds_capturable or not self.is_mandarin(square):
            points += self.seeds[square]
            self.seeds[square] = 0
        return points

    def finish_move(self) -> None:
        """Pass the turn, then test for the end, apply the ply limit and refill rows, in this order."""
        self.mover = (self.mover + 1) % self.rules.players
        self.ply += 1
        if self.end_reached():
            self.ended = self.rules.end
        elif self.ply >= self.rules.max_plies:
            # Section 3.2: “if `max_plies` plies have been played, the game is truncated. No refill follows the end of a
            # game.”
            self.ended = "max_plies"
        else:
            self.refill_rows()

    def end_reached(self) -> bool:
        # Section 4: “the game ends when all stones have been captured.”
        if self.rules.end == "stones_captured":
            return sum(self.stones) == 0
        # Section 4: “the game ends when all mandarin squares are empty after a move.”
        return all(self.is_empty(self.mandarin_square(p)) for p in range(self.rules.players))

    def refill_rows(self) -> None:
        """Refill the next mover's empty row, or all empty rows under "at_once"; end the game if a player forfeits."""
        # Section 3.3: “only the next player refills. `"at_once"`”, “every player whose row is empty refills, and the
        # next player does so first.”
        players = self.rules.players
        due = [self.mover]
        if self.rules.refill_when == "at_once":
            due = [(self.mover + turn) % players for turn in range(players)]
        for player in due:
            if not self.row_is_empty(player):
                continue
            # Section 3.3: “if the player's score is below F, the row is not refilled and the game is terminated.”
            if self.rules.refill == "forfeit" and self.scores[player] < self.rules.fields:
                self.ended = "forfeit"
                return
            self.refill_row(player)
            if sum(self.seeds) > MOST_SEEDS:
                return

    def refill_row(self, player: int) -> None:
        # Section 3.3: “its score falls by F and may go below zero”.
        for field in self.own_fields(player):
            self.seeds[field] = 1
        self.scores[player] -= self.rules.fields

    def final_scores(self) -> list[int]:
        """Return the scores including the leftovers. Raises ValueError if the game is not over."""
        if self.ended is None:
            raise ValueError("the game is not over")
        on_fields = self.field_leftovers()
        on_mandarins = self.mandarin_leftovers()
        return [s + f + on_mandarins for s, f in zip(self.scores, on_fields, strict=True)]

    def field_leftovers(self) -> list[int]:
        # Section 4: “the seeds on the fields go to the fields' owners”, “or are split evenly”. “A remainder that cannot
        # be split evenly goes to nobody”.
        players = self.rules.players
        rows = [sum(self.seeds[field] for field in self.own_fields(p)) for p in range(players)]
        if self.rules.leftovers == "split":
            return [sum(rows) // players] * players
        return rows

    def mandarin_leftovers(self) -> int:
        """Return the points that each player gets for the seeds left in the mandarin squares."""
        # Section 4: “Seeds that are still in mandarin squares go to nobody”, “or are split evenly”. “Stones that nobody
        # captured (after a forfeit) go to nobody. After a truncation, seeds on the fields score as above, and the
        # contents of mandarin squares go to nobody.”
        if self.rules.mandarin_leftovers == "nobody" or self.ended in TRUNCATIONS:
            return 0
        players = self.rules.players
        return sum(self.seeds[self.mandarin_square(p)] for p in range(players)) // players
