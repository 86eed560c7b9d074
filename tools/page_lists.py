"""Make the lists of the page's files: scripts that `index.html` preloads, and files that `service-worker.js` caches.

`python -m tools.write_page` writes these lists, and the words for moves in `move-words.js`.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping

from oanquan_env.engine.notation import WORDS
from oanquan_env.play.bundle import DYNAMIC, STATIC, in_order
from oanquan_env.play.server import WEB

START, PAGE, WORKER, KEEPER = "page.js", "index.html", "worker.js", "service-worker.js"
MOVE_WORDS = "words/move-words.js"
"""Script with the words that describe moves, copied from the engine's `words.json`."""
ABOUT = {"en": "about.md", "vi": "about.vi.md"}
"""The pages about the game in docs, by language."""
ENGINE = ("moves.wasm", "engine.json")
BEGIN = "vietnamese"
"""The preset that the page starts with and teaches: the rules that people in Vietnam play."""
UNKEPT = ("README.md", "widget.js", "players.json")
"""Files that are not cached: the map for readers, the widget's script, and the list of players from the server."""


def before_the_first_move() -> list[str]:
    """Return all files that load before a person can move; the worker thread starts later."""
    data = ("data/catalogue.json", "data/drawing-2-5.json")
    others = (PAGE, "page.css", "icon.svg", "manifest.webmanifest")
    return sorted({*others, *ENGINE, *data, *in_order([START], STATIC)})


def of_its_beginning() -> list[str]:
    """Return all files that games under the rules `BEGIN` may need, also for hints, puzzles, lessons and dialogs."""
    data = [path.relative_to(WEB).as_posix() for path in WEB.glob(f"data/*-{BEGIN}.*")]
    data += [f"data/about.{language}.html" for language in ABOUT]
    own = (
        "engine.wasm",
        "icon.png",
        "about.css",
        "data/ground.svg",
        "data/lessons.json",
        "data/puzzles-first.json",
        "data/rule-words.json",
    )
    return sorted({*before_the_first_move(), *own, *data, *in_order([START, WORKER], STATIC, DYNAMIC)})


def lists() -> Iterator[tuple[str, str]]:
    """Yield the name and updated text of each file that holds a list or the words for moves."""
    page = (WEB / PAGE).read_text(encoding="utf-8")
    others = sorted(set(in_order([START], STATIC)) - {START})
    loaded = "".join(f'<link rel="modulepreload" href="{name}">' for name in others)
    links = re.compile(r'(?:<link rel="modulepreload".*>\n)*(?=<script type="module")')
    page = links.sub(lambda _: f"{loaded}\n", page, count=1)  # a second match would be empty
    yield PAGE, page
    story = json.dumps(WORDS, ensure_ascii=False, separators=(",", ":"))
    source = (WEB / MOVE_WORDS).read_text(encoding="utf-8")
    words = re.sub("(?m)^const STORY = .*;$", lambda _: f"const STORY = {story};", source)
    yield MOVE_WORDS, words
    contents = {path.relative_to(WEB).as_posix(): path.read_bytes() for path in WEB.rglob("*") if path.is_file()}
    yield KEEPER, keeper({**contents, PAGE: page.encode(), MOVE_WORDS: words.encode()})


def keeper(contents: Mapping[str, bytes]) -> str:
    """Return the service worker's text with a version and the lists of files to cache, given the files' `contents`."""
    files = [name for name in of_its_beginning() if name in contents]
    others = sorted(set(contents) - {*files, *UNKEPT, KEEPER})
    version = hashlib.sha256()
    for name in (*files, *others):
        version.update(name.encode() + contents[name])
    text = (WEB / KEEPER).read_text(encoding="utf-8")
    cached = ["./" if name == PAGE else name for name in files]
    for constant, value in (("VERSION", version.hexdigest()[:16]), ("FILES", cached), ("OTHERS", others)):
        text = re.sub(f"(?m)^const {constant} = .*;$", f"const {constant} = {json.dumps(value)};", text)
    return text
