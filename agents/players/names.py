"""The names of the players that `agents` adds to those of `oanquan_env`: `ppo:runs/quick`, `minimax:nodes=20000`."""

from __future__ import annotations

from oanquan_env.players.making import NAMES as OWN
from oanquan_env.players.names import Names

EPSILON_USAGE = {"greedy:epsilon=E ...,epsilon=E": "any of them, playing a random move with probability E"}
NAMES = Names(
    usage={
        **OWN.usage,
        "minimax:depth=D|nodes=N|ms=T": "alpha-beta to D plies, N moves played or T milliseconds a move",
        "minimax:...,net=FILE": "with a value net at its horizon: a file, a run's folder, or `pretrained`",
        "mcts:simulations=S": "Monte-Carlo tree search",
        "mcts:...,depth=D[,net=FILE]": "its leaves valued by maxn to D plies; 0: playouts, default for two players",
        "ppo:FOLDER[,temperature=T]": "a trained agent: a run's folder or `pretrained`; T > 0: draws moves",
        "ppo:...,mirror_average=no": "the network sees the position alone, not its mirror image beside it",
        **EPSILON_USAGE,
    },
    options={
        **OWN.options,
        "minimax": {"depth": int, "nodes": int, "ms": float, "net": str},
        "mcts": {"simulations": int, "depth": int, "net": str},
        "ppo": {"temperature": float, "mirror_average": bool},
    },
    folders={**OWN.folders, "ppo": "ppo needs the folder of a trained agent, as in ppo:runs/quick, or ppo:pretrained"},
)
"""All players of the clone."""
