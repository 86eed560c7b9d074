"""The colours, light and dark. A drawing names roles; an output looks them up."""

from __future__ import annotations

from types import MappingProxyType

PEBBLES = ("pebble0", "pebble1", "pebble2", "pebble3", "pebble4")

LIGHT = MappingProxyType(
    {
        "card": "#fbf8f1",
        "field": "#ecd9b0",
        "mandarin": "#dfc08a",
        "edge": "#7b5a34",
        "count": "#6a4a26",
        "ink": "#33291d",
        "faint": "#75654e",
        "accent": "#a8321f",
        "passed": "#f6c445",
        "captured": "#c8402f",
        "drop": "#e6dfd0",
        "shade": "#3a2a14",
        "shine": "#ffffff",
        "stone": "#1f6a58",
        "stone_rim": "#0f4236",
        "badge": "#33291d",
        "badge_ink": "#fff7e6",
        "pebble0": "#8c8f94",
        "pebble1": "#b9a58a",
        "pebble2": "#6f7b86",
        "pebble3": "#a7856a",
        "pebble4": "#cfc8bb",
    }
)
DARK = MappingProxyType(
    {
        "card": "#1b1916",
        "field": "#5a452c",
        "mandarin": "#6d5230",
        "edge": "#c09a64",
        "count": "#ecd2a6",
        "ink": "#f1e7d6",
        "faint": "#a6967d",
        "accent": "#ff8d6b",
        "passed": "#e0a92c",
        "captured": "#ff6b52",
        "drop": "#100e0b",
        "shade": "#000000",
        "shine": "#ffffff",
        "stone": "#2f9c80",
        "stone_rim": "#0d3a2f",
        "badge": "#100d0a",
        "badge_ink": "#ffe9c4",
        "pebble0": "#a5a9af",
        "pebble1": "#d0bc9f",
        "pebble2": "#8794a1",
        "pebble3": "#bd9a7c",
        "pebble4": "#e3dccf",
    }
)


def palette(dark: bool) -> MappingProxyType[str, str]:
    """Role -> `#rrggbb`."""
    return DARK if dark else LIGHT
