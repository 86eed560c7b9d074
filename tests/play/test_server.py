"""Test the page's HTTP server: refused requests, answers, and how the command `play --browser` starts and ends."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Positions
from oanquan_env.array_types import Ints
from oanquan_env.cli import main
from oanquan_env.play import server as serving
from oanquan_env.play.choosing import Chooser
from oanquan_env.play.server import TYPES, WEB, PlayServer
from tests.helpers.players import FirstMove

FIRST = "tests.helpers.players:FirstMove"
QUESTION = {"player": "greedy", "rules": "mancala-world", "position": Board().text()}


@contextlib.contextmanager
def serve(*players: str, host: str = serving.HOST) -> Iterator[PlayServer]:
    """Run a server that offers these players in a thread; yield it, and shut it down at the end."""
    with PlayServer(Chooser(players, np.random.default_rng(1)), host, 0, {}) as played:
        thread = threading.Thread(target=played.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield played
        played.shutdown()
        thread.join()


def ask(played: PlayServer, path: str, body: Any = None, headers: Any = None) -> tuple[int, Any]:
    """Send a GET request, or a POST if `body` is given; return the status and the JSON or (content type, bytes)."""
    sent = {"Content-Type": "application/json", **(headers or {})}
    address = played.server_address[0], played.server_port
    with contextlib.closing(http.client.HTTPConnection(*map(str, address), timeout=60)) as connection:
        connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), sent)
        reply = connection.getresponse()
        read, kind = reply.read(), reply.getheader("Content-Type", "")
        assert reply.getheader("X-Content-Type-Options") == "nosniff"
        assert "script-src 'self' 'wasm-unsafe-eval';" in reply.getheader("Content-Security-Policy", "")
        return reply.status, json.loads(read) if "json" in kind else (kind, read)


def test_players_choose_moves() -> None:
    with serve(FIRST) as played:
        offered = {"players": [FIRST], "kinds": ["random", "greedy", "saver", "maxn", "minimax", "mcts", "book"]}
        assert ask(played, "/players.json") == (200, offered)
        assert ask(played, "/choose", {**QUESTION, "player": FIRST}) == (200, {"move": "1A"})
        for name in ("greedy", "maxn:depth=2,net=pretrained", "minimax:depth=2,net=any", "book:greedy:epsilon=0.5"):
            status, answer = ask(played, "/choose", {**QUESTION, "player": name})
            assert (status, answer["move"] in map(str, Board().legal_moves)) == (200, True)


def test_only_its_own_page_is_answered() -> None:
    with serve() as played:
        own = f"127.0.0.1:{played.server_port}"
        assert (played.server_address[0], played.address) == ("127.0.0.1", f"http://{own}/")  # only for this machine
        elsewhere = [{"Host": host} for host in ("evil.example", f"evil.example:{played.server_port}", "127.0.0.1")]
        elsewhere += [{"Origin": origin} for origin in ("http://evil.example", f"https://{own}", "null")]
        for headers in (*elsewhere, {"Host": f"localhost:{played.server_port}", "Origin": "http://localhost:1"}):
            assert ask(played, "/choose", QUESTION, headers)[0] == 403, headers
            assert ask(played, "/", headers=headers)[0] == 403, headers
        assert ask(played, "/choose", QUESTION, {"Origin": f"http://{own}"})[0] == 200
        assert ask(played, "/choose", QUESTION, {"Content-Type": "text/plain"})[0] == 400  # which an HTML form can send
        assert ask(played, "/choose", "x" * 20_000)[0] == 400
        assert ask(played, "/", headers={"Host": f"localhost:{played.server_port}"})[0] == 200
        for name in ("server.py", "../server.py", "..%2fserver.py", "board.js/", "data", "data/../../server.py"):
            assert ask(played, f"/{name}")[0] == 404, name


def test_every_file_comes_as_it_is_and_by_its_type() -> None:
    with serve() as played:
        for file in set(WEB.rglob("*.*")) - {WEB / "players.json"}:  # which the server generates
            kind = TYPES.get(file.suffix, "application/octet-stream")
            kind += "; charset=utf-8" * kind.startswith("text/")
            answer = json.loads(file.read_bytes()) if "json" in kind else (kind, file.read_bytes())
            assert ask(played, f"/{file.relative_to(WEB)}") == (200, answer), file
        assert ask(played, "/")[1] == ask(played, "/index.html")[1]
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", played.server_port)) as connection:
            connection.request("GET", "/data/catalogue.json")
            assert connection.getresponse().getheader("Content-Type") == "application/json"


def test_a_server_for_the_network_has_a_token() -> None:
    with serve(host="localhost") as played:
        address = re.fullmatch(r"http://localhost:\d+(/[\w-]{24}/)", played.address)
        assert ask(played, address[1])[0] == ask(played, f"{address[1]}choose", QUESTION)[0] == 200
        for path in ("/", "/board/board.js", f"/x{address[1]}", address[1][:-1], "/%C3%A9/", "*"):
            assert ask(played, path)[0] == 403, path
        assert ask(played, "/choose", QUESTION)[0] == 403


MISTAKES = {
    "request": [{}, [], "greedy", {**QUESTION, "player": None}],
    "rules": [{**QUESTION, "rules": rules} for rules in ("chess", "seeds=x", "x" * 2000)],
    "position": [{**QUESTION, "position": text} for text in ("", "5", "0,0,0,0,0,0/0,0,0,0,0,0 40,30 0 9")],
    # A page cannot make the program import a module or read a file.
    "player": [
        {**QUESTION, "player": name}
        for name in f"nobody {FIRST} ppo:runs/quick maxn:depth=2,net=/etc/passwd book:{FIRST} minimax easy".split()
    ],
}


@pytest.mark.parametrize("code", MISTAKES)
def test_an_invalid_question_gets_a_code_and_a_short_reason(code: str) -> None:
    with serve() as played:
        for question in MISTAKES[code]:
            status, answer = ask(played, "/choose", question)
            assert (status, answer["error"]["code"]) == (400, code), question
            assert 0 < len(answer["error"]["detail"]) < 1000


class Cheating(FirstMove):
    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        return np.array([10])


class Failing(FirstMove):
    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        raise ZeroDivisionError("no idea")


@pytest.mark.parametrize(
    ("player", "why"), [("Failing", "ZeroDivisionError: no idea"), ("Cheating", "South cannot play 6A")]
)
def test_a_player_that_fails_or_cheats_is_reported(player: str, why: str) -> None:
    with serve(name := f"{__name__}:{player}") as played:
        status, answer = ask(played, "/choose", {**QUESTION, "player": name})
        assert (status, answer["error"]["code"]) == (400, "player")
        assert why in answer["error"]["detail"]


def test_the_page_loads_nothing_from_elsewhere() -> None:
    kinds = (".js", ".html", ".css", ".svg", ".webmanifest")
    files = [file for file in WEB.rglob("*") if file.suffix in kinds and not file.name.startswith("about.")]  # links
    assert len(files) > 60
    for file in files:
        addresses = set(re.findall(r"https?://[^\s'\"`)]+", file.read_text(encoding="utf-8")))
        assert addresses <= {"http://www.w3.org/2000/svg"}, file


def test_the_command_opens_the_browser_and_ends_with_control_c(tmp_path: Path) -> None:
    opened, script = tmp_path / "opened", tmp_path / "browser"
    script.write_text(f"#!/bin/sh\necho $1 > {opened}.part && mv {opened}.part {opened}\n")
    script.chmod(0o755)
    command = [sys.executable, "-m", "oanquan_env", "play", "--browser", "--port", "0", "--rules", "tonkin"]
    command += ["--opponent", FIRST]
    pipe, environment = subprocess.PIPE, {**os.environ, "BROWSER": str(script)}
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        address = process.stdout.readline().split()[-1]
        end = time.monotonic() + 60
        while not opened.exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert opened.read_text().strip() == address
        assert address.partition("#")[2] == f"rules=tonkin&south=human&north={FIRST.replace(':', '%3A')}"
        process.send_signal(signal.SIGINT)
        assert (process.communicate(timeout=60)[1], process.returncode) == ("", 130)


def test_a_port_that_is_in_use_is_reported(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as played:
        monkeypatch.setattr(serving, "PORT", played.server_port)
        with PlayServer(Chooser(), serving.HOST, None, {}) as other:
            monkeypatch.setattr(PlayServer, "serve_forever", lambda server: None)
            monkeypatch.setattr("webbrowser.open", lambda address: True)
            other.run()
            output = capsys.readouterr().out
        assert output.startswith(f"Port {played.server_port} is in use, so this page has another address")
        assert f"The game is at http://127.0.0.1:{other.server_port}/\n" in output
        assert main(["play", "--browser", "--port", str(played.server_port)]) == 2
    assert f"port {played.server_port} is not available (Address already in use)" in capsys.readouterr().err


def test_mistakes_in_the_command_are_reported_before_the_page_opens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--browser", "--opponent", "nobody"]) == 2
    output = capsys.readouterr().err
    assert "unknown player 'nobody'" in output
    assert "beginner, easy, medium, hard, perfect: levels" in output
    for address, why in (("198.51.100.1", "an address"), ("0.0.0.0", "one address")):
        assert main(["play", "--browser", "--host", address]) == 2
        assert f"--host takes {why} of this machine" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["play", "--browser", "--port", "65536"])
    assert "must be a whole number from 0 to 65535" in capsys.readouterr().err
