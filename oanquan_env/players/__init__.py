"""Players by name, as in `make("minimax:depth=8")`, and the protocol that every player implements."""

from oanquan_env.engine.core import best_actions
from oanquan_env.errors import UnknownAgentError
from oanquan_env.players.adapters import as_policy
from oanquan_env.players.basic import EpsilonPolicy, GreedyPolicy, RandomPolicy, SaverPolicy, move_gains
from oanquan_env.players.making import make, usage
from oanquan_env.players.names import Kind, PlayerName
from oanquan_env.players.policy import DrawingPolicy, Policy, ask_players

__all__ = [
    "DrawingPolicy",
    "EpsilonPolicy",
    "GreedyPolicy",
    "Kind",
    "PlayerName",
    "Policy",
    "RandomPolicy",
    "SaverPolicy",
    "UnknownAgentError",
    "as_policy",
    "ask_players",
    "best_actions",
    "make",
    "move_gains",
    "usage",
]
