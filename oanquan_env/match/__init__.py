"""Matches of several rounds: match rules, and the owners of the fields."""
