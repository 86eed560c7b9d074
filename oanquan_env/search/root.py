"""Compiled alpha-beta at the root: searches of positions to depths 1, 2, ..., and their results.

Values and results are as defined in `oanquan_env.search.alphabeta`.
"""

from typing import Any, Protocol

import numpy as np

from oanquan_env.engine.compiled import compiled, record
from oanquan_env.engine.move import RUNNING
from oanquan_env.search.alphabeta import EXACT, Tree, as_result, last_ply, negamax, probe
from oanquan_env.search.leaf import horizon
from oanquan_env.search.search_state import (
    INFINITY,
    MAX_ACTIONS,
    MAX_DEPTH,
    NO_ACTION,
    Memory,
    Table,
    drop_mirrored,
    is_symmetric,
    marked,
    next_child,
    play_all,
)
from oanquan_env.search.two_player import SearchRules, apply_move

LAST_GENERATION = 255


class Root(Protocol):
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


ROOT = record(Root, values=(np.int64, MAX_ACTIONS), opens=(np.int64, MAX_ACTIONS), line=(np.int8, MAX_DEPTH + 1))


@compiled
def search_rows(tree: Tree, roots: Any, depth: int, nodes: int, every_move: bool, bits: int) -> None:
    """Search each of M running positions to depths 1, 2, ... `depth` or for `nodes` moves, from an empty table.

    Args:
        tree: rules, memory and table. The caller clears `memory.stop`; setting it ends the search of the current row.
        roots: (M,) ROOT with positions; receives the results; see `SearchResult.depth` for interrupted depths.
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
def keep_values(rules: SearchRules, memory: Memory, depth: int, result: int, symmetric: bool, found: Root) -> None:
    """Write into `found` the result of a search to `depth`, and the values of moves where they are exact."""
    exact = memory.to_the_end and not memory.stop
    found.depth, found.value, found.is_open = depth, result >> 1, 0 if exact else result & 1
    found.values[:] = -INFINITY
    for place in range(memory.root_valued):
        child = memory.children[0][place]
        if memory.every_move or child.order == found.value:
            is_open = 0 if exact else child.is_open
            found.values[child.action], found.opens[child.action] = child.order, is_open
            if symmetric:
                mirrored = 2 * rules.fields - 1 - child.action
                found.values[mirrored], found.opens[mirrored] = child.order, is_open


@compiled
def recall_line(tree: Tree, found: Root) -> None:
    """Write the principal variation into `found`: the first best move, then best moves while the table has them."""
    rules, memory, table = tree.rules, tree.memory, tree.table
    own, other, action, depth, place = found.own, found.other, 0, found.depth, 0
    while found.values[action] != found.value:
        action += 1
    while True:
        found.line[place] = action + 1
        place += 1
        depth -= 1
        if depth == 0:
            return
        own, other, _, state = apply_move(rules, own, other, action, found.plies_left - place)
        if state != RUNNING:
            return
        plies_left = found.plies_left - place - 1
        if depth == 1:
            _, action = last_ply(rules, memory, own, other, INFINITY, plies_left)
        else:
            known = probe(memory, table, marked(rules, own, plies_left), other)
            if known.kind != EXACT or (known.depth != depth and (known.is_open or known.depth > depth)):
                return
            action = known.action
