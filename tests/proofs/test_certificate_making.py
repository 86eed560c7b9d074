"""Test certificates that are made from proofs, and the book that plays them."""

import collections
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from oanquan_env import Board, Core, Move, Positions
from oanquan_env.cli import main
from oanquan_env.engine.core import advance
from oanquan_env.engine.notation import parse_position
from oanquan_env.engine.symmetry import mirror, mirror_actions
from oanquan_env.errors import UnknownAgentError
from oanquan_env.players import GreedyPolicy, RandomPolicy, make
from oanquan_env.players.book import UNKNOWN, BookPolicy
from oanquan_env.proofs.certificate_making import NoStrategyError, certify
from oanquan_env.proofs.certificates import Certificate, beginnings, follow, unpack
from oanquan_env.rollouts import seated
from tests.helpers.certificates import SHIPPED, SMALL, bounds, made, proved, shipped, solved


@pytest.mark.parametrize("rules", [SMALL, "tonkin fields=3 seeds=2 mandarin_seeds=3"])
def test_what_the_solver_proves_is_certified(rules: str) -> None:
    """A certificate claims the bounds in the solver's progress, even if the solver has proved better ones."""
    progress = (solver := solved(rules)).progress
    assert bounds(Certificate.from_bytes(certify(solver).to_bytes())) == (progress.lower, progress.upper)
    progress.lower, progress.upper = progress.lower - 2, progress.upper + 1
    assert bounds(certify(solver)) == (progress.lower, progress.upper)


GOING_ROUND = "mancala-world fields=3 seeds=2 stone_value=3 end=squares_empty leftovers=split"
POSITION = "1,1,1,3/1,0,0,0 1,10 0 12"
"""Every known strategy for this position's upper bound, +7, has a cycle or several moves for one position."""


def test_a_position_may_stand_in_a_strategy_again() -> None:
    certificate = made(GOING_ROUND, parse_position(Core(GOING_ROUND), POSITION))
    assert (bounds(certificate), len(certificate.upper.later_copies) > 0) == ((4, 7), True)


def test_a_bound_without_a_strategy_does_not_keep_the_other_from_being_written() -> None:
    solver, messages = solved(SMALL), list[str]()
    solver.progress.upper -= 1  # as if the table had lost the proof
    assert certify(solver, tell=messages.append).upper is None
    assert re.match("upper bound.*has lost a proof", messages[-1])
    solver.progress.lower = None
    with pytest.raises(NoStrategyError, match="no strategy found in time"):
        certify(solver, 0.0)


def test_one_command_writes_a_certificate_and_another_checks_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "certificate.npz"
    assert main(["solve", "--rules", SMALL, "--megabytes", "16", "--certificate", str(path)]) == 0
    assert f"certificate: {path}" in capsys.readouterr().out
    assert main(["verify", str(path)]) == 0
    printed = capsys.readouterr().out
    assert all(line in printed for line in (f"rules     {SMALL}", "proved    at least", "proved    at most"))
    path.write_bytes(path.read_bytes()[:-30])
    assert main(["verify", str(path)]) == 2
    assert "not a certificate" in capsys.readouterr().err


@pytest.mark.parametrize("opponent", ["random", "maxn:depth=1,net=pretrained"])
@pytest.mark.parametrize(("rules", "bounds"), [(name, SHIPPED[name]) for name in ("mancala-world", "tonkin")])
def test_the_book_never_does_worse_than_its_bounds(rules: str, bounds: tuple[int, int], opponent: str) -> None:
    core, games = Core(rules), 200 if opponent == "random" else 20
    book, other = make("book:random", rules), make(opponent, rules)
    for seat, seating in ((0, [0, 1]), (1, [1, 0])):
        finals = core.start(games)
        choose = seated([book, other], np.tile(seating, (games, 1)), np.random.default_rng(seat))
        collections.deque(advance(core, finals, choose), maxlen=0)
        standings = core.standings(finals)
        margins = standings[:, 0] - standings[:, 1]
        assert (margins >= bounds[0]).all() if seat == 0 else (margins <= bounds[1]).all()
        assert finals.terminated.all()


@pytest.mark.parametrize("rules", ["tonkin", "app"])
def test_the_book_knows_every_position_of_its_strategies_and_their_mirror_images(rules: str) -> None:
    certificate, core = shipped(rules), Core(rules)
    book = BookPolicy(certificate, RandomPolicy(core))
    for second, strategy in enumerate((certificate.lower, certificate.upper)):
        moves = strategy.moves.astype(np.intp)
        begin = beginnings(certificate.core, certificate.start(), second == 0)
        graph = follow(
            certificate.core, begin, strategy.later_copies, lambda at, keys, all=moves: all[at : at + len(keys)]
        )
        times = Counter(key[:16] for key in graph.numbers)
        once = np.array([times[key[:16]] == 1 for key in graph.numbers])  # otherwise, the points needed decide
        positions, moves = unpack(list(graph.numbers))[once], moves[once]
        positions.ply[:] = second
        assert (book.known(positions) == moves).all()
        if core.rules.is_symmetric:
            actions = book.known(mirror(positions, core.rules))
            same = (mirror(positions, core.rules).squares == positions.squares).all(axis=1)
            assert (actions == np.where(same, moves, mirror_actions(moves, core.rules))).all()


def test_the_book_plays_as_another_player_where_it_knows_nothing() -> None:
    assert isinstance(make("book:greedy", "vietnamese quan_non=4"), GreedyPolicy)
    book, board = make("book:greedy"), Board()
    far = Board.parse("0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0").positions
    both = Positions.concatenate([board.positions, far])
    assert (book.known(both) == UNKNOWN).tolist() == [False, True]
    greedy = GreedyPolicy(Core()).choose(far, np.random.default_rng(0))
    assert book.choose(both, np.random.default_rng(0))[1] == greedy[0]
    for move, of_book, known in (("2C", True, True), ("1C", False, True), ("1A", False, False)):
        assert (book.known(board.positions)[0] == Move.parse(move).action) == of_book
        board.push(move)
        assert (book.known(board.positions)[0] != UNKNOWN) == known
    for name, message in (("book", "book needs a player"), ("book:nobody", "unknown player 'nobody'")):
        with pytest.raises(UnknownAgentError, match=message):
            make(name)


def test_a_book_knows_nothing_where_its_longest_game_passes_the_ply_limit() -> None:
    book, plies = make("book:greedy"), [found.plies for found in proved(shipped("mancala-world"))]
    for seat, longest in enumerate(plies):  # South's games last `longest` plies at most, and so do North's
        last = (200 - longest) // 2 * 2  # South moves at even plies
        for ply, known in ((0, True), (last, True), (last + 2, False), (198, False)):
            board = Board.parse(f"5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 {ply}")
            positions = book.core.expand(board.positions).positions if seat else board.positions
            assert (book.known(positions) != UNKNOWN).all() == known
