"""Measuring players with NumPy alone: games in pairs, balanced openings, regret over fixed positions, best responses, intervals."""
