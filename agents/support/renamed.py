"""Names of former versions: each is refused with the name that it has now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RENAMED = {
    "begin_with": "init_from",
    "begun_with": "init_from",
    "choice": "candidates_per_position",
    "crowded": "seed_weight_exponent",
    "images": "mirror_average",
    "lessons": "targets",
    "log_sharpness": "log_inverse_temperature",
    "sharpness": "inverse_temperature",
    "slips": "epsilon",
    "stray_plies": "random_plies",
}
"""Keys and values of configurations and cards, options of players, tensors of networks: old name, new name."""


def renamed(name: object) -> str | None:
    """What to say of an old name, None of any other."""
    new = RENAMED.get(name) if isinstance(name, str) else None
    return f"{name} is now called {new}" if new else None


def refuse_old_names(values: Mapping[str, Any]) -> None:
    """Raises `ValueError` for an old name among the keys of nested mappings."""
    for key, value in values.items():
        if said := renamed(key):
            raise ValueError(said)
        if isinstance(value, Mapping):
            refuse_old_names(value)
