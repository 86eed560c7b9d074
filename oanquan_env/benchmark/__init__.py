"""Measure players by game pairs from balanced openings, by regret and by best responses, with intervals.

Newcomers need four modules: `evaluation` (`evaluate`), `game_pairs`, `regret` and `statistics`. A *suite* is a set of
positions with the value of every move. *Rule pairs* are positions whose best moves differ between two rule sets. A
*beam* is the set of positions that a search for the best response keeps at each ply. In reading order:

1. `statistics`: means, Elo ratings and their 95 % intervals;
2. `openings`: random and balanced openings; `game_pairs`: the games of two players from them, and their scores;
3. `regret`: `Suite`, and the points that moves lose in it; `suites`: suites as files; `rule_pairs`: whether a player
   follows its rules; `generalisation`: regret under held-out rule sets;
4. `evaluation`: `evaluate`, which measures one player by games and by regret;
5. `tournament`: the games and the regret of many players; `comparing`: comparisons of players, and of methods with
   several runs; `policy_cache`: a player's answers, asked for only once;
6. `exploit`: the best response found to a player, by the beam search of `beams`; `league`: payoff matrices,
   equilibria and weights;
7. `results`: the result of an evaluation; `report`: its Markdown; `tables`: tables in Markdown and LaTeX;
8. `curves` and `charts`: learning curves, and the style of all charts.
"""
