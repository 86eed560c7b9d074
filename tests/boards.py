"""Boards for tests: games played at random, and texts with a few characters changed."""

import numpy as np
from hypothesis import strategies as st

from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.players import RandomPolicy
from oanquan_env.render import LastMove, Snapshot
from tests import strategies

FINISHING = "2,0,1,0,0,3*/0,2,1,0,0,2 {},{} 0 6"
"""South's 3A takes 15 points and the last stone; the rows then hold 3 and 1. The scores make 49."""
PUZZLE_MARK = LastMove(origin=4, path=(5, 6, 7, 8, 9, 11, 0, 1, 2, 3), last=3, captured=(5,), label="5A")
"""Of 5A, the first move of the puzzle of Mancala World."""
BIG = Snapshot(Rules(), (17, 0, 3, 12, 1, 23, 0, 9, 0, 2, 11, 0), (1, 0), (-7, 4), mover=1, ply=31)
"""Large heaps and a debt."""


ENDLESS = "1,0,1*/0,1,0/1,0,1* 0,0,0 0 0"
"""Under `endless_rules` the relay of 1A has no end."""


def endless_rules() -> Rules:
    """Three players with `take_one`, which `Rules` refuses, as relays can be endless."""
    rules = Rules.parse("three-player fields=2")
    object.__setattr__(rules, "mandarin_ahead", "take_one")
    return rules


def played_board(rules: Rules | str, seed: int, plies: int) -> Board:
    """A game of at most `plies` random moves."""
    rng, board = np.random.default_rng(seed), Board(rules)
    while len(board.history) < plies and board.outcome is None:
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
    return board


def boards_of(*moves: str, rules: Rules | str = "mancala-world") -> list[Board]:
    """The board at which a game begins, and those after each move."""
    board = Board(rules)
    for move in moves:
        board.push(move)
    return board.boards()


def random_positions(core: Core, n: int, seed: int) -> Positions:
    """Running positions of every phase: game i is up to i % 12 plies old."""
    rng, positions, policy = np.random.default_rng(seed), core.start(n), RandomPolicy(core)
    for ply in range(11):
        rows = ((np.arange(n) % 12 > ply) & ~positions.over).nonzero()[0]
        moved = positions[rows]
        core.play(moved, policy.choose(moved, rng))
        positions[rows] = moved
    return positions[~positions.over]


def fair_reward(reward: str, standings: np.ndarray, total: int) -> list[float]:
    """What a whole game with these final points pays each player, from the words of `oanquan_env.rewards`."""
    players, won = len(standings), standings == standings.max()
    margin = (standings * players - standings.sum()) / (players - 1) / total
    outcome = np.where(won, 1 / won.sum(), -1 / max(1, (~won).sum())) * (not won.all())
    paid: list[float] = {"margin": margin, "outcome": outcome, "mixed": (margin + outcome) / 2}[reward].tolist()
    return paid


@st.composite
def boards(draw: st.DrawFn) -> Board:
    """A board of any rules, anywhere in a random game."""
    return played_board(draw(strategies.rules()), draw(strategies.seeds), draw(st.integers(0, 130)))


def mutated(text: str, rng: np.random.Generator) -> str:
    """`text` after one to three small accidents: characters lost, doubled, exchanged, changed, inserted, cut off."""
    alphabet = '0123456789,/*-. ACac[]{}"\\\n\tRules=xé５\u2028\x00'
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
