"""The marks that the page's script draws are those of `render.scene`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.page import drawing
from oanquan_env import Rules
from oanquan_env.render import LastMove
from oanquan_env.render.scene import arrows, marks, ownership_tabs
from oanquan_env.render.svg import fragment
from tests.boards import played_board
from tests.strategies import PRESET_NAMES

WEB = Path(__file__).parents[1] / "oanquan_env/play/web"
SCRIPT = """
import { readFileSync } from "node:fs";
const { markShapes, tabShapes } = await import(process.argv[1]);
const { drawing, moves, owners } = JSON.parse(readFileSync(0, "utf8"));
const shapes = moves.map(move => markShapes(drawing, move)), tabs = owners.map(codes => tabShapes(drawing, codes));
console.log(JSON.stringify([shapes, tabs]));
"""


def run_script(asked: dict[str, Any]) -> Any:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    command = [node, "--input-type=module", "-e", SCRIPT, (WEB / "marks.js").as_uri()]
    return json.loads(
        subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True).stdout
    )


def assert_same(made: list[str], expected: list[str]) -> None:
    """The same elements; a coordinate that ends in half a hundredth may be rounded either way."""
    number = re.compile(r"-?\d+(?:\.\d+)?")
    assert number.sub("#", "\n".join(made)) == number.sub("#", "\n".join(expected))
    drawn, wanted = (np.array(number.findall("".join(texts)), float) for texts in (made, expected))
    np.testing.assert_allclose(drawn, wanted, rtol=0, atol=0.0101)


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_marks_and_tabs_are_those_of_python(name: str) -> None:
    rules, lasts = Rules.parse(name), list[LastMove]()
    for seed in range(4):
        lasts += [board.last_mark for board in played_board(rules, seed, 60).boards() if board.last_mark]
    owners = np.random.default_rng(3).integers(3, size=(8, rules.players, rules.fields)).tolist()
    board = drawing(rules.players, rules.fields)
    moves = [{**vars(last), "step": last.step(len(board["squares"]))} for last in lasts]
    shapes, tabs = run_script({"drawing": board, "moves": moves, "owners": owners})
    assert any(last.captured for last in lasts)
    assert_same([shape["under"] for shape in shapes], [fragment(marks(rules, last)) for last in lasts])
    assert_same([shape["over"] for shape in shapes], [fragment(arrows(rules, last)) for last in lasts])
    assert_same(tabs, [fragment(ownership_tabs(rules, codes)) for codes in owners])
