"""Settings shared by all tests."""

from __future__ import annotations

import hypothesis
import pytest
import torch

from oanquan_env.render import Window

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=400)  # --hypothesis-profile thorough
hypothesis.settings.load_profile("default")


def pytest_collection_modifyitems() -> None:
    """One thread for torch: two on a busy machine of two cores are slower than one."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def windows_without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that a test opens is not held for a person to see; `test_window` alone has its own clock."""
    monkeypatch.setattr(Window, "hold", lambda window, seconds: window.poll())
