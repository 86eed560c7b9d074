"""Measure players by game pairs from balanced openings, by regret and by best responses, with intervals."""
