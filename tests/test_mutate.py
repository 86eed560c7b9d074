"""The script that changes modules to see whether their tests notice."""

from pathlib import Path

import pytest

from tests import mutate


def test_every_operator_comparison_and_constant_is_changed_once_and_types_are_not() -> None:
    source = "def f(a: 'int | 3' = 2) -> int | None:\n    'text'\n    a += 1\n    return not 1 < a <= 9 and ~a | -a\n"
    found = list(mutate.mutants(source))
    assert sorted((line, change) for line, change, _ in found) == sorted(
        [
            (1, "def f(a: 'int | 3' = [2 -> 3]) -> int | None:"),
            (3, "[a += 1 -> a -= 1]"),
            (3, "a += [1 -> 2]"),
            (4, "return [not 1 < a <= 9 and ~a | -a -> not 1 < a <= 9 or ~a | -a]"),
            (4, "return [not 1 < a <= 9 -> not not 1 < a <= 9] and ~a | -a"),
            (4, "return not [1 < a <= 9 -> 1 <= a <= 9] and ~a | -a"),
            (4, "return not [1 < a <= 9 -> 1 < a < 9] and ~a | -a"),
            (4, "return not [1 -> 2] < a <= 9 and ~a | -a"),
            (4, "return not 1 < a <= [9 -> 10] and ~a | -a"),
            (4, "return not 1 < a <= 9 and [~a | -a -> ~a & -a]"),
            (4, "return not 1 < a <= 9 and [~a -> ~~a] | -a"),
            (4, "return not 1 < a <= 9 and ~a | [-a -> +a]"),
        ]
    )
    assert len({changed for *_, changed in found}) == len(found)


@pytest.mark.slow
def test_what_the_tests_pass_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "halves.py").write_text(
        "def half(a):\n    return a // 2\n\n\ndef least(a, b):\n    return a if a < b else b\n"
    )
    test = tmp_path / "test_halves.py"
    test.write_text("from halves import half, least\n\n\ndef test_it():\n    assert (half(8), least(1, 2)) == (4, 1)\n")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    mutate.main("halves.py", test.name)
    said = ["halves.py:6: return a if [a < b -> a <= b] else b", "3 changes, 2 noticed (66.7%), 1 unnoticed"]
    assert capsys.readouterr().out.splitlines() == said
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before
    test.write_text("def test_it():\n    assert False\n")
    with pytest.raises(SystemExit, match="the tests fail before anything is changed"):
        mutate.main("halves.py", test.name)
