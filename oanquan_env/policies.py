"""Players that need NumPy alone, and the protocol that every player follows: a batch of positions in, actions out."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from oanquan_env.analysis import Analysis, check_analysable
from oanquan_env.arrays import Ints, Mask
from oanquan_env.board import Board
from oanquan_env.core import Core, relative_points
from oanquan_env.notation import Move
from oanquan_env.players.full_width import AIMS, Aim, FullWidthSearch
from oanquan_env.positions import Positions
from oanquan_env.rules import DEFAULT_PRESET, Rules


@runtime_checkable
class Policy(Protocol):
    """A player of one `Rules`."""

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """(N,) intp, a legal action for the mover of each of N running positions; all chance comes from `rng`."""


class RandomPolicy:
    """Plays every legal action with the same probability."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        mask = self.core.legal_mask(positions)
        return best_actions(np.zeros(mask.shape), mask, rng)


class GreedyPolicy:
    """Plays the move that wins the most points at once, ties at random; see `move_gains`."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        if self.core.singles is not None and len(positions) == 1:
            gains = self.core.singles.gains(positions)
            if gains is not None:  # as below in fewer steps, with the same draws
                draws = rng.random(self.core.rules.actions).tolist()
                return np.array(
                    [max(gains, key=lambda action: (gains[action], draws[action]), default=0)], dtype=np.intp
                )
        return best_actions(move_gains(self.core, positions), self.core.legal_mask(positions), rng)


class FullWidthPolicy:
    """Plays the move of the best margin that a `FullWidthSearch` finds for the mover, ties at random.

    Args:
        core: of the rules to play.
        depth: plies looked ahead.
        aim: what the players are taken to want: `maxn` or `paranoid`.

    Raises:
        ValueError: for a depth out of range.
    """

    def __init__(self, core: Core, depth: int, aim: Aim) -> None:
        self.core = core
        self.search = FullWidthSearch(core, depth, aim)

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        mask = self.core.legal_mask(positions)
        values = np.zeros(mask.shape)
        rows = (mask.sum(axis=1) > 1).nonzero()[0]
        found = self.search.values(positions[rows])
        values[rows] = found[np.arange(len(rows)), :, positions.mover[rows]]
        return best_actions(values, mask, rng)

    def analyse(self, board: Board) -> Analysis:
        """The value of a board and of each of its moves, and the best line; never called proved.

        Raises:
            ValueError: for a game that is over, and for a board of other rules.
        """
        check_analysable(board, self.core)
        found = self.search.values(board.positions)[0, :, board.mover].tolist()
        ranked = sorted(self.core.legal_mask(board.positions)[0].nonzero()[0].tolist(), key=lambda move: -found[move])
        return Analysis(
            board=board.copy(),
            value=found[ranked[0]],
            proved=False,
            depth=self.search.depth,
            line=tuple(map(Move.from_action, self.search.line(board.positions, ranked[0]))),
            values={Move.from_action(action): found[action] for action in ranked},
        )


class EpsilonPolicy:
    """Another player that plays a random move with probability `epsilon`; raises ValueError unless that is 0 to 1."""

    def __init__(self, core: Core, policy: Policy, epsilon: float) -> None:
        if not 0 <= epsilon <= 1:
            raise ValueError(f"epsilon must be a probability, 0 to 1; got {epsilon}")
        self.policy = policy
        self.epsilon = epsilon
        self._random = RandomPolicy(core)

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        choice = self.policy.choose(positions, rng)
        at_random = (rng.random(len(positions)) < self.epsilon).nonzero()[0]
        if at_random.size:
            choice[at_random] = self._random.choose(positions[at_random], rng)
        return choice


def move_gains(core: Core, positions: Positions) -> npt.NDArray[np.float64]:
    """(N, A) points that each legal move wins at once, over the mean of what it wins the other players.

    Refills that it brings about and the leftovers of a finishing move are included. Zero for illegal actions.
    """
    children, rows, actions = core.expand(positions)
    won = relative_points(core.standings(children) - positions.scores[rows])
    gains = np.zeros((len(positions), core.rules.actions))
    gains[rows, actions] = won[np.arange(len(rows)), positions.mover[rows]]
    return gains


def best_actions(values: npt.NDArray[np.floating], mask: Mask, rng: np.random.Generator) -> Ints:
    """(N,) intp, the legal action of highest value in each row of `values` (N, A), ties broken at random."""
    if len(values) == 1:  # in a few steps, with the same draws
        legal, row, draws = mask[0].nonzero()[0].tolist(), values[0].tolist(), rng.random(values.shape)[0].tolist()
        return np.array([max(legal, key=lambda action: (row[action], draws[action]), default=0)], dtype=np.intp)
    best = np.where(mask, values, -np.inf)
    tied = best == best.max(axis=1, keepdims=True)
    choice: Ints = np.where(tied & mask, rng.random(values.shape), -1.0).argmax(axis=1)
    return choice


def ask_players(players: Sequence[Policy], numbers: Ints, positions: Positions, rng: np.random.Generator) -> Ints:
    """(N,) intp, actions of N running positions: `players[numbers[n]]` chooses for row n, and each is asked once."""
    actions = np.zeros(len(positions), dtype=np.intp)
    for number, player in enumerate(players):
        rows = (numbers == number).nonzero()[0]
        if rows.size:
            actions[rows] = player.choose(positions[rows], rng)
    return actions


POLICIES: dict[str, type[RandomPolicy] | type[GreedyPolicy]] = {"random": RandomPolicy, "greedy": GreedyPolicy}
_FULL_WIDTH = re.compile(rf"({'|'.join(AIMS)}):depth=(-?[0-9]{{1,15}})")


def make_policy(name: str, rules: Rules | str = DEFAULT_PRESET) -> Policy:
    """The player of that name: `random`, `greedy`, `maxn:depth=D` or `paranoid:depth=D`.

    Any name that `agents.make` knows will do where `agents` is importable.

    Raises:
        ValueError: for an unknown name; says which exist. For a depth out of range.
    """
    if name in POLICIES:
        return POLICIES[name](Core(rules))
    full_width = _FULL_WIDTH.fullmatch(str(name))  # what is no text is refused by `agents.make`
    if full_width:
        return FullWidthPolicy(Core(rules), int(full_width[2]), cast(Aim, full_width[1]))
    try:
        agents = importlib.import_module("agents")
    except ModuleNotFoundError as error:
        raise ValueError(
            f"unknown player {name!r}: without the `agents` package of the project's clone only "
            f"{', '.join(POLICIES)}, {', '.join(f'{aim}:depth=D' for aim in AIMS)} exist ({error})"
        ) from error
    return cast(Policy, agents.make(name, rules))
