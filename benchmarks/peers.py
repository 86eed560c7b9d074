"""The README's table against the alternatives: what each has, and its speed where it is known.

Speeds that the committed benchmarks measure come from their results. The others were measured once, by random play in
one process on a machine of the same kind, and are marked so.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from benchmarks.report import RESULTS

ONCE = "†"
"""Marks a speed that no committed benchmark measures again."""


class Peer(NamedTuple):
    """One row.

    Attributes:
        name: what it is.
        game: which rules of Ô Ăn Quan it has, or what it has instead.
        interface: how a learner reaches it.
        batched: whether one call steps many games.
        players: what there is to play against.
        speed: million moves a second on one core, as text.
    """

    name: str
    game: str
    interface: str
    batched: str
    players: str
    speed: str


def peers() -> list[Peer]:
    """All rows, ours first."""
    core = json.loads((RESULTS / "core.json").read_text())["speeds"]["mancala-world"]["4096"]
    vector = json.loads((RESULTS / "vector.json").read_text())["speeds"]
    ours, kalah = vector["oanquan make_vec, num_envs=4,096"], vector["OpenSpiel mancala, observation, mask and rewards"]
    bare, four = (
        vector["OpenSpiel mancala, moves and legal moves alone"],
        vector["PettingZoo connect_four raw_env, turns"],
    )
    return [
        Peer(
            "**oanquan**",
            "7 presets, each after its source; 2–4 players; matches",
            "Gymnasium, vector, PettingZoo; masks",
            "yes",
            "search, solver, trained agents",
            f"**{core / 1e6:.1f}** core, **{ours / 1e6:.1f}** vector environment",
        ),
        Peer(
            "Ludii 1.3.13",
            "several rule sets; its engine departs from its own text",
            "Ludii's, in Java",
            "no",
            "general game players",
            f"0.12 {ONCE}",
        ),
        Peer(
            "IamKrill1n/o-an-quan",
            "standard rules",
            "none: a C++ program",
            "no",
            "minimax, expectimax, MCTS",
            f"6.4 {ONCE}",
        ),
        Peer(
            "TheGiver262/oanquan-ai-lab",
            "standard, pie and quan già modes",
            "none: TypeScript",
            "no",
            "alpha-beta, PUCT",
            "not measured",
        ),
        Peer("pure-Python engines of the game", "their own rules", "none", "no", "", f"up to 0.2 {ONCE}"),
        Peer(
            "OpenSpiel",
            "none; Kalah",
            "OpenSpiel's; masks",
            "no",
            "OpenSpiel's algorithms",
            f"{kalah / 1e6:.2f} with observations, {bare / 1e6:.1f} without",
        ),
        Peer("PettingZoo", "none; connect four", "PettingZoo; masks", "no", "", f"{four / 1e6:.3f}"),
        Peer("pgx, CPU", "none; connect four, othello", "JAX; masks", "yes", "", f"1.8, 0.41 {ONCE}"),
    ]


def note() -> str:
    """Where the speeds come from."""
    return (
        "Speed: random play on one core; ours at 4,096 games, and ours, OpenSpiel's and PettingZoo's from Python by "
        "`python -m benchmarks.core` and `python -m benchmarks.vector`. "
        f"{ONCE} measured once on a machine of the same kind (pgx at 1,024 games), not by the committed benchmarks. "
        "As far as we know, neither a trained agent nor a PettingZoo or vectorised environment of this game was "
        "published before."
    )
