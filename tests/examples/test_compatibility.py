"""The page of frameworks: its tables, and what is said of stale or failing ones."""

import copy

import pytest

from examples import compatibility
from examples.compatibility import FRAMEWORKS, PAGE, check, page, read_outcomes, works_block


def test_the_page_is_current_and_everything_was_tested() -> None:
    assert check(PAGE.read_text(encoding="utf-8")) == []


def test_every_framework_has_tests_where_it_says() -> None:
    for framework in FRAMEWORKS:
        assert (compatibility.ROOT / framework.test_file).is_file()
        if framework.example:
            assert (compatibility.ROOT / "examples" / f"{framework.example}.py").is_file()
            assert f"{{ #{framework.example} }}" in PAGE.read_text(encoding="utf-8")


def test_a_failed_or_missing_test_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = copy.deepcopy(read_outcomes())
    outcomes["RLlib"]["failed"] = 2
    del outcomes["Tianshou"]
    monkeypatch.setattr(compatibility, "read_outcomes", lambda: outcomes)
    assert "**2 failed**" in works_block(outcomes)
    text = PAGE.read_text(encoding="utf-8")
    assert check(text)[:2] == ["Tianshou was never tested", "tests of RLlib failed"]
    assert check(text)[2].startswith("frameworks.md is stale")
    assert check(page(text)) == check(text)[:2]
