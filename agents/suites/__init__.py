"""The makers of suites, positions with known values by which players are measured: `python -m agents.suites`."""
