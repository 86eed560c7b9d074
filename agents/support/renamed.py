"""Names of former versions: each is refused with what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RENAMED = {
    "begin_with": "init_from",
    "begun_with": "init_from",
    "images": "mirror_average",
    "log_sharpness": "log_inverse_temperature",
    "sharpness": "inverse_temperature",
    "slips": "epsilon",
    "stray_plies": "random_plies",
}
"""Keys and values of configurations and cards, options of players, tensors of networks: old name, new name."""
_DRAWN = "leave it out: there are always more new positions than are wanted"
_ONE_RUN = "leave it out: configs/pretrained.yaml needs no other run"
GONE = {
    "candidates_per_position": _DRAWN,
    "choice": _DRAWN,
    "crowded": _DRAWN,
    "leaf_gradient": "leave it out: gradients pass through all leaves",
    "lessons": _ONE_RUN,
    "seed_weight_exponent": _DRAWN,
    "targets": _ONE_RUN,
    "through": "write heads instead; an agent plays as before",
}
"""Keys and values of configurations that exist no more, and what to do."""


def renamed(name: object) -> str | None:
    """What to say of an old name, None of any other."""
    if not isinstance(name, str):
        return None
    if name in RENAMED:
        return f"{name} is now called {RENAMED[name]}"
    return f"{name} is gone: {GONE[name]}" if name in GONE else None


def refuse_old_names(values: Mapping[str, Any]) -> None:
    """Raises `ValueError` for an old name among the keys of nested mappings: a history, or tensors."""
    for key, value in values.items():
        if key in RENAMED:
            raise ValueError(renamed(key))
        if isinstance(value, Mapping):
            refuse_old_names(value)
