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

from agents.support.markdown import table
from oanquan_env import PRESETS, Core, Move, Rules, Termination, raw_env
from oanquan_env.observation import Encoder
from oanquan_env.rules import DEFAULT_PRESET

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
        "seeds": "seeds of each square, one's own side first, a side's mandarin square last",
        "stones": "stone on each side's mandarin square",
        "scores": "points, one's own first: captures less refills (debts go below zero)",
        "turn": "seats from the viewer to the mover; 0 if it is one's turn",
        "plies": "plies left before the game is truncated",
    }
    rows = []
    for name, part in encoder.layout.items():
        place = str(part.start) if part.stop == part.start + 1 else f"{part.start}–{part.stop - 1}"
        bounds = f"{encoder.low[part].min()} … {encoder.high[part].max()}"
        rows.append([place, f"`{name}`", said[name], bounds])
    return table(["index", "part", "meaning", "bounds"], rows, left=None)


def actions() -> str:
    """Actions and the moves that they are."""
    numbers = range(Core().rules.actions)
    return table(
        ["action", *map(str, numbers)], [["move", *(f"`{Move.from_action(number)}`" for number in numbers)]], left=None
    )


def terminations() -> str:
    """Why games end."""
    said = {
        Termination.STONES_CAPTURED: "all mandarin stones are captured (`end=stones_captured`)",
        Termination.SQUARES_EMPTY: "all mandarin squares are empty (`end=squares_empty`)",
        Termination.FORFEIT: "a player cannot refill his row and may not borrow (`refill=forfeit`)",
        Termination.MAX_PLIES: "`max_plies` plies were played",
    }
    rows = [
        [f"`{reason}`", "truncated" if reason is Termination.MAX_PLIES else "terminated", said[reason]]
        for reason in Termination
        if reason is not Termination.RUNNING
    ]
    return table(["reason", "flag", "when"], rows, left=None)


def registered() -> str:
    """The versions of the environment, as registered."""
    spec = gymnasium.spec("OAnQuan-v0")
    names = [raw_env().metadata["name"], raw_env(match=True).metadata["name"]]
    return (
        f"Gymnasium and PettingZoo know `{spec.id}`; in PettingZoo's metadata it is `{names[0]}`, matches `{names[1]}`."
    )


def changelog() -> str:
    """CHANGELOG.md without its title, one heading deeper, its links as seen from here."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n")[2]
    return re.sub(r"^##", "###", text, flags=re.MULTILINE).replace("](docs/", "](").strip()


PARTS: dict[str, Callable[[], str]] = {
    "rules-fields": rules_fields,
    "presets": presets,
    "spaces": spaces,
    "layout": layout,
    "actions": actions,
    "terminations": terminations,
    "registered": registered,
    "changelog": changelog,
}
