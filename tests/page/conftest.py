"""Fixtures for the tests of the page."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from oanquan_env.search.any_rules_net import read_any_rules_net
from oanquan_env.search.value_net import read_value_net
from tests.helpers.node import CALLS, answers_of, run_node
from tests.helpers.strategies import PRESET_NAMES
from tests.search.test_any_rules_net import random_any_rules_net
from tools.write_page import any_rules_bytes, net_bytes


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[Any]]:
    """Return a function that runs calls in one Node.js process and returns each call's value or error message."""
    folder = tmp_path_factory.mktemp("nets")
    (folder / "net-any.bin").write_bytes(any_rules_bytes(read_any_rules_net()))
    (folder / "net-random.bin").write_bytes(any_rules_bytes(random_any_rules_net()))
    for name in PRESET_NAMES:
        (folder / f"net-{name}.bin").write_bytes(net_bytes(read_value_net("pretrained", name)))

    def asked(*calls: tuple[Any, ...]) -> list[Any]:
        given = json.dumps({"folder": str(folder), "calls": calls})
        return answers_of(run_node(CALLS / "players.mjs", stdin=given))

    return asked
