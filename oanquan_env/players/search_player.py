"""Players that search, as in `minimax:depth=6`, `maxn:nodes=20000,net=pretrained` and `mcts:simulations=400`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from oanquan_env.array_types import Floats, Ints, Mask
from oanquan_env.board import Board
from oanquan_env.engine.core import Core, best_actions, sample_actions
from oanquan_env.engine.notation import Move, seat_name
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import MaxnSearch
from oanquan_env.search.mcts import UCT_EXPLORATION, Evaluator, PriorEvaluator, search_trees
from oanquan_env.search.value_net import ValueNet

MAX_NODES = 1 << 18
"""Maximum number of nodes allocated at once, unless one tree needs more; larger batches are searched in parts."""
MAX_SIMULATIONS = 1_000_000
"""Maximum number of simulations; a tree with this number of nodes takes a few hundred megabytes."""


@dataclass(frozen=True)
class Analysis:
    """The results of a search of one board.

    A value is a future margin under best play within the search: the points that the mover wins from here on, minus
    the points that its opponent wins (with several opponents, the mean of their points). It includes the leftovers of
    finished games but not the scores so far.

    Attributes:
        board: the board that was searched.
        value: the value of the board, which is the value of its best moves.
        proved: whether all values are exact; otherwise they are estimates at this depth.
        depth: the search depth in plies.
        line: the principal variation, which starts with the best move and may be shorter than `depth`.
        values: the value of each legal move, best first.
        any_rules: whether the net for any rules made the estimates.
    """

    board: Board
    value: float
    proved: bool
    depth: int
    line: tuple[Move, ...]
    values: dict[Move, float]
    any_rules: bool = False

    @classmethod
    def of(
        cls, board: Board, values: Mapping[int, float], line: Iterable[int], depth: int, *, proved: bool = False
    ) -> "Analysis":
        """Return an analysis of a copy of `board`, given the value of each action and the actions of the best line."""
        ranked = sorted(values, key=lambda action: -values[action])
        moves = {Move.from_action(action): values[action] for action in ranked}
        return cls(board.copy(), values[ranked[0]], proved, depth, tuple(map(Move.from_action, line)), moves)

    @property
    def best(self) -> Move:
        """The best move, or the first of several equally good moves."""
        return next(iter(self.values))

    @property
    def summary(self) -> str:
        """A phrase with the value, the player to move, and `proved` or the depth of the search."""
        points = f"{_points(self.value)} point{'s' * (abs(self.value) != 1)}"
        net = " with the net for any rules" if self.any_rules else ""
        how = "proved" if self.proved else f"searched to depth {self.depth}{net}"
        return f"{points} for {seat_name(self.board.rules, self.board.mover)} from here on, {how}"

    def __str__(self) -> str:
        moves = "  ".join(f"{move} {_points(value)}" for move, value in self.values.items())
        return f"{self.summary}\nmoves  {moves}\nline   {' '.join(map(str, self.line))}"

    def _repr_html_(self) -> str:
        names, values = (
            "".join(f"<td>{cell}</td>" for cell in row) for row in (self.values, map(_points, self.values.values()))
        )
        return (
            f"<p>{self.summary}. Best line: {' '.join(map(str, self.line))}</p>"
            f"<table><tr><th>move</th>{names}</tr><tr><th>points</th>{values}</tr></table>"
        )


def check_analysable(board: Board, core: Core) -> None:
    """Raise ValueError if the game is over, or if the board's rules differ from the core's."""
    if board.rules != core.rules:
        raise ValueError(f"the player's rules are '{core.rules}', but the board's are '{board.rules}'")
    if board.outcome is not None:
        raise ValueError(f"the game is over ({board.outcome.termination!s}); there is nothing to analyse")


def _points(value: float) -> str:
    """Format a value with its sign and at most one decimal; a mean over opponents may not be a whole number."""
    return f"{round(value, 1):+g}"


# ---- players ---------------------------------------------------------------------------------------------------------


class SearchPlayer:
    """A player that plays the best move that a search finds within its limits.

    If several moves have the best value at the depth reached, and the search has their exact values, the player draws
    one of them at random.
    """

    def __init__(self, search: Search | MaxnSearch, limits: Limits) -> None:
        self.core = search.core
        self.search = search
        self.limits = limits
        self._compiled = limits.milliseconds is None

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        return sample_actions(self.tied_moves(positions), rng)

    def tied_moves(self, positions: Positions) -> Mask:
        """See `oanquan_env.players.DrawingPolicy.tied_moves`."""
        best = self.core.legal_mask(positions)
        rows = (best.sum(axis=1) > 1).nonzero()[0]
        self._compile(positions[rows])
        results = self.search.best_moves(positions[rows], self.limits)
        best[rows] = False
        for row, result in zip(rows, results, strict=True):
            best[row, result.actions] = True
        return best

    def analyse(self, board: Board) -> Analysis:
        """Return the values of a board and of each legal move, and the best line, searched within the player's limits.

        Raises `ValueError` if the game is over or the board has other rules.
        """
        check_analysable(board, self.core)
        self._compile(board.positions)
        result = self.search.best(board.positions, self.limits, every_move=True)
        analysis = Analysis.of(board, result.values, result.line, result.depth, proved=result.proved)
        return replace(analysis, any_rules=self.search.net is not None and self.search.net.any_rules)

    def _compile(self, positions: Positions) -> None:
        if not self._compiled and len(positions):
            self.search.best_moves(positions[:1], Limits(depth=1))
            self._compiled = True


def search_player(rules: Rules, nodes: int, net: ValueNet | None = None, *, threads: int = 1) -> SearchPlayer:
    """Return a player that searches `nodes` moves by alpha-beta under two-player rules, with `net` at the leaves.

    Its table has only 8 MiB, so a program can keep players for many rule sets.
    """
    return SearchPlayer(Search(Core(rules), net=net, table_megabytes=8, threads=threads), Limits(nodes=nodes))


class MCTSPlayer:
    """A player that chooses the move with the most visits or, among several such moves, the highest mean value.

    See `oanquan_env.search.mcts.search_trees`. Raises `ValueError` unless `simulations` is from 1 to `MAX_SIMULATIONS`.
    """

    def __init__(
        self, evaluator: Evaluator | PriorEvaluator, simulations: int, *, exploration: float = UCT_EXPLORATION
    ) -> None:
        if not 1 <= simulations <= MAX_SIMULATIONS:
            raise ValueError(f"simulations must be 1 to {MAX_SIMULATIONS:,}; got {simulations}")
        self.evaluator = evaluator
        self.simulations = simulations
        self.exploration = exploration

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        core = self.evaluator.core
        mask = core.legal_mask(positions)
        choice: Ints = mask.argmax(axis=1)
        open_rows = (mask.sum(axis=1) > 1).nonzero()[0]
        part = max(1, MAX_NODES // (self.simulations + 1))
        for begin in range(0, len(open_rows), part):
            rows = open_rows[begin : begin + part]
            visits, values = self.search(positions[rows], rng)
            # values lie within -1 .. 1, so they only break ties between visits
            choice[rows] = best_actions(visits + values / 4, mask[rows], rng)
        return choice

    def search(self, positions: Positions, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return (N, A) visits and (N, A) mean values of all actions in N running positions; zero if never visited."""
        return search_trees(self.evaluator, positions, self.simulations, self.exploration, rng)
