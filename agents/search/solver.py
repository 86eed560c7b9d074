"""Proofs of a position's value: the future margin in points, seen by its mover, if both sides play their best.

A lower bound is proved by finished games: whatever the opponent plays, the mover can force at least that much. An upper
bound is proved in the same way for the opponent. The search goes deeper until the bounds meet. Unfinished lines prove
nothing, so where play can go on for ever the bounds may stay apart. The rules' ply limit is ignored.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.search.compiled import OVER, mover_first, play
from agents.search.deepening import Limits, Search
from agents.search.memory import MAX_DEPTH
from agents.search.proof import NO, YES, ProofTable
from oanquan_env import Core, Positions
from oanquan_env.engine.notation import Move, format_position
from oanquan_env.engine.scalar import can_play
from oanquan_env.files import FileError, check_format, naming_damage, read_arrays, replacing

ESTIMATE_DEPTH = 16
"""Plies of the search that guesses the value; the proofs then try the guess first."""
LARGEST_STATE = 1 << 34
"""Bytes of the largest state that is read."""
_FORMAT = 2
"""Number of the form of entries; other forms have the same shape, and would be taken for other proofs."""
_NONE = 1 << 30  # a bound that is not proved yet, in the state's file


@dataclass
class ProofState:
    """The proved bounds of a position's value so far, in points seen by its mover.

    Attributes:
        lower, upper: proved bounds; None where nothing is proved.
        depth: plies to which both bounds were searched.
        line: best line, as moves such as `5A`; proved if the bounds meet, else a guess by search; empty if not known.
        nodes, seconds: moves played by the proofs, and time spent.
    """

    lower: int | None = None
    upper: int | None = None
    depth: int = 0
    line: tuple[str, ...] = ()
    nodes: int = 0
    seconds: float = 0.0

    @property
    def solved(self) -> bool:
        """Whether the bounds meet."""
        return self.lower is not None and self.lower == self.upper


class Solver:
    """Proves the value of one running position, a batch of one, with a table of proofs of so many megabytes.

    Raises `ValueError` for rules that search refuses (see `agents.search.compiled.compile_rules`) and for a finished
    game.
    """

    def __init__(self, core: Core, position: Positions, *, megabytes: float = 1024.0) -> None:
        self.core = core
        if len(position) != 1 or position.over[0]:
            raise ValueError("the solver takes one position of a running game")
        self.position = position.copy()
        self._span = 2 * core.rules.total  # how far from the guess bounds are tried, in points
        self.progress = ProofState()
        self._search = Search(core, table_megabytes=64, threads=1)
        self.table = ProofTable(core, megabytes)
        own, other = mover_first(position)[0].tolist()
        self._root = own, other

    def deepen(self, deadline: float = float("inf")) -> Iterator[ProofState]:
        """Search deeper until the value is proved, at most to `MAX_DEPTH`; yields after each depth.

        With the depth that proves the value comes the best line. If the value was proved before but the line is not
        known (a saved state does not keep it), this yields once, with the line.

        At the deadline, of `time.monotonic()`, `LimitReachedError` is raised. What was proved is in `progress`, and a
        later call goes on from there.
        """
        progress = self.progress
        began, played = time.monotonic() - progress.seconds, progress.nodes - self.table.nodes

        def count() -> ProofState:
            progress.seconds, progress.nodes = time.monotonic() - began, played + self.table.nodes
            return progress

        try:
            while not progress.solved and progress.depth < MAX_DEPTH:
                depth = progress.depth + 1
                guess = self._search.best(self.position, Limits(depth=min(depth, ESTIMATE_DEPTH)))
                for side in (1, -1):
                    self._improve(side, int(guess.value), depth, deadline)
                progress.depth = depth
                if progress.solved:
                    progress.line = ()  # a guess; what follows may be interrupted
                    break
                progress.line = tuple(str(Move.from_action(action)) for action in guess.line)
                yield count()
            if progress.solved and not progress.line:
                progress.line = self.best_line(deadline)
                yield count()
        finally:
            count()

    def _improve(self, side: int, guess: int, depth: int, deadline: float) -> None:
        """Find the best lower (`side` 1) or upper (-1) bound that can be proved at `depth`.

        Bounds are `side * points` here, so that better is greater. The least improvement is asked for first: if it
        fails, all greater ones do. Next comes the guess, where the bounds should meet in the end.
        """
        progress = self.progress
        mine, theirs = (progress.lower, progress.upper) if side > 0 else (progress.upper, progress.lower)
        limit = side * guess + self._span if theirs is None else side * theirs
        best = side * guess - self._span - 1 if mine is None else side * mine
        goal = best + 1
        while best < limit:
            value = side * goal
            question, wanted = (value, YES) if side > 0 else (value + 1, NO)
            answer = self.table.ask(*self._root, question, depth, optimistic=side < 0, deadline=deadline)
            if answer == wanted:
                if side > 0:
                    progress.lower = value
                else:
                    progress.upper = value
                first, best = goal == best + 1, goal
                goal = min(max(side * guess, best + 1), limit) if first else best + 1
            else:
                limit = goal - 1
                goal = (best + limit + 1) // 2

    def best_line(self, deadline: float = float("inf")) -> tuple[str, ...]:
        """Best play from a solved position to the end of the game, as moves such as `5A`."""
        assert self.progress.lower is not None
        assert self.progress.solved
        (own, other), value, line = self._root, self.progress.lower, []
        while True:
            action, gain, state = self._best_move(own, other, value, deadline)
            own, other, _, _ = play(self.table.rules, own, other, action)
            line.append(str(Move.from_action(action)))
            value = gain - value
            if state == OVER:
                return tuple(line)

    def _best_move(self, own: int, other: int, value: int, deadline: float) -> tuple[int, int, int]:
        """Action, gain and state of a move that keeps the value, which is known."""
        actions = [action for action in range(self.core.rules.actions) if can_play(self.table.rules, own, action)]
        remembered = self.table.action(own, other)
        actions.sort(key=lambda action: action != remembered)
        moves = [(action, *play(self.table.rules, own, other, action)) for action in actions]
        for action, _, _, gain, state in moves:
            if state == OVER and gain == value:
                return action, gain, state
        for depth in range(1, MAX_DEPTH):
            for action, child_own, child_other, gain, state in moves:
                question = child_own, child_other, gain - value + 1, depth
                if state != OVER and self.table.ask(*question, optimistic=True, deadline=deadline) == NO:
                    return action, gain, state
        raise AssertionError("a proved value is kept by some move")

    # ---- state -----------------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write the bounds and the table's entries to a file, which is replaced in one step."""
        progress = self.progress
        places, entries = self.table.entries()
        bounds = [_NONE if bound is None else bound for bound in (progress.lower, progress.upper)]
        with replacing(path) as file:
            np.savez(
                file,
                format=np.array(_FORMAT),
                names=np.array([str(self.core.rules), format_position(self.core, self.position)]),
                numbers=np.array([*bounds, progress.depth, progress.nodes, len(self.table)], dtype=np.int64),
                seconds=np.array(progress.seconds),
                places=places,
                entries=entries,
            )

    def load(self, path: Path) -> None:
        """Go on from a state that `save` wrote.

        Raises `FileError` for a file that is none, or one of another position, other rules or another table size.
        """
        with naming_damage(path, "no state of a solver"):
            state = read_arrays(path, LARGEST_STATE)
            check_format(state, _FORMAT)
            rules, position = state["names"].tolist()
            lower, upper, depth, nodes, size = state["numbers"].tolist()
            seconds, places, entries = float(state["seconds"]), state["places"], state["entries"]
        for what, mine, theirs in (
            ("rules", str(self.core.rules), rules),
            ("position", format_position(self.core, self.position), position),
            ("table size", len(self.table), size),
        ):
            if mine != theirs:
                raise FileError(f"{path}: its {what} is {theirs!r}, not {mine!r}")
        with naming_damage(path, "its table is damaged"):
            self.table.restore(places, entries)
        known = [None if bound == _NONE else bound for bound in (lower, upper)]
        self.progress = ProofState(known[0], known[1], depth, (), nodes, seconds)
