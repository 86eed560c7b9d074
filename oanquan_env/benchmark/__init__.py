"""Measuring players with NumPy alone: game pairs, balanced openings, regret, best responses, intervals."""
