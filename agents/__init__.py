"""Trained players of Ô Ăn Quan. `make` creates any player from its name, as in `make("ppo:runs/quick")`."""

from oanquan_env.errors import MissingExtraError, UnknownAgentError
from oanquan_env.players import make, usage

__all__ = ["MissingExtraError", "UnknownAgentError", "make", "usage"]
