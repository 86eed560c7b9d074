"""Write the page's data files: everything that `oanquan_env/play/web` shows and the browser does not compute.

    python -m tools.write_page            # write them, and the lists of the page's files (`tools.page_lists`)
    python -m tools.write_page --check    # write nothing; fail if a file is out of date

Run it after any change in `oanquan_env/play/web`: browsers with a cached page detect changes by these lists.

The files hold the pages about the game, from docs/about.md and docs/about.vi.md; presets and fields of rules; the
rules in words; the drawing of the empty board for each number of players and fields; lessons; the first puzzles; and
the package's opening values and value nets in the formats that the page reads. Other puzzles (`tools.write_puzzles`),
daily positions (`tools.write_par`) and certificates (`oanquan solve`) are kept unchanged.
"""

import argparse
import dataclasses
import gzip
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

from markdown import markdown

from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import SEAT_NAMES, WORDS
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
from oanquan_env.files import write_atomically
from oanquan_env.match.rules import RANGES as MATCH_RANGES
from oanquan_env.match.rules import MatchMeasure, MatchRules
from oanquan_env.play.levels import LEVELS, PERSON
from oanquan_env.play.server import WEB
from oanquan_env.proofs.opening_values import opening_values_path
from oanquan_env.render.layout import Square, layout_of
from oanquan_env.render.scene import MOST_PEBBLES, pebble, pebble_places, stone
from oanquan_env.render.svg import fragment
from oanquan_env.render.theme import DARK, LIGHT, PEBBLES
from oanquan_env.rule_sets import INDICATED, UNITS
from oanquan_env.search.any_rules_net import ANY, FALLBACK_FIELDS, PLACES, READ, SHAPES, AnyRulesNet, read_any_rules_net
from oanquan_env.search.leaf import with_net
from oanquan_env.search.maxn import compile_multiplayer
from oanquan_env.search.search_state import compile_rules
from oanquan_env.search.value_net import FIELD_ROWS, MANDARIN_ROWS, ValueNet, read_value_net
from oanquan_env.text.words import TEXTS
from tools.page_lists import ABOUT, BEGIN, lists

FOLDER = WEB / "data"
PAR = "par.json"

EXAMPLES = ("random", "greedy", "minimax:depth=4", "minimax:nodes=20000,net=pretrained", "maxn:depth=4")
"""Suggestions in the field where the user enters a player's name."""

LESSONS = (
    ("board", "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0", None),
    ("sow", "0,3,1,2,0,0*/5,0,4,3,6,0* 11,15 0 20", "2A"),
    ("relay", "2,1,0,1,0,0*/4,4,0,5,3,0* 14,16 0 20", "1A"),
    ("capture", "2,1,0,0,6,0*/4,0,5,1,3,0* 13,15 0 20", "1A"),
    ("chain", "1,0,0,4,0,1*/4,0,5,1,3,0* 16,15 0 20", "1A"),
    ("refill", "1,0,0,0,2,2*/0,0,0,0,0,0* 22,23 0 30", "1A"),
    ("end", "2,3,1,0,0,4*/3,0,1,2,0,0 22,22 0 30", "3A"),
)
"""Name, position under the rules `BEGIN` with South to move, and the move that the learner should play, if any."""

FIRST_PUZZLES = (
    ("mandarin", "1,0,0,4,0,1*/4,0,5,1,3,0* 16,15 0 20", "1A"),
    ("refute", "6,6,6,6,0,0/6,6,6,6,0,1* 11,0 1 1", "3A"),
    ("win", "2,3,1,0,0,4*/3,0,1,2,0,0 22,22 0 30", "3A"),
)
"""Name, position under the default rules, and the solution: the only move that captures a mandarin stone."""


# ---- rules and boards ------------------------------------------------------------------------------------------------


def catalogue() -> dict[str, Any]:
    """Return the choices for a new game: presets, fields of `Rules`, levels and players."""
    hints = get_type_hints(Rules)
    return {
        "default": DEFAULT_PRESET,
        "begin": BEGIN,
        "presets": {name: dataclasses.asdict(preset.rules) for name, preset in PRESETS.items()},
        "fields": [
            {"name": field.name, "choices": list(get_args(hints[field.name])), "range": RANGES.get(field.name)}
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
        "levels": list(LEVELS),
        "certificates": [name for name in PRESETS if (FOLDER / f"certificate-{name}.npz").is_file()],
        "openings": [name for name, preset in PRESETS.items() if opening_values_path(preset.rules).is_file()],
        "any_rules": {
            "fallback_fields": FALLBACK_FIELDS,
            "inputs": {name: INDICATED.get(name, UNITS.get(name, 1)) for name in READ},
            "places": PLACES,
            "rows": [FIELD_ROWS, MANDARIN_ROWS],
            "shapes": SHAPES,
        },
        "person": PERSON,
        "players": EXAMPLES,
        "largest_file": 1_000_000,
    }


def rule_words() -> dict[str, Any]:
    """Return the sentences of the rules in words, and the words that fill them in."""
    parts = {
        language: {name: words[name] for name in ("seats", "seeds", "points")} | TEXTS["parts"][language]
        for language, words in WORDS.items()
    }
    return {name: TEXTS[name] for name in ("titles", "units", "sentences")} | {"parts": parts}


def drawing(players: int, fields: int) -> dict[str, Any]:
    """Return what the page needs to draw a board: shapes, the positions of squares and seeds, and colours."""
    rules = Rules(players=players, fields=fields)
    here = layout_of(rules)
    return {
        "players": players,
        "fields": fields,
        "box": here.board_box,
        "size": [here.width, here.height],
        "text_scale": here.text_scale,
        "plates": here.plates,
        "pebble": fragment([pebble((0.0, 0.0), 1.0, 0.0, PEBBLES[0])]),
        "stone": fragment([stone((0.0, 0.0))]),
        "most_pebbles": MOST_PEBBLES,
        "squares": [
            {
                "corners": square.corners,
                "radius": square.radius,
                "player": index // (fields + 1),
                "field": index % (fields + 1),
                "centre": square.centre,
                "pile": square.pile,
                "stone": square.stone,
                "count": square.count,
                "label": square.label,
                "heading": square.heading,
                **heaps(index, square),
            }
            for index, square in enumerate(here.squares)
        ],
        "colours": {"light": dict(LIGHT), "dark": dict(DARK)},
    }


def heaps(index: int, square: Square) -> dict[str, Any]:
    """Return how to draw a square's seeds, for each number of seeds.

    `pebbles` holds the scale and colour index of each seed. `heaps` holds, for each number of seeds, a flat list of x,
    y and angle of each seed; x and y are relative to the centre of the pile, in tenths of a unit.
    """
    piles = [list(pebble_places(index, square, seeds)) for seeds in range(1, MOST_PEBBLES + 1)]
    return {
        "pebbles": [[round(size, 3), PEBBLES.index(role)] for _, size, _, role in piles[-1]],
        "heaps": [
            [
                round(part)
                for (x, y), _, angle, _ in pile
                for part in (10 * (x - square.pile[0]), 10 * (y - square.pile[1]), angle)
            ]
            for pile in piles
        ],
    }


def net_bytes(net: ValueNet) -> bytes:
    """Return the net in the form that searches use at leaves: the first two layers in int16, the rest in float32."""
    core = Core(net.rules)
    rules: Any = with_net(compile_rules(core), net) if net.rules.players == 2 else compile_multiplayer(core, net)
    content: bytes = rules["net"].tobytes()
    return content


def any_rules_bytes(net: AnyRulesNet) -> bytes:
    """Return the arrays of the net for any rules in float16, in the order of `SHAPES`; `any-rules-net.js` folds it."""
    return b"".join(getattr(net, name).astype("<f2").tobytes() for name in SHAPES)


def about(language: str) -> str:
    """Return the text about the game in `language`, from docs/, as an HTML page of one line, styled by about.css."""
    text = (Path(__file__).parents[1] / "docs" / ABOUT[language]).read_text(encoding="utf-8")
    body = markdown(text, extensions=["toc"]).replace("\n", " ")
    for other, name in ABOUT.items():
        body = body.replace(f'href="{name}"', f'href="about.{other}.html"')
    body = body.replace('src="img/ground.svg"', 'src="ground.svg"')
    title = text.partition("\n")[0].removeprefix("# ")
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head += '<link rel="icon" href="../icon.svg"><link rel="stylesheet" href="../page.css">'
    head += f'<link rel="stylesheet" href="../about.css"><title>{title} · Ô Ăn Quan</title>'
    main = f'<main class="about"><p><a href="../index.html">← Ô Ăn Quan</a></p>{body}</main>'
    return f'<!doctype html><html lang="{language}"><head>{head}</head><body>{main}</body></html>\n'


# ---- files -----------------------------------------------------------------------------------------------------------


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file in `FOLDER`."""
    for language in ABOUT:
        yield f"about.{language}.html", about(language).encode()
    yield "ground.svg", (Path(__file__).parents[1] / "docs" / "img" / "ground.svg").read_bytes()
    yield "catalogue.json", as_json(catalogue())
    low, high = RANGES["fields"]
    for players in SEAT_NAMES:
        for fields in range(low, high + 1):
            yield f"drawing-{players}-{fields}.json", as_json(drawing(players, fields))
    yield "lessons.json", as_json([{"name": name, "position": at, "move": move} for name, at, move in LESSONS])
    yield (
        "puzzles-first.json",
        as_json([{"name": name, "position": at, "line": [best]} for name, at, best in FIRST_PUZZLES]),
    )
    yield "rule-words.json", as_json(rule_words())
    yield PAR, (FOLDER / PAR).read_bytes()  # made by tools.write_par
    yield f"net-{ANY}.bin", any_rules_bytes(read_any_rules_net())
    for name, preset in PRESETS.items():
        yield f"net-{name}.bin", net_bytes(read_value_net("pretrained", preset.rules))
        for path in (FOLDER / f"puzzles-{name}.json", FOLDER / f"certificate-{name}.npz"):  # made by other programs
            if path.is_file():
                yield path.name, path.read_bytes()
        table = opening_values_path(preset.rules)
        if table.is_file():
            yield f"opening-values-{name}.json", as_json(json.loads(gzip.decompress(table.read_bytes())))


def as_json(content: Any) -> bytes:
    """Return compact JSON with one line per object in a list, and whole numbers without decimals."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).replace("},{", "},\n{")
    return re.sub(r"(?<=[\[,:]|-)(\d+)\.0(?=[],}])", r"\1", text).encode() + b"\n"


def main() -> None:
    """Write the files, and delete others in `FOLDER`; with `--check`, change nothing and fail if any is out of date."""
    parser = argparse.ArgumentParser(prog="python -m tools.write_page", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args().check
    FOLDER.mkdir(exist_ok=True)
    contents = {f"data/{name}": content for name, content in files()}
    for path in sorted(FOLDER.iterdir()):
        if f"data/{path.name}" not in contents:
            if check:
                sys.exit(f"{path} does not belong to the page; python -m tools.write_page deletes it")
            path.unlink()
    _write(contents, check=check)
    _write({name: text.encode() for name, text in lists()}, check=check)


def _write(wanted: Mapping[str, bytes], *, check: bool) -> None:
    """Write the files that are out of date; with `check`, instead exit with an error that names them."""
    stale = {
        name: content
        for name, content in wanted.items()
        if not (WEB / name).is_file() or (WEB / name).read_bytes() != content
    }
    if stale and check:
        sys.exit(f"files are out of date: {', '.join(stale)}; renew them with: python -m tools.write_page")
    for name, content in stale.items():
        write_atomically(WEB / name, content)
        print(f"{len(content):>9,} bytes  {name}")


if __name__ == "__main__":
    main()
