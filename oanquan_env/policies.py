"""The former name of `oanquan_env.players`, kept for code that imports it."""

from oanquan_env.players import (
    EpsilonPolicy,
    FullWidthPolicy,
    GreedyPolicy,
    Policy,
    RandomPolicy,
    ask_players,
    best_actions,
    move_gains,
)
from oanquan_env.players import make as make_policy

POLICIES = {"random": RandomPolicy, "greedy": GreedyPolicy}

__all__ = [
    "POLICIES",
    "EpsilonPolicy",
    "FullWidthPolicy",
    "GreedyPolicy",
    "Policy",
    "RandomPolicy",
    "ask_players",
    "best_actions",
    "make_policy",
    "move_gains",
]
