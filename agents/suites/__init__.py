"""The makers of suites, positions with known values by which players are measured: `python -m agents.suites`.

In reading order, each maker with the module of `oanquan_env` that reads what it makes:

1. `make_openings`: balanced and fair openings, for `benchmark.openings`;
2. `make_regret`: positions with the value of every move, for `benchmark.suites`; `make_rule_sets`: such suites for the
   rule sets of a split, for `benchmark.generalisation`; `make_rule_pairs`: positions whose best moves differ between
   two rule sets, for `benchmark.rule_pairs`;
3. `make_opening_values`: the proved values of the first plies, for `proofs.opening_values`;
4. `mixed_games`: games from which makers draw positions; `resumable_pool`: the processes among which all makers spread
   their work; `worker_search`: a search in each process.
"""
