"""Compare the project with alternatives by speed and features, for the README and the documentation.

Most speeds are read from the results of the committed experiments. The others, which are marked, were measured once by
hand, with random play in one process.
"""

from experiments.common import published
from experiments.speed import Speeds, millions
from oanquan_env.benchmark.tables import table

ONCE = "†"
"""The mark of speeds that no committed benchmark reproduces."""
BATCH = "make_vec"
"""The row of the vector environment without an opponent."""
ONE_GAME = {
    "Gymnasium, `gymnasium.make`": ("one environment", "one CartPole", "CartPole"),
    "the same against `greedy`": ("one environment, greedy replies", "one CartPole", "CartPole"),
    "PettingZoo AEC, `raw_env`": ("AEC, oanquan raw_env", "AEC, connect_four raw_env", "connect four"),
    "PettingZoo AEC, `env`": ("AEC, oanquan env", "AEC, connect_four env", "connect four"),
}
"""Rows of the table of single environments: heading, and our measurement, the other measurement and its game."""


def one_game() -> str:
    """Return the table that compares the speeds of single environments."""
    heads = ["one game, thousand steps/s", "oanquan", "for comparison"]
    rows = [
        [name, _thousand(ours), f"{_thousand(theirs)} ({other})"] for name, (ours, theirs, other) in ONE_GAME.items()
    ]
    return table(heads, rows)


def speed_section() -> str:
    """Return the README's section on speed."""
    ours, cartpole = (_million("vector", row) for row in (BATCH, "Gymnasium CartPole"))
    return f"""\
One core plays {_million("core", "mancala-world, compiled")} million random moves a second with Numba, and \
{_million("core", "mancala-world, NumPy")} million with NumPy only; the games are the same. With observations and \
rewards, a batch of 4,096 games takes {ours} million steps a second; a batch of 4,096 of Gymnasium's CartPole takes \
{cartpole} million. OpenSpiel's mancala takes {_million("vector", "OpenSpiel mancala", "1")} million. On a \
[GPU](docs/how-to/gpu.md), `oanquan_env.cuda` plays up to {_cuda_million()} million moves a second. [All \
measurements](docs/speed.md) include smaller batches and single games."""


def _thousand(row: str) -> str:
    return f"{_speeds('vector')[row]['1'] / 1000:.0f}"


def _cuda_million() -> str:
    speeds = published("cuda")["speed"]["mancala-world, no opponent"]
    return f"{max(speeds.values()):,.0f}"


def _speeds(name: str) -> Speeds:
    speeds: Speeds = published("speed")[name]
    return speeds


def _million(name: str, row: str, size: str = "4096") -> str:
    return millions(_speeds(name)[row][size])


def peers_table() -> str:
    """Return the table of projects, with ours first, and the note under it."""
    heads = ["", "rules of the game", "interface", "opponents", "million moves/s", "with observations"]
    ours = ["**oanquan**", "7 presets, 2–4 players", "Gymnasium, PettingZoo; batched", "search, solver, neural agents"]
    others = [_million("vector", row, "1") for row in ("OpenSpiel mancala", "AEC, connect_four raw_env")]
    rows = [
        [*ours, f"**{_million('core', 'mancala-world, compiled')}**", f"**{_million('vector', BATCH)}**"],
        ["Ludii", "several rule sets", "Java", "general game players", f"0.12 {ONCE}", ""],
        ["IamKrill1n/o-an-quan", "one", "C++ program", "minimax, expectimax, MCTS", f"6.1 {ONCE}", ""],
        ["TheGiver262/oanquan-ai-lab", "three modes", "TypeScript program", "alpha-beta, PUCT", "", ""],
        ["huyenngn/OAnQuan-AI", "one", "Python program, Gym", "alpha-beta, a trained PPO", "", ""],
        ["HienLe2004/o-an-quan-ai-242", "one", "Python program", "minimax, tabular Q-learning", "", ""],
        ["OpenSpiel", "none; Kalah", "its own", "search and learning", "", others[0]],
        ["PettingZoo", "none; connect four", "PettingZoo", "", "", others[1]],
        ["pgx", "none; othello, connect four", "JAX; batched", "", "", f"0.41, 1.8 {ONCE}"],
    ]
    note = (
        "All speeds are for random play on one core, without the time to draw the moves. "
        f"We timed speeds with {ONCE} once by hand, not with the committed benchmark: the C++ program (`-O2 "
        "-march=native`) on the same class of machine, Ludii and pgx on a faster machine."
    )
    return f"{table(heads, rows, left=4)}\n\n{note}"
