"""Strength: arena, tournaments, ratings, regret, and the making of suites."""
