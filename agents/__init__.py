"""Trained players of Ô Ăn Quan: `make("ppo:runs/quick")`, and all others by name."""

from oanquan_env.errors import MissingExtraError, UnknownAgentError
from oanquan_env.players import make, usage

__all__ = ["MissingExtraError", "UnknownAgentError", "make", "usage"]
