"""Speed, measured: each module prints a table and writes its JSON into benchmarks/results/."""

from agents.support.extras import check_command

check_command()
