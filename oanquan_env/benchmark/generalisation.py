"""Generalisation over rules: regret under rule sets that no training may use, with known or searched values."""

from oanquan_env.engine.rules import Rules
from oanquan_env.rule_sets import Split, split


def held_out(name: Split) -> list[Rules]:
    """Return the rule sets of a split that have suites: of a test split, the first eight of each twelve."""
    return [rules for number, rules in enumerate(split(name)) if not name.startswith("test") or number % 12 < 8]
