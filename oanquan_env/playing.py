"""Many games at once, a ply of all of them at a time.

    finals = core.start(1000)
    for rows, actions in advance(core, finals, seated(players, seating, rng)):
        ...  # one ply more: `actions` were played in the games `rows`

Whatever plays or replays whole batches of games builds on `advance`. Random lines, from which games often begin, are
here too, and `choose_move`, which asks a player for a move on a single board.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Ints
from oanquan_env.board import Board
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import Move
from oanquan_env.engine.positions import Positions
from oanquan_env.players import Policy, RandomPolicy, as_policy, ask_players

Choose: TypeAlias = Callable[[Ints, Positions], Ints]
"""Given the rows (M,) of the running games in their batch and their positions, returns their actions (M,)."""
MAX_FAILED_GAMES = 20_000
"""Random games that end too soon, one after another, before `random_lines` gives up."""


def choose_move(player: object, board: Board, rng: np.random.Generator | None = None) -> Move:
    """Return the move that a player chooses on a board.

    `player` is anything that `oanquan_env.players.as_policy` takes; to make it once, beforehand, is faster. A new
    random generator is used if `rng` is left out. Raises `ValueError` for a game that is over.
    """
    if board.outcome is not None:
        raise ValueError(f"the game is over ({board.outcome.termination!s}); there is no move to choose")
    policy = as_policy(player, board.core)
    return Move.from_action(int(policy.choose(board.positions, rng or np.random.default_rng())[0]))


def advance(
    core: Core, positions: Positions, choose: Choose, plies: npt.ArrayLike | None = None, *, checked: bool = True
) -> Iterator[tuple[Ints, Ints]]:
    """Play N games in place, one ply of all running games at a time.

    A game that is over at the start, or has no plies to play, stays as it is.

    Args:
        core: plays the games.
        positions: N games. Between two plies the caller may replace those that ended by new ones.
        choose: says which actions are played.
        plies: most plies that are played in each game, (N,) or one number for all; to its end if left out.
        checked: whether actions are checked, see `Core.play`.

    Yields:
        After each ply the rows (M,) of the games in which it was played, in order, and the actions (M,).
    """
    limits, rows = np.broadcast_to(np.inf if plies is None else plies, len(positions)), np.arange(len(positions))
    for played in itertools.count():
        rows = rows[~positions.over[rows] & (limits[rows] > played)]
        if not rows.size:
            return
        current = positions[rows]
        actions = choose(rows, current)
        core.play(current, actions, checked=checked)
        positions[rows] = current
        yield rows, actions


def seated(players: Sequence[Policy], seating: Ints, rng: np.random.Generator) -> Choose:
    """For `advance`: `players[seating[n, p]]` chooses for player p of game n, and each is asked once a ply."""

    def choose(rows: Ints, positions: Positions) -> Ints:
        return ask_players(players, seating[rows, positions.mover], positions, rng)

    return choose


def advance_randomly(
    core: Core, positions: Positions, plies: npt.ArrayLike | None, rng: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """`advance` with random moves."""
    player = RandomPolicy(core)
    return advance(core, positions, lambda _, current: player.choose(current, rng), plies, checked=False)


def play_randomly(core: Core, positions: Positions, plies: npt.ArrayLike | None, rng: np.random.Generator) -> None:
    """Play random plies in N games, in place: at most `plies` (N,) in each, or to the end if that is None."""
    for _ in advance_randomly(core, positions, plies, rng):
        pass


def random_lines(core: Core, n: int, plies: npt.ArrayLike, rng: np.random.Generator) -> tuple[Positions, Ints]:
    """`n` running positions after random plies, and the actions that lead there, (n, L); -1 after shorter lines.

    `plies` is one number for all lines or (n,); L is the largest. Games that end sooner are drawn again. Raises
    `ValueError` if all games end sooner, by the ply limit, or `MAX_FAILED_GAMES` in a row did.
    """
    wanted = np.broadcast_to(np.asarray(plies, dtype=np.intp), n)
    longest = int(wanted.max(initial=0))
    if longest >= core.rules.max_plies:
        raise ValueError(f"no game is running after {longest} plies: the rules have max_plies={core.rules.max_plies}")
    positions, lines = core.start(n), np.full((n, longest), -1, dtype=np.intp)
    missing, failed = np.arange(n), 0
    while missing.size:
        tried = np.resize(missing, max(missing.size, failed))  # several for each if all were in vain
        drawn, actions = core.start(len(tried)), np.full((len(tried), longest), -1, dtype=np.intp)
        for ply, (rows, chosen) in enumerate(advance_randomly(core, drawn, wanted[tried], rng)):
            actions[rows, ply] = chosen
        running = (~drawn.over).nonzero()[0]
        found, first = np.unique(tried[running], return_index=True)
        positions[found], lines[found] = drawn[running[first]], actions[running[first]]
        failed = failed + len(tried) if not running.size else 0
        if failed >= MAX_FAILED_GAMES:
            raise ValueError(
                f"none of {failed:,} random games of '{core.rules}' was running after {longest} plies: take fewer plies"
            )
        missing = np.setdiff1d(missing, found)
    return positions, lines


def random_openings(core: Core, n: int, plies: npt.ArrayLike, rng: np.random.Generator) -> Positions:
    """The positions of `random_lines`; raises `ValueError` as it does."""
    return random_lines(core, n, plies, rng)[0]


def restart(core: Core, positions: Positions, rng: np.random.Generator, plies: npt.ArrayLike = 0) -> Ints:
    """Begin new games in the rows that are over, in place, after random plies. Return these rows (M,).

    `plies` is one number or (M,). Raises `ValueError` as `random_lines`.
    """
    rows = positions.over.nonzero()[0]
    if rows.size:
        positions[rows] = random_openings(core, len(rows), plies, rng)
    return rows
