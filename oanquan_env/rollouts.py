"""Play many games at once, one ply in each game at a time.

    finals = core.start(1000)
    for rows, actions in advance(core, finals, seated(players, seating, rng)):
        ...  # the players have played `actions`, one in each of the games in `rows`

All code that plays or replays batches of games builds on `engine.core.advance`. This module lets players choose the
moves, makes random lines, which serve as openings, and asks a player for a move on a single board.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints
from oanquan_env.board import Board
from oanquan_env.engine.core import Choose, Core, advance_randomly
from oanquan_env.engine.notation import Move
from oanquan_env.engine.positions import Positions
from oanquan_env.players import Policy, as_policy, ask_players

MAX_FAILED_GAMES = 20_000
"""Number of consecutive random games that may end too soon before `random_lines` gives up."""


def choose_move(player: object, board: Board, rng: np.random.Generator | None = None) -> Move:
    """Return the move that a player chooses on a board.

    `player` is anything that `oanquan_env.players.as_policy` accepts. For repeated calls, make the player once and
    pass it. `rng` defaults to a new random generator. Raises `ValueError` if the game is over.
    """
    if board.outcome is not None:
        raise ValueError(f"the game is over ({board.outcome.termination!s}); there is no move to choose")
    policy = as_policy(player, board.core)
    return Move.from_action(int(policy.choose(board.positions, rng or np.random.default_rng())[0]))


def seated(players: Sequence[Policy], seating: Ints, rng: np.random.Generator) -> Choose:
    """Return a function for `advance` that lets `players[seating[n, p]]` choose for seat p of game n, using `rng`."""

    def choose(rows: Ints, positions: Positions) -> Ints:
        return ask_players(players, seating[rows, positions.mover], positions, rng)

    return choose


def play_randomly(core: Core, positions: Positions, plies: npt.ArrayLike | None, rng: np.random.Generator) -> None:
    """Play random plies in N games, in place: at most `plies` (N,) in each, or to the end if `plies` is None."""
    for _ in advance_randomly(core, positions, plies, rng):
        pass


def random_lines(core: Core, n: int, plies: npt.ArrayLike, rng: np.random.Generator) -> tuple[Positions, Ints]:
    """Return `n` running positions after random plies and the (n, L) actions that lead there, padded with -1.

    `plies` is one number for all lines, or (n,) numbers; L is the largest. Games that end too soon are replaced.
    Raises `ValueError` unless L is below the ply limit, and if `MAX_FAILED_GAMES` consecutive games end too soon.
    """
    lengths = np.broadcast_to(np.asarray(plies, dtype=np.intp), n)
    longest = int(lengths.max(initial=0))
    if longest >= core.rules.max_plies:
        raise ValueError(f"{longest} plies are too many, as the rules have max_plies={core.rules.max_plies}")
    positions, lines = core.start(n), np.full((n, longest), -1, dtype=np.intp)
    missing, failed = np.arange(n), 0
    while missing.size:
        attempts = np.resize(missing, max(missing.size, failed))  # several tries for each if all failed so far
        games, actions = core.start(len(attempts)), np.full((len(attempts), longest), -1, dtype=np.intp)
        for ply, (rows, chosen) in enumerate(advance_randomly(core, games, lengths[attempts], rng)):
            actions[rows, ply] = chosen
        running = (~games.over).nonzero()[0]
        complete, first = np.unique(attempts[running], return_index=True)
        positions[complete], lines[complete] = games[running[first]], actions[running[first]]
        failed = failed + len(attempts) if not running.size else 0
        if failed >= MAX_FAILED_GAMES:
            raise ValueError(
                f"all of {failed:,} random games of '{core.rules}' ended within {longest} plies: take fewer plies"
            )
        missing = np.setdiff1d(missing, complete)
    return positions, lines


def random_openings(core: Core, n: int, plies: npt.ArrayLike, rng: np.random.Generator) -> Positions:
    """Return only the positions of `random_lines`; raise the same errors."""
    return random_lines(core, n, plies, rng)[0]


def restart(core: Core, positions: Positions, rng: np.random.Generator, plies: npt.ArrayLike = 0) -> Ints:
    """Replace finished games, in place, with new games that begin with random plies. Return the (M,) replaced rows.

    `plies` is one number or (M,). Raises `ValueError` in the same cases as `random_lines`.
    """
    rows = positions.over.nonzero()[0]
    if rows.size:
        positions[rows] = random_openings(core, len(rows), plies, rng)
    return rows
