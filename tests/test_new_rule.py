"""Test the guide for a new rule: change the files that it lists in a copy of the project, and run the tests there.

Two rules are invented. With `seed_corn`, a flag, a capture leaves one seed on a field that holds several. With
`spared_seeds`, a number, a field with at most this many seeds cannot be captured, and the turn ends instead. The test
quotes lines of the guide and of the files that it lists: if you change such a line, change the quotation as well.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oanquan_env.engine.rules import FIELD_NAMES

ROOT = Path(__file__).parents[1]
PLAIN, _, FURTHER = (ROOT / "docs/how-to/rule.md").read_text(encoding="utf-8").partition("## Further changes")
LISTED = re.findall(r"^\| `([\w./-]+)` \|", PLAIN, re.MULTILINE)
"""The files that the guide lists for every rule."""
TURN_END = re.findall(r"`([\w-]+/[\w./-]+)`", next(line for line in FURTHER.splitlines() if "turn can end" in line))
"""The files that it lists for a new reason for the end of a turn."""
TESTS = (
    "tests/test_new_rule.py::test_people_can_read_about_every_field",
    "tests/text/test_text.py::test_every_value_has_a_sentence",
    "tests/text/test_text.py::test_sentences_say_what_the_engine_does",
    "tests/text/test_text.py::test_rules_that_differ_have_other_words",
    "tests/engine/test_rules.py::test_text_parses_back",
    "tests/engine/test_rule_moves.py",
    "tests/engine/test_referee.py::test_random_rules_agree_with_the_referee",  # NumPy, as OANQUAN_COMPILED is 0
    "tests/engine/test_trace.py",  # the move in integers, and NumPy
)
"""The tests that hold a new rule. Three of them draw random rules."""
SEED_CORN = {
    "docs/RULES.md": {
        "\n**Endless relays**": "\nUnder `seed_corn`, a capture leaves one of several seeds.\n\n**Endless relays**",
        " refill borrow | forfeit; refill_when": " seed_corn bool; refill borrow | forfeit; refill_when",
    },
    "oanquan_env/engine/rules.py": {
        "        refill: a": "        seed_corn: if True, a capture leaves one of several seeds.\n        refill: a",
        "    refill: Literal[": "    seed_corn: bool = False\n    refill: Literal[",
    },
    "tests/engine/test_rule_moves.py": {
        "\n3 a refill comes": """
2.4 seed corn stays on a field of several seeds, not of one, and not on a mandarin square
  seed_corn=True: 1,0,0,4,0,3*/2,0,5,0,0,0* 0,0 0 0  1A -> 0,1,0,1,0,0/2,0,5,0,0,0* 16,0 1 1
  seed_corn=True: 1,0,0,1,1,0*/1,0,0,0,0,0* 0,0 0 0  1A -> 0,1,0,0,1,0*/1,0,0,0,0,0* 1,0 1 1
3 a refill comes""",
    },
    "tests/helpers/referee.py": {
        "            points += self.seeds[square]\n            self.seeds[square] = 0\n": """\
            corn = int(self.rules.seed_corn and not self.is_mandarin(square) and self.seeds[square] > 1)
            points += self.seeds[square] - corn
            self.seeds[square] = corn
""",
    },
    "oanquan_env/engine/numpy_move.py": {
        "_plain_capture = rules": "_plain_capture = not rules.seed_corn and rules",
        "        points *= ~unripe\n": """\
        if rules.seed_corn:
            corn = ~is_mandarin & (seeds > 1)
            stay, points[:] = stay + corn, points - corn
        points *= ~unripe
""",
    },
    "oanquan_env/engine/move.py": {
        "    refill: int  #": "    seed_corn: int\n    refill: int  #",
        "        if seeds + stone ==": """\
        elif rules.seed_corn and seeds > 1:
            seeds -= 1
        if seeds + stone ==""",
    },
    "oanquan_env/text/words.json": {
        '{\n      "section": "2",\n      "when": {"mandarin_seeds_capturable": false},': """\
{"section": "2", "when": {"seed_corn": true}, "en": "You leave one of several seeds.", "vi": "Bạn để lại một dân."},
    {"section": "2", "when": {"mandarin_seeds_capturable": false},""",
    },
    "tests/text/sentences.txt": {
        "\nrefill=borrow |": """
seed_corn=True | You leave one of several seeds | 1,0,1,0*/2,4,0,0* 0,0 0 4 | 1C | 0,0,1,0*/2,1,0,1* 3,0 1 5
refill=borrow |""",
    },
    "oanquan_env/play/web/words/dialog-words.js": {
        'refill: "Too few': 'seed_corn: "A capture leaves one seed", refill: "Too few',
        'refill: "Khi không': 'seed_corn: "Ăn để lại một dân", refill: "Khi không',
    },
}
SPARED_SEEDS = {
    "docs/RULES.md": {
        "\n**Endless relays**": "\nA field of `spared_seeds` or fewer is not captured.\n\n**Endless relays**",
        " refill borrow | forfeit; refill_when": " spared_seeds 0–255; refill borrow | forfeit; refill_when",
    },
    "oanquan_env/engine/rules.py": {
        "        refill: a": "        spared_seeds: a field of so many or fewer is not captured.\n        refill: a",
        "    refill: Literal[": "    spared_seeds: int = 0\n    refill: Literal[",
        '    "max_plies": (1,': '    "spared_seeds": (0, MAX_SEEDS),\n    "max_plies": (1,',
    },
    "tests/engine/test_rule_moves.py": {
        "\n3 a refill comes": """
2.4 a field of spared seeds ends the turn, a fuller field is captured, and so is any mandarin square
  spared_seeds=2: 1,0,0,2,0,3*/2,0,5,0,0,0* 0,0 0 0  1A -> 0,1,0,2,0,3*/2,0,5,0,0,0* 0,0 1 1
  spared_seeds=2: 1,0,0,3,0,1*/2,0,5,0,0,0* 0,0 0 0  1A -> 0,1,0,0,0,0/2,0,5,0,0,0* 14,0 1 1
3 a refill comes""",
    },
    "tests/helpers/referee.py": {
        "        if not self.is_mandarin(square):\n            return True\n": """\
        if not self.is_mandarin(square):
            return self.seeds[square] > self.rules.spared_seeds
""",
    },
    "oanquan_env/engine/numpy_move.py": {
        "_plain_capture = rules": "_plain_capture = rules.spared_seeds == 0 and rules",
        "        points *= ~unripe\n": """\
        points *= ~unripe
        if rules.spared_seeds:
            points *= is_mandarin | (seeds > rules.spared_seeds)
""",
    },
    "oanquan_env/engine/move.py": {
        " NOT_COMPLETED) =": " SPARED_SEEDS, NOT_COMPLETED) =",
        "    refill: int  #": "    spared_seeds: int\n    refill: int  #",
        "        if seeds + stone ==": """\
        elif 0 < seeds <= rules.spared_seeds:
            reason = SPARED_SEEDS
            break
        if seeds + stone ==""",
    },
    "oanquan_env/text/words.json": {
        '{\n      "section": "2",\n      "when": {"mandarin_seeds_capturable": false},': """\
{"section": "2", "when": {"spared_seeds": {"least": 1}}, "en": "{spared_seeds} or fewer stay.", "vi": "{spared_seeds}"},
    {"section": "2", "when": {"mandarin_seeds_capturable": false},""",
    },
    "tests/text/sentences.txt": {
        "\nrefill=borrow |": """
spared_seeds=2 | 2 seeds or fewer stay | 1,0,1,0*/2,2,0,0* 0,0 0 4 | 1C | 0,0,1,0*/2,2,0,1* 0,0 1 5
refill=borrow |""",
    },
    "oanquan_env/play/web/words/dialog-words.js": {
        'refill: "Too few': 'spared_seeds: "Spared seeds", refill: "Too few',
        'refill: "Khi không': 'spared_seeds: "Ô ít dân không ăn được", refill: "Khi không',
    },
    "oanquan_env/engine/positions.py": {
        "    NOT_COMPLETED = auto()": "    SPARED_SEEDS = auto()\n    NOT_COMPLETED = auto()",
    },
    "oanquan_env/engine/words.json": {
        '"not_completed": "the': '"spared_seeds": "so few seeds are not captured",\n      "not_completed": "the',
        '"not_completed": "nước': '"spared_seeds": "ô ít dân không ăn được",\n      "not_completed": "nước',
    },
    "tests/engine/test_trace.py": {
        '    ("app", "1,0': """\
    ("mancala-world spared_seeds=2", "1,0,0,2,0,0*", NORTH, "1A", 2, 0, TurnEnd.SPARED_SEEDS),
    ("app", "1,0""",
    },
}
"""The new text of each passage, by file."""


def test_people_can_read_about_every_field() -> None:
    specification = (ROOT / "docs/RULES.md").read_text(encoding="utf-8")
    values = specification.partition("The fields of `Rules` and their values are:")[2].partition("\n\n")[0]
    assert re.findall(r"(?:^|;)\s(\w+)", values) == list(FIELD_NAMES)
    words = (ROOT / "oanquan_env/play/web/words/dialog-words.js").read_text(encoding="utf-8")
    listed = [re.findall(r'(\w+):\s*"', names) for names in re.findall(r"\sfields: {(.+?)}", words, re.DOTALL)]
    assert listed == [list(FIELD_NAMES)] * 2  # in English and Vietnamese


CASES = [
    (changes, file)
    for changes in (SEED_CORN, SPARED_SEEDS)
    for file in [None, *sorted(changes.keys() - {"tests/engine/test_rule_moves.py"})]
]


def test_the_guide_lists_the_files_that_rules_change() -> None:
    assert sorted(LISTED) == sorted(SEED_CORN)
    assert {*LISTED, *TURN_END} == SPARED_SEEDS.keys()


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "left_out"), CASES)
def test_the_files_that_the_guide_lists_are_enough_and_needed(
    tmp_path: Path, changes: dict[str, dict[str, str]], left_out: str | None
) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "data", "*.wasm")
    for folder in ("oanquan_env", "tests", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for file in changes.keys() - {left_out}:
        text = (tmp_path / file).read_text(encoding="utf-8")
        for passage, new in changes[file].items():
            assert text.count(passage) == 1, (file, passage)
            text = text.replace(passage, new)
        (tmp_path / file).write_text(text, encoding="utf-8")
    pytest_there = [sys.executable, "-m", "pytest", "-qx", "--noconftest", "-p", "no:cacheprovider", *TESTS]
    environment = os.environ | {"OANQUAN_COMPILED": "0", "CI": "1"}  # CI: Hypothesis sets no deadlines
    run = subprocess.run(pytest_there, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (run.returncode == 0) == (left_out is None), run.stdout
