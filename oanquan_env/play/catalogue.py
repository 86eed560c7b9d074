"""The choices of a new game, for the page: presets, fields of `Rules`, levels, players."""

import dataclasses
from typing import get_args, get_type_hints

from oanquan_env.engine.notation import SEAT_NAMES
from oanquan_env.engine.rules import (
    DEFAULT_MAX_PLIES,
    DEFAULT_PRESET,
    MAX_SEEDS,
    MAX_TEXT,
    NEEDS,
    PRESETS,
    RANGES,
    Rules,
)
from oanquan_env.match.rules import RANGES as MATCH_RANGES
from oanquan_env.match.rules import MatchMeasure, MatchRules
from oanquan_env.play import vietnamese
from oanquan_env.play.levels import LEVELS, PERSON
from oanquan_env.play.picture import Json

EXAMPLES = (
    "random",
    "greedy",
    "minimax:depth=4",
    "minimax:ms=200,net=pretrained",
    "maxn:depth=4",
    "maxn:depth=4,net=pretrained",
    "mcts:simulations=400",
    "ppo:pretrained",
)
"""Players suggested where one is named."""


def catalogue() -> Json:
    """All of it."""
    hints = get_type_hints(Rules)
    return {
        "default": DEFAULT_PRESET,
        "presets": {
            name: {"source": preset.source, "values": dataclasses.asdict(preset.rules)}
            for name, preset in PRESETS.items()
        },
        "fields": [
            {
                "name": field.name,
                "choices": [choice for choice in get_args(hints[field.name]) if choice != "anticlockwise"],
                "range": RANGES.get(field.name),
            }
            for field in dataclasses.fields(Rules)
        ],
        "needs": NEEDS,
        "max_plies": DEFAULT_MAX_PLIES,
        "max_seeds": MAX_SEEDS,
        "max_text": MAX_TEXT,
        "match": [
            {
                "name": field.name,
                "choices": get_args(MatchMeasure) if field.name == "match_measure" else [],
                "range": MATCH_RANGES.get(field.name),
                "default": field.default,
            }
            for field in dataclasses.fields(MatchRules)
        ],
        "seats": {count: {"en": names, "vi": vietnamese.SEAT_NAMES[count]} for count, names in SEAT_NAMES.items()},
        "levels": list(LEVELS),
        "person": PERSON,
        "players": EXAMPLES,
    }
