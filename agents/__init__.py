"""Players of Ô Ăn Quan by name: `make("greedy")`, `make("minimax:depth=8")`, `make("ppo:runs/quick")`."""

from agents.players.make import make, usage
from agents.support.extras import MissingExtraError, say_what_commands_need
from oanquan_env.players import UnknownAgentError

__all__ = ["MissingExtraError", "UnknownAgentError", "make", "usage"]

say_what_commands_need()
