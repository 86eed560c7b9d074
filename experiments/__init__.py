"""Experiments: programs whose results we publish.

In reading order:

1. `common`: what programs share: options, the file of results, and tables for pages (`players` and `methods` have
   their own files);
2. `search`, a short program, and then any other of the table;
3. `results/`: the published results.

| program | measures | time | page |
|---|---|---|---|
| `speed` | moves and steps a second, by the number of games | a few minutes | speed.md, README |
| `search` | moves a second of alpha-beta, and the time to reach a depth | a minute | speed.md |
| `solve` | what the solver proves of each preset in 150 seconds | at most 2.5 minutes a preset | speed.md |
| `training` | plies a second of self-play PPO, and where the time goes | a few minutes | speed.md |
| `workers` | speed and regret of a run on several workers | 35 minutes | how-to/cluster.md |
| `cuda` | steps and PPO on a CUDA device, and their equality with the CPU | three minutes | how-to/gpu.md, README |
| `methods` | regret of learning methods after equal CPU time | 1, 3 or 10 minutes a run | comparing-players.md |
| `players` | a player's regret and its scores | 9 seconds for `maxn:depth=3` | comparing-players.md |
| `exploit` | points that players give up to the best response found | 13 minutes | strength.md |
| `rule_pairs` | which of two rule sets players without language follow | five minutes | language-models.md |
| `any_rules` | regret of searches with the net for any rules | two minutes | strength.md |
| `generalisation` | regret under held-out rule sets, also of `many_rules_ppo` | 5 CPU hours | generalisation.md |
| `coverage` | how often intervals cover the value of their population | six minutes | comparing-players.md |
| `beams` | effect of training games in lines that beat the network | 1 to 2.5 CPU minutes a run | strength.md |

Pages are in docs/. `python -m tools.write_docs` writes the tables into the pages from `results/NAME.json`, and
`python -m tools.write_pictures` draws the charts. `python evaluate.py` writes the reports in `results/`, and
`python -m agents.reports.curves` writes each learning.json.
"""
