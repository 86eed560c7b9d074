"""The parts of the documentation that come from the code, and the examples in its pages."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from docs import generated
from oanquan_env import PRESETS, Core, Rules
from oanquan_env.envs.vector import OAnQuanVectorEnv

DOCS = Path(generated.__file__).parent
PAGES = sorted(DOCS.rglob("*.md"))
PYTHON = re.compile(r"^( *)```python\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[str]:
    """The Python blocks of a page, without their indentation."""
    found = PYTHON.findall(page.read_text(encoding="utf-8"))
    return [re.sub(rf"^{indent}", "", code, flags=re.MULTILINE) for indent, code in found]


def test_every_marker_is_filled_and_every_part_used() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert sorted(generated.MARKER.findall(text)) == sorted(generated.PARTS)
    assert "<!-- generated" not in generated.fill(text)


def test_an_unknown_marker_is_an_error() -> None:
    with pytest.raises(KeyError):
        generated.fill("<!-- generated: nothing -->")


def test_every_rule_has_its_meaning_in_the_table() -> None:
    rows = generated.rules_fields().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [field.name for field in dataclasses.fields(Rules)]
    assert all(len(row.split(" | ")[3]) > 20 for row in rows)
    assert "seeds on it stay (MW's Neweco, APP)." in generated.rules_fields()  # a meaning of two lines is whole


def test_every_preset_is_in_the_table() -> None:
    shown = generated.presets()
    for name, preset in PRESETS.items():
        assert f"| `{name}` |" in shown
        for field, value in preset.rules.differences(PRESETS["mancala-world"].rules).items():
            assert f"`{field}={value}`" in shown


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_examples_run(page: Path) -> None:
    for code in examples(page):
        exec(compile(code, str(page), "exec"), {})


def test_the_example_of_an_agent_plays_better_than_greedy() -> None:
    from agents.evaluation.arena import play_pairs
    from oanquan_env.playing import random_openings
    from oanquan_env.policies import GreedyPolicy

    names: dict[str, type] = {}
    exec(examples(DOCS / "how-to" / "agent.md")[0], names)
    core, rng = Core(), np.random.default_rng(0)
    openings = random_openings(core, 200, 4, rng)
    score = play_pairs(core, names["Cautious"](core), GreedyPolicy(core), openings, rng).score.mean()
    assert score > 0.55
    assert OAnQuanVectorEnv(4, opponent=names["Cautious"](core)).reset(seed=0)[0].shape == (4, 18)
