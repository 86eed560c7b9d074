"""Test the changes that mutation testing makes."""

import pytest

from tools.mutants import Mutant, differs, python_mutants, script_mutants

MODULE = """@cache(8)
def half(n: int | None = 2, *, up: bool = False) -> int | None:
    return n // 2 if n is not None and not up else n  # n + 1 - 1
"""
SCRIPT = """const half = (n) => (!odd(n) && n > 2 ? n / 2 : `${n - 1}`); // n + 1
"""


@pytest.mark.parametrize(
    ("mutants", "text", "changes"),
    [
        (python_mutants, MODULE, ["2 3", "False True", "// *", "2 3", "not ", "and or", "not "]),
        (script_mutants, SCRIPT, ["! ", "&& ||", "> >=", "2 3", "/ *", "2 3"]),
    ],
    ids=["python", "javascript"],
)
def test_each_operator_number_and_truth_value_is_changed_once(mutants, text: str, changes: list[str]) -> None:
    suffix = "py" if text is MODULE else "js"
    made = [mutant for mutant in mutants(f"half.{suffix}", text) if differs(mutant, text)]
    assert [f"{mutant.before} {mutant.after}" for mutant in made] == changes
    assert len({mutant.of(text) for mutant in made}) == len(changes)
    assert all(text.splitlines()[mutant.line - 1] not in mutant.of(text).splitlines() for mutant in made)


def test_a_mutant_is_a_program_that_differs() -> None:
    text = "def f(*, flag: bool) -> None: ..."
    assert not differs(Mutant("f.py", 1, text.index("*"), "*", "+"), text)
