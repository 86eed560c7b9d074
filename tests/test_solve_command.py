"""The state of a solver as a file, and its command."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from agents import solve
from agents.search.proof import LimitReachedError
from agents.search.solver import ProofState, Solver
from oanquan_env import Core
from oanquan_env.files import FileError
from tests.boards import random_positions
from tests.test_solve import LAST_STONE


def test_a_solver_goes_on_from_its_file(tmp_path: Path) -> None:
    core, path = Core("tonkin"), tmp_path / "state.npz"
    first = Solver(core, core.start(), megabytes=16)
    for progress in first.deepen():
        if progress.depth == 30:
            break
    first.save(path)
    second = Solver(core, core.start(), megabytes=16)
    second.load(path)
    before = second.progress.nodes
    assert before == first.progress.nodes
    assert (second.progress.lower, second.progress.upper) == (first.progress.lower, first.progress.upper)
    for mine, theirs in zip(second.table.entries(), first.table.entries(), strict=True):
        assert (mine == theirs).all()
    depths = [progress.depth for progress in second.deepen()]
    assert depths[0] == 31
    assert (second.progress.lower, second.progress.upper) == (5, 5)
    assert second.progress.nodes - before < before
    assert not list(tmp_path.glob("*.partial"))


def test_a_line_that_was_not_found_in_time_is_found_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_late(solver: Solver, deadline: float) -> tuple[str, ...]:
        raise LimitReachedError

    core = Core("tonkin")
    solver = Solver(core, core.start(), megabytes=16)
    with monkeypatch.context() as patch:
        patch.setattr(Solver, "best_line", too_late)
        with pytest.raises(LimitReachedError):
            list(solver.deepen())
        assert solve.main(["--rules", "tonkin", "--megabytes", "16"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == ["stopped in the search for the best line", "proved: the value is +5 for the mover"]
    assert solver.progress.solved
    assert solver.progress.line == ()
    depth = solver.progress.depth
    assert [(progress.depth, progress.line) for progress in solver.deepen()] == [(depth, solver.best_line())]
    assert list(solver.deepen()) == []


def test_files_of_something_else_are_refused(tmp_path: Path) -> None:
    core, path = Core("tonkin"), tmp_path / "state.npz"
    solver = Solver(core, core.start(), megabytes=1)
    solver.save(path)
    others = {
        "its rules is 'tonkin', not 'mancala-world'": Solver(Core(), Core().start(), megabytes=1),
        "its table size is": Solver(core, core.start(), megabytes=4),
        "its position is": Solver(core, random_positions(core, 3, seed=1)[-1:], megabytes=1),
    }
    for message, other in others.items():
        with pytest.raises(FileError, match=message):
            other.load(path)
    contents = dict(np.load(path))
    (tmp_path / "text").write_text("x")
    with pytest.raises(FileError, match=r"no state of a solver: not readable as \.npz"):
        solver.load(tmp_path / "text")
    earlier = {name: array for name, array in contents.items() if name != "format"}  # entries of another form
    damages = {
        "no state of a solver: 'format' is missing": [earlier],
        "no state of a solver: format 1, this version reads 2": [{**contents, "format": np.array(1)}],
        "no state of a solver": [{**contents, "names": np.array([object()])}, {"names": contents["names"]}],
        "its table is damaged": [
            {**contents, "places": np.array([1 << 40]), "entries": np.zeros((1, 3), dtype=np.int64)},
            {**contents, "places": np.array([0, 1]), "entries": np.zeros((1, 3), dtype=np.int64)},
            {**contents, "places": np.array([0.5]), "entries": np.zeros((1, 3), dtype=np.int64)},
            {**contents, "places": np.array(0), "entries": np.zeros(3, dtype=np.int64)},
        ],
    }
    for message, damaged in damages.items():
        for arrays in damaged:
            np.savez(path, **arrays)
            with pytest.raises(FileError, match=message):
                solver.load(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(FileError, match="no state of a solver"):
        solver.load(path)


def test_the_command_prints_the_bounds_and_writes_the_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result, state = tmp_path / "result.json", tmp_path / "state.npz"
    arguments = ["--position", LAST_STONE, "--megabytes", "1", "--json", str(result), "--state", str(state)]
    assert solve.main(arguments) == 0
    printed = capsys.readouterr().out
    assert "proved: the value is +7 for the mover; best line 3A" in printed
    assert "depth  lower  upper" in printed
    written = json.loads(result.read_text())
    assert (written["lower"], written["upper"], written["solved"]) == (7, 7, True)
    assert (written["rules"], written["position"], written["line"]) == ("mancala-world", LAST_STONE, ["3A"])
    result.unlink()
    assert solve.main(arguments) == 0
    printed = capsys.readouterr().out
    assert f"going on from {state}: proved: the value is +7" in printed
    assert printed.splitlines()[-1] == "proved: the value is +7 for the mover; best line 3A"
    assert json.loads(result.read_text())["line"] == ["3A"]


def test_the_command_says_what_is_proved_when_the_time_is_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve.main(["--rules", "vietnamese", "--megabytes", "1", "--time", "0.5"]) == 1
    printed = capsys.readouterr().out
    assert "stopped in depth" in printed
    assert "proved so far, to depth" in printed
    assert "Lines that are not finished prove nothing" in printed


def test_an_interrupt_keeps_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(solver: Solver, deadline: float) -> Iterator[ProofState]:
        solver.progress = ProofState(lower=0, upper=None, depth=4)
        yield solver.progress
        raise KeyboardInterrupt

    monkeypatch.setattr(Solver, "deepen", interrupted)
    state = tmp_path / "state.npz"
    assert solve.main(["--megabytes", "1", "--state", str(state)]) == 1
    assert "stopped in depth 5" in capsys.readouterr().out
    core = Core()
    solver = Solver(core, core.start(), megabytes=1)
    solver.load(state)
    assert solve.describe(solver.progress).startswith("proved so far, to depth 4: at least +0.")
