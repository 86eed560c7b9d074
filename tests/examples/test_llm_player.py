"""A language model as a player, against a local server that speaks the chat-completions protocol."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from examples.llm_player import LanguagePlayer, main, prompt_of, read_reply
from oanquan_env import Board, Core, Move
from tests.boards import random_positions


@contextmanager
def served(answer: Callable[[str, int], tuple[int, Any]]) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The URL of a server that answers prompts with a status and JSON, and the headers that it got."""
    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(dict(self.headers))
            status, content = answer(request["messages"][0]["content"], len(seen))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", seen
    server.shutdown()
    server.server_close()


def completion(text: str) -> tuple[int, Any]:
    return 200, {"choices": [{"message": {"content": text}}]}


def last_legal(prompt: str, _: int) -> tuple[int, Any]:
    moves = re.search(r"Your legal moves: (.*)\. The last", prompt)
    assert moves
    return completion(f"I think of 1A\n{moves[1].split(', ')[-1]}\n")


def test_replies_are_played_or_replaced_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    core = Core()
    positions = random_positions(core, 40, seed=1)[:12]
    with served(lambda prompt, n: completion("no idea") if n % 3 == 0 else last_legal(prompt, n)) as (url, seen):
        player = LanguagePlayer(core, url, "m", jobs=1)
        actions = player.choose(positions, np.random.default_rng(0))
    legal = core.legal_mask(positions)
    last = legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)
    asked = np.arange(12) % 3 != 2
    assert (actions[asked] == last[asked]).all()
    assert legal[np.arange(12), actions].all()
    assert player.replies == {"legal": 8, "other": 4}
    assert {headers["Authorization"] for headers in seen} == {"Bearer secret"}


def test_a_model_is_measured_beside_the_baselines(capsys: pytest.CaptureFixture[str]) -> None:
    with served(last_legal) as (url, _):
        found = main(["--base-url", url, "--model", "m", "--positions", "20", "--jobs", "2"])
    assert set(found) == {"m", "random", "greedy"}
    assert f"m: regret {found['m']:.2f} points" in capsys.readouterr().out


def test_a_refusal_is_tried_again_and_an_unknown_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    with served(lambda _, n: (503, {}) if n < 3 else completion("5A")) as (url, _):
        assert LanguagePlayer(Core(), url, "m").ask("?") == "5A"
    assert waits == [1, 4]
    for answer in ({}, [], {"choices": []}, "?"):
        with served(lambda *_, answer=answer: (200, answer)) as (url, _), pytest.raises(ValueError, match="not a chat"):
            LanguagePlayer(Core(), url, "m").ask("?")
    with served(lambda *_: (500, {})) as (url, _), pytest.raises(OSError, match="500"):
        LanguagePlayer(Core(), url, "m").ask("?")


@pytest.mark.parametrize(
    ("reply", "move"),
    [("5A", "5A"), ("So:\n 5a \n", "5A"), ("", None), ("5A!", None), ("9A", None), ("5A\nor 1C", None)],
)
def test_only_a_legal_move_in_the_last_line_is_read(reply: str, move: str | None) -> None:
    assert read_reply(reply, Board().legal_moves) == (move and Move.parse(move))
    assert "Your legal moves: 1A, 1C" in prompt_of(Board())
