"""Trained players of Ô Ăn Quan; `make` makes these and all other players by name, as in `make("ppo:runs/quick")`."""

from oanquan_env.errors import MissingExtraError, UnknownAgentError
from oanquan_env.players import make, usage

__all__ = ["MissingExtraError", "UnknownAgentError", "make", "usage"]
