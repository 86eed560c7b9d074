"""Matches of several rounds: their rules, and who owns the fields."""
