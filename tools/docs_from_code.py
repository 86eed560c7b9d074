"""Generate parts of the documentation from the code; `python -m tools.write_docs` writes them into the pages."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib.util
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import gymnasium

from oanquan_env import PRESETS, Board, Core, Move, Rules, Termination, raw_env
from oanquan_env.benchmark.tables import table
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import write_atomically
from oanquan_env.observation import Encoder
from oanquan_env.play.levels import LEVELS
from oanquan_env.players.making import kinds
from oanquan_env.players.names import usages
from oanquan_env.proofs.opening_values import find_opening_values, opening_move_values, opening_values_path

DOCS = Path(__file__).parents[1] / "docs"
MODULE = re.compile(r"<!-- ([a-z_]+(?:\.[a-z_]+)*):begin -->.*?<!-- \1:end -->", flags=re.DOTALL)
"""Pattern for a module's part of a docs/api page, which lists the module's names for readers of the repository."""
COLUMNS = 150
"""The maximum length of a line of prose in the documentation."""
MEMBERS = {
    "oanquan_env.engine.rules": ("Rules", "Preset", "RulesError", "as_rules"),
    "oanquan_env.board": ("Board", "IllegalMoveError"),
    "oanquan_env.engine.positions": ("Positions", "Termination", "Outcome", "PositionError"),
    "oanquan_env.render": ("text", "svg", "rgb", "Window", "Drawable", "LastMove", "Snapshot"),
    "agents": ("make",),
}
"""Names to document in these modules; in all others, every public class and function is documented."""


def replace_between(page: str, name: str, part: str) -> str:
    """Return the page with `part` between the lines `<!-- NAME:begin -->` and `<!-- NAME:end -->`.

    Raises `ValueError` unless the page contains each marker exactly once, in this order.
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.find(begin) > page.find(end):
        raise ValueError(f"the page must contain {begin} once and, after it, {end} once")
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{part}\n{end}{rest.partition(end)[2]}"


def wrapped(part: str) -> str:
    """Break paragraphs and list items of generated Markdown into lines of at most `COLUMNS`; leave tables and code."""
    lines, is_code = list[str](), False
    for line in part.split("\n"):
        is_code ^= line.startswith("```")
        if is_code or line.startswith(("|", "<", "!", "#", "```")):
            lines.append(line)
        else:
            indent = "  " * line.startswith("- ")
            broken = textwrap.wrap(
                line, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
            )
            lines += broken or [""]
    return "\n".join(lines)


def renew(path: Path, text: str, *, check: bool) -> bool:
    """Return whether the file already holds `text`; if it does not and `check` is False, write `text` to the file."""
    current = path.is_file() and path.read_text(encoding="utf-8") == text
    if not (current or check):
        write_atomically(path, text.encode())
    return current


def meanings(documented: type) -> dict[str, str]:
    """Return the description of each attribute from the `Attributes:` section of a class's docstring."""
    text = inspect.getdoc(documented) or ""
    section = text.partition("Attributes:\n")[2]
    entries = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", section, flags=re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in entries}


def _allowed(name: str) -> str:
    hint = get_type_hints(Rules)[name]
    choices = " ".join(f"`{choice}`" for choice in get_args(hint))
    return choices or {"int": "whole number", "bool": "yes or no"}[hint.__name__]


def rules_fields() -> str:
    """Return the table of all fields of `Rules`: values, default and meaning."""
    default, descriptions = PRESETS[DEFAULT_PRESET].rules, meanings(Rules)
    rows = [
        [f"`{field.name}`", _allowed(field.name), f"`{getattr(default, field.name)}`", descriptions[field.name]]
        for field in dataclasses.fields(Rules)
    ]
    return table(["field", "values", "default", "meaning"], rows, left=None)


def presets() -> str:
    """Return the table of presets with their changes and sources."""
    default = PRESETS[DEFAULT_PRESET].rules
    rows = []
    for name, preset in PRESETS.items():
        changes = preset.rules.differences(default)
        listed = ", ".join(f"`{field}={value}`" for field, value in changes.items()) or "the default"
        rows.append([f"`{name}`", listed, preset.source])
    return table(["preset", "changes", "source"], rows, left=None)


def spaces() -> str:
    """Return the table of observation and action spaces under several rules."""
    rows = []
    for name in (DEFAULT_PRESET, "three-player", "four-player", "mancala-world fields=3"):
        game = raw_env(rules=name)
        agent = game.possible_agents[0]
        box: Any = game.observation_space(agent)
        shape = str(box["observation"].shape)
        rows.append([f"`{name}`", str(len(game.possible_agents)), shape, f"`{game.action_space(agent)}`"])
    return table(["rules", "agents", "observation, int32", "actions"], rows, left=None)


def layout() -> str:
    """Return the table of the parts of an observation under the default rules."""
    encoder = Encoder(Core())
    descriptions = {
        "seeds": "seeds of each square: the agent's own side first, each side's mandarin square last",
        "stones": "1 for each mandarin square that holds its stone",
        "scores": "points, the agent's own first: captures minus refills (a debt is negative)",
        "turn": "number of seats from the agent to the player to move; 0 if it is the agent's turn",
        "plies": "plies left before the game is truncated",
    }
    rows = []
    for name, part in encoder.layout.items():
        place = str(part.start) if part.stop == part.start + 1 else f"{part.start}–{part.stop - 1}"
        bounds = f"{encoder.low[part].min()} … {encoder.high[part].max()}"
        rows.append([place, f"`{name}`", descriptions[name], bounds])
    return table(["index", "part", "meaning", "bounds"], rows, left=None)


def actions() -> str:
    """Return the table of actions and their moves."""
    rules = Core().rules
    cells = [f"{number} = `{Move.from_action(number)}`" for number in range(rules.actions)]
    rows = [[str(field), *cells[2 * field : 2 * field + 2]] for field in range(rules.fields)]
    return table(["field", "anticlockwise", "clockwise"], rows, left=None)


def terminations() -> str:
    """Return the table of reasons why games end."""
    descriptions = {
        Termination.STONES_CAPTURED: "all mandarin stones are captured (`end=stones_captured`)",
        Termination.SQUARES_EMPTY: "all mandarin squares are empty (`end=squares_empty`)",
        Termination.FORFEIT: "a player cannot refill its row and may not borrow (`refill=forfeit`)",
        Termination.MAX_PLIES: "`max_plies` plies were played",
        Termination.ENDLESS_RELAY: "the relay of a move would never end (only with `mandarin_ahead=take_one`)",
        Termination.TOO_MANY_SEEDS: "refills on credit would bring more than 255 seeds into play",
    }
    rows = [
        [f"`{reason}`", "truncated" if reason >= Termination.MAX_PLIES else "terminated", descriptions[reason]]
        for reason in Termination
        if reason not in (Termination.RUNNING, Termination.RESIGNED)
    ]
    return table(["reason", "flag", "when"], rows, left=None)


def registered() -> str:
    """Return two sentences that give the environment's names in Gymnasium and PettingZoo."""
    spec = gymnasium.spec("OAnQuan-v0")
    names = [raw_env().metadata["name"], raw_env(match=True).metadata["name"]]
    return (
        f"The environment's name in Gymnasium and PettingZoo is `{spec.id}`. "
        f"PettingZoo's metadata calls it `{names[0]}`, and matches `{names[1]}`."
    )


def players() -> str:
    """Return the table of players, with names in HTML code tags because Markdown tables cannot hold `|` in code."""
    rows = [[f"<code>{name.replace('|', '&#124;')}</code>", meaning] for name, meaning in usages(kinds()).items()]
    return table(["name", "player"], rows, left=None)


def levels() -> str:
    """Return the table of playing levels: the player, its share of random moves, and whether it ends games."""
    rows = []
    for name, level in LEVELS.items():
        players = ", else ".join(f"`{player}`" for player in level.players)
        ends = "only if it has no other move" if level.goes_on else "yes"
        rows.append([f"`{name}`", players, f"{100 * level.epsilon:.0f} %", ends])
    return table(["level", "player", "random moves", "ends the game"], rows, left=None)


def first_moves() -> str:
    """Return the table of South's first moves and their values in points, omitting mirror images."""
    rows = []
    for name, preset in PRESETS.items():
        board = Board(preset.rules)
        values = {str(move): bounds for move, bounds in opening_move_values(board).items()}
        if values:
            best = max(bounds.upper for bounds in values.values())  # a move proved to reach it is the best
            shares = [values[f"{field + 1}A"] for field in range(preset.rules.fields)]
            cells = [f"**{bounds}**" if bounds == (best, best) else str(bounds) for bounds in shares]
            rows.append([f"`{name}`", *cells])
    return table(["rules", *(f"{field}A" for field in range(1, 6))], rows)


def opening_values() -> str:
    """Return the table that describes the package's opening values."""
    rows = []
    for name, preset in PRESETS.items():
        openings = find_opening_values(preset.rules)
        if openings:
            size = opening_values_path(preset.rules).stat().st_size
            share = f"{openings.proved:,} of {len(openings.bounds):,}"
            rows.append([f"`{name}`", str(openings.plies), share, f"{size:,}", f"{openings.made['seconds'] / 60:.0f}"])
    return table(["rules", "plies", "values proved", "bytes", "core minutes"], rows)


def names(module: str) -> str:
    """Return a module's part of a docs/api page: a heading, its docstring's first sentence and a line for each name."""
    tree = _source(module)
    members = MEMBERS.get(module) or [
        node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_"
    ]
    lines = [f"- `{name}`: {_sentence(_docstring(module, name))}" for name in members]
    return "\n".join([f"### `{module}`", "", _sentence(ast.get_docstring(tree)), "", *lines]).rstrip()


@functools.cache
def _source(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"docs/api names the module {module}, which does not exist")
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


def _docstring(module: str, name: str) -> str | None:
    """Return the docstring of a name that the module defines or imports. Raises ValueError if there is no such name."""
    body = _source(module).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node)
        if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == name for alias in node.names):
            return _docstring(node.module, name)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return str(ast.literal_eval(after.value)) if isinstance(after, ast.Expr) else None
    raise ValueError(f"{module} has no {name}")


def _sentence(docstring: str | None) -> str:
    """Return the first sentence of a docstring."""
    paragraph = " ".join((docstring or "").partition("\n\n")[0].split())
    return re.split(r"(?<=[.!?])(?<!\.\.\.) (?=[A-Z`])", paragraph, maxsplit=1)[0]  # not after "et al." or "..."


def directives(markdown: str) -> str:
    """Replace the lists of names on a docs/api page by mkdocstrings directives."""

    def directive(match: re.Match[str]) -> str:
        members = MEMBERS.get(match[1])
        return f"::: {match[1]}" + (f"\n    options: {{ members: [{', '.join(members)}] }}" if members else "")

    return MODULE.sub(directive, markdown)


PAGES: dict[Path, Mapping[str, Callable[[], str]]] = {
    DOCS / "environment.md": {
        "spaces": spaces,
        "layout": layout,
        "actions": actions,
        "terminations": terminations,
        "presets": presets,
        "rules-fields": rules_fields,
        "registered": registered,
    },
    DOCS / "commands.md": {"players": players},
    DOCS / "perfect-play.md": {"first-moves": first_moves, "opening-values": opening_values},
    DOCS / "play.md": {"levels": levels},
    **{
        page: {
            match[1]: functools.partial(names, match[1]) for match in MODULE.finditer(page.read_text(encoding="utf-8"))
        }
        for page in sorted((DOCS / "api").glob("*.md"))
    },
}
"""Functions that generate the named parts of each page."""
