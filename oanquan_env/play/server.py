"""The page in the browser: a server for this machine alone, on Python's own HTTP server.

Its address holds a token that changes with every start. Requests without it, or with another `Host` or `Origin` than
the server's own, are refused: no other page can play here or read the game.
"""

import base64
import hmac
import json
import secrets
import sys
import threading
import webbrowser
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from oanquan_env.errors import UsageError
from oanquan_env.play.catalogue import catalogue
from oanquan_env.play.lessons import lessons
from oanquan_env.play.picture import Json
from oanquan_env.play.refusal import SessionError
from oanquan_env.play.session import Session

HOST = "127.0.0.1"
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
KINDS |= {"json": "application/json", "wasm": "application/wasm"}
FILES = {
    "" if file.name == "page.html" else file.name: (file.name, KINDS[file.name.partition(".")[2]])
    for file in (files("oanquan_env.play") / "web").iterdir()
}
"""Path after the token -> file of `web` and its type."""
MOST_TABS = 32
"""Games kept for pages that may come back; the one that was asked for longest ago goes first."""
LARGEST_FILE = 1_000_000  # bytes of a file that can be opened
MOST_BYTES = 6 * LARGEST_FILE + 10_000
"""Of a request: JSON writes a byte in six letters at most."""
LONGEST_WAIT = 25.0  # seconds that a request waits for news
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Tab:
    """The game of one tab, and the thread in which its players think."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._thinking = False

    def think(self) -> None:
        """Let the player to move choose, in a thread of its own; does nothing if one is at it or a person moves."""
        with self.session.changed:
            if not self._thinking and self.session.game.player is not None and not self.session.trouble:
                self._thinking = True
                threading.Thread(target=self._think, daemon=True).start()

    def _think(self) -> None:
        try:
            self.session.answer()
        finally:
            with self.session.changed:
                self._thinking = False
                self.session.changed.notify_all()

    def wait(self, version: int) -> None:
        """Wait until the game is another than at `version`, for a while."""

        def is_news() -> bool:
            self.think()  # again, if what was thought of an earlier position has been dropped
            return self.session.version != version

        with self.session.changed:
            self.session.changed.wait_for(is_news, LONGEST_WAIT)


class PlayServer(ThreadingHTTPServer):
    """Serves the page and its games at a port, any free one if 0; `begin` makes the first game of each tab.

    Raises `UsageError` for a port that another program has.

    Attributes:
        token: the secret in its address.
    """

    daemon_threads = True

    def __init__(self, begin: Callable[[], Session], port: int = 0) -> None:
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"port {port} is not available ({error.strerror}): --port takes another, and 0 any"
            ) from None
        self.token = secrets.token_urlsafe(18)
        self._begin = begin
        self._tabs: OrderedDict[str, Tab] = OrderedDict()
        self._lock = threading.Lock()
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    @property
    def address(self) -> str:
        """The address to open in the browser."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def begin(self) -> tuple[str, Tab]:
        """The name and the game of a new tab."""
        tab, name = Tab(self._begin()), secrets.token_urlsafe(9)
        with self._lock:
            self._tabs[name] = tab
            while len(self._tabs) > MOST_TABS:
                self._tabs.popitem(last=False)
        return name, tab

    def tab(self, name: object) -> Tab:
        """The game of a tab. Raises `SessionError` if it is not kept any more."""
        with self._lock:
            if not isinstance(name, str) or name not in self._tabs:
                raise SessionError("gone", "this game is not kept any more")
            self._tabs.move_to_end(name)
            return self._tabs[name]

    def answer(self, request: str, asked: Json) -> Json:
        """The answer to a request. Raises `SessionError`."""
        if request == "catalogue":
            return {**catalogue(), "largest_file": LARGEST_FILE}
        if request == "lessons":
            return {"lessons": lessons()}
        if request == "begin":
            name, tab = self.begin()
            tab.think()
            return {"tab": name, "state": tab.session.state(), "drawing": tab.session.drawing()}
        tab = self.tab(asked.pop("tab", None))
        if request == "hint":
            return {"hint": tab.session.hint(asked.get("moves"))}
        if request == "picture":
            return {"base64": base64.b64encode(tab.session.picture(str(asked.get("kind")))).decode()}
        game, known, drawn = (asked.pop(name, None) for name in ("game", "known", "drawn"))
        if request == "wait":
            tab.wait(asked.get("version", -1))
        else:
            tab.session.request(request, asked)
            tab.think()
        with tab.session.changed:  # both of the same game
            state = tab.session.state(game, known)
            return {"state": state, "drawing": None if state["rules"] == drawn else tab.session.drawing()}

    def handle_error(self, request: object, client_address: object) -> None:
        """A page that was closed while it waited is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def run(self) -> None:
        """Open the browser, and serve until Ctrl-C."""
        print(f"The game is at {self.address}\nCtrl-C ends it.", flush=True)
        opening = threading.Thread(target=webbrowser.open, args=(self.address,), daemon=True)
        opening.start()
        try:
            self.serve_forever()
        finally:
            self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    server_version, sys_version = "oanquan", ""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a reply is two packets; the second would wait 40 ms for word of the first
    timeout = 60

    def do_GET(self) -> None:
        """A file of the page."""
        place = self._place()
        if place is None:
            return
        if place not in FILES:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such file")
            return
        name, kind = FILES[place]
        self._reply(HTTPStatus.OK, f"{kind}; charset=utf-8", (files("oanquan_env.play") / "web" / name).read_bytes())

    def do_POST(self) -> None:
        """A request of the page, with its arguments as JSON."""
        place = self._place()
        if place is None:
            return
        length = self.headers.get("Content-Length", "")
        fits = length.isdecimal() and len(length) <= len(str(MOST_BYTES)) and int(length) <= MOST_BYTES
        if not fits or "json" not in self.headers.get("Content-Type", ""):
            self._refuse(HTTPStatus.BAD_REQUEST, f"a request is JSON of at most {MOST_BYTES:,} bytes")
            return
        body = self.rfile.read(int(length))
        try:
            asked = json.loads(body)
            if not isinstance(asked, dict):
                raise ValueError("the arguments are no object")
            reply, status = self.server.answer(place, asked), HTTPStatus.OK
        except SessionError as error:
            reply, status = {"error": error.to_json()}, HTTPStatus.BAD_REQUEST
        except (ValueError, RecursionError) as error:
            reply, status = {"error": SessionError("request", error).to_json()}, HTTPStatus.BAD_REQUEST
        self._reply(status, "application/json", json.dumps(reply, separators=(",", ":")).encode())

    def _place(self) -> str | None:
        """The path behind the token; None, and the request is refused, where it comes from elsewhere."""
        origin = self.headers.get("Origin")
        parts = self.path.partition("?")[0].split("/", 2)
        if self.headers.get("Host") not in self.server.hosts:
            reason = "this server answers only to its own address"
        elif origin is not None and origin.removeprefix("http://") not in self.server.hosts:
            reason = "this server answers only its own page"
        elif len(parts) < 2 or not hmac.compare_digest(parts[1].encode(), self.server.token.encode()):
            reason = "the address lacks its token: take the whole one that was printed"
        elif len(parts) == 2:  # without its last slash
            self._reply(HTTPStatus.PERMANENT_REDIRECT, "text/plain", b"", Location=f"/{parts[1]}/")
            return None
        else:
            return parts[2]
        self._refuse(HTTPStatus.FORBIDDEN, reason)
        return None

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self.close_connection = True  # what else it sent is not read
        self._reply(status, "text/plain; charset=utf-8", f"{reason}\n".encode())

    def _reply(self, status: HTTPStatus, kind: str, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **headers, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: Any) -> None:
        """Nothing: the terminal shows the address alone."""
