"""`Search`, alpha-beta for two players: the best moves of positions, and the value of every move.

A position's *value* is its future margin in points under best play within the depth: the mover's points from here on
minus the opponent's, including captures, refills and the leftovers of finished games. It does not depend on the scores
so far. A value is *proved* if every line that it depends on ends in a finished game; it then holds at every depth. The
ply limit also ends games: no search is deeper than the plies left, and a search to that depth proves every value.

    >>> from oanquan_env import Core
    >>> core = Core()
    >>> result = Search(core).best(core.start(), Limits(depth=8))
    >>> result.value, result.actions
    (12, (3, 6))
"""

import functools
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Mask
from oanquan_env.engine.compiled import compiled, record, zeros
from oanquan_env.engine.core import Core
from oanquan_env.engine.move import RUNNING
from oanquan_env.engine.positions import Positions
from oanquan_env.search.alphabeta import DEFAULT_GUESS_DEPTH, EXACT, SLOT, Tree, as_result, last_ply, negamax, probe
from oanquan_env.search.keys import is_symmetric, marked
from oanquan_env.search.leaf import horizon, with_net
from oanquan_env.search.limits import MOVES_PER_MILLISECOND, Limits, SearchResult, Workers, plies_left
from oanquan_env.search.search_state import (
    INFINITY,
    MAX_ACTIONS,
    MAX_DEPTH,
    NO_ACTION,
    UNLIMITED,
    Memory,
    SearchRules,
    Table,
    apply_move,
    bits_to_use,
    bucket_bits,
    compile_rules,
    drop_mirrored,
    mover_first,
    new_memory,
    next_child,
    play_all,
)
from oanquan_env.search.value_net import ValueNet

LAST_GENERATION = 255


class AlphaBetaRoot(Protocol):
    """A running position to search, and its result."""

    own: int  # the mover's side
    other: int  # the opponent's side
    plies_left: int  # to the ply limit, 1 or more; a search to this depth is exact
    nodes: int  # moves played
    depth: int  # plies of the search that gave the result
    value: int
    is_open: int
    values: Any  # (MAX_ACTIONS,) value of each action; -INFINITY if it was not valued
    opens: Any  # (MAX_ACTIONS,) whether each value is open
    line: Any  # (MAX_DEPTH + 1,) the principal variation as `action + 1`, as far as the table holds it


ALPHABETA_ROOT = record(
    AlphaBetaRoot, values=(np.int64, MAX_ACTIONS), opens=(np.int64, MAX_ACTIONS), line=(np.int8, MAX_DEPTH + 1)
)


@compiled
def search_rows(tree: Tree, roots: Any, depth: int, nodes: int, every_move: bool, bits: int) -> None:
    """Search each of M running positions to depths 1, 2, ... `depth` or for `nodes` moves, from an empty table.

    Args:
        tree: rules, memory and table. The caller clears `memory.stop`; setting it ends the search of the current row.
        roots: (M,) ALPHABETA_ROOT; receives the results; see `SearchResult.depth` for interrupted depths.
        depth: 1 .. MAX_DEPTH; a search ends earlier if its value is proved.
        nodes: number of moves after which a search stops; depth 1 is always completed.
        every_move: whether to value every move, not only the best moves.
        bits: base-2 logarithm of the number of buckets to use; 0 for no table.
    """
    rules, memory, table = tree.rules, tree.memory, tree.table
    for row in range(len(roots)):
        if row > 0:
            memory.stop = 0  # the previous row may have used up its nodes
        begin_search(memory, table, nodes, bits)
        root = roots[row]
        memory.every_move, memory.plies_left = every_move, root.plies_left
        memory.root_moves = play_all(rules, memory, root.own, root.other, NO_ACTION, 0, root.plies_left - 1)
        symmetric = is_symmetric(rules, root.own, root.other)
        if symmetric:
            memory.root_moves = drop_mirrored(rules, memory.children[0], memory.root_moves)
        for reached in range(1, min(depth, root.plies_left) + 1):
            if reached > 1 and memory.nodes >= nodes:
                break
            if reached == root.plies_left:
                memory.to_the_end = 1
                begin_generation(memory, table)  # open values of shallower searches do not hold up to the ply limit
            result = search_root(tree, reached)
            # With a net, an interrupted depth counts as far as it was searched, because the best move of the previous
            # depth came first. If every move must be valued, the depth must be complete.
            if memory.stop and reached > 1 and (memory.root_valued == 0 or rules.has_net == 0 or every_move):
                break
            keep_values(rules, memory, reached, result, symmetric, root)
            if root.is_open == 0 or memory.stop:
                break
        root.nodes = memory.nodes
        recall_line(tree, root)


@compiled
def search_root(tree: Tree, depth: int) -> int:
    """Return the result of a search of the root to `depth` plies; the root's moves are first on the stack.

    The `order` of a searched move becomes its value; `memory.root_valued` counts searched moves. Unless every move must
    be valued, later moves are only compared with the best move so far: the best moves are then exact, and the values of
    the others are upper bounds. Once `memory.stop` is set, the result is the highest value so far.
    """
    rules, memory = tree.rules, tree.memory
    children, best, best_open, floor = memory.children[0], -INFINITY, 0, -INFINITY
    memory.root_valued = 0
    for place in range(memory.root_moves):
        if depth > 1 or not memory.every_move:
            next_child(children, place, memory.root_moves)
        child = children[place]
        value, is_open = child.gain, 0
        if child.state == RUNNING and depth == 1:
            value, is_open = value - horizon(rules, child.own, child.other), 1
        elif child.state == RUNNING:
            top = INFINITY if place == 0 or memory.every_move else floor + 1
            result = negamax(tree, child.own, child.other, value - top, value - floor, depth - 1, 1)
            if top <= value - (result >> 1) < INFINITY:  # at least as good as the best so far
                result = negamax(tree, child.own, child.other, value - INFINITY, value - floor, depth - 1, 1)
            if memory.stop:
                return as_result(best, 1)
            value -= result >> 1
            is_open = result & 1
        child.order, child.is_open = value, is_open
        memory.root_valued = place + 1
        best_open |= is_open
        if value > best:
            best = value
            if not memory.every_move:
                floor = max(floor, value - 1)
    return as_result(best, best_open)


@compiled
def begin_search(memory: Memory, table: Table, nodes: int, bits: int) -> None:
    """Forget earlier searches and set the limits of the next search."""
    begin_generation(memory, table)
    memory.bucket_bits = bits
    memory.dirty_bits = max(memory.dirty_bits, bits)
    memory.nodes = memory.to_the_end = 0
    memory.node_limit = nodes
    memory.history[:] = 0


@compiled
def begin_generation(memory: Memory, table: Table) -> None:
    """Invalidate all entries of the table by starting a new generation."""
    if memory.generation == LAST_GENERATION:
        for bucket in range(1 << memory.dirty_bits):
            for entry in table[bucket]:
                entry.head = entry.tail = 0
        memory.generation = 0
        memory.dirty_bits = memory.bucket_bits
    memory.generation += 1


@compiled
def keep_values(
    rules: SearchRules, memory: Memory, depth: int, result: int, symmetric: bool, root: AlphaBetaRoot
) -> None:
    """Write into `root` the result of a search to `depth`, and the values of moves where they are exact."""
    exact = memory.to_the_end and not memory.stop
    root.depth, root.value, root.is_open = depth, result >> 1, 0 if exact else result & 1
    root.values[:] = -INFINITY
    for place in range(memory.root_valued):
        child = memory.children[0][place]
        if memory.every_move or child.order == root.value:
            is_open = 0 if exact else child.is_open
            root.values[child.action], root.opens[child.action] = child.order, is_open
            if symmetric:
                mirrored = 2 * rules.fields - 1 - child.action
                root.values[mirrored], root.opens[mirrored] = child.order, is_open


@compiled
def recall_line(tree: Tree, root: AlphaBetaRoot) -> None:
    """Write the principal variation into `root`: the first best move, then best moves while the table has them."""
    rules, memory, table = tree.rules, tree.memory, tree.table
    own, other, action, depth, place = root.own, root.other, 0, root.depth, 0
    while root.values[action] != root.value:
        action += 1
    while True:
        root.line[place] = action + 1
        place += 1
        depth -= 1
        if depth == 0:
            return
        own, other, _, state = apply_move(rules, own, other, action, root.plies_left - place)
        if state != RUNNING:
            return
        plies_left = root.plies_left - place - 1
        if depth == 1:
            _, action = last_ply(rules, memory, own, other, INFINITY, plies_left)
        else:
            known = probe(memory, table, marked(rules, own, plies_left), other)
            if known.kind != EXACT or (known.depth != depth and (known.is_open or known.depth > depth)):
                return
            action = known.action


# ---- searches of a batch ---------------------------------------------------------------------------------------------


class Search:
    """A search of positions under one `Rules`. Its results never depend on earlier searches.

    Threads may share a search. Raises `ValueError` for more than two players, `refill=forfeit` or a net of other rules.

    Args:
        core: core of the rules to play.
        table_megabytes: size of each thread's transposition table in MiB, or 0 for no table. It saves time,
            and changes no value of a search limited only by depth unless a net's guess replaces a search.
        threads: number of positions of a batch searched at once, by default one per processor. Results do not depend on
            it, except under a limit in milliseconds.
        net: value net of these rules for positions at the horizon, rounded to whole points; without it, their value
            is zero. With a net, a value that is not proved includes the net's estimate.
        guess_depth: if the net's value of a move lies far outside the alpha-beta window, it replaces a search of up to
            this many plies. With 0, no search is replaced.
    """

    def __init__(
        self,
        core: Core,
        *,
        table_megabytes: float = 64.0,
        threads: int | None = None,
        net: ValueNet | None = None,
        guess_depth: int = DEFAULT_GUESS_DEPTH,
    ) -> None:
        self.core = core
        self._rules = compile_rules(core)
        self.net = net
        if net is not None:
            self.use(net)
        self._workers = Workers(threads, functools.partial(new_memory, table_megabytes, SLOT))
        self._table_bits = bucket_bits(table_megabytes, SLOT) if table_megabytes else 0
        self._guess_depth = guess_depth

    def use(self, net: ValueNet) -> None:
        """Use another net from now on; keep the tables. Raises `ValueError` if the net is for other rules."""
        net.check_rules(self.core.rules)
        self._rules, self.net = with_net(self._rules, net), net

    def best(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> SearchResult:
        """Return the search result of a single running position, a batch of one; see `best_moves`."""
        if len(positions) != 1:
            raise ValueError(f"`best` searches one position; got {len(positions)}: use `best_moves`")
        return self.best_moves(positions, limits, every_move=every_move)[0]

    def best_moves(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> list[SearchResult]:
        """Return the search results of N running positions; raise `ValueError` if a game among them is over.

        With `every_move`, the search values every legal move and not only the best moves; this takes longer.
        """
        return [_result(row) for row in self._search(positions, limits, every_move)]

    def values(self, positions: Positions, depth: int) -> npt.NDArray[np.float64]:
        """Return (N, A) future margins in points of each legal move, including its own gain, searched to `depth` plies.

        Values are NaN for illegal actions and in finished games.
        """
        return self.proved_values(positions, depth)[0]

    def proved_values(self, positions: Positions, depth: int) -> tuple[npt.NDArray[np.float64], Mask]:
        """Return the (N, A) values that `values` returns, and (N, A) bool, whether each value is proved."""
        running = (~positions.over).nonzero()[0]
        roots = self._search(positions[running], Limits(depth=depth), every_move=True)
        mask = self.core.legal_mask(positions)
        values, proved = np.full(mask.shape, np.nan), np.zeros(mask.shape, dtype=np.bool_)
        values[running] = roots["values"][:, : mask.shape[1]]
        proved[running] = roots["opens"][:, : mask.shape[1]] == 0
        return np.where(mask, values, np.nan), proved & mask

    def _search(self, positions: Positions, limits: Limits, every_move: bool) -> npt.NDArray[Any]:
        roots = zeros(ALPHABETA_ROOT, len(positions))
        roots["plies_left"] = plies_left(self.core, positions)
        roots["own"], roots["other"] = mover_first(positions).T
        depth, nodes = limits.depth or MAX_DEPTH, limits.nodes or UNLIMITED
        bits = self._bits(limits)

        def search(memory: Memory, table: Table, rows: slice) -> None:
            memory.guess_depth = self._guess_depth
            search_rows(Tree(self._rules, memory, table), roots[rows], depth, nodes, every_move, bits)

        self._workers.run(len(roots), search, limits)
        return roots

    def _bits(self, limits: Limits) -> int:
        if self._table_bits == 0:
            return 0
        nodes = [] if limits.nodes is None else [limits.nodes]
        if limits.milliseconds is not None:
            nodes.append(int(limits.milliseconds) * MOVES_PER_MILLISECOND)
        return bits_to_use(self._table_bits, limits.depth or 0, min(nodes, default=0))


def _result(root: AlphaBetaRoot) -> SearchResult:
    moves = root.values.tolist()
    values = {action: moves[action] for action in range(len(moves)) if moves[action] != -INFINITY}
    actions = tuple(action for action in values if values[action] == root.value)
    return SearchResult(
        action=actions[0],
        actions=actions,
        value=int(root.value),
        depth=int(root.depth),
        proved=not root.is_open,
        nodes=int(root.nodes),
        line=tuple((root.line[root.line > 0] - 1).tolist()),
        values=values,
        proved_actions=tuple(action for action in values if not root.opens[action]),
    )
