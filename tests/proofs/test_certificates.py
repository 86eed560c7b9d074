"""Test the verification of certificates, its agreement with the referee, and damaged certificates."""

import dataclasses
import io
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oanquan_env import Core, Rules
from oanquan_env.files import FileError
from oanquan_env.proofs.certificate_checking import verify
from oanquan_env.proofs.certificates import END, Certificate, Graph, Strategy, read_certificate
from tests.helpers.certificates import SHIPPED, SMALL, bounds, made, shipped
from tests.helpers.referee import Referee


@pytest.fixture(scope="module")
def small() -> Certificate:
    return made(SMALL)


@pytest.mark.parametrize(("rules", "claimed"), SHIPPED.items())
def test_certificates_of_the_package_prove_bounds_of_the_set_up(rules: str, claimed: tuple[int, int]) -> None:
    certificate = shipped(rules)
    assert (bounds(certificate), certificate.rules) == (claimed, Rules.parse(rules))
    assert (certificate.start().squares == Core(rules).start().squares).all()


Key = tuple[int, ...]
"""For the mover, then the opponent: the seeds of each field and of the mandarin square, and the stone (0 or 1)."""


def referee_key(game: Referee) -> Key:
    """Return the canonical key of a running game, computed as specified for certificates, without the library."""
    fields, mover = game.rules.fields, game.mover
    side = fields + 1
    images = []
    for step in (1, -1) if game.rules.sowing == "either" else (1,):
        rows = [game.seeds[p * side : p * side + fields][::step] for p in (mover, 1 - mover)]
        squares = [(game.seeds[p * side + fields], game.stones[p]) for p in (mover, 1 - mover)][::step]
        images.append(tuple(n for row, square in zip(rows, squares, strict=True) for n in (*row, *square)))
    return min(images, key=lambda key: [*key[side::-1], *key[:side:-1]])  # two words, each with its last byte first


def referee_game(rules: Rules, key: Key) -> Referee:
    game, side = Referee(rules), rules.fields + 1
    game.seeds, game.stones = [*key[:side], *key[side + 1 : -1]], [key[side], key[-1]]
    return game


def lead(game: Referee, seat: int) -> int:
    points = game.scores if game.ended is None else game.final_scores()
    return points[seat] - points[1 - seat]


def referee_value(rules: Rules, strategy: Strategy, is_lower: bool) -> tuple[int, int]:
    """Return, using only the referee, the margin that a strategy secures and the number of its positions."""
    rules = rules.replace(max_plies=1000)
    numbers: dict[tuple[Key, int], int] = {}
    start, edges = Referee(rules), list[list[tuple[int, int | None]]]()
    times, edge = dict(strategy.later_copies.tolist()), itertools.count()

    def reached(game: Referee, seat: int) -> tuple[int, int | None]:
        """Return the lead of `seat` and the position's number, assigned if it is new (None if the game is over)."""
        time = times.get(next(edge), 0)
        return lead(game, seat), None if game.ended else numbers.setdefault((referee_key(game), time), len(numbers))

    def outcomes(game: Referee, seat: int) -> list[tuple[int, int | None]]:
        """Return what `reached` returns after each move of the opponent."""
        found = []
        for action in game.legal_actions():
            after = game.copy()
            after.play(action)
            found.append(reached(after, seat))
        return found

    first = [reached(start, 0)] if is_lower else outcomes(start, 1)
    while len(edges) < len(numbers):
        for key, _ in list(numbers)[len(edges) :]:
            game = referee_game(rules, key)
            game.play(int(strategy.moves[len(edges)]))
            edges.append([reached(game, 0)] if game.ended else outcomes(game, 0))
    values: dict[int | None, int] = {None: 0}
    open_ones = list(range(len(edges)))
    while open_ones:
        ready = [number for number in open_ones if all(child in values for _, child in edges[number])]
        assert ready, "or never end"
        values |= {number: min(won + values[child] for won, child in edges[number]) for number in ready}
        open_ones = [number for number in open_ones if number not in values]
    return min(won + values[child] for won, child in first), len(edges)


@pytest.mark.parametrize(
    "rules", [SMALL, "tonkin", *(pytest.param(name, marks=pytest.mark.slow) for name in SHIPPED if name != "tonkin")]
)
def test_the_referee_agrees(rules: str, small: Certificate) -> None:
    certificate = small if rules == SMALL else shipped(rules)
    for sign, strategy in ((1, certificate.lower), (-1, certificate.upper)):
        value, positions = referee_value(certificate.rules, strategy, sign == 1)
        assert value >= sign * strategy.bound
        assert positions == len(strategy.moves)


DAMAGED: list[tuple[Callable[[Strategy], dict[str, Any]], str]] = [
    (lambda one: {"moves": one.moves[:-1]}, "one more position"),
    (lambda one: {"moves": np.append(one.moves, one.moves[-1])}, "moves for"),
    (lambda one: {"moves": np.append(one.moves[:-1], np.uint8(200))}, "cannot be played"),
    (lambda one: {"moves": np.append(one.moves[:1] ^ 2, one.moves[1:])}, "lower bound"),
    (lambda one: {"later_copies": np.array([[1, 1]], dtype=np.uint32)}, "lower bound"),
    (lambda one: {"bound": one.bound + 1}, "the strategy gets"),
]


def test_a_certificate_that_is_damaged_or_of_something_else_is_refused(small: Certificate) -> None:
    for changes, message in (
        *(({"lower": dataclasses.replace(small.lower, **change(small.lower))}, error) for change, error in DAMAGED),
        ({"rules": Rules.parse("app fields=3 seeds=2")}, "bound"),
        ({"rules": Rules.parse(SMALL).replace(max_plies=5)}, "exceeds the ply limit"),
        ({"position": "2,2,1,0*/2,2,3,0* 0,0 0 0"}, "bound"),
        ({"position": "2,2,2,0/2,2,2,0 10,10 0 0"}, "is a finished game"),
        ({"lower": None, "upper": None}, "claims no bound"),
    ):
        with pytest.raises(ValueError, match=message):
            verify(dataclasses.replace(small, **changes))


def test_a_strategy_by_which_a_game_may_never_end_has_no_ranks() -> None:
    zero = np.zeros(2, dtype=np.int32)
    round_and_round = Graph({b"0": 0, b"1": 1}, np.array([0]), zero[:1], np.array([0, 1]), np.array([1, 0]), zero)
    with pytest.raises(ValueError, match="or never end"):
        round_and_round.ranks()
    line = dataclasses.replace(round_and_round, children=np.array([1, END]))
    assert line.ranks().tolist() == [2, 1, 0]


def test_a_flipped_bit_is_refused_or_changes_no_claim(small: Certificate) -> None:
    """A flipped bit in the archive's directory may hide a bound's arrays; the certificate then omits this claim."""
    content = small.to_bytes()
    rng = np.random.default_rng(0)
    for place in rng.permutation(len(content))[:100].tolist():
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        try:
            read = Certificate.from_bytes(bytes(flipped))
            verify(read)
        except (ValueError, LookupError, TypeError):
            continue
        kept = {name: getattr(small, name) if getattr(read, name) else None for name in ("lower", "upper")}
        assert read.to_bytes() == dataclasses.replace(small, **kept).to_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": np.array(2)}, "format is 2, but this version reads format 1"),
        ({"lower_moves": np.array([object()])}, "not readable"),
        ({"lower_moves": np.zeros(3)}, "must be .N,. uint8"),
        ({"rules": np.array("chess")}, "unknown preset"),
        ({"rules": np.array("three-player")}, "players=2 and refill=borrow"),
        ({"rules": np.array("first_move_captures_mandarin=False")}, "leave out the ply"),
        ({"lower_moves": None}, "'lower_moves' is missing"),
        ({"lower": None}, "unknown array 'lower_again'"),
    ],
)
def test_a_file_of_something_else_is_refused(
    changes: dict[str, np.ndarray | None], message: str, small: Certificate, tmp_path: Path
) -> None:
    path = tmp_path / "certificate.npz"
    arrays = {**np.load(io.BytesIO(small.to_bytes())), **changes}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(FileError, match=message):
        read_certificate(path)
