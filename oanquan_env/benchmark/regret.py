"""Distance from perfect play: the points that a player's moves lose compared with the best moves in a fixed suite.

A suite holds positions and the value of every legal move in them: the future margin under best play of both sides, in
points from the mover's view. Values come from a deep search and lie between proved bounds; if the bounds are equal, the
value is proved. A hash of the board assigns each position to the development part or to the test part.

With three or four players no move is best against all play of the others. There, values come from max^n search, which
assumes that each player maximises its own margin, and regret is the loss of a move against such players: it shows how
far ahead a player sees. Against other players, a move with regret may win more.

The phase of a position depends on the points still in play (on the board, not yet captured) as a share of all points:
opening above 5/7 (50 of 70), end at 3/7 (30 of 70) or below, middle in between.
"""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from oanquan_env.array_types import Floats, Ints, Mask
from oanquan_env.benchmark.statistics import Estimate, loss_estimate, score_estimate
from oanquan_env.board import Board
from oanquan_env.engine.core import Core, relative_points
from oanquan_env.engine.notation import format_position
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.symmetry import canonical_keys, key_number
from oanquan_env.errors import UsageError
from oanquan_env.files import short_hash
from oanquan_env.players import as_policy
from oanquan_env.text import ValuedBoard

Part: TypeAlias = Literal["development", "test", "all"]
PHASES = ("opening", "middle", "end")
PROVED = "proved"
"""The name of a further group: the positions in which all moves have proved values."""
RUNS = 8
"""Number of times that a randomising player chooses a move in each position of a suite, unless others are given."""
OPENING_SHARE = 5 / 7
END_SHARE = 3 / 7


def check_part(part: object) -> None:
    """Raise `ValueError` unless `part` is one of `Part`."""
    if part not in get_args(Part):
        raise ValueError(f"part must be one of {', '.join(get_args(Part))}; got {part!r}")


@dataclass(frozen=True)
class Suite:
    """N positions under one `Rules`, with the value of every legal move.

    Attributes:
        name: name in reports.
        core: core of its rules.
        positions: N running positions.
        values: (N, A) float64, future margin of each move in points, from the mover's view; NaN for illegal moves.
        lower, upper: (N, A) float64, proved bounds of the values; infinite if there is none, NaN for illegal moves.
        made: how the suite was made: the command and its parameters.
    """

    name: str
    core: Core
    positions: Positions
    values: Floats
    lower: Floats
    upper: Floats
    made: dict[str, Any]

    @classmethod
    def searched(
        cls, name: str, core: Core, positions: Positions, values: Floats, proved: Mask, made: dict[str, Any]
    ) -> "Suite":
        """Return a suite with searched values (N, A); `proved` (N, A) marks the values that are proved."""
        unknown = np.isfinite(values) & ~proved
        lower, upper = (np.where(unknown, bound, values) for bound in (-np.inf, np.inf))
        return cls(name, core, positions, values, lower, upper, made)

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, rows: Ints | Mask) -> "Suite":
        """Return a suite with only the positions in `rows`, which are indices or a mask."""
        values, lower, upper = (array[rows] for array in (self.values, self.lower, self.upper))
        return Suite(self.name, self.core, self.positions[rows], values, lower, upper, self.made)

    def move_losses(self) -> Floats:
        """Return the (N, A) points that each move loses compared with the best move; NaN for illegal moves."""
        losses: Floats = np.nanmax(self.values, axis=1, keepdims=True) - self.values
        return losses

    def valued_board(self, row: int) -> ValuedBoard:
        """Return the position in one row as a board with values, with which `oanquan_env.text` grades answers."""
        board = Board.from_positions(self.core, self.positions, row)
        return ValuedBoard(board, self.values[row], self.lower[row], self.upper[row])

    def rows(self) -> list[dict[str, Any]]:
        """Return the positions as rows for `oanquan_env.text.TextGame`: `rules`, `position` and `values` by action."""
        rules = str(self.core.rules)
        texts = [format_position(self.core, self.positions, row) for row in range(len(self))]
        values = [[None if math.isnan(value) else value for value in row] for row in self.values.tolist()]
        return [{"rules": rules, "position": text, "values": own} for text, own in zip(texts, values, strict=True)]

    @property
    def version(self) -> int:
        """Version of the values, raised by each proof run that tightens a bound; compare only equal versions."""
        return int(self.made.get("version", 1))

    @property
    def proved(self) -> Mask:
        """(N, A) bool, whether each value is proved; False for illegal moves."""
        is_proved: Mask = self.lower == self.upper
        return is_proved

    def digest(self) -> str:
        """Return a short hash of positions, values and bounds."""
        arrays = *self.positions.arrays(), self.values, self.lower, self.upper
        return short_hash(*(array.tobytes() for array in arrays))

    def part(self, part: Part) -> "Suite":
        """Return the development or the test part, or all; raise `ValueError` for any other `part`."""
        check_part(part)
        if part == "all":
            return self
        odd = np.array([key_number(key) % 2 for key in canonical_keys(self.core, self.positions)], dtype=np.bool_)
        return self.take(odd if part == "test" else ~odd)

    def all_proved(self) -> Mask:
        """Return (N,) bool, whether the values of all legal moves of a position are proved."""
        complete: Mask = np.all(self.proved == np.isfinite(self.values), axis=1)
        return complete

    def phases(self) -> Ints:
        """Return (N,) indices into `PHASES`."""
        return phases(self.core.rules, self.positions)


def phases(rules: Rules, positions: Positions) -> Ints:
    """Return (N,) indices into `PHASES`, by the points still in play."""
    in_play = rules.total - positions.scores.sum(axis=1)
    opening, end = in_play > OPENING_SHARE * rules.total, in_play <= END_SHARE * rules.total
    return np.where(opening, 0, np.where(end, 2, 1)).astype(np.intp)


# ---- measuring -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Regret(Estimate):
    """Mean points that a player's moves lose compared with the best moves in some positions, with its interval.

    Attributes:
        positions: number of positions.
        optimal: share of moves that are as good as the best move.
        blunders: share of moves that change the final result between win, draw and loss; see `JudgedMoves`.
        least, most: bounds of the regret from the proved bounds of the values; `most` is None if there is no bound.
        phases: regret over the positions of each phase of the game, and of the group `PROVED`, where it is exact.
        runs: number of times that the player chose a move in each position; 1 if it does not randomise.
        losses: points lost in each position, averaged over the runs; empty for a phase, and in reports.
    """

    positions: int
    optimal: Estimate
    blunders: Estimate
    least: float | None = None
    most: float | None = None
    phases: dict[str, "Regret"] = field(default_factory=dict)
    runs: int = 1
    losses: list[float] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class JudgedMoves:
    """The quality of N chosen moves.

    Attributes:
        regret: (N,) points lost against the best move.
        optimal: (N,) 1 if the move is as good as the best move, else 0.
        blunder: (N,) 1 if the final result (win, draw or loss, by score so far and value) is worse than the best
            move's; with more than two players, the result is whether the player is ahead of the others' mean, level
            with it, or behind it.
        least, most: (N,) bounds of the regret from the proved bounds of the values; `most` may be infinite.
    """

    regret: Floats
    optimal: Floats
    blunder: Floats
    least: Floats
    most: Floats


def judge(suite: Suite, actions: Ints) -> JudgedMoves:
    """Judge (N,) legal actions, one in each position of the suite, against the best actions."""
    rows = np.arange(len(suite))
    best, chosen = np.nanmax(suite.values, axis=1), suite.values[rows, actions]
    scores, mover = suite.positions.scores, suite.positions.mover
    lead = relative_points(scores)[rows, mover]
    regret = best - chosen
    changed = np.sign(lead + best) != np.sign(lead + chosen)
    others = np.isfinite(suite.values)
    others[rows, actions] = False
    lower, upper = (bounds[rows, actions][:, None] for bounds in (suite.lower, suite.upper))  # of the chosen moves
    return JudgedMoves(
        regret=regret,
        optimal=(regret == 0).astype(np.float64),
        blunder=changed.astype(np.float64),
        least=np.where(others, suite.lower - upper, 0).max(axis=1),
        most=np.where(others, suite.upper - lower, 0).max(axis=1),
    )


def regret(
    player: object, suite: Suite, rng: np.random.Generator | None = None, *, by_phase: bool = True, runs: int = 1
) -> Regret:
    """Measure the regret of a player: ask it for one move in every position of `suite`, and judge these moves.

    A randomising player is asked `runs` times, and the loss in a position is the mean over the runs. A player that
    gives the same answers in the first two runs counts as not randomising, and is not asked again.

    The player is anything that `oanquan_env.players.as_policy` takes. All its randomness comes from `rng`, by default a
    generator with seed 0. With `by_phase`, the phases and the proved positions are also measured. Raises
    `IllegalActionError` unless the player chooses a legal action in each position.
    """
    if not isinstance(suite, Suite):
        raise UsageError(f"suite must be a Suite, as read_suite(FILE) returns; got {suite!r}")
    policy, answers = as_policy(player, suite.core), list[Ints]()
    for own in (rng or np.random.default_rng(0)).spawn(runs):
        answers.append(np.asarray(policy.choose(suite.positions.copy(), own)))
        suite.core.check(suite.positions, answers[-1])
        if len(answers) == 2 and (answers[0] == answers[1]).all():
            answers.pop()
            break
    judged = [judge(suite, actions) for actions in answers]
    groups = {name: suite.phases() == number for number, name in enumerate(PHASES)} | {PROVED: suite.all_proved()}
    overall = _measure(judged, np.ones(len(suite), dtype=np.bool_))
    phases = {name: _measure(judged, rows) for name, rows in groups.items() if by_phase and rows.any()}
    losses = np.mean([run.regret for run in judged], axis=0).tolist()
    return dataclasses.replace(overall, phases=phases, losses=losses)


def _measure(judged: list[JudgedMoves], rows: Mask) -> Regret:
    lost, optimal, blunders, least, most = (
        np.mean([getattr(run, name)[rows] for run in judged], axis=0)
        for name in ("regret", "optimal", "blunder", "least", "most")
    )
    mean = loss_estimate(lost)
    return Regret(
        mean.mean,
        mean.low,
        mean.high,
        positions=len(lost),
        optimal=score_estimate(optimal),
        blunders=score_estimate(blunders),
        least=float(least.mean()),
        most=float(most.mean()) if np.isfinite(most).all() else None,
        runs=len(judged),
    )
