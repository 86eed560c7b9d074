"""Settings shared by all tests."""

from __future__ import annotations

import hypothesis
import torch

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=100)
hypothesis.settings.load_profile("default")


def pytest_collection_modifyitems() -> None:
    """One thread for torch: two on a busy machine of two cores are slower than one."""
    torch.set_num_threads(1)
