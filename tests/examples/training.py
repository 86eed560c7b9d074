"""A promise of every example that trains."""

from collections.abc import Callable
from pathlib import Path

from examples.scoring import Curve


def assert_trains(main: Callable[[list[str]], Curve], options: list[str], every: int, folder: Path) -> None:
    """A run of a few steps writes its curve; a shorter one with the same seed begins alike."""
    output = folder / "curve.jsonl"
    options = [*options, "--every", str(every), "--pairs", "10", "--width", "32"]
    curve = main([*options, "--steps", str(2 * every), "--output", str(output)])
    assert [row["steps"] // every for row in curve.rows] == [0, 1, 2]
    assert len(output.read_text().splitlines()) == 3
    again = main([*options, "--steps", str(every)])
    assert [row["greedy"] for row in again.rows] == [row["greedy"] for row in curve.rows[:2]]
