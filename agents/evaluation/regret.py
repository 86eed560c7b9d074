"""Distance from perfect play: the points that an agent's moves lose against the best ones, over a fixed suite.

A suite holds positions and the value of every legal move in them: the future margin under best play of both sides, in
points from the mover's view. Values come from a deep search; those that are marked so are proved. Half of the
positions, by a hash of the board, are for development, the other half for the test.

The phase of a position depends on the points still in play (on the board, not yet captured), as a share of all points:
opening above 5/7 (50 of 70), end at 3/7 (30 of 70) or below, middle between.
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from agents.evaluation.estimates import bootstrap_means
from agents.evaluation.results import RegretMeasures, RegretRow
from agents.evaluation.suites import regret_path
from agents.search.keys import Keys, canonical_keys, key_number
from agents.support.files import one_line, read_json
from oanquan_env import Core, NotationError, Positions, Rules
from oanquan_env.arrays import Floats, Ints, Mask
from oanquan_env.notation import format_position, parse_position
from oanquan_env.policies import Policy

Part: TypeAlias = Literal["development", "test", "all"]
PHASES = ("opening", "middle", "end")
OPENING_SHARE = 5 / 7
END_SHARE = 3 / 7
MOST_POINTS = 10_000
"""Largest value that a suite may give a move, above the points of any rules."""


class SuiteError(ValueError):
    """A suite of positions that cannot be used; names the file and the place."""


@dataclass(frozen=True)
class Suite:
    """N positions of one `Rules` with the value of every legal move.

    Attributes:
        name: its name in reports.
        core: plays its rules.
        positions: N running positions.
        values: (N, A) float64, future margin of each move from the mover's view, points; NaN for illegal moves.
        proved: (N, A) bool, which values are proved; false for illegal moves.
        made: how it was made: the command and its parameters.
    """

    name: str
    core: Core
    positions: Positions
    values: Floats
    proved: Mask
    made: dict[str, Any]

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, rows: Ints | Mask) -> Suite:
        """The suite of some of the positions."""
        return Suite(self.name, self.core, self.positions[rows], self.values[rows], self.proved[rows], self.made)

    def digest(self) -> str:
        """A short hash of positions and values."""
        content = [*(array.tobytes() for array in self.positions.arrays()), self.values.tobytes()]
        return hashlib.sha256(b"".join(content)).hexdigest()[:16]

    def part(self, part: Part) -> Suite:
        """The positions of the development or the test part, or all."""
        if part == "all":
            return self
        odd = np.array([key_number(key) % 2 for key in canonical_keys(self.core, self.positions)], dtype=np.bool_)
        return self.take(odd if part == "test" else ~odd)

    def all_proved(self) -> Mask:
        """(N,) bool: positions in which every legal move's value is proved."""
        complete: Mask = np.all(self.proved == np.isfinite(self.values), axis=1)
        return complete

    def phases(self) -> Ints:
        """(N,) index into `PHASES`."""
        return phases(self.core.rules, self.positions)


def phases(rules: Rules, positions: Positions) -> Ints:
    """(N,) index into `PHASES`, by the points still in play."""
    in_play = rules.total - positions.scores.sum(axis=1)
    opening, end = in_play > OPENING_SHARE * rules.total, in_play <= END_SHARE * rules.total
    return np.where(opening, 0, np.where(end, 2, 1)).astype(np.intp)


# ---- measuring -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """How good N chosen moves are.

    Attributes:
        regret: (N,) points lost against the best move.
        optimal: (N,) 1 where the move is as good as the best one.
        blunder: (N,) 1 where the final result (win, draw or loss, by score so far and value) is worse than the best
            move's.
    """

    regret: Floats
    optimal: Floats
    blunder: Floats


def judge(suite: Suite, actions: Ints) -> Judged:
    """Compare (N,) legal actions with the best ones."""
    rows = np.arange(len(suite))
    best, chosen = np.nanmax(suite.values, axis=1), suite.values[rows, actions]
    scores, mover = suite.positions.scores, suite.positions.mover
    lead = scores[rows, mover] - scores[rows, 1 - mover]
    regret = best - chosen
    changed = np.sign(lead + best) != np.sign(lead + chosen)
    return Judged(regret, (regret == 0).astype(np.float64), changed.astype(np.float64))


def regret(
    agent: Policy, suite: Suite, rng: np.random.Generator, label: str = "", *, by_phase: bool = True
) -> RegretRow:
    """Ask `agent` for one move in every position of `suite` and judge it.

    Args:
        agent: a player of the suite's rules.
        suite: the positions.
        rng: all chance of the agent and of the bootstrap comes from it.
        label: the agent's name in the result.
        by_phase: whether the phases are measured too, which takes as long again.
    """
    judged = judge(suite, agent.choose(suite.positions.copy(), rng))
    phase = suite.phases()
    groups = {name: phase == number for number, name in enumerate(PHASES) if by_phase and (phase == number).any()}
    return RegretRow(
        agent=label,
        overall=_measure(judged, np.ones(len(suite), dtype=np.bool_), rng),
        phases={name: _measure(judged, rows, rng) for name, rows in groups.items()},
    )


def _measure(judged: Judged, rows: Mask, rng: np.random.Generator) -> RegretMeasures:
    samples = np.stack([judged.regret[rows], judged.optimal[rows], judged.blunder[rows]], axis=1)
    regret, optimal, blunders = bootstrap_means(samples, rng)
    return RegretMeasures(positions=len(samples), regret=regret, optimal=optimal, blunders=blunders)


# ---- files -----------------------------------------------------------------------------------------------------------


def format_suite(suite: Suite) -> str:
    """The suite as JSON, one position a line: its text, the values of actions 0 .. A-1, which of them are proved."""
    rows = []
    for row in range(len(suite)):
        values = [None if np.isnan(value) else int(value) for value in suite.values[row].tolist()]
        entry = [format_position(suite.core, suite.positions, row), values, suite.proved[row].nonzero()[0].tolist()]
        rows.append(json.dumps(entry, separators=(",", ":")))
    head = json.dumps({"format": 1, "rules": str(suite.core.rules), "made": suite.made}, indent=1)
    return head[:-2] + ',\n "positions": [\n' + ",\n".join(rows) + "\n]}\n"


@functools.cache
def find_suite(rules: Rules) -> Suite | None:
    """The committed suite of `rules`, if there is one; read once."""
    return load_suite(rules) if regret_path(rules).is_file() else None


def load_suite(rules: Rules) -> Suite:
    """The committed suite of `rules`. Raises `SuiteError` if there is none."""
    path = regret_path(rules)
    if not path.is_file():
        raise SuiteError(
            f"there is no regret suite for '{rules}' ({path.name}); make one with: "
            f"python -m agents.evaluation.make_regret --rules '{rules}'"
        )
    return read_suite(path)


def suite_keys(core: Core) -> Keys:
    """Keys of the positions of the rules' regret suite, and of those after their moves; none without a suite."""
    suite = find_suite(core.rules)
    judged = suite.positions if suite else core.start(0)
    return canonical_keys(core, Positions.concatenate([judged, core.expand(judged)[0]]))


def read_suite(path: Path) -> Suite:
    """Read a suite. Raises `SuiteError` for a file that is missing or damaged, naming the position."""
    try:
        data = read_json(path)
        core = Core(Rules.parse(data["rules"]))
        if data["format"] != 1 or core.rules.players != 2:
            raise SuiteError(f"{path}: expected a suite of format 1 for two players")
        made, rows = dict(data["made"]), list(data["positions"])
    except KeyError as error:
        raise SuiteError(f"{path}: the entry {error} is missing") from None
    except SuiteError:
        raise
    except (ValueError, TypeError, AttributeError) as error:
        said = one_line(str(error).removeprefix(f"{path}: "))
        raise SuiteError(f"{path}: not a suite of positions: {said}") from None
    if not rows:
        raise SuiteError(f"{path}: it holds no positions")
    read = [_read_row(core, row, f"{path}: position {number}") for number, row in enumerate(rows, 1)]
    positions = Positions.concatenate([row[0] for row in read])
    return Suite(
        path.stem, core, positions, np.stack([row[1] for row in read]), np.stack([row[2] for row in read]), made
    )


def _read_row(core: Core, row: Any, where: str) -> tuple[Positions, Floats, Mask]:
    """One position, its values and which of them are proved."""
    match row:
        case [str(text), list(values), list(actions)]:
            pass
        case _:
            raise SuiteError(f"{where}: expected [position, values, actions proved]")
    try:
        position = parse_position(core, text)
    except NotationError as error:
        raise SuiteError(f"{where}: {one_line(error)}") from None
    known: npt.NDArray[np.bool_] = np.array([value is not None for value in values])
    numbers = [value for value in values if value is not None]
    whole = all(type(number) is int and abs(number) <= MOST_POINTS for number in numbers)
    if not whole or len(values) != core.rules.actions:
        raise SuiteError(f"{where}: expected {core.rules.actions} whole numbers or nulls as values")
    if (known != core.legal_mask(position)[0]).any() or not known.any():
        raise SuiteError(f"{where}: values must be given for the legal moves, and for them only")
    if not all(type(action) is int and 0 <= action < len(values) and known[action] for action in actions):
        raise SuiteError(f"{where}: only legal moves can be proved")
    proved = np.zeros(len(values), dtype=np.bool_)
    proved[actions] = True
    return position, np.array([np.nan if value is None else value for value in values]), proved
