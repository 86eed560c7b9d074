"""Players of Ô Ăn Quan by name: `make("greedy")`, `make("minimax:depth=8")`, `make("ppo:runs/quick")`."""

from agents.players.make import make, usage
from agents.support.extras import check_command
from oanquan_env.errors import MissingExtraError, UnknownAgentError

__all__ = ["MissingExtraError", "UnknownAgentError", "make", "usage"]

check_command()
