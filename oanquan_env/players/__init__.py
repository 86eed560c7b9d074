"""Players that need NumPy alone, as `make("maxn:depth=3")`, and the protocol that every player follows."""

from oanquan_env.errors import UnknownAgentError
from oanquan_env.players.basic import EpsilonPolicy, GreedyPolicy, RandomPolicy, move_gains
from oanquan_env.players.full_width import FullWidthPolicy
from oanquan_env.players.making import make
from oanquan_env.players.policy import Policy, ask_players, best_actions

__all__ = [
    "EpsilonPolicy",
    "FullWidthPolicy",
    "GreedyPolicy",
    "Policy",
    "RandomPolicy",
    "UnknownAgentError",
    "ask_players",
    "best_actions",
    "make",
    "move_gains",
]
