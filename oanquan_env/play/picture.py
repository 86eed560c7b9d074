"""The drawing of the board in the browser, as JSON: the empty board, the places of the pieces, positions and moves.

The browser has no rules or geometry of its own: this module takes them from `render` and from the trace of a move.
"""

from functools import lru_cache
from typing import Any, TypeAlias

from oanquan_env.engine.move_trace import Frame, LastMove, MoveTrace
from oanquan_env.engine.notation import SEAT_NAMES, square_name
from oanquan_env.engine.rules import Rules
from oanquan_env.play import vietnamese
from oanquan_env.render.layout import layout_of
from oanquan_env.render.scene import MOST_PEBBLES, Owners, arrows, marks, ownership_tabs, pebble, pebble_places, stone
from oanquan_env.render.svg import fragment
from oanquan_env.render.theme import DARK, LIGHT, PEBBLES

Json: TypeAlias = dict[str, Any]


@lru_cache(maxsize=8)
def drawing(rules: Rules) -> Json:
    """The empty board of `rules`, the places of all pieces on it, and the colours."""
    here = layout_of(rules)
    return {
        "players": rules.players,
        "fields": rules.fields,
        "box": here.board_box,
        "size": [here.width, here.height],
        "text_scale": here.text_scale,
        "plates": here.plates,
        "seats": {"en": SEAT_NAMES[rules.players], "vi": vietnamese.SEAT_NAMES[rules.players]},
        "stone_value": rules.stone_value,
        "pebbles": {role: fragment(pebble((0.0, 0.0), 1.0, 0.0, role)) for role in PEBBLES},
        "stone": fragment(stone((0.0, 0.0))),
        "most_pebbles": MOST_PEBBLES,
        "squares": [
            {
                "corners": square.corners,
                "radius": square.radius,
                "player": index // (rules.fields + 1),
                "field": index % (rules.fields + 1),
                "centre": square.centre,
                "pile": square.pile,
                "stone": square.stone,
                "count": square.count,
                "label": square.label,
                "heading": square.heading,
                "name": {"en": square_name(rules, index), "vi": vietnamese.square_name(rules, index)},
                "heaps": [
                    [[*at, round(size, 3), round(angle), PEBBLES.index(role)] for at, size, angle, role in places]
                    for places in (pebble_places(index, square, seeds) for seeds in range(1, MOST_PEBBLES + 1))
                ],
            }
            for index, square in enumerate(here.squares)
        ],
        "colours": {"light": dict(LIGHT), "dark": dict(DARK)},
    }


def frame_json(frame: Frame) -> Json:
    """A board between two steps."""
    return {"seeds": frame.seeds, "stones": frame.stones, "scores": frame.scores}


def move_json(trace: MoveTrace, last: LastMove) -> Json:
    """One move: its steps, the board after it, its marks, and its story in both languages."""
    steps: list[Json] = [
        {"kind": "lap", "square": lap.square, "seeds": lap.seeds, "squares": lap.squares} for lap in trace.laps
    ]
    steps += [
        {"kind": "taking", "gap": taking.gap, "square": taking.square, "seeds": taking.seeds, "stones": taking.stones,
         "points": taking.points, "player": trace.player}
        for taking in trace.takings
    ]  # fmt: skip
    steps += [
        {"kind": "refilling", "player": refilling.player, "seeds": refilling.seeds} for refilling in trace.refillings
    ]
    return {
        "player": trace.player,
        "move": str(trace.move),
        "steps": steps,
        "after": frame_json(trace.frames()[-1]),
        "standings": trace.standings,
        "under": fragment(marks(trace.rules, last)),
        "over": fragment(arrows(trace.rules, last)),
        "lines": {
            "en": list(trace.lines()),
            "vi": list(vietnamese.trace_lines(trace, vietnamese.arrow_name(trace.move))),
        },
    }


def owners_json(rules: Rules, owners: Owners) -> Json:
    """Who owns which field in match play: codes as of `Ownership.owners`, and their marks."""
    return {"codes": [list(map(int, row)) for row in owners], "tabs": fragment(ownership_tabs(rules, owners))}
