"""The committed signature of every search is that of today's code."""

import numba
import pytest

from benchmarks.signature import PATH, differences, signature
from oanquan_env import PRESETS
from oanquan_env.files import read_json


@pytest.mark.parametrize("preset", PRESETS)
def test_every_search_plays_as_its_signature_says(preset: str) -> None:
    compiled = not numba.config.DISABLE_JIT
    expected = read_json(PATH)[preset]
    if not compiled:
        expected = {name: search for name, search in expected.items() if "with a net" not in name}
    assert differences({preset: expected}, {preset: signature(preset, compiled=compiled)}) == []


def test_another_move_value_or_search_is_a_difference() -> None:
    one = {"ludii": {"maxn": {"moves": [1]}, "mcts": {"moves": [2]}}}
    assert differences(one, one) == []
    assert differences(one, {"ludii": {"maxn": {"moves": [3]}, "mcts": {"moves": [2]}}}) == ["ludii: maxn"]
    assert differences(one, {"ludii": {"mcts": {"moves": [2]}, "new": {}}}) == ["ludii: maxn", "ludii: new"]
