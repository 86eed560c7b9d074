"""The rows of the benchmark of players: measured, written, read, shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import players
from oanquan_env import evaluate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in place of the committed rows."""
    monkeypatch.setattr(players, "FOLDER", tmp_path / "players")
    return tmp_path / "players"


def test_a_row_is_measured_written_and_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--uses", "observation", "--learned-from", "nothing", "--pairs", "4"]
    assert players.main(["greedy", *options, "--label", "one run"]) == 0
    assert players.main(["random", "greedy", "random", *options, "--label", "three", "--budget", "no plies"]) == 0
    assert "points lost a move" in capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} == {"one-run.json", "three.json"}
    row = json.loads((folder / "three.json").read_text())
    assert [one["seed"] for one in row["evaluations"]] == [0, 1, 2]
    alone = evaluate("greedy", pairs=4)
    assert alone.regret
    shown = players.rows()
    found = alone.regret.overall
    number = f"{found.regret.mean:.2f} ({found.regret.low:.2f} to {found.regret.high:.2f})"
    assert f"| `one run` | observation | nothing | 1 | {number} |" in shown
    assert "| `three` (no plies) | observation | nothing | 3 | " in shown
    assert shown.index("one run") < shown.index("three")  # the least regret first


def test_what_cannot_be_measured_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert players.main(["nobody", "--uses", "search", "--learned-from", "nothing"]) == 2
    assert "unknown player 'nobody'" in capsys.readouterr().err
    assert not folder.exists()


def test_a_damaged_row_is_named(folder: Path) -> None:
    folder.mkdir()
    (folder / "bad.json").write_text('{"label": "x"}')
    with pytest.raises(ValueError, match="uses"):
        players.rows()
