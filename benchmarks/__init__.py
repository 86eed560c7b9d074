"""Measurements of speed, of players and of learning methods; each prints a table and can write JSON to `results/`."""
