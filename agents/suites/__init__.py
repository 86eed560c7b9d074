"""Evaluate players, and make the suites and the opening tables that evaluations use."""
