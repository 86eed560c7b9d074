"""The drawing of the architecture page."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 960, 560
FONT = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif"
COLOURS = ("page", "ink", "soft", "line", "env", "agents")
LOOKS = {
    "light": ("#FBF8F1", "#2B2622", "#75695C", "#9A8B78", "#F1DFB4", "#CFE3DA"),
    "dark": ("#24211E", "#EFE8DC", "#B3A796", "#8C7F6E", "#5B4A27", "#24493F"),
}


class Box(NamedTuple):
    """A module or script; sizes in pixels."""

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
PEOPLE = Box(40, 160, 260, "Board, Match, records", ("one game for a person:", "notation, stories, pictures"), "env")
SEEN = Box(350, 160, 260, "Encoder, rewards", ("what a player sees,", "and what a ply pays"), "env")
POLICIES = Box(660, 160, 260, "Policy", ("N positions in, N actions out:", "random, greedy, agents.make(name)"), "env")
TERMINAL = Box(40, 290, 260, "terminal, notebooks", ("python -m oanquan_env",), "env")
ENVS = Box(350, 290, 260, "environments", ("AEC, Gymnasium, vector → any library",), "env")
SEARCH = Box(660, 290, 260, "search, solver, MCTS", ("compiled, over the same tables",), "agents")
TRAINING = ("SelfPlayVecEnv → features → network → PPO,", "advantages change sign at each ply")
TRAIN = Box(40, 390, 400, "train.py", TRAINING, "agents")
AGENT = Box(40, 490, 400, "an agent: agent.safetensors, agent.yaml", (), "agents")
MEASURING = ("balanced openings in pairs → Elo;", "suite of positions → regret")
EVALUATE = Box(520, 390, 400, "evaluate.py", MEASURING, "agents")
REPORT = Box(520, 490, 400, "report.json → tables and pictures", (), "agents")
BOXES = (RULES, TABLES, CORE, PEOPLE, SEEN, POLICIES, TERMINAL, ENVS, SEARCH, TRAIN, AGENT, EVALUATE, REPORT)


def arrows() -> list[list[tuple[int, int]]]:
    """Lines from box to box, each through its corners."""
    middle = RULES.y + RULES.height // 2
    bus = CORE.y + CORE.height + 27
    lanes = [[(CORE.bottom[0], bus), (box.top[0], bus), box.top] for box in (PEOPLE, SEEN, POLICIES)]
    lanes[0].insert(0, CORE.bottom)
    return [
        [(RULES.x + RULES.width, middle), (TABLES.x, middle)],
        [(TABLES.x + TABLES.width, middle), (CORE.x, middle)],
        *lanes,
        [PEOPLE.bottom, TERMINAL.top],
        [SEEN.bottom, ENVS.top],
        [SEARCH.top, POLICIES.bottom],
        [(POLICIES.x, POLICIES.y + 50), (630, POLICIES.y + 50), (630, 310), (ENVS.x + ENVS.width, 310)],
        [(PEOPLE.top[0], bus), (20, bus), (20, TRAIN.y + 34), (TRAIN.x, TRAIN.y + 34)],  # past all interfaces
        [TRAIN.bottom, AGENT.top],
        [(AGENT.x + AGENT.width, 507), (480, 507), (480, 420), (EVALUATE.x, 420)],
        [(920, 185), (940, 185), (940, 420), (920, 420)],  # players reach the evaluation around the search
        [EVALUATE.bottom, REPORT.top],
    ]


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
    for x, part, says in ((40, "env", "oanquan_env, the wheel"), (240, "agents", "agents and scripts, the clone")):
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
