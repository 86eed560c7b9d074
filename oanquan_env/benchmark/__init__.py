"""Measure players with NumPy only: game pairs, balanced openings, regret, best responses, and intervals."""
