"""Certificates: made from proofs, checked by the core and by the referee, damaged in every way, and played."""

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agents import solve
from agents.players.fingerprint import fingerprint
from agents.search.certificates import certify
from agents.search.solver import Solver
from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.benchmark.verification import verify
from oanquan_env.cli import main
from oanquan_env.engine.notation import parse_position
from oanquan_env.engine.symmetry import mirror, mirror_actions
from oanquan_env.errors import UnknownAgentError
from oanquan_env.files import FileError
from oanquan_env.players import GreedyPolicy, RandomPolicy, make
from oanquan_env.players.book import UNKNOWN, BookPolicy
from oanquan_env.players.certificates import (
    Certificate,
    Strategy,
    beginnings,
    certificate_path,
    follow,
    read_certificate,
    unpack,
)
from oanquan_env.playing import advance, seated
from tests.referee import Referee

SMALL = "mancala-world fields=3 seeds=2"
SHIPPED = {"mancala-world": 12, "tonkin": 5}
"""Rules whose certificates come with the package, and the value of their set-up."""


def made(rules: str) -> Certificate:
    core = Core(rules)
    solver = Solver(core, core.start(), megabytes=16)
    for _ in solver.deepen():
        pass
    return certify(solver)


@pytest.fixture(scope="module")
def small() -> Certificate:
    return made(SMALL)


def shipped(rules: str) -> Certificate:
    return read_certificate(certificate_path(Rules.parse(rules)))


@pytest.mark.parametrize(
    "rules",
    [SMALL, "ludii fields=3 seeds=2", "app fields=3 seeds=1", "tonkin fields=3 seeds=2 mandarin_seeds=3"],
)
def test_what_the_solver_proves_is_certified(rules: str) -> None:
    core = Core(rules)
    solver = Solver(core, core.start(), megabytes=16)
    for _ in solver.deepen():
        pass
    found = verify(Certificate.from_bytes(certify(solver).to_bytes()))
    assert found.lower is not None
    assert found.upper is not None
    assert (found.lower.bound, found.upper.bound) == (solver.progress.lower, solver.progress.upper)


def test_bounds_that_do_not_meet_are_certified_too() -> None:
    core = Core(SMALL)
    solver = Solver(core, core.start(), megabytes=16)
    for progress in solver.deepen():
        if progress.lower is not None and progress.upper is not None:
            break
    found = verify(certify(solver))
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower.bound < found.upper.bound


@pytest.mark.slow
def test_another_preset_is_certified_by_the_command(tmp_path: Path) -> None:
    path = tmp_path / "certificate.npz"
    assert solve.main(["--rules", "ludii", "--certificate", str(path)]) == 0
    found = verify(read_certificate(path))
    assert found.lower is not None
    assert found.upper is not None
    assert (found.lower.bound, found.upper.bound) == (13, 13)


def test_a_last_move_is_certified() -> None:
    core = Core("tonkin")
    position = parse_position(core, "0,0,1,0,0,5/0,0,0,0,0,0 32,32 0 6")
    solver = Solver(core, position, megabytes=1)
    for _ in solver.deepen():
        pass
    found = verify(certify(solver))
    assert found.lower is not None
    assert found.upper is not None
    assert (found.lower.bound, found.lower.positions, found.lower.plies) == (5, 1, 2)
    assert (found.upper.bound, found.upper.positions, found.upper.plies) == (5, 0, 1)


@pytest.mark.parametrize(("rules", "value"), SHIPPED.items())
def test_certificates_of_the_package_prove_the_value_of_the_set_up(rules: str, value: int) -> None:
    certificate = shipped(rules)
    found = verify(certificate)
    assert certificate.rules == Rules.parse(rules)
    assert (certificate.start().squares == Core(rules).start().squares).all()
    assert found.lower is not None
    assert found.upper is not None
    assert (found.lower.bound, found.upper.bound) == (value, value)


# ---- the referee -----------------------------------------------------------------------------------------------------

Key = tuple[int, ...]
"""Seeds of the prover's fields and mandarin square, its stone; the same of its opponent."""


def referee_key(game: Referee) -> Key:
    """The canonical image of a running game, from the specification of certificates alone."""
    fields, mover = game.rules.fields, game.mover
    side = fields + 1
    rows = [game.seeds[p * side : p * side + fields] for p in (mover, 1 - mover)]
    squares = [(game.seeds[p * side + fields], game.stones[p]) for p in (mover, 1 - mover)]
    images = [(rows, squares)]
    if game.rules.sowing == "either":
        images.append(([row[::-1] for row in rows], squares[::-1]))
    keys = [
        tuple(n for row, (seeds, stone) in zip(*image, strict=True) for n in (*row, seeds, stone)) for image in images
    ]
    return min(keys, key=lambda key: [*key[side::-1], *key[:side:-1]])  # as words: the last byte counts most


def referee_game(rules: Rules, key: Key) -> Referee:
    game, side = Referee(rules), rules.fields + 1
    game.seeds = [*key[:side], *key[side + 1 : -1]]
    game.stones = [key[side], key[-1]]
    return game


def lead(game: Referee, seat: int) -> int:
    points = game.scores if game.ended is None else game.final_scores()
    return points[seat] - points[1 - seat]


def referee_value(rules: Rules, strategy: Strategy, is_lower: bool) -> tuple[int, int]:
    """What a strategy wins at least from the set-up, and its number of positions, by the referee alone."""
    rules = rules.replace(max_plies=1000)
    numbers: dict[Key, int] = {}
    start, edges = Referee(rules), list[list[tuple[int, int | None]]]()

    def outcomes(game: Referee, seat: int) -> list[tuple[int, int | None]]:
        """After each move of the opponent: what `seat` has won, and the position's number."""
        found = []
        for action in game.legal_actions():
            after = game.copy()
            after.play(action)
            child = None if after.ended else numbers.setdefault(referee_key(after), len(numbers))
            found.append((lead(after, seat), child))
        return found

    first = [(0, numbers.setdefault(referee_key(start), 0))] if is_lower else outcomes(start, 1)
    while len(edges) < len(numbers):
        keys = list(numbers)[len(edges) :]
        for key in keys:
            game = referee_game(rules, key)
            game.play(int(strategy.moves[len(edges)]))
            edges.append([(lead(game, 0), None)] if game.ended else outcomes(game, 0))
    ranks = strategy.ranks.tolist()
    values: dict[int | None, int] = {None: 0}
    for number in sorted(range(len(edges)), key=ranks.__getitem__):
        assert all(child is None or ranks[child] < ranks[number] for _, child in edges[number])
        values[number] = min(won + values[child] for won, child in edges[number])
    return min(won + values[child] for won, child in first), len(edges)


@pytest.mark.parametrize("rules", [SMALL, "tonkin", pytest.param("mancala-world", marks=pytest.mark.slow)])
def test_the_referee_agrees(rules: str, small: Certificate) -> None:
    certificate = small if rules == SMALL else shipped(rules)
    assert certificate.lower is not None
    assert certificate.upper is not None
    for strategy, promised in (
        (certificate.lower, certificate.lower.bound),
        (certificate.upper, -certificate.upper.bound),
    ):
        value, positions = referee_value(certificate.rules, strategy, strategy is certificate.lower)
        assert value >= promised
        assert positions == len(strategy.moves)


# ---- damage ----------------------------------------------------------------------------------------------------------


def damaged(certificate: Certificate, **changes: object) -> Certificate:
    """The certificate with another strategy for its lower bound."""
    assert certificate.lower is not None
    return dataclasses.replace(certificate, lower=dataclasses.replace(certificate.lower, **changes))


def with_last(array: np.ndarray, change: Callable[[int], int]) -> np.ndarray:
    changed = array.copy()
    changed[-1] = change(int(changed[-1]))
    return changed


DAMAGE: dict[str, tuple[Callable[[Certificate], Certificate], str]] = {
    "a missing position": (
        lambda one: damaged(one, moves=one.lower.moves[:-1], ranks=one.lower.ranks[:-1]),
        "one position more",
    ),
    "a position too many": (
        lambda one: damaged(
            one,
            moves=np.append(one.lower.moves, one.lower.moves[-1:]),
            ranks=np.append(one.lower.ranks, one.lower.ranks[-1:]),
        ),
        "moves for",
    ),
    "a move out of range": (
        lambda one: damaged(one, moves=with_last(one.lower.moves, lambda _: 200)),
        "cannot be played",
    ),
    "a wrong move": (
        lambda one: damaged(one, moves=np.append(one.lower.moves[:1] ^ 2, one.lower.moves[1:])),
        "lower bound",
    ),
    "a rank that does not fall": (
        lambda one: damaged(one, ranks=np.full_like(one.lower.ranks, 9)),
        "the rank does not fall after position 0",
    ),
    "a rank of 0": (lambda one: damaged(one, ranks=with_last(one.lower.ranks, lambda _: 0)), "the rank does not fall"),
    "a bound beyond the value": (lambda one: damaged(one, bound=one.lower.bound + 1), "the strategy reaches"),
    "another preset": (lambda one: dataclasses.replace(one, rules=Rules.parse("app fields=3 seeds=2")), "bound"),
    "another position": (
        lambda one: dataclasses.replace(one, position="2,2,1,0*/2,2,3,0* 0,0 0 0"),
        "bound",
    ),
    "a ply limit that is too near": (
        lambda one: dataclasses.replace(one, rules=one.rules.replace(max_plies=5)),
        "passes the limit",
    ),
    "no claim": (lambda one: dataclasses.replace(one, lower=None, upper=None), "claims no bound"),
    "a game that is over": (
        lambda one: dataclasses.replace(one, position="2,2,2,0/2,2,2,0 10,10 0 0"),
        "the game is over",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_certificate_is_refused(damage: str, small: Certificate) -> None:
    change, message = DAMAGE[damage]
    with pytest.raises(ValueError, match=message):
        verify(change(small))


@pytest.mark.parametrize("rules", SHIPPED)
def test_a_certificate_proves_nothing_of_another_preset(rules: str) -> None:
    for other in ("mancala-world", "tonkin", "ludii", "app", "vietnamese"):
        if other != rules:
            with pytest.raises(ValueError):  # noqa: PT011 - which move fails first depends on the rules
                verify(dataclasses.replace(shipped(rules), rules=Rules.parse(other)))


def test_a_flipped_bit_is_refused_or_changes_nothing(small: Certificate) -> None:
    content = small.to_bytes()
    rng = np.random.default_rng(0)
    for place in rng.permutation(len(content))[:300].tolist():
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        try:
            read = Certificate.from_bytes(bytes(flipped))
            verify(read)
        except (ValueError, LookupError, TypeError):
            continue
        assert read.to_bytes() == content


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": np.array(2)}, "format 2, this version reads 1"),
        ({"lower_moves": np.array([object()])}, "not readable"),
        ({"lower_moves": np.zeros(3)}, "must be .N,. uint8"),
        ({"lower_ranks": np.zeros((3, 1), dtype=np.uint8)}, "must be .N,. uint8"),
        ({"rules": np.array("chess")}, "unknown preset"),
        ({"rules": np.array("three-player")}, "for two players who refill on credit"),
        ({"rules": np.array("mancala-world refill=forfeit")}, "for two players who refill on credit"),
        ({"lower_moves": None}, "'lower_moves' is missing"),
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


# ---- commands --------------------------------------------------------------------------------------------------------


def test_one_command_writes_a_certificate_and_another_checks_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "certificate.npz"
    assert solve.main(["--rules", SMALL, "--megabytes", "16", "--certificate", str(path)]) == 0
    assert f"certificate: {path}" in capsys.readouterr().out
    assert main(["verify", str(path)]) == 0
    said = capsys.readouterr().out
    assert f"rules     {SMALL}" in said
    assert "proved    at least" in said
    assert "proved    at most" in said
    content = path.read_bytes()
    path.write_bytes(content[:-30])
    assert main(["verify", str(path)]) == 2
    assert "not a certificate" in capsys.readouterr().err


# ---- the player ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opponent", ["random", "greedy", "maxn:depth=2", "selective:pretrained"])
@pytest.mark.parametrize(("rules", "value"), SHIPPED.items())
def test_the_book_never_does_worse_than_the_value(rules: str, value: int, opponent: str) -> None:
    core, games = Core(rules), 200 if opponent in ("random", "greedy") else 20
    book, other = make("book:random", rules), make(opponent, rules)
    for seat, seating in ((0, [0, 1]), (1, [1, 0])):
        finals = core.start(games)
        for _ in advance(
            core, finals, seated([book, other], np.tile(seating, (games, 1)), np.random.default_rng(seat))
        ):
            pass
        standings = core.standings(finals)
        margins = standings[:, 0] - standings[:, 1]
        assert (margins >= value).all() if seat == 0 else (margins <= value).all()
        assert finals.terminated.all()


@pytest.mark.parametrize("rules", SHIPPED)
def test_the_book_knows_every_position_of_its_strategies_and_their_mirror_images(rules: str) -> None:
    certificate, core = shipped(rules), Core(rules)
    book = BookPolicy(certificate, RandomPolicy(core))
    for second, strategy in enumerate((certificate.lower, certificate.upper)):
        assert strategy is not None
        moves = strategy.moves.astype(np.intp)
        begin = beginnings(certificate.core, certificate.start(), second == 0)
        graph = follow(certificate.core, begin, lambda done, keys, moves=moves: moves[done : done + len(keys)])
        positions = unpack(list(graph.numbers))
        positions.ply[:] = second
        assert (book.known(positions) == moves).all()
        if core.rules.is_symmetric:
            actions = book.known(mirror(positions, core.rules))
            same = (mirror(positions, core.rules).squares == positions.squares).all(axis=1)
            assert (actions == np.where(same, moves, mirror_actions(moves, core.rules))).all()


def test_the_book_plays_as_another_player_where_it_knows_nothing() -> None:
    core = Core()
    assert isinstance(make("book:greedy", "ludii"), GreedyPolicy)
    book = make("book:greedy")
    far = Board.parse("0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0").positions
    both = Positions.concatenate([core.start(), far])
    assert isinstance(book, BookPolicy)
    assert (book.known(both) == UNKNOWN).tolist() == [False, True]
    greedy = GreedyPolicy(core).choose(far, np.random.default_rng(0))
    assert book.choose(both, np.random.default_rng(0))[1] == greedy[0]


def test_a_book_needs_a_player() -> None:
    with pytest.raises(UnknownAgentError, match="book needs a player"):
        make("book")
    with pytest.raises(UnknownAgentError, match="unknown player 'nobody'"):
        make("book:nobody")


def test_a_book_says_whether_a_game_follows_it() -> None:
    book, board = make("book:greedy"), Board()
    assert isinstance(book, BookPolicy)
    assert (book.follows(board, 0), book.follows(board, 1)) == (True, True)
    board.push("2C")
    assert (book.follows(board, 0), book.follows(board, 1)) == (True, True)
    board.push("1C")
    assert (book.follows(board, 0), book.follows(board, 1)) == (True, False)
    board.push("1A")
    assert not book.follows(board, 0)


def test_the_page_says_that_the_strongest_level_is_proved() -> None:
    from oanquan_env.play.session import Session

    session = Session(names=("human", "perfect"))
    assert [seat["proved"] for seat in session.state()["seats"]] == [False, True]
    assert [seat["proved"] for seat in Session("ludii", names=("human", "perfect")).state()["seats"]] == [False, False]


def test_a_fingerprint_tells_certificates_apart() -> None:
    rules = [Rules.parse(name) for name in ("mancala-world", "tonkin", "ludii")]
    assert len({fingerprint("book:greedy", each) for each in rules}) == 3
