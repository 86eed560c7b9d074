"""Tournaments, ratings and the construction of suites."""
