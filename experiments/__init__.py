"""Benchmarks of speed, players and learning methods. The folder `results/` holds the published results."""
