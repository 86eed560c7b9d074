"""The drawing of the architecture page: what uses what."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import NamedTuple

WIDTH, HEIGHT = 960, 620
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


RULES = Box(40, 40, 200, "Rules", ("fields, presets, text",), "env")
TABLES = Box(300, 40, 200, "tables", ("every sowing as one row",), "env")
CORE = Box(560, 40, 360, "Core", ("plays N positions in one call: play, expand, legal_mask",), "env")
PEOPLE = Box(40, 150, 260, "Board, Match, records", ("one game for a person:", "notation, moves step by step"), "env")
SEEN = Box(350, 150, 260, "Encoder, rewards", ("what a player sees,", "and what a ply pays"), "env")
POLICIES = Box(660, 150, 260, "Policy", ("N positions in, N actions out:", "random, greedy, search, by name"), "env")
TERMINAL = Box(40, 270, 260, "pictures, terminal", ("python -m oanquan_env",), "env")
ENVS = Box(350, 270, 260, "environments", ("AEC, Gymnasium, vector → any library",), "env")
SUPPORT = Box(40, 375, 180, "support", ("files, processors,", "YAML, Markdown"), "agents")
NETWORKS = Box(273, 375, 180, "networks", ("what they see,", "layers"), "agents")
PLAYERS = Box(506, 375, 180, "players", ("by a network:", "ppo"), "agents")
EVALUATION = Box(740, 375, 180, "evaluation", ("pairs → Elo,", "positions → regret"), "agents")
TRAINING = Box(740, 480, 180, "training", ("self-play: PPO,", "TD(λ)"), "agents")
REPORTS = Box(506, 480, 180, "reports", ("tables, pictures,", "curves, cards"), "agents")
SCRIPTS = Box(273, 480, 180, "scripts", ("train.py,", "evaluate.py"), "agents")
ROOMS = (SUPPORT, NETWORKS, PLAYERS, EVALUATION, TRAINING, REPORTS, SCRIPTS)
"""In order: each may import those before it."""
BOXES = (RULES, TABLES, CORE, PEOPLE, SEEN, POLICIES, TERMINAL, ENVS, *ROOMS)


def arrows() -> list[list[tuple[int, int]]]:
    """Lines from what is used to what uses it, each through its corners."""
    bus = CORE.y + CORE.height + 27
    lanes = [[(CORE.bottom[0], bus), (box.top[0], bus), box.top] for box in (PEOPLE, SEEN, POLICIES)]
    lanes[0].insert(0, CORE.bottom)
    floor = ENVS.y + ENVS.height + 27
    return [
        _across(RULES, TABLES),
        _across(TABLES, CORE),
        *lanes,
        [PEOPLE.bottom, TERMINAL.top],
        [SEEN.bottom, ENVS.top],
        [POLICIES.bottom, (POLICIES.bottom[0], 295), (ENVS.x + ENVS.width, 295)],
        [(PEOPLE.top[0], bus), (20, bus), (20, floor), (SUPPORT.top[0], floor), SUPPORT.top],
        *(_across(one, other) for one, other in pairwise(ROOMS[:4])),
        [EVALUATION.bottom, TRAINING.top],
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
        (240, "agents", "agents: each room may use those before it"),
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
