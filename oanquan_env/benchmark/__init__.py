"""Measuring players with NumPy alone: games in pairs, balanced openings, regret over a suite, best responses, intervals."""
