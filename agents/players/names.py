"""The names of the players that `agents` adds to those of `oanquan_env`: `ppo:runs/quick`, `minimax:nodes=20000`."""

from __future__ import annotations

from agents.support.renamed import renamed
from oanquan_env.players.making import NAMES as OWN
from oanquan_env.players.names import Names

EPSILON_USAGE = {"greedy:epsilon=E ...,epsilon=E": "any of them, playing a random move with probability E"}
GONE = ("search", "nodes", "ms", "slack")
"""Options that `ppo` had."""


def _former(kind: str, option: str) -> str | None:
    if kind == "ppo" and option in GONE:
        return "ppo has no such option; a search that has learned is minimax:nodes=20000,net=pretrained"
    return renamed(option)


NAMES = Names(
    usage={
        **OWN.usage,
        "minimax:depth=D|nodes=N|ms=T": "alpha-beta to D plies, N moves played or T milliseconds a move",
        "minimax:...,net=FILE": "with a value net at its horizon: a file, a run's folder, or `pretrained`",
        "mcts:simulations=S[,net=FOLDER]": "Monte-Carlo tree search; with a trained agent's priors and values",
        "mcts:...,depth=D[,net=FILE]": "its leaves valued by maxn to D plies; 0: playouts, default for two players",
        "ppo:FOLDER[,temperature=T]": "a trained agent: a run's folder, `pretrained`, `selfplay`; T > 0: draws moves",
        "...FOLDER...,mirror_average=no": "the network sees the position alone, not its mirror image beside it",
        **EPSILON_USAGE,
    },
    options={
        **OWN.options,
        "minimax": {"depth": int, "nodes": int, "ms": float, "net": str},
        "mcts": {"simulations": int, "depth": int, "net": str, "mirror_average": bool},
        "ppo": {"temperature": float, "mirror_average": bool},
    },
    folders={**OWN.folders, "ppo": "ppo needs the folder of a trained agent, as in ppo:runs/quick, or ppo:pretrained"},
    former=_former,
)
"""All players of the clone."""
