"""Speed, measured: each module prints a table and writes its JSON into benchmarks/results/."""
