"""How the project compares with the alternatives: the README's table of them, and its line of speed.

Speeds that the committed benchmarks measure come from their results. The others were measured once, by random play in
one process on a machine of the same kind, and are marked.
"""

import json

from benchmarks.report import RESULTS
from oanquan_env.benchmark.markdown import table

ONCE = "†"
"""Marks a speed that no committed benchmark measures again."""


def speeds() -> dict[str, str]:
    """Millions of moves a second: of our core and vector environment at 4,096 games, and of other libraries."""
    core, vector = (json.loads((RESULTS / f"{name}.json").read_text())["speeds"] for name in ("core", "vector"))
    found = {
        "core": core["mancala-world"]["4096"],
        "vector": vector["oanquan make_vec, num_envs=4,096"],
        "OpenSpiel": vector["OpenSpiel mancala, observation, mask and rewards"],
        "OpenSpiel's moves": vector["OpenSpiel mancala, moves and legal moves alone"],
        "PettingZoo": vector["PettingZoo connect_four raw_env, turns"],
    }
    return {name: f"{speed / 1e6:.1f}" if speed > 1e6 else f"{speed / 1e6:.2g}" for name, speed in found.items()}


def speed_line() -> str:
    """The README's sentence on speed."""
    million = speeds()
    return (
        f"One core plays {million['core']} million random moves a second, and {million['vector']} million through the "
        f"vector environment, with observations and rewards; OpenSpiel's mancala plays {million['OpenSpiel']} million "
        f"with them, and PettingZoo's connect four {million['PettingZoo']} million "
        "([all measurements](docs/benchmarks.md))."
    )


def peers_table() -> str:
    """The README's table, ours first, and the note under it."""
    million = speeds()
    heads = ["", "rules of the game", "interface", "to play against", "million moves/s", "with observations"]
    ours = ["**oanquan**", "7 presets, 2–4 players", "Gymnasium, PettingZoo; batched", "search, solver, neural agents"]
    rows = [
        [*ours, f"**{million['core']}**", f"**{million['vector']}**"],
        ["Ludii", "several rule sets", "Java", "general game players", f"0.12 {ONCE}", ""],
        ["IamKrill1n/o-an-quan", "one", "C++ program", "minimax, expectimax, MCTS", f"6.4 {ONCE}", ""],
        ["TheGiver262/oanquan-ai-lab", "three modes", "TypeScript program", "alpha-beta, PUCT", "", ""],
        ["HienLe2004/o-an-quan-ai-242", "one", "Python program", "minimax, tabular Q-learning", "", ""],
        [
            "OpenSpiel",
            "none; Kalah",
            "its own",
            "search and learning",
            million["OpenSpiel's moves"],
            million["OpenSpiel"],
        ],
        ["PettingZoo", "none; connect four", "PettingZoo", "", "", million["PettingZoo"]],
        ["pgx", "none; othello, connect four", "JAX; batched", "", "", f"0.41, 1.8 {ONCE}"],
    ]
    note = (
        f"Speed: random play on one core. {ONCE} measured once on a machine about twice as fast, not by the committed "
        "benchmarks. As far as we know, these are the first neural agents and the first PettingZoo and vectorised "
        "environments of this game."
    )
    return f"{table(heads, rows, left=4)}\n\n{note}"
