"""Prove the values of a regret suite's moves as far as a number of nodes goes.

    python -m agents.evaluation.prove_regret suites/regret-mancala-world.json --nodes 4000000

For every move the searched value is the guess; that it can be forced, and that no more can be, is then asked to greater
and greater depths (see `agents.search.proof`; only finished games count as proof). A guess that is refuted is
corrected. Moves for which the nodes do not suffice keep their searched values, within the proved bounds. Every
position has a table of its own, so the result does not depend on how many are worked on at once, nor on whether a Ray
cluster does it (--ray).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import queue
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from agents.evaluation.regret import Suite, format_suite, read_suite
from agents.search.compiled import OVER, Int64s, compile_rules, play
from agents.search.memory import HISTORY, MAX_DEPTH, NODE_LIMIT, NODES, STACK, STOP, TABLE, new_memory, table_bits
from agents.search.proof import BUCKET_WORDS, NO, YES, begin_proofs, reaches
from agents.support.files import write_atomically
from agents.support.parallel import HELP, spread
from oanquan_env import Core, Positions

MEGABYTES = 32.0
"""Size of a position's table of proofs."""


@dataclasses.dataclass
class Bounds:
    """What is proved of a value, points; infinite where nothing is.

    Attributes:
        lower: at least so much can be forced.
        upper: no more than so much can be.
    """

    lower: float = -np.inf
    upper: float = np.inf

    @property
    def meet(self) -> bool:
        """Whether the value is proved."""
        return self.lower == self.upper


class Prover:
    """Proves moves of one position after another.

    Args:
        core: of rules that search knows (see `agents.search.compiled.compile_rules`).
        nodes: moves that may be played to prove one value.
    """

    def __init__(self, core: Core, nodes: int) -> None:
        self.nodes = nodes
        self._rules = compile_rules(core)
        self._memory: Int64s = new_memory(MEGABYTES, BUCKET_WORDS)
        begin_proofs(self._memory, table_bits(self._memory, BUCKET_WORDS))

    def prove(self, position: Positions, guesses: dict[int, int]) -> dict[int, Bounds]:
        """Bounds on the values of moves, in points from the mover's view.

        Args:
            position: a batch of one running position.
            guesses: searched values by action; they decide what is asked first, never what is proved.
        """
        self._memory[TABLE:] = 0
        self._memory[HISTORY:STACK] = 0  # or the positions before would decide in what order moves are tried
        sides = position.sides.view(np.int64)[0].tolist()
        mover = int(position.mover[0])
        return {
            action: self._prove_move(sides[mover], sides[1 - mover], action, guess) for action, guess in guesses.items()
        }

    def _prove_move(self, own: int, other: int, action: int, guess: int) -> Bounds:
        """Bounds on what a move is worth: its gain, less what the opponent can then reach."""
        child_own, child_other, gain, state = play(self._rules, own, other, action)
        if state == OVER:
            return Bounds(gain, gain)
        reply = self._prove(child_own, child_other, gain - guess)
        return Bounds(gain - reply.upper, gain - reply.lower)

    def _prove(self, own: int, other: int, guess: int) -> Bounds:
        """Bounds on the value of a running position.

        At each depth two questions: one may raise the lower bound to the guess, or beyond it if it is there already;
        the other may bring the upper bound down to the guess, or below.
        """
        bounds, left = Bounds(), self.nodes
        for depth in range(1, MAX_DEPTH + 1):
            for optimistic in (0, 1):
                answer: int | None = NO
                while answer in (YES, NO) and not bounds.meet:
                    guess = int(np.clip(guess, bounds.lower, bounds.upper))
                    settled = bounds.lower == guess if not optimistic else bounds.upper > guess
                    goal = guess + 1 if settled else guess
                    answer, played = self._ask(own, other, goal, depth, optimistic, left)
                    left -= played
                    if answer == YES:
                        bounds.lower = goal
                    elif answer == NO:
                        bounds.upper = goal - 1
                if bounds.meet or answer is None:
                    return bounds
        return bounds

    def _ask(self, own: int, other: int, goal: int, depth: int, optimistic: int, nodes: int) -> tuple[int | None, int]:
        """The answer of `agents.search.proof.reaches`, None if the nodes do not suffice, and the nodes it took."""
        memory = self._memory
        memory[STOP] = memory[NODES] = 0
        memory[NODE_LIMIT] = nodes
        answer = reaches(self._rules, memory, own, other, goal, depth, optimistic, 0)
        return None if memory[STOP] else int(answer), int(memory[NODES])


Guesses = dict[int, int]


@dataclasses.dataclass(frozen=True)
class PositionWork:
    """A position for another process to prove.

    Attributes:
        rules: the rules, as text.
        nodes: moves that may be played to prove one value.
        position: a batch of one running position.
        guesses: searched values by action.
    """

    rules: str
    nodes: int
    position: Positions
    guesses: Guesses


def prove_position(work: PositionWork) -> dict[int, Bounds]:
    """Bounds on the values of a position's moves, see `Prover.prove`."""
    return _prover(work.rules, work.nodes).prove(work.position, work.guesses)


@functools.lru_cache(maxsize=1)
def _prover(rules: str, nodes: int) -> Prover:
    """A worker's prover: it takes its memory once."""
    return Prover(Core(rules), nodes)


def prove_suite(
    suite: Suite, nodes: int, threads: int, progress: Progress | None = None, ray: str | None = None
) -> Suite:
    """The suite with every value proved that `nodes` suffice for.

    Args:
        suite: the positions.
        nodes: moves that may be played to prove one value.
        threads: positions worked on at once.
        progress: shows how far the work is.
        ray: address of a Ray cluster that works instead of threads, see `agents.support.parallel`.
    """
    task = progress.add_task("positions", total=len(suite)) if progress else None
    guesses = [
        {int(action): int(values[action]) for action in np.isfinite(values).nonzero()[0]} for values in suite.values
    ]
    values, proved = suite.values.copy(), suite.proved.copy()
    rows = range(len(suite))
    if ray:
        rules = str(suite.core.rules)
        works = [PositionWork(rules, nodes, suite.positions[row : row + 1], guesses[row]) for row in rows]
        everything = spread(prove_position, works, ray=ray)
    else:
        everything = _prove_in_threads(suite, guesses, nodes, threads)
    for row, found in everything:
        for action, bounds in found.items():
            values[row, action] = np.clip(values[row, action], bounds.lower, bounds.upper)
            proved[row, action] = bounds.meet
        if progress and task is not None:
            progress.advance(task)
    command = f"python -m agents.evaluation.prove_regret suites/{suite.name}.json --nodes {nodes}"
    return dataclasses.replace(suite, values=values, proved=proved, made={**suite.made, "proved_by": command})


def _prove_in_threads(
    suite: Suite, guesses: list[Guesses], nodes: int, threads: int
) -> Iterator[tuple[int, dict[int, Bounds]]]:
    """Each position's number and bounds, in order."""
    free: queue.SimpleQueue[Prover] = queue.SimpleQueue()
    for _ in range(threads):
        free.put(Prover(suite.core, nodes))

    def prove(row: int) -> dict[int, Bounds]:
        prover = free.get()
        found = prover.prove(suite.positions[row : row + 1], guesses[row])
        free.put(prover)
        return found

    with ThreadPoolExecutor(threads) as pool:
        yield from enumerate(pool.map(prove, range(len(suite))))


def main(arguments: list[str]) -> int:
    """Prove a suite's values in its file; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.evaluation.prove_regret",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suite", type=Path, help="the suite's file, which is replaced")
    parser.add_argument(
        "--nodes", type=int, default=4_000_000, help="moves played for one value (default: %(default)s)"
    )
    parser.add_argument(
        "--threads", type=int, default=os.cpu_count() or 1, help="positions at once (default: %(default)s)"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help=HELP)
    options = parser.parse_args(arguments)
    try:
        if options.nodes < 1 or options.threads < 1:
            raise ValueError("--nodes and --threads must be 1 or more")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, TextColumn("ETA"), TimeRemainingColumn()) as bar:
            suite = prove_suite(read_suite(options.suite), options.nodes, options.threads, bar, options.ray)
        write_atomically(options.suite, format_suite(suite).encode())
    except (ValueError, OSError) as error:
        print(f"python -m agents.evaluation.prove_regret: {error}", file=sys.stderr)
        return 2
    moves = np.isfinite(suite.values)
    print(
        f"{int(suite.proved.sum())} of {int(moves.sum())} moves proved, all moves of "
        f"{int((suite.proved == moves).all(axis=1).sum())} of {len(suite)} positions, in {options.suite}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
