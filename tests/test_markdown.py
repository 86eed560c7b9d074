"""Markdown that programs write."""

import pytest

from agents.support.markdown import replace_between, table

BEGIN, END = "<!-- part:begin -->", "<!-- part:end -->"


def test_columns_are_aligned_as_asked() -> None:
    heads, rows = ["name", "of", "points"], [["a", "b", "1"], ["c", "d", "23"]]
    assert table(heads, rows, left=2) == ("| name | of | points |\n| --- | --- | ---: |\n| a | b | 1 |\n| c | d | 23 |")
    assert table(heads, rows).splitlines()[1] == "| --- | ---: | ---: |"
    assert table(heads, rows, left=None).splitlines()[1] == "| --- | --- | --- |"


def test_a_bar_in_a_cell_does_not_begin_another_cell() -> None:
    assert table(["name"], [["`a|b`"]]).splitlines()[2] == r"| `a\|b` |"


def test_a_part_replaces_what_stands_between_its_markers() -> None:
    page = f"Above.\n{BEGIN}\nold\nlines\n{END}\nBelow.\n"
    renewed = replace_between(page, "part", "new")
    assert renewed == f"Above.\n{BEGIN}\nnew\n{END}\nBelow.\n"
    assert replace_between(renewed, "part", "new") == renewed


@pytest.mark.parametrize("page", ["", BEGIN, END + BEGIN, BEGIN + END + END, BEGIN + BEGIN + END])
def test_a_page_without_a_place_for_the_part_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match=f"must hold {BEGIN} and, after it, {END}, each once"):
        replace_between(page, "part", "new")
