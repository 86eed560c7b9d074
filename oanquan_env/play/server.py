"""Serve the browser page on this machine: its files, and moves of Python players. The page itself runs the game.

Requests with a `Host` or `Origin` other than the server's own are refused, so no other page can use the server. A
server for other machines in the network also has a token in its address.
"""

import errno
import hmac
import json
import secrets
import sys
import threading
import webbrowser
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

from oanquan_env.errors import UsageError, read_whole
from oanquan_env.play.choosing import Chooser
from oanquan_env.players.making import KINDS

WEB = Path(__file__).with_name("web")
HOST, PORT = "127.0.0.1", 8765
"""The page's default address, the same at every start, because a browser stores games and progress by address."""
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json"}
TYPES |= {".wasm": "application/wasm", ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml"}
TYPES |= {".png": "image/png", ".txt": "text/plain"}
LARGEST_QUESTION = 10_000  # bytes
HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PlayServer(ThreadingHTTPServer):
    """A server that sends the files of the page and chooses moves with Python players.

    Raises `UsageError` if `host` is not one address of this machine, or if the requested port is not available.

    Args:
        chooser: the Python players.
        host: address to listen on: 127.0.0.1 for this machine only, or its address in a network.
        port: port to listen on, or 0 for any; defaults to 8765, or to any port if 8765 is in use.
        link: the game to open, as the parameters of a link (`links.js`); empty to continue the previous game.
    """

    daemon_threads = True

    def __init__(self, chooser: Chooser, host: str, port: int | None, link: Mapping[str, str]) -> None:
        first_port = PORT if port is None else port
        if host in ("", "0.0.0.0"):
            raise UsageError("--host takes one address of this machine, such as 192.168.1.5, and not all addresses")
        try:
            super().__init__((host, first_port), _Handler)
        except OSError as error:
            if port is not None or error.errno != errno.EADDRINUSE:
                raise UsageError(
                    f"{host}, port {first_port} is not available ({error.strerror}): --port takes another port, or "
                    "0 for any free port; --host takes an address of this machine"
                ) from None
            print(f"Port {PORT} is in use, so this page has another address and shows no games saved at the usual one.")
            super().__init__((host, 0), _Handler)
        self.chooser = chooser
        self.files = {file.relative_to(WEB).as_posix(): file for file in WEB.rglob("*") if file.is_file()}
        self.root = "/" if host == HOST else f"/{secrets.token_urlsafe(18)}/"
        names = {host, str(self.server_address[0]), "localhost" if host == HOST else host}
        self.hosts = {f"{name}:{self.server_port}" for name in names}
        self.address = f"http://{host}:{self.server_port}{self.root}" + (f"#{urlencode(link)}" if link else "")

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect while waiting."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def run(self) -> None:
        """Open the browser, and serve until Ctrl-C."""
        print(f"The game is at {self.address}\nCtrl-C ends it.", flush=True)
        threading.Thread(target=webbrowser.open, args=(self.address,), daemon=True).start()
        try:
            self.serve_forever()
        finally:
            self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    server_version, sys_version = "oanquan", ""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a reply is two packets; the second would wait 40 ms for an acknowledgement
    timeout = 60

    def do_GET(self) -> None:
        """Send a file of the page, or `players.json` with the additional players and the kinds of players (`KINDS`)."""
        place = self._place()
        file = self.server.files.get(place or "index.html")
        if place == "players.json":
            self._answer(200, {"players": self.server.chooser.players, "kinds": list(KINDS)})
        elif file is not None and place is not None:
            kind = TYPES.get(file.suffix, "application/octet-stream")
            self._reply(200, f"{kind}; charset=utf-8" if kind.startswith("text/") else kind, file.read_bytes())
        elif place is not None:
            self._refuse(404, "there is no such file")

    def do_POST(self) -> None:
        """Read a request for a move as JSON, and send the result of `Chooser.choose` as JSON."""
        place, length = self._place(), read_whole(self.headers.get("Content-Length", ""))
        fits = isinstance(length, int) and 0 <= length <= LARGEST_QUESTION
        if place is not None and (place != "choose" or not fits or "json" not in self.headers.get("Content-Type", "")):
            self._refuse(400, f"choose takes JSON of at most {LARGEST_QUESTION:,} bytes")
        elif place is not None:
            body = self.rfile.read(int(length))
            try:
                question = json.loads(body)
            except (ValueError, RecursionError):
                question = None
            answer = self.server.chooser.choose(question)
            self._answer(400 if "error" in answer else 200, answer)

    def _place(self) -> str | None:
        """Return the path in the page's folder, or None after refusing a request with a wrong host, origin or token."""
        origin, path, root = self.headers.get("Origin"), self.path.partition("?")[0], self.server.root
        if self.headers.get("Host") not in self.server.hosts:
            reason = "this server answers only to its own address"
        elif origin is not None and origin.removeprefix("http://") not in self.server.hosts:
            reason = "this server answers only its own page"
        elif not hmac.compare_digest(path[: len(root)].encode(), root.encode()):
            reason = "the address lacks its token: open the complete address that the server printed"
        else:
            return path[len(root) :]
        self._refuse(403, reason)
        return None

    def _refuse(self, status: int, reason: str) -> None:
        self.close_connection = True  # the rest of the request is not read
        self._reply(status, "text/plain; charset=utf-8", f"{reason}\n".encode())

    def _answer(self, status: int, answer: object) -> None:
        self._reply(status, TYPES[".json"], json.dumps(answer).encode())

    def _reply(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:
        """Log nothing, so that the terminal shows only the address."""
