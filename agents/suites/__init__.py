"""The makers of suites, positions with known values by which players are measured: `python -m agents.suites`.

`openings` makes balanced openings, `regret` and `rule_sets` make regret suites, and `opening_table` proves the values
of the first plies. They spread their work over a `resumable_pool`, whose processes search with `worker_search`.
"""
