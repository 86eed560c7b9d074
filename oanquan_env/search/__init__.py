"""Game-tree search: value nets, compiled alpha-beta and max^n, and Monte-Carlo tree search.

In reading order: `limits` (limits, results, threads); `value_net` and `any_rules_net` (nets as files), and `leaf` (a
net in compiled code); `search_state` (memory and moves that all searches share), `alphabeta` (an inner node) and
`deepening` (the root, and `Search`); `maxn` (any number of players); `move_values` (one of both, by the rules); `mcts`.
"""
