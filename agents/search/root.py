"""Compiled alpha-beta at the root: searches of positions to depths 1, 2, ..., what they find, and values of all moves.

Values and results are those of `agents.search.alphabeta`.
"""

from __future__ import annotations

from agents.search.alphabeta import BUCKET_WORDS, EXACT, as_result, negamax, probe
from agents.search.compiled import OVER, Int64s, compiled, play
from agents.search.leaf import NET, horizon
from agents.search.memory import (
    BUCKET_BITS,
    CHILD_ACTION,
    CHILD_GAIN,
    CHILD_ORDER,
    CHILD_OTHER,
    CHILD_OWN,
    CHILD_STATE,
    CHILD_WORDS,
    DIRTY_BITS,
    GENERATION,
    HISTORY,
    INFINITY,
    MAX_DEPTH,
    NO_ACTION,
    NODE_LIMIT,
    NODES,
    STACK,
    STOP,
    TABLE,
    UNLIMITED,
    drop_mirrored,
    expand,
    is_symmetric,
    next_child,
)
from oanquan_env.engine.scalar import FIELDS, RUNNING, can_play

LAST_GENERATION = 255
ROOT_DEPTH, ROOT_VALUE, ROOT_OPEN, ROOT_NODES = range(4)
ROOT_MOVES = 4
ROOT_LINE = ROOT_MOVES + 10
ROOT_WORDS = ROOT_LINE + MAX_DEPTH
"""What is found at the root: depth completed, value, open, moves played; then for each action its value, or -INFINITY
if it is not among the best; then the best line as `action + 1`, as far as the table remembers it."""


@compiled
def search_rows(
    rules: Int64s,
    memory: Int64s,
    sides: Int64s,
    depth: int,
    nodes: int,
    every_move: bool,
    bits: int,
    found: Int64s,
) -> None:
    """Search M running positions, each afresh, to depths 1, 2, ... `depth` or for `nodes` moves.

    Args:
        rules: see `compile_rules`.
        memory: see `new_memory`. STOP, cleared by the caller, ends the search of the row that it meets.
        sides: (M, 2) the movers' sides and the others'.
        depth: 1 .. MAX_DEPTH; a search ends sooner where its value is proved.
        nodes: moves played after which a search stops; depth 1 is always completed.
        every_move: whether to value every move, not the best ones alone.
        bits: base-2 logarithm of the buckets to use; 0 for no table.
        found: (M, ROOT_WORDS), zeros; what was found at the last depth that counts is written to it.
    """
    for row in range(len(sides)):
        if row > 0:
            memory[STOP] = 0  # the row before may have used up its nodes
        begin_search(memory, nodes, bits)
        own, other = sides[row]
        end = expand(rules, memory, own, other, NO_ACTION, STACK)
        symmetric = is_symmetric(rules, own, other)
        if symmetric:
            end = drop_mirrored(rules, memory, end)
        for reached in range(1, depth + 1):
            if reached > 1 and memory[NODES] >= nodes:
                break
            value, is_open, valued = search_root(rules, memory, end, reached, every_move)
            # With a net, a depth counts as far as it was searched: its first move was the best one so far. Where every
            # move is to be valued it must be whole.
            if memory[STOP] and reached > 1 and (valued == STACK or rules[NET] == 0 or every_move):
                break
            found[row, ROOT_DEPTH], found[row, ROOT_VALUE], found[row, ROOT_OPEN] = reached, value, is_open
            found[row, ROOT_MOVES:ROOT_LINE] = -INFINITY
            for place in range(STACK, valued, CHILD_WORDS):
                if every_move or memory[place + CHILD_ORDER] == value:
                    action = memory[place + CHILD_ACTION]
                    found[row, ROOT_MOVES + action] = memory[place + CHILD_ORDER]
                    if symmetric:
                        mirrored = 2 * rules[FIELDS] - 1 - action
                        found[row, ROOT_MOVES + mirrored] = memory[place + CHILD_ORDER]
            if is_open == 0 or memory[STOP]:
                break
        found[row, ROOT_NODES] = memory[NODES]
        recall_line(rules, memory, own, other, found[row])


@compiled
def begin_search(memory: Int64s, nodes: int, bits: int) -> None:
    """Forget earlier searches (their entries carry other generations) and set the limit of the next."""
    if memory[GENERATION] == LAST_GENERATION:
        memory[TABLE : TABLE + (BUCKET_WORDS << memory[DIRTY_BITS])] = 0
        memory[GENERATION] = memory[DIRTY_BITS] = 0
    memory[GENERATION] += 1
    memory[BUCKET_BITS] = bits
    memory[DIRTY_BITS] = max(memory[DIRTY_BITS], bits)
    memory[NODES] = 0
    memory[NODE_LIMIT] = nodes
    memory[HISTORY:STACK] = 0


@compiled
def search_root(rules: Int64s, memory: Int64s, end: int, depth: int, every_move: bool) -> tuple[int, int, int]:
    """Value and open of the position whose moves lie on the stack's first part, and the end of those that were valued.

    Once `memory[STOP]` is set these are the moves before that one, and the value is the best of theirs.

    Each move's order becomes its value; or something less than the best value, unless every move is to be valued. Later
    moves are tested for being as good as the best so far, not for being better, so it is certain which ones are.
    """
    best, best_open = -INFINITY, 0
    for place in range(STACK, end, CHILD_WORDS):
        next_child(memory, place, end)
        value, is_open = memory[place + CHILD_GAIN], 1
        if memory[place + CHILD_STATE] == OVER:
            is_open = 0
        elif memory[place + CHILD_STATE] == RUNNING and depth > 1:
            own, other = memory[place + CHILD_OWN], memory[place + CHILD_OTHER]
            floor = -INFINITY if every_move or place == STACK else best - 1
            top = INFINITY if floor == -INFINITY else floor + 1
            result = negamax(rules, memory, own, other, value - top, value - floor, depth - 1, 1)
            if top != INFINITY and value - (result >> 1) > floor:
                result = negamax(rules, memory, own, other, value - INFINITY, value - floor, depth - 1, 1)
            if memory[STOP]:
                return best, 1, place
            value -= result >> 1
            is_open = result & 1
        elif memory[place + CHILD_STATE] == RUNNING:
            value -= horizon(rules, memory[place + CHILD_OWN], memory[place + CHILD_OTHER])
        best_open |= is_open
        memory[place + CHILD_ORDER] = value
        best = max(best, value)
    return best, best_open, end


@compiled
def recall_line(rules: Int64s, memory: Int64s, own: int, other: int, found: Int64s) -> None:
    """Write the best line: the first of the best moves, then the moves of exact entries of the right depth."""
    action, depth, place = 0, found[ROOT_DEPTH], ROOT_LINE
    while found[ROOT_MOVES + action] != found[ROOT_VALUE]:
        action += 1
    while True:
        found[place] = action + 1
        place += 1
        depth -= 1
        own, other, _, state = play(rules, own, other, action)
        if state != RUNNING or depth == 0:
            return
        if depth == 1:
            action = greediest(rules, own, other)
        else:
            kind, _, known_depth, is_open, action = probe(memory, own, other)
            if kind != EXACT or (known_depth != depth and (is_open or known_depth > depth)):
                return


@compiled
def greediest(rules: Int64s, own: int, other: int) -> int:
    """The first of the actions that are best to a search of depth 1."""
    best, chosen = -INFINITY, NO_ACTION
    for action in range(2 * rules[FIELDS]):
        if can_play(rules, own, action):
            next_own, next_other, gain, state = play(rules, own, other, action)
            if state == RUNNING:
                gain -= horizon(rules, next_own, next_other)
            if gain > best:
                best, chosen = gain, action
    return chosen


@compiled
def value_rows(
    rules: Int64s, memory: Int64s, sides: Int64s, depth: int, bits: int, values: Int64s, is_open: Int64s
) -> None:
    """The value of every legal move of M running positions, each searched to `depth` (or proved sooner).

    Args:
        rules: see `compile_rules`.
        memory: see `new_memory`.
        sides: (M, 2) the movers' sides and the others'.
        depth: 1 .. MAX_DEPTH, the move itself counted.
        bits: base-2 logarithm of the buckets to use; 0 for no table.
        values: (M, A), overwritten where a move is legal.
        is_open: (M, A), set to 1 where the value may depend on the depth.
    """
    actions = 2 * rules[FIELDS]
    for row in range(len(sides)):
        begin_search(memory, UNLIMITED, bits)
        end = expand(rules, memory, sides[row, 0], sides[row, 1], NO_ACTION, STACK)
        symmetric = is_symmetric(rules, sides[row, 0], sides[row, 1])
        if symmetric:
            end = drop_mirrored(rules, memory, end)
        for reached in range(1, depth + 1):  # the shallow searches leave good first moves in the table
            for place in range(STACK, end, CHILD_WORDS):
                action, gain = memory[place + CHILD_ACTION], memory[place + CHILD_GAIN]
                result = 1
                if memory[place + CHILD_STATE] == OVER:
                    result = 0
                elif memory[place + CHILD_STATE] == RUNNING:
                    own, other = memory[place + CHILD_OWN], memory[place + CHILD_OTHER]
                    if reached == 1:
                        result = as_result(horizon(rules, own, other), 1)
                    else:
                        result = negamax(rules, memory, own, other, -INFINITY, INFINITY, reached - 1, 1)
                values[row, action] = gain - (result >> 1)
                is_open[row, action] = result & 1
        if symmetric:
            for action in range(rules[FIELDS]):
                values[row, actions - 1 - action] = values[row, action]
                is_open[row, actions - 1 - action] = is_open[row, action]
