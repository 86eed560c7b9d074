"""The command that solves a position."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from oanquan_env.cli import main
from oanquan_env.search.proof import LimitReachedError
from oanquan_env.search.solver import ProofState, Solver

LAST_STONE = "0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0"
"""3A captures the last stone: seven points, and the game is over."""


def test_the_command_prints_the_bounds_and_writes_the_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tmp_path / "result.json"
    assert main(["solve", "--position", LAST_STONE, "--megabytes", "1", "--json", str(result)]) == 0
    printed = capsys.readouterr().out
    assert "proved: the value is +7 for the mover; best line 3A" in printed
    assert "lower  upper" in printed
    written = json.loads(result.read_text())
    assert (written["lower"], written["upper"], written["solved"]) == (7, 7, True)
    assert (written["rules"], written["position"], written["line"]) == ("mancala-world", LAST_STONE, ["3A"])


def test_the_command_says_what_is_proved_when_the_time_is_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "--rules", "vietnamese", "--megabytes", "1", "--time", "0.5"]) == 1
    printed = capsys.readouterr().out
    assert "stopped" in printed
    assert "proved: nothing yet. Lines that are not finished prove nothing" in printed


def test_a_line_that_is_not_found_in_time_leaves_the_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_late(solver: Solver, value: int, deadline: float) -> tuple[str, ...]:
        raise LimitReachedError

    monkeypatch.setattr(Solver, "best_line", too_late)
    assert main(["solve", "--rules", "tonkin", "--megabytes", "16"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["stopped", "proved: the value is +5 for the mover"]


def test_an_interrupt_keeps_the_bounds(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(solver: Solver, deadline: float) -> Iterator[ProofState]:
        solver.progress = ProofState(lower=0, upper=None)
        yield solver.progress
        raise KeyboardInterrupt

    monkeypatch.setattr(Solver, "rounds", interrupted)
    assert main(["solve", "--megabytes", "1"]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "stopped",
        "proved: at least +0. Lines that are not finished prove nothing",
    ]
