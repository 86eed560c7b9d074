"""Golden playthroughs: whole games must answer as they did; the first line that differs is named."""

from itertools import zip_longest
from pathlib import Path

import pytest

from tests import golden
from tests.strategies import PRESET_NAMES


def first_difference(expected: str, lines: list[str]) -> str:
    """The first line of a playthrough that differs, said so that one can find it; empty if none does."""
    for number, (old, new) in enumerate(zip_longest(expected.splitlines(), "\n".join(lines).splitlines()), 1):
        if old != new:
            return f"line {number}:\n  golden: {old}\n  now:    {new}"
    return ""


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_a_game_answers_as_it_did(preset: str) -> None:
    difference = first_difference(golden.path(preset).read_text(encoding="utf-8"), list(golden.playthrough(preset)))
    assert not difference, f"{golden.path(preset).name}, {difference}\nIf that is meant: python -m tests.golden"


def test_every_preset_has_a_playthrough_and_no_other_is_left() -> None:
    assert sorted(path.stem for path in golden.FOLDER.glob("*.txt")) == PRESET_NAMES


def test_the_first_difference_is_named() -> None:
    assert first_difference("a\nb\nc\n", ["a", "b\nc"]) == ""
    assert first_difference("a\nb\n", ["a", "x"]) == "line 2:\n  golden: b\n  now:    x"
    assert first_difference("a\n", ["a", "b"]) == "line 2:\n  golden: None\n  now:    b"


def test_the_playthroughs_show_relays_captures_refills_and_endings() -> None:
    texts = [golden.path(preset).read_text(encoding="utf-8") for preset in PRESET_NAMES]
    for words in ("story: Lift one seed", "story: Capture", "and the stone", "refills its row"):
        assert any(words in text for text in texts), words
    assert all("story: The game is over: " in text for text in texts)


def test_one_command_writes_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "FOLDER", tmp_path)
    monkeypatch.setattr(golden, "playthrough", lambda preset: iter([preset]))
    (tmp_path / "gone.txt").write_text("")
    golden.write_all()
    assert sorted(path.stem for path in tmp_path.glob("*.txt")) == PRESET_NAMES
    assert (tmp_path / "tonkin.txt").read_text() == "tonkin\n"
