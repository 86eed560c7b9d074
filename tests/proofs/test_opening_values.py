"""Test opening values: their positions, their bounds against the solver, their file, and the files of the package."""

import math
import re
import time

import numpy as np
import pytest

from agents.suites.__main__ import main
from agents.suites.make_opening_values import OpeningProofs
from agents.suites.resumable_pool import HERE
from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.engine.symmetry import mirror
from oanquan_env.files import FileError
from oanquan_env.proofs import opening_values
from oanquan_env.proofs.bounds import Bounds
from oanquan_env.proofs.certificate_checking import verify
from oanquan_env.proofs.certificate_making import NoStrategyError, certify
from oanquan_env.proofs.opening_values import (
    OpeningValues,
    find_opening_values,
    format_opening_values,
    layers,
    opening_move_values,
    opening_value,
    read_opening_values,
    squares_of,
)
from oanquan_env.proofs.proof_search import PROVED, LimitReachedError, ProofTable
from oanquan_env.proofs.solver import Solver
from oanquan_env.search.search_state import mover_first
from tests.helpers.certificates import SHIPPED


@pytest.mark.parametrize(("preset", "bounds"), SHIPPED.items())
def test_the_packages_tables_know_the_set_up_and_each_first_move(preset: str, bounds: tuple[int, int]) -> None:
    board = Board(preset)
    assert opening_value(board) == Bounds(*bounds)
    moves = opening_move_values(board)
    assert set(moves) == set(board.legal_moves)
    assert max(value.upper for value in moves.values()) == bounds[1]
    board.push("1A")
    board.push("2A")
    assert opening_value(board) is not None


SMALL = "tonkin fields=3 seeds=2 stone_value=3"


def proved(rules: str, plies: int = 2) -> OpeningValues:
    table = OpeningValues(Rules.parse(rules), plies, {})
    OpeningProofs(table, nodes=100_000).run(HERE)
    return table


def test_layers_hold_each_position_once_and_mirror_images_share_their_squares() -> None:
    core = Core("mancala-world")
    found = [squares_of(core, layer) for layer in layers(core, 2)]
    assert [len(names) for names in found] == [1, 5, 39]
    assert len({name for names in found for name in names}) == 45
    positions = core.expand(core.start()).positions
    assert squares_of(core, positions) == squares_of(core, mirror(positions, core.rules))


def test_bounds_are_no_wider_than_the_solver_proves_them_and_never_contradict_it() -> None:
    table, core = proved(SMALL), Core(SMALL)
    assert table.proved > len(table.bounds) / 2
    for layer in layers(core, 2):
        for row, name in enumerate(squares_of(core, layer)):
            solver = Solver(core, layer[row : row + 1], megabytes=4)
            last = list(solver.rounds())[-1]
            assert last.lower <= table.bounds[name].lower <= table.bounds[name].upper <= last.upper


def test_unknown_boards_have_no_value() -> None:
    assert opening_value(Board("three-player")) is None
    late = Board.parse("5,5,5,5,5,10/5,5,5,5,5,10 0,0 0 150", rules="tonkin")
    assert opening_value(late) is None  # too few plies are left for some proofs


def test_a_move_that_ends_the_game_is_known_with_its_leftovers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening_values, "find_opening_values", lambda rules: OpeningValues(rules, 5, {}))
    board = Board.parse("0,0,1,0,3,0/0,0,0,2,3,0* 31,20 0 3")
    known = opening_move_values(board)  # 3C and 5C capture the last stone: 41 + 4 to 20 + 5, from a lead of 11
    assert {str(move): bounds for move, bounds in known.items()} == {"3C": Bounds(9, 9), "5C": Bounds(9, 9)}


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('"format": 1', '"format": 9', "format 1"),
        (", 2]", ", 1e9]", "position 1"),
        (", 2]", ", -3]", "position 1: impossible bounds"),
        ('"plies"', '"depth"', "not a file of opening values"),
    ],
)
def test_damage_is_named(tmp_path, old: str, new: str, error: str) -> None:
    table = OpeningValues(Rules.parse(SMALL), 1, {"2,2,2,0*/2,2,2,0*": Bounds(1, 2), "x": Bounds(-math.inf, 5)})
    path = tmp_path / "table.json"
    path.write_text(format_opening_values(table))
    assert read_opening_values(path) == table
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FileError, match=re.escape(error)):
        read_opening_values(path)


def test_the_command_goes_on_with_its_file(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.json.gz"

    def proved_by_command(rules: str, plies: int, nodes: int) -> OpeningValues:
        arguments = {"rules": rules, "plies": plies, "nodes": nodes, "jobs": 1, "output": path}
        words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
        return read_opening_values(path) if main(["opening-values", *words]) == 0 else None

    before, after = (proved_by_command(SMALL, 1, nodes) for nodes in (2, 100_000))
    assert after.proved == len(after.bounds) > before.proved
    assert f"{after.proved} of {len(after.bounds)} positions proved" in capsys.readouterr().out
    assert proved_by_command(SMALL, 2, 100_000) is None
    path.unlink()
    table = proved_by_command("tonkin", 1, 1)
    assert next(iter(table.bounds.values())) == Bounds(*SHIPPED["tonkin"])  # by the package's certificate


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["mancala-world", "tonkin", "ludii", "app"])
def test_certificates_confirm_values_of_the_packages_tables(preset: str) -> None:
    core, confirmed = Core(preset), 0
    table = find_opening_values(core.rules)
    positions = Positions.concatenate(layers(core, table.plies))
    bounds = [table.bounds[name] for name in squares_of(core, positions)]
    for row in np.random.default_rng(0).permutation([row for row, found in enumerate(bounds) if found.meet])[:5]:
        solver = Solver(core, positions[row : row + 1])
        try:
            for _ in solver.rounds(time.monotonic() + 60):
                pass
            checked = verify(certify(solver, time.monotonic() + 60)).bounds
        except (LimitReachedError, NoStrategyError):
            continue
        assert checked.lower <= bounds[row].lower <= checked.upper
        confirmed += checked == bounds[row]
    assert confirmed


@pytest.mark.parametrize("preset", ["mancala-world", "tonkin"])
def test_fair_openings_are_proved_to_be_even(preset: str) -> None:
    core, rng = Core(preset), np.random.default_rng(0)
    fair = load_openings(core, "fair", 100, 0, rng)
    assert len({*squares_of(core, fair.positions)}) == 100
    for row in rng.choice(100, size=2, replace=False).tolist():
        position = fair.positions[row : row + 1]
        own, other = position.scores[0, position.mover[0]], position.scores[0, 1 - position.mover[0]]
        table, sides = ProofTable(core, 128), mover_first(position)[0].tolist()
        for is_lower in (True, False):
            assert table.prove(*sides, int(other - own), is_lower=is_lower, nodes=4_000_000) == PROVED


def test_rules_without_fair_openings_say_how_to_make_them() -> None:
    with pytest.raises(FileError, match=r"no fair suite for 'three-player'.*openings --rules 'three-player' --proved"):
        load_openings(Core("three-player"), "fair", 1, 0, np.random.default_rng(0))
