"""Parts of the documentation that come from the code, so that they cannot disagree with it.

A page says `<!-- generated: NAME -->` where the part of that name belongs; `PARTS` lists them.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import gymnasium

from oanquan_env import PRESETS, Core, Move, Rules, Termination, raw_env
from oanquan_env.benchmark.markdown import table
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.observation import Encoder
from oanquan_env.play.levels import LEVELS
from oanquan_env.players.making import kinds
from oanquan_env.players.names import usages
from oanquan_env.render.theme import LIGHT

ROOT = Path(__file__).parent.parent
MARKER = re.compile(r"<!-- generated: ([a-z-]+) -->")


def fill(markdown: str) -> str:
    """The page with all its parts. Raises KeyError for a part that does not exist."""
    return MARKER.sub(lambda match: PARTS[match[1]](), markdown)


def meanings(documented: type) -> dict[str, str]:
    """Attribute -> what the `Attributes:` section of a class's docstring says of it."""
    text = inspect.getdoc(documented) or ""
    section = text.partition("Attributes:\n")[2]
    entries = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", section, flags=re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in entries}


def _allowed(name: str) -> str:
    hint = get_type_hints(Rules)[name]
    return (
        " ".join(f"`{choice}`" for choice in get_args(hint))
        or {"int": "whole number", "bool": "yes or no"}[hint.__name__]
    )


def rules_fields() -> str:
    """Every field of `Rules`: values, default, meaning."""
    default, said = PRESETS[DEFAULT_PRESET].rules, meanings(Rules)
    rows = [
        [f"`{field.name}`", _allowed(field.name), f"`{getattr(default, field.name)}`", said[field.name]]
        for field in dataclasses.fields(Rules)
    ]
    return table(["field", "values", "default", "meaning"], rows, left=None)


def presets() -> str:
    """Every preset: source and what it changes."""
    default = PRESETS[DEFAULT_PRESET].rules
    rows = []
    for name, preset in PRESETS.items():
        changes = preset.rules.differences(default)
        listed = ", ".join(f"`{field}={value}`" for field, value in changes.items()) or "the default"
        rows.append([f"`{name}`", listed, preset.source])
    return table(["preset", "changes", "after"], rows, left=None)


def spaces() -> str:
    """Sizes of the spaces for different numbers of players."""
    rows = []
    for name in (DEFAULT_PRESET, "three-player", "four-player", "mancala-world fields=3"):
        game = raw_env(rules=name)
        agent = game.possible_agents[0]
        box = game.observation_space(agent)["observation"]
        rows.append([f"`{name}`", str(len(game.possible_agents)), str(box.shape), f"`{game.action_space(agent)}`"])
    return table(["rules", "agents", "observation, int32", "actions"], rows, left=None)


def layout() -> str:
    """The parts of an observation by the default rules."""
    encoder = Encoder(Core())
    said = {
        "seeds": "seeds of each square: the agent's own side first, each side's mandarin square last",
        "stones": "1 for each mandarin square that holds its stone",
        "scores": "points, the agent's own first: captures less refills; a debt is below zero",
        "turn": "seats from the agent to the player to move; 0 if it is the agent's turn",
        "plies": "plies left before the game is truncated",
    }
    rows = []
    for name, part in encoder.layout.items():
        joined = "\u2060–\u2060".join(map(str, (part.start, part.stop - 1)))  # a line never ends at the dash
        place = str(part.start) if part.stop == part.start + 1 else joined
        bounds = f"{encoder.low[part].min()} … {encoder.high[part].max()}"
        rows.append([place, f"`{name}`", said[name], bounds])
    return table(["index", "part", "meaning", "bounds"], rows, left=None)


def actions() -> str:
    """Actions and the moves that they are."""
    rules = Core().rules
    cells = [f"{number} = `{Move.from_action(number)}`" for number in range(rules.actions)]
    rows = [[str(field), *cells[2 * field : 2 * field + 2]] for field in range(rules.fields)]
    return table(["field", "anticlockwise", "clockwise"], rows, left=None)


def terminations() -> str:
    """Why games end."""
    said = {
        Termination.STONES_CAPTURED: "all mandarin stones are captured (`end=stones_captured`)",
        Termination.SQUARES_EMPTY: "all mandarin squares are empty (`end=squares_empty`)",
        Termination.FORFEIT: "a player cannot refill its row and may not borrow (`refill=forfeit`)",
        Termination.MAX_PLIES: "`max_plies` plies were played",
    }
    rows = [
        [f"`{reason}`", "truncated" if reason is Termination.MAX_PLIES else "terminated", said[reason]]
        for reason in Termination
        if reason not in (Termination.RUNNING, Termination.RESIGNED)
    ]
    return table(["reason", "flag", "when"], rows, left=None)


def registered() -> str:
    """The versions of the environment, as registered."""
    spec = gymnasium.spec("OAnQuan-v0")
    names = [raw_env().metadata["name"], raw_env(match=True).metadata["name"]]
    return (
        f"Gymnasium and PettingZoo know `{spec.id}`; in PettingZoo's metadata it is `{names[0]}`, matches `{names[1]}`."
    )


def players() -> str:
    """How players are named; Markdown has no way to write a bar within code in a table, HTML has."""
    rows = [[f"<code>{name.replace('|', '&#124;')}</code>", meaning] for name, meaning in usages(kinds()).items()]
    return table(["name", "player"], rows, left=None)


def _sample(kind: str, style: str, text: str = "") -> str:
    return f'<span class="{kind}" style="{style}">{text}</span>'


def legend() -> str:
    """The marks of the boards' pictures, in the colours of the light ones."""
    passed, captured, ink, accent, edge = (LIGHT[role] for role in ("passed", "captured", "ink", "accent", "edge"))
    field, stone, faint, card = (LIGHT[role] for role in ("field", "stone", "faint", "card"))
    frame = f"background:{field};border:0.2em solid "
    rows = [
        (_sample("mark", frame + passed), "the field that was played"),
        (_sample("mark", f"background:color-mix(in srgb, {passed} 30%, {field})"), "a square that the move passed"),
        (_sample("mark", frame + ink), "the square of the last seed"),
        (_sample("mark", f"background:color-mix(in srgb, {captured} 30%, {field});border:0.2em solid {captured}"),
         "a square that was captured"),
        (_sample("arrow", f"color:{edge}", "➤"), "the way of the seeds"),
        (_sample("arrow", f"color:{captured}", "➤"), "the way from the last seed to the captures"),
        (_sample("mark", f"background:{stone};width:1.2em;border-radius:50%"), "a mandarin stone, ten points"),
        (_sample("figure", "", "7"), "in a corner or on a heap: the seeds of the square"),
        (_sample("figure", f"color:{accent}", "3"), "beside the board: a field that the player to move may play"),
        (_sample("figure", f"color:{faint}", "3"), "beside the board: any other field"),
        (_sample("figure", f"color:{accent}", "● South"), "the player to move; after the end, the winner"),
        (_sample("mark", f"background:{accent}"), "in a match: the field is sold"),
        (_sample("mark", f"background:{card};border:0.15em solid {accent}"), "in a match: the field is pawned"),
    ]  # fmt: skip
    return table(["mark", "meaning"], rows, left=None)


def changelog() -> str:
    """CHANGELOG.md without its title, its links as seen from here."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n")[2]
    return text.replace("](docs/", "](").strip()


def levels() -> str:
    """The levels for people: who plays, and how often a random move."""
    rows = [
        [f"`{name}`", ", else ".join(f"`{player}`" for player in level.players), f"{100 * level.epsilon:.0f} %"]
        for name, level in LEVELS.items()
    ]
    return table(["level", "who plays", "random moves"], rows, left=None)


PARTS: dict[str, Callable[[], str]] = {
    "rules-fields": rules_fields,
    "presets": presets,
    "spaces": spaces,
    "layout": layout,
    "actions": actions,
    "terminations": terminations,
    "registered": registered,
    "players": players,
    "levels": levels,
    "legend": legend,
    "changelog": changelog,
}
