"""Boards for tests: boards of random games, and texts with a few characters changed."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from oanquan_env import Board, Core, Move, Positions, Rules, Variation
from oanquan_env.render import LastMove, Snapshot
from oanquan_env.rollouts import play_randomly
from tests.helpers import strategies

PUZZLE_MARK = LastMove(origin=4, path=(5, 6, 7, 8, 9, 11, 0, 1, 2, 3), last=3, captured=(5,), label="5A")
"""The marks of the move 5A, the first move of the puzzle of Mancala World."""
BIG = Snapshot(Rules(), (17, 0, 3, 12, 1, 23, 0, 9, 0, 2, 11, 0), (1, 0), (-7, 4), mover=1, ply=31)
"""A position with large heaps and a negative score."""


ENDLESS = "1,0,1*/0,1,0/1,0,1* 0,0,0 0 0"
"""A position in which the relay of 1A never ends under `endless_rules`."""


def endless_rules() -> Rules:
    """Return rules for three players with `take_one`, which `Rules` refuses because relays could be endless."""
    rules = Rules.parse("three-player fields=2")
    object.__setattr__(rules, "mandarin_ahead", "take_one")
    return rules


def played_board(rules: Rules | str, seed: int, plies: int) -> Board:
    """Return the board after at most `plies` random moves."""
    rng, board = np.random.default_rng(seed), Board(rules)
    while len(board.history) < plies and board.outcome is None:
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
    return board


def boards_of(*moves: str, rules: Rules | str = "mancala-world") -> list[Board]:
    """Return the initial board of a game and the board after each of `moves`."""
    board = Board(rules)
    for move in moves:
        board.push(move)
    return board.boards()


def random_positions(core: Core, n: int, seed: int) -> Positions:
    """Play `n` random games, game i for at most i % 12 plies, and return the positions of the unfinished ones."""
    positions = core.start(n)
    play_randomly(core, positions, np.arange(n) % 12, np.random.default_rng(seed))
    return positions[~positions.over]


def fair_reward(reward: str, standings: np.ndarray, total: int) -> list[float]:
    """Return each player's total reward in a game with these final points, as `oanquan_env.rewards` documents it."""
    players, won = len(standings), standings == standings.max()
    margin = (standings * players - standings.sum()) / (players - 1) / total
    outcome = np.where(won, 1 / won.sum(), -1 / max(1, (~won).sum())) * (not won.all())
    paid: list[float] = {"margin": margin, "outcome": outcome, "mixed": (margin + outcome) / 2}[reward].tolist()
    return paid


def variations(
    start: Board, moves: Sequence[Move], rng: np.random.Generator, deep: int
) -> dict[int, tuple[Variation, ...]]:
    """Return random variations of a line from `start`, nested at most `deep` times, with comments."""
    board, found = start.copy(), dict[int, tuple[Variation, ...]]()
    for number, move in enumerate(moves, 1):
        others = [other for other in board.legal_moves if other != move]
        rng.shuffle(others)
        lines = [played_on(board, other, rng) for other in others[: max(0, rng.integers(-12, 3))]] if deep else []
        found[number] = tuple(
            Variation(
                line,
                {at: comment for at in range(1, len(line) + 1) if (comment := rng.choice(["", "", "(a) {b}\\"]))},
                {at: group for at, group in variations(board, line, rng, deep - 1).items() if at > 1},
            )
            for line in lines
        )
        board.push(move)
    return found


def played_on(board: Board, move: Move, rng: np.random.Generator) -> tuple[Move, ...]:
    """Return `move` and at most four random moves after it."""
    board = Board.parse(board.text(), board.rules)
    board.push(move)
    for _ in range(rng.integers(5)):
        if board.outcome is None:
            board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
    return tuple(board.history)


@st.composite
def boards(draw: st.DrawFn) -> Board:
    """Draw a board with any valid rules from any ply of a random game."""
    return played_board(draw(strategies.rules()), draw(strategies.seeds), draw(st.integers(0, 130)))


def mutated(text: str, rng: np.random.Generator) -> str:
    """Return `text` after one to three random edits that delete, double, insert, replace or reverse characters."""
    alphabet = '0123456789,/*-. ACac[](){}"\\\n\tRules=xé５\u2028\x00'
    for _ in range(rng.integers(1, 4)):
        at, other = sorted(rng.integers(0, len(text) + 1, size=2))
        letter = alphabet[rng.integers(len(alphabet))]
        text = (
            text[:at] + text[at + 1 :],
            text[:at] + text[at : at + 1] + text[at:],
            text[:at] + letter + text[at:],
            text[:at] + letter + text[at + 1 :],
            text[:at] + text[at:other][::-1] + text[other:],
            text[:at] + text[other:],
            text[: max(1, other)],
        )[rng.integers(7)]
    return text
