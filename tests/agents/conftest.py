"""The fixture that interrupts work."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[Any, ...]]]:
    """Return a function that patches `owner.name` to raise KeyboardInterrupt at call `at`, and lists its calls."""

    def patch(owner: object, name: str, at: int = 0) -> list[tuple[Any, ...]]:
        original, calls = getattr(owner, name), list[tuple[Any, ...]]()

        def call(*arguments: Any) -> Any:
            calls.append(arguments)
            if len(calls) == at:
                raise KeyboardInterrupt
            return original(*arguments)

        monkeypatch.setattr(owner, name, call)
        return calls

    return patch
