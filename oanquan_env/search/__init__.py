"""Game-tree search: value nets, compiled alpha-beta and max^n, and Monte-Carlo tree search.

    >>> from oanquan_env import Core
    >>> from oanquan_env.search import Limits, Search
    >>> core = Core("vietnamese")
    >>> Search(core).best(core.start(), Limits(depth=8)).value
    10

In reading order:

1. `limits`: when a search stops, what it returns, and its threads;
2. `value_net` and `any_rules_net`: nets as files; `leaf`: a net in compiled code;
3. `search_state`: the memory and moves that all compiled searches share; `keys`: keys in their tables;
4. `alphabeta`: an inner node of the search for two players; `deepening`: its root, and the class `Search`;
5. `maxn`: the search for any number of players;
6. `move_values`: alpha-beta where the rules allow it, else max^n;
7. `mcts`: Monte-Carlo tree search.

`oanquan_env.players.search_player` turns searches into players: `minimax` uses `Search`.
"""

from typing import TYPE_CHECKING

from oanquan_env.lazy import lazy

if TYPE_CHECKING:
    from oanquan_env.search.any_rules_net import read_net
    from oanquan_env.search.deepening import Search
    from oanquan_env.search.limits import Limits, SearchResult
    from oanquan_env.search.maxn import MaxnSearch
    from oanquan_env.search.mcts import search_trees
    from oanquan_env.search.move_values import MoveValues
    from oanquan_env.search.value_net import ValueNet

__all__ = ["Limits", "MaxnSearch", "MoveValues", "Search", "SearchResult", "ValueNet", "read_net", "search_trees"]

_MODULES = {
    **dict.fromkeys(("Limits", "SearchResult"), "limits"),
    "MaxnSearch": "maxn",
    "MoveValues": "move_values",
    "Search": "deepening",
    "ValueNet": "value_net",
    "read_net": "any_rules_net",
    "search_trees": "mcts",
}
# some modules import Numba, which takes long
__getattr__ = lazy(__name__, {name: f"{__name__}.{module}" for name, module in _MODULES.items()})
