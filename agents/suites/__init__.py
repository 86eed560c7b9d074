"""The makers of suites, positions with known values by which players are measured: `python -m agents.suites`.

In reading order:

1. `balanced_openings`: balanced and fair openings; `mixed_games`: games from which the other makers draw positions;
2. `regret`: positions with the value of every move; `rule_sets`: such suites for the rule sets of a split;
   `rule_pairs`: positions whose best moves differ between two rule sets;
3. `opening_values`: the proved values of the first plies;
4. `resumable_pool`: the processes among which all makers spread their work; `worker_search`: a search in each of them.
"""
