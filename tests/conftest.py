"""Settings shared by all tests."""

from __future__ import annotations

import hypothesis
import torch

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=400)  # --hypothesis-profile thorough
hypothesis.settings.load_profile("default")


def pytest_collection_modifyitems() -> None:
    """One thread for torch: two on a busy machine of two cores are slower than one."""
    torch.set_num_threads(1)
