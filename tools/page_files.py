"""The lists of the page's files: in `index.html` those that load at once, in `service-worker.js` those that are kept.

`python -m tools.page` writes them, and the words of moves into `move-words.js`.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from oanquan_env.engine.notation import WORDS

WEB = Path(__file__).parents[1] / "oanquan_env" / "play" / "web"
START, PAGE, WORKER, KEEPER = "page.js", "index.html", "worker.js", "service-worker.js"
MOVE_WORDS = "move-words.js"
"""Holds the words of moves, which Python reads from the engine's `words.json`."""
ENGINE = ("moves.wasm", "engine.json")
BEGIN = "vietnamese"
"""The rules with which the page begins, and of its lessons: those that people in Vietnam play."""
UNKEPT = ("widget.js", "players.json")
"""Files of the folder that browsers do not keep: the notebook's, and the answer of a server."""
STATIC = re.compile(r'^import (?:.* from )?"\./([\w-]+\.js)";$', flags=re.MULTILINE)
DYNAMIC = re.compile(r'import\("\./([\w-]+\.js)"\)')


def modules(starts: Iterable[str], *patterns: re.Pattern[str]) -> list[str]:
    """Scripts and those that they import, directly or not, in alphabetical order."""
    found, waiting = set(), list(starts)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            text = (WEB / name).read_text(encoding="utf-8")
            waiting += [other for pattern in patterns for other in pattern.findall(text)]
    return sorted(found)


def before_the_first_move() -> list[str]:
    """All files that load before a person can move; the thread that thinks begins after that."""
    data = ("data/catalogue.json", "data/drawing-2-5.json")
    others = (PAGE, "page.css", "icon.svg", "manifest.webmanifest")
    return sorted({*others, *ENGINE, *data, *modules([START], STATIC)})


def of_its_beginning() -> list[str]:
    """All files that a game by the rules `BEGIN` may need: every level, hints, puzzles, lessons, dialogs."""
    data = [path.relative_to(WEB).as_posix() for path in WEB.glob(f"data/*-{BEGIN}.*")]
    own = ("engine.wasm", "icon.png", "data/lessons.json", "data/puzzles-first.json")
    return sorted({*before_the_first_move(), *own, *data, *modules([START, WORKER], STATIC, DYNAMIC)})


def lists() -> Iterator[tuple[str, str]]:
    """Each file with a list, and its text."""
    page = (WEB / PAGE).read_text(encoding="utf-8")
    loaded = "".join(f'<link rel="modulepreload" href="{name}">' for name in modules([START], STATIC) if name != START)
    links = re.compile(r'(?:<link rel="modulepreload".*>\n)*(?=<script type="module")')
    page = links.sub(lambda _: f"{loaded}\n", page, count=1)  # what it matches behind them is empty
    yield PAGE, page
    story = json.dumps(WORDS, ensure_ascii=False, separators=(",", ":"))
    told = (WEB / MOVE_WORDS).read_text(encoding="utf-8")
    words = re.sub("(?m)^const STORY = .*;$", lambda _: f"const STORY = {story};", told)
    yield MOVE_WORDS, words
    contents = {path.relative_to(WEB).as_posix(): path.read_bytes() for path in WEB.rglob("*") if path.is_file()}
    yield KEEPER, keeper({**contents, PAGE: page.encode(), MOVE_WORDS: words.encode()})


def keeper(contents: Mapping[str, bytes]) -> str:
    """The service worker of a folder with these files, and the lists of those that it keeps."""
    files = [name for name in of_its_beginning() if name in contents]
    others = sorted(set(contents) - {*files, *UNKEPT, KEEPER})
    version = hashlib.sha256()
    for name in (*files, *others):
        version.update(name.encode() + contents[name])
    text = (WEB / KEEPER).read_text(encoding="utf-8")
    kept = ["./" if name == PAGE else name for name in files]
    for constant, value in (("VERSION", version.hexdigest()[:16]), ("FILES", kept), ("OTHERS", others)):
        text = re.sub(f"(?m)^const {constant} = .*;$", f"const {constant} = {json.dumps(value)};", text)
    return text
