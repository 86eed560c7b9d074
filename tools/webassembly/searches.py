"""The searches that engine.wasm exports: alpha-beta for two players and max^n for more; see `entries`."""

from typing import Any, Protocol

import numpy as np

from oanquan_env.engine.compiled import inlined, record
from oanquan_env.search import deepening, maxn, search_state
from oanquan_env.search.alphabeta import DEFAULT_GUESS_DEPTH, SLOT, Tree
from oanquan_env.search.search_state import ENTRIES, INFINITY, MAX_ACTIONS, MAX_DEPTH, UNLIMITED
from tools.webassembly.entries import EntryPoint, fill_rules, scores, side, sides

TABLE_BITS = 18
"""Base-2 logarithm of the number of buckets in the transposition table, which takes 16 MB."""


class Query(Protocol):
    """The limits of a search, and its result, which corresponds to `limits.SearchResult`."""

    depth: int  # 0: no limit
    nodes: int  # 0: no limit
    every_move: int
    has_net: int  # whether the record of rules holds a net
    values: Any  # (MAX_ACTIONS,) float64
    value: float
    valued: int  # one bit for each action that has a value
    reached: int  # depth reached
    proved: int
    played: int  # nodes searched
    line: Any  # (MAX_DEPTH + 1,) int8, actions + 1, then zero


QUERY = record(
    Query,
    **dict.fromkeys(Query.__annotations__, (np.int32,))
    | {"values": (np.float64, MAX_ACTIONS), "value": (np.float64,), "line": (np.int8, MAX_DEPTH + 1)},
)


def _work(memory: np.dtype[Any], root: np.dtype[Any]) -> np.dtype[Any]:
    """Return the record type of a search's working memory for one position."""
    return np.dtype([("memory", memory), ("roots", root, 1)])


@inlined
def plies_left(rules: Any, game: Any) -> int:
    """Return the plies left before the ply limit, but at least 1, as `limits.plies_left` does."""
    left: int = max(rules.max_plies - game.ply, 1)
    return left


def search_two(rules: Any, game: Any, query: Any, work: Any, table: Any) -> None:
    """Search a running position by alpha-beta, as `deepening.Search` does, and write the result to `query`."""
    root, state = work.roots[0], work.memory
    root.own, root.other, root.plies_left = side(rules, game, 0), side(rules, game, 1), plies_left(rules, game)
    rules.has_net, state.guess_depth, state.stop = query.has_net, DEFAULT_GUESS_DEPTH, 0
    bits = search_state.bits_to_use(TABLE_BITS, query.depth, query.nodes)
    tree, depth, nodes = Tree(rules, state, table.buckets[:]), query.depth or MAX_DEPTH, query.nodes or UNLIMITED
    deepening.search_rows(tree, work.roots, depth, nodes, query.every_move != 0, bits)
    query.value, query.reached, query.proved, query.played = root.value, root.depth, 1 - root.is_open, root.nodes
    query.valued = 0
    for action in range(MAX_ACTIONS):
        query.values[action] = root.values[action]
        query.valued |= (root.values[action] != -INFINITY) << action
    for place in range(MAX_DEPTH + 1):
        query.line[place], root.line[place] = root.line[place], 0


def search_many(rules: Any, game: Any, query: Any, work: Any) -> None:
    """Search a position of three or four players by max^n into `query`, as `maxn.MaxnSearch.best_moves` does."""
    root, state = work.roots[0], work.memory
    root.sides[0], root.sides[1], root.sides[2], root.sides[3] = sides(rules, game)
    root.scores[0], root.scores[1], root.scores[2], root.scores[3] = scores(rules, game)
    root.plies_left = plies_left(rules, game)
    rules.has_net, rules.unit, state.stop = query.has_net, maxn.NET_UNIT if query.has_net else 1, 0
    depth, nodes = query.depth or MAX_DEPTH, query.nodes or UNLIMITED
    first_depth = 1 if query.nodes else depth
    maxn.search_maxn(rules, state, work.roots, first_depth, depth, nodes, query.every_move != 0)
    query.reached, query.proved, query.played = root.depth, 0, root.nodes
    best, query.valued = maxn.UNKNOWN, 0
    for action in range(MAX_ACTIONS):
        query.values[action] = root.worths[action] / ((rules.players - 1) * rules.unit)
        query.valued |= (root.worths[action] != maxn.UNKNOWN) << action
        best = max(best, root.worths[action])
    query.value = best / ((rules.players - 1) * rules.unit)


inlined(search_state.bits_to_use)

RECORDS = {
    "two_rules": search_state.TWO_PLAYER_RULES,
    "two": _work(search_state.MEMORY, deepening.ALPHABETA_ROOT),
    "table": np.dtype([("buckets", SLOT, (1 << TABLE_BITS, ENTRIES))]),
    "many_rules": maxn.MULTIPLAYER_RULES,
    "many": _work(maxn.MAXN_MEMORY, maxn.MAXN_ROOT),
    "query": QUERY,
}
EXPORTS = {
    "fill_two_rules": EntryPoint(fill_rules, "two_rules"),
    "fill_many_rules": EntryPoint(fill_rules, "many_rules"),
    "search_two": EntryPoint(search_two, "two_rules", "game", "query", "two", "table"),
    "search_many": EntryPoint(search_many, "many_rules", "game", "query", "many"),
}
