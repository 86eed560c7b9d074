"""Benchmarks of speed, players and learning methods; each prints a table and can write JSON to `results/`."""
