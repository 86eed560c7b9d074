"""Strength: arena, tournaments, ratings, sequential tests, regret, and the making of suites."""
