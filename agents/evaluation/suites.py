"""Paths of the committed suites: balanced openings, and positions with the value of every move."""

from __future__ import annotations

from pathlib import Path

from oanquan_env import Rules

SUITES = Path(__file__).parents[2] / "suites"


def openings_path(rules: Rules) -> Path:
    """The file of the balanced openings of `rules`; it need not exist."""
    return SUITES / f"openings-{_slug(rules)}.txt"


def regret_path(rules: Rules) -> Path:
    """The file of the regret suite of `rules`; it need not exist."""
    return SUITES / f"regret-{_slug(rules)}.json"


def _slug(rules: Rules) -> str:
    return str(rules).replace(" ", "-").replace("=", "-")
