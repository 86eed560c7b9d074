"""Evaluation: tournaments, ratings, and the making of suites."""
