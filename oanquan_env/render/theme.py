"""The light and dark colours. Drawings name colour roles; `svg` and `raster` look up the colours."""

from types import MappingProxyType

PEBBLES = ("pebble0", "pebble1", "pebble2", "pebble3", "pebble4")

_COLOURS = {
    "card": ("#fbf8f1", "#1b1916"),
    "field": ("#ecd9b0", "#5a452c"),
    "mandarin": ("#dfc08a", "#6d5230"),
    "edge": ("#7b5a34", "#c09a64"),
    "count": ("#6a4a26", "#ecd2a6"),
    "ink": ("#33291d", "#f1e7d6"),
    "faint": ("#75654e", "#a6967d"),
    "accent": ("#a8321f", "#ff8d6b"),
    "passed": ("#f6c445", "#e0a92c"),
    "captured": ("#c8402f", "#ff6b52"),
    "drop": ("#e6dfd0", "#100e0b"),
    "shade": ("#3a2a14", "#000000"),
    "shine": ("#ffffff", "#ffffff"),
    "stone": ("#1f6a58", "#2f9c80"),
    "stone_rim": ("#0f4236", "#0d3a2f"),
    "badge": ("#33291d", "#100d0a"),
    "badge_ink": ("#fff7e6", "#ffe9c4"),
    "pebble0": ("#8c8f94", "#a5a9af"),
    "pebble1": ("#b9a58a", "#d0bc9f"),
    "pebble2": ("#6f7b86", "#8794a1"),
    "pebble3": ("#a7856a", "#bd9a7c"),
    "pebble4": ("#cfc8bb", "#e3dccf"),
}
"""The light and the dark colour of each role, as `#rrggbb`."""
LIGHT, DARK = (MappingProxyType({role: pair[dark] for role, pair in _COLOURS.items()}) for dark in (0, 1))
