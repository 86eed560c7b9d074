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


def random_lines(core: Core, n: int, plies: int, rng: np.random.Generator) -> tuple[Positions, Ints]:
    """`n` running positions `plies` random plies into a game, and (n, plies) the actions that lead there.

    Games that end sooner are drawn again. Raises `ValueError` if all games end sooner, by the ply limit, or
    `MAX_FAILED_GAMES` in a row did.
    """
    if plies >= core.rules.max_plies:
        raise ValueError(f"no game is running after {plies} plies: the rules have max_plies={core.rules.max_plies}")
    positions, lines = core.start(n), np.zeros((n, plies), dtype=np.intp)
    missing, failed = np.arange(n), 0
    while missing.size:
        size = max(missing.size, failed)  # as many again where all were in vain: few at a time would take minutes
        drawn, actions = core.start(size), np.zeros((size, plies), dtype=np.intp)
        for ply, (rows, chosen) in enumerate(advance_randomly(core, drawn, plies, rng)):
            actions[rows, ply] = chosen
        if size > missing.size:
            running_first = np.argsort(drawn.over, kind="stable")[: missing.size]
            drawn, actions = drawn[running_first], actions[running_first]
        positions[missing], lines[missing] = drawn, actions
        failed = failed + size if drawn.over.all() else 0
        if failed >= MAX_FAILED_GAMES:
            raise ValueError(
                f"none of {failed:,} random games of '{core.rules}' was running after {plies} plies: take fewer plies"
            )
        missing = missing[drawn.over]
    return positions, lines


def random_openings(core: Core, n: int, plies: int, rng: np.random.Generator) -> Positions:
    """The positions of `random_lines`; raises `ValueError` as it does."""
    return random_lines(core, n, plies, rng)[0]
