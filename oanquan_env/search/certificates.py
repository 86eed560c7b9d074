"""Certificates: proofs of a position's value, as strategies that anybody can follow to the end of every game.

A certificate claims bounds on the future margin of a position's mover, in points. The lower bound comes with a strategy
of the mover, the *prover* of that bound, the upper bound with one of its opponent: one move in each position that the
prover can meet while it keeps to its strategy. Positions are seen from the prover, scores are left out, and a position
and its mirror image are one (see `oanquan_env.engine.symmetry.canonical_sides`). A position may stand in a strategy
several times, with other moves: the prover may have to win more points from there on, or in fewer plies.

The file is an `.npz` archive without pickled objects:

    format                      1
    rules, position             texts
    lower, upper                the bounds, in points
    lower_moves, upper_moves    (N,) uint8, the prover's action in positions 0 .. N-1, on the canonical image
    lower_again, upper_again    (K, 2) uint32, edges that lead to a position for the second time or a later one: the
                                edge's number and the time, from 1

The positions are not in the file, because they follow from the moves. A queue begins with the position itself, or with
those after each of its moves, in the order of actions, if the opponent is the prover. Then each position in turn is
taken from the queue, the prover's move is made, and those after each reply, in the order of actions, join the end
of the queue, unless the game is over or they have been in it before. Their order in the queue is their number. What
leads to a position, or ends a game, is an edge, numbered in the same order, and a position counts as another one for
each time that `again` gives.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Bytes, Ints, Points
from oanquan_env.engine.core import Core
from oanquan_env.engine.keys import canonical_keys
from oanquan_env.engine.notation import parse_position
from oanquan_env.engine.positions import SIDE_BYTES, Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.symmetry import rotate_seats
from oanquan_env.files import check_format, naming_damage, npz_bytes, read_arrays

LARGEST = 1 << 26
"""Most bytes that a certificate may hold once it is decompressed."""
END = -1
"""In place of a position's number: the game is over."""
CHUNK = 1 << 13
"""Positions played on at once."""
MOST_MOVES = 500
"""Moves of the prover in the longest game that a strategy may have."""
_FORMAT = 1
_PARTS = "moves", "again"

Choose: TypeAlias = Callable[[int, Sequence[bytes]], Ints]
"""Given the number of the first of some positions and the keys of all of them, returns the prover's actions."""


@dataclass(frozen=True, eq=False)
class Strategy:
    """One bound and the strategy that proves it.

    Attributes:
        bound: in points, on the future margin of the mover of the certificate's position.
        moves: (N,) uint8, the prover's action in each position.
        again: (K, 2) uint32, numbers of the edges that lead to a position again, and for which time, from 1.
    """

    bound: int
    moves: Bytes
    again: npt.NDArray[np.uint32]

    def __post_init__(self) -> None:
        if self.moves.dtype != np.uint8 or self.moves.shape != (len(self.moves),):
            raise ValueError("moves must be (N,) uint8")
        if self.again.dtype != np.uint32 or self.again.shape != (len(self.again), 2):
            raise ValueError("again must be (K, 2) uint32")


@dataclass(frozen=True)
class Certificate:
    """What is claimed of a position.

    Attributes:
        rules: that are played.
        position: the position's text.
        lower, upper: a strategy of its mover and one of the opponent, or None.
    """

    rules: Rules
    position: str
    lower: Strategy | None = None
    upper: Strategy | None = None

    def __post_init__(self) -> None:
        if self.rules.players != 2 or self.rules.refill == "forfeit":
            raise ValueError(f"certificates are for two players who refill on credit, not for '{self.rules}'")

    @property
    def core(self) -> Core:
        """Plays these rules without a ply limit that matters: every round begins at ply 0."""
        return Core(self.rules.replace(max_plies=1000))

    def start(self) -> Positions:
        """The position, a batch of one. Raises `ValueError` for one that is over, or is none of these rules."""
        position = parse_position(Core(self.rules), self.position)
        if position.over[0]:
            raise ValueError("the game is over at its position")
        return position

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The certificate of a file's content; raises `ValueError`, `KeyError` or `TypeError` for anything else."""
        data = read_arrays(content, LARGEST)
        check_format(data, _FORMAT)
        strategies = {
            name: Strategy(int(data[name]), *(data[f"{name}_{part}"] for part in _PARTS))
            for name in ("lower", "upper")
            if name in data
        }
        parts = [f"{name}_{part}" for name in strategies for part in _PARTS]
        if unknown := sorted(data.keys() - {"format", "rules", "position", *strategies, *parts}):
            raise ValueError(f"unknown array {unknown[0]!r}")
        return cls(Rules.parse(str(data["rules"])), str(data["position"]), **strategies)

    def to_bytes(self) -> bytes:
        """The certificate as a file's content."""
        arrays: dict[str, Any] = {"format": np.array(_FORMAT)}
        arrays |= {"rules": np.array(str(self.rules)), "position": np.array(self.position)}
        for name, strategy in (("lower", self.lower), ("upper", self.upper)):
            if strategy is not None:
                arrays[name] = np.array(strategy.bound)
                arrays |= {f"{name}_{part}": getattr(strategy, part) for part in _PARTS}
        return npz_bytes(**arrays)


def read_certificate(path: Path) -> Certificate:
    """Read a certificate, which runs no code in it and checks nothing that it claims. Raises `FileError`."""
    with naming_damage(path, "not a certificate"):
        return Certificate.from_bytes(path.read_bytes())


def certificate_path(rules: Rules) -> Path:
    """The package's certificate of the set-up under `rules`; it need not exist."""
    return Path(__file__).parents[1] / "play" / "web" / "data" / f"certificate-{rules.slug}.npz"  # the page's, too


# ---- following a strategy --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Graph:
    """All that can happen while a prover keeps to its strategy.

    Attributes:
        numbers: the number of each position by its key (see `oanquan_env.engine.keys`), in ascending order; the key of
            one that stands there again ends with the time.
        starts: numbers of the positions in which the prover moves first, or END.
        start_margins: points that it is ahead there.
        parents: (E,) a position's number, for each reply to its move, and for a move that ends the game.
        children: (E,) the position's number after the reply, or END.
        margins: (E,) points that the move and the reply win the prover more than its opponent.
    """

    numbers: dict[bytes, int]
    starts: Ints
    start_margins: Points
    parents: Ints
    children: Ints
    margins: Points

    def ranks(self) -> Ints:
        """(N + 1,) the most moves that the prover has left to make in each position; 0 for the end, in the last place.

        Raises `ValueError` where a game may never end.
        """
        ranks = np.zeros(len(self.numbers) + 1, dtype=np.intp)
        begins = np.searchsorted(self.parents, np.arange(len(self.numbers)))
        for _ in range(MOST_MOVES):
            before = ranks.copy()
            ranks[:-1] = 1 + np.maximum.reduceat(ranks[self.children], begins)
            if (ranks == before).all():
                return ranks
        raise ValueError(f"a game may never end, or not within {MOST_MOVES} moves of the prover")

    def values(self, ranks: Ints) -> Points:
        """(N + 1,) points that the prover wins at least from each position on, and 0 for the end, in the last place."""
        values = np.full(len(ranks), np.iinfo(np.int32).max, dtype=np.int32)
        values[END] = 0
        order = np.argsort(ranks[self.parents], kind="stable")
        firsts = np.unique(ranks[self.parents][order], return_index=True)[1]
        for edges in np.split(order, firsts[1:]):  # of one rank; those of lower ranks are done
            np.minimum.at(values, self.parents[edges], self.margins[edges] + values[self.children[edges]])
        return values


def follow(
    core: Core,
    begin: Positions,
    again: npt.NDArray[np.uint32],
    choose: Choose,
    advance: Callable[[int], None] | None = None,
) -> Graph:
    """Follow a strategy in all games from its `beginnings`; `advance` hears how many positions are done.

    `again` is that of a `Strategy`. Raises `IllegalActionError` as `Core.play` does.
    """
    numbers: dict[bytes, int] = {}
    times, edge = {number: str(time).encode() for number, time in again.tolist()}, itertools.count()

    def number(reached: Positions) -> Ints:
        found, running = np.full(len(reached), END, dtype=np.intp), ~reached.over
        keys = canonical_keys(core, reached).tolist()
        timed = [key + times.get(number, b"") for key, number in zip(keys, edge, strict=False)]
        found[running] = [numbers.setdefault(key, len(numbers)) for key in itertools.compress(timed, running)]
        return found

    starts, done = number(begin), 0
    edges: list[tuple[Ints, Ints, Points]] = [(starts[:0], starts[:0], begin.scores[:0, 0])]
    while done < len(numbers):
        keys = list(itertools.islice(numbers, done, done + CHUNK))
        positions = unpack(keys)
        core.play(positions, choose(done, keys))
        rows, reached = replies(core, positions)
        edges.append((done + rows, number(reached), margin(core, reached)))
        done += len(keys)
        if advance is not None:
            advance(len(keys))
    parents, children, margins = (np.concatenate(part) for part in zip(*edges, strict=True))
    return Graph(numbers, starts, margin(core, begin), parents, children, margins)


def beginnings(core: Core, start: Positions, is_lower: bool) -> Positions:
    """The positions in which the prover of a bound moves first, with no points won before and the prover on side 0.

    They are `start` itself, a batch of one, or those after its moves, some of which may end the game.
    """
    begin = unpack(canonical_keys(core, start).tolist())
    return begin if is_lower else rotate_seats(core.expand(begin).positions)


def replies(core: Core, moved: Positions) -> tuple[Ints, Positions]:
    """The positions after every reply to N moves; a move that ended the game stays. (E,) rows of `moved`, ascending."""
    answered, rows, _ = core.expand(moved)
    over = moved.over.nonzero()[0]
    both = np.concatenate([over, rows])
    order = np.argsort(both, kind="stable")
    return both[order], Positions.concatenate([moved[over], answered])[order]


def margin(core: Core, positions: Positions) -> Points:
    """(N,) points that side 0 is ahead, leftovers of finished games included."""
    standings = core.standings(positions)
    return standings[:, 0] - standings[:, 1]


def unpack(keys: Sequence[bytes]) -> Positions:
    """The positions of these keys, times left out, with the mover on side 0, no points won and no plies played."""
    n = len(keys)
    squares = (
        np.frombuffer(b"".join(key[: 2 * SIDE_BYTES] for key in keys), dtype=np.uint8).reshape(n, 2 * SIDE_BYTES).copy()
    )
    ply: npt.NDArray[np.int32] = np.zeros(n, dtype=np.int32)
    scores = np.zeros((n, 2), dtype=np.int32)
    return Positions(squares, scores, np.zeros(n, dtype=np.intp), ply, np.zeros(n, dtype=np.uint8))
