"""The drawing of the architecture page: what uses what."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import NamedTuple

WIDTH, HEIGHT = 960, 640
FONT = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif"
COLOURS = ("page", "ink", "soft", "line", "env", "agents")
LOOKS = {
    "light": ("#FBF8F1", "#2B2622", "#75695C", "#9A8B78", "#F1DFB4", "#CFE3DA"),
    "dark": ("#24211E", "#EFE8DC", "#B3A796", "#8C7F6E", "#5B4A27", "#24493F"),
}


class Box(NamedTuple):
    """Modules or scripts; sizes in pixels."""

    x: int
    y: int
    width: int
    title: str
    lines: tuple[str, ...]
    part: str

    @property
    def height(self) -> int:
        """Enough for the lines."""
        return 34 + 17 * len(self.lines)

    @property
    def top(self) -> tuple[int, int]:
        """Middle of the upper edge."""
        return self.x + self.width // 2, self.y

    @property
    def bottom(self) -> tuple[int, int]:
        """Middle of the lower edge."""
        return self.x + self.width // 2, self.y + self.height


RULES = Box(40, 50, 180, "Rules", ("fields, presets,", "text"), "env")
TABLES = Box(273, 50, 180, "tables", ("every sowing", "as one row"), "env")
CORE = Box(506, 50, 180, "Core", ("N positions", "by NumPy"), "env")
MOVE = Box(740, 50, 180, "move", ("one position, or N", "compiled by Numba"), "env")
BOARD = Box(40, 185, 180, "Board, Match", ("notation, records,", "moves step by step"), "env")
OBSERVATION = Box(273, 185, 180, "Encoder", ("observations,", "rewards"), "env")
SEARCH = Box(506, 185, 180, "search", ("alpha-beta, max^n, MCTS,", "proofs"), "env")
DATA = Box(740, 185, 180, "data", ("suites, openings,", "certificates, value nets"), "env")
PLAY = Box(40, 300, 180, "play, render", ("terminal, notebook, page", "with engine.wasm"), "env")
ENVS = Box(273, 300, 180, "envs", ("PettingZoo, Gymnasium,", "vector"), "env")
PLAYERS = Box(506, 300, 180, "players", ("N positions in,", "N actions out"), "env")
BENCHMARK = Box(740, 300, 180, "benchmark", ("pairs of games,", "regret"), "env")
BUILT = (BOARD, OBSERVATION, SEARCH, DATA)
USED = (PLAY, ENVS, PLAYERS, BENCHMARK)
ROOMS = (
    Box(40, 415, 180, "support, config", ("settings, locks,", "processors"), "agents"),
    Box(273, 415, 180, "networks", ("features, layers,", "nets"), "agents"),
    Box(506, 415, 180, "players", ("ppo:FOLDER,", "agent files"), "agents"),
    Box(740, 415, 180, "evaluation", ("tournaments, Elo,", "suites"), "agents"),
    Box(740, 515, 180, "run", ("checkpoints,", "resuming"), "agents"),
    Box(506, 515, 180, "ppo, td", ("learning", "by self-play"), "agents"),
    Box(273, 515, 180, "reports", ("tables, pictures,", "cards"), "agents"),
    Box(40, 515, 180, "scripts", ("train.py,", "evaluate.py"), "agents"),
)
"""In order: each may import those before it."""
BOXES = (RULES, TABLES, CORE, MOVE, *BUILT, *USED, *ROOMS)
ABOVE, CORE_LANE, MOVE_LANE = 30, 141, 163
"""Heights of the horizontal lines: over the engine's boxes, and under them."""


def arrows() -> list[list[tuple[int, int]]]:
    """Lines from what is used to what uses it, each through its corners."""
    return [
        _across(RULES, TABLES),
        _across(TABLES, CORE),
        [TABLES.top, (TABLES.top[0], ABOVE), (MOVE.top[0], ABOVE), MOVE.top],
        [CORE.bottom, (CORE.bottom[0], CORE_LANE), (BOARD.top[0], CORE_LANE), BOARD.top],
        [(OBSERVATION.top[0], CORE_LANE), OBSERVATION.top],
        [MOVE.bottom, (MOVE.bottom[0], MOVE_LANE), (SEARCH.top[0], MOVE_LANE), SEARCH.top],
        _across(SEARCH, DATA),
        *([upper.bottom, lower.top] for upper, lower in zip(BUILT, USED, strict=True)),
        _across(PLAYERS, ENVS),
        _across(PLAYERS, BENCHMARK),
        *(_across(one, other) for one, other in pairwise(ROOMS[:4])),
        [ROOMS[3].bottom, ROOMS[4].top],
        *(_across(one, other) for one, other in pairwise(ROOMS[4:])),
    ]


def _across(one: Box, other: Box) -> list[tuple[int, int]]:
    """From the side of a box to that of its neighbour."""
    middle = one.y + one.height // 2
    if one.x < other.x:
        return [(one.x + one.width, middle), (other.x, middle)]
    return [(one.x, middle), (other.x + other.width, middle)]


def drawing(look: dict[str, str]) -> str:
    """The SVG in these colours."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="{FONT}">',
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{look["line"]}"/></marker>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="14" fill="{look["page"]}"/>',
    ]
    for corners in arrows():
        path = "L".join(f"{x} {y}" for x, y in corners)
        parts.append(f'<path d="M{path}" fill="none" stroke="{look["line"]}" stroke-width="2" marker-end="url(#tip)"/>')
    for box in BOXES:
        parts.append(
            f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="9" fill="{look[box.part]}"/>'
        )
        parts.append(_text(box, 23, box.title, look["ink"], 15, "bold"))
        parts += [_text(box, 44 + 17 * n, line, look["ink"], 12, "normal") for n, line in enumerate(box.lines)]
    for x, part, says in (
        (40, "env", "oanquan_env, the wheel"),
        (240, "agents", "agents, which use it; each room may use those before it"),
    ):
        parts.append(f'<rect x="{x}" y="{HEIGHT - 26}" width="14" height="14" rx="3" fill="{look[part]}"/>')
        parts.append(f'<text x="{x + 22}" y="{HEIGHT - 14}" font-size="12" fill="{look["soft"]}">{escape(says)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _text(box: Box, down: int, text: str, colour: str, size: int, weight: str) -> str:
    return (
        f'<text x="{box.x + box.width // 2}" y="{box.y + down}" text-anchor="middle" font-size="{size}" '
        f'font-weight="{weight}" fill="{colour}">{escape(text)}</text>'
    )


def drawings() -> dict[str, str]:
    """Look -> SVG."""
    return {name: drawing(dict(zip(COLOURS, look, strict=True))) for name, look in LOOKS.items()}
