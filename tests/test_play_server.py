"""The server of the page, over HTTP: who is refused, what is answered, and how the command starts and ends."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.resources import files
from typing import Any

import pytest

from oanquan_env.cli import main
from oanquan_env.play.server import FILES, PlayServer
from tests.browsers import serve

INTERRUPTIBLE = """
import signal, sys
from oanquan_env.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""
"""The command; a shell that runs the tests in its background would let it ignore Ctrl-C."""


def ask(played: PlayServer, path: str, body: Any = None, headers: Any = None) -> tuple[int, str]:
    """Status and answer: a GET without a body, a POST with one."""
    sent = {"Content-Type": "application/json", **(headers or {})}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", played.server_port, timeout=60)) as connection:
        connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), sent)
        reply = connection.getresponse()
        return reply.status, reply.read().decode(errors="replace")


def test_only_its_own_page_is_answered(server: PlayServer) -> None:
    page, token, own = f"/{server.token}/", server.token, f"127.0.0.1:{server.server_port}"
    assert (server.server_address[0], server.address) == ("127.0.0.1", f"http://{own}{page}")  # on this machine alone
    elsewhere = [{"Host": host} for host in ("evil.example", f"evil.example:{server.server_port}", "127.0.0.1")]
    elsewhere += [{"Origin": origin} for origin in ("http://evil.example", f"https://{own}", "null")]
    for headers in (*elsewhere, {"Host": f"localhost:{server.server_port}", "Origin": "http://localhost:1"}):
        assert ask(server, page, headers=headers)[0] == 403, headers
        assert ask(server, f"{page}begin", {}, headers)[0] == 403, headers
    for path in ("/", "/board.js", "/begin", f"/{token[:-1]}/", f"/x{token}/", "/%C3%A9/", "*"):
        assert ask(server, path)[0] == 403, path
    assert ask(server, "/begin", {})[0] == 403
    assert ask(server, f"/{token}")[0] == 308  # without its last slash: it leads to the page
    assert ask(server, page, headers={"Host": f"localhost:{server.server_port}"})[0] == 200
    assert ask(server, f"{page}begin", {}, {"Origin": f"http://{own}"})[0] == 200
    assert all(ask(server, page + name)[0] == 200 for name in FILES)
    for name in ("server.py", "../server.py", "..%2fserver.py", "page.html", "board.js/"):
        assert ask(server, page + name)[0] == 404, name


def test_the_page_loads_nothing_from_elsewhere() -> None:
    for file in (files("oanquan_env.play") / "web").iterdir():
        addresses = set(re.findall(r"https?://[^\s'\"`)]+", file.read_text(encoding="utf-8", errors="replace")))
        assert addresses <= {"http://www.w3.org/2000/svg"}, file.name


def test_the_command_opens_the_browser_and_ends_with_control_c(tmp_path: Any) -> None:
    opened, script = tmp_path / "opened", tmp_path / "browser"
    script.write_text(f"#!/bin/sh\necho $1 > {opened}.part && mv {opened}.part {opened}\n")
    script.chmod(0o755)
    command = [sys.executable, "-c", INTERRUPTIBLE, "play", "--browser", "--rules", "tonkin"]
    pipe, environment = subprocess.PIPE, {**os.environ, "BROWSER": str(script)}
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        end = time.monotonic() + 60
        while not opened.exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert opened.read_text().strip() == address
        host, path = re.fullmatch(r"http://([^/]+)(/.+/)", address).groups()  # type: ignore[union-attr]
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("POST", f"{path}begin", "{}", {"Content-Type": "application/json"})
        state = json.loads(connection.getresponse().read())["state"]
        assert (state["rules"], [seat["name"] for seat in state["seats"]]) == ("tonkin", ["human", "easy"])
        connection.close()
        process.send_signal(signal.SIGINT)
        assert (process.communicate(timeout=60)[1], process.returncode) == ("", 130)


def test_what_is_wrong_with_the_players_is_said_before_the_page_opens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--browser", "--opponent", "nobody"]) == 2
    said = capsys.readouterr().err
    assert "unknown player 'nobody'" in said
    assert "beginner, easy, medium, hard, perfect: levels" in said
    with pytest.raises(SystemExit):
        main(["play", "--browser", "--port", "65536"])
    assert "must be a whole number from 0 to 65535" in capsys.readouterr().err
    with serve("human", "greedy") as played:
        assert main(["play", "--browser", "--port", str(played.server_port)]) == 2
    assert f"port {played.server_port} is not available (Address already in use)" in capsys.readouterr().err
