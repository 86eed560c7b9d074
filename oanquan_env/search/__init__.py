"""Game-tree search: value nets, compiled alpha-beta and max^n, and Monte-Carlo tree search.

In reading order:

1. `limits`: when a search stops, what it returns, and its threads;
2. `value_net` and `any_rules_net`: nets as files; `leaf`: a net in compiled code;
3. `search_state`: the memory and moves that all compiled searches share;
4. `alphabeta`: an inner node of the search for two players; `deepening`: its root, and the class `Search`;
5. `maxn`: the search for any number of players;
6. `move_values`: alpha-beta where the rules allow it, else max^n;
7. `mcts`: Monte-Carlo tree search.

`oanquan_env.players.search_player` turns searches into players: `minimax` uses `deepening.Search`. Search a position:

    core = Core("vietnamese")
    result = Search(core).best(core.start(1), Limits(depth=8))
"""
