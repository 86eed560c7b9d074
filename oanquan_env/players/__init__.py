"""Players by name, as in `make("minimax:depth=8")`, and the protocol that every player implements.

In reading order:

1. `policy`: the protocol `Policy`;
2. `basic`: players that look at most two plies ahead;
3. `names`: kinds of players and their names; `making`: `make`, which turns a name into a player;
4. `search_player`: players that search; `book`: a player that follows the strategies of a certificate;
5. `observed`: players that choose from observations; `models`: functions of observations from trained models;
   `adapters`: `as_policy`, which turns all of these into players.
"""

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
