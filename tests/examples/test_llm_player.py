"""Language models as players, against a local server that speaks the chat-completions protocol."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples.chat_endpoint import Endpoint, EndpointError
from examples.llm_player import BASELINES, PROMPTS, TOLD, draw_positions, main, read_reply, rules_in_words
from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.arrays import Ints
from oanquan_env.benchmark.pairs import chance
from oanquan_env.benchmark.regret import judge, regret
from oanquan_env.engine.notation import Move
from oanquan_env.engine.rules import FIELD_NAMES, PRESETS
from oanquan_env.players import make, move_gains

POSITION = re.compile(r"^[0-9,*]+/[0-9,*]+ \S+ [01] \d+$", re.MULTILINE)
Answer = Callable[[dict[str, Any], int], "str | tuple[int, bytes]"]
"""Of a request and its number: the model's reply, or a status and what the server sends."""


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@contextmanager
def served(answer: Answer) -> Iterator[tuple[str, list[tuple[dict[str, Any], dict[str, str]]]]]:
    """The base URL of a server, and the requests that it got, with their headers."""
    seen: list[tuple[dict[str, Any], dict[str, str]]] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/chat/completions"
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                seen.append((request, dict(self.headers)))
                number = len(seen)
            said = answer(request, number)
            if isinstance(said, str):
                said = 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": said}}]}).encode()
            self.send_response(said[0])
            self.send_header("Content-Length", str(len(said[1])))
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(said[1])

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def asked_board(request: dict[str, Any]) -> Board:
    (position,) = POSITION.findall(request["messages"][0]["content"])
    return Board.parse(position)


def play_greedily(request: dict[str, Any], _: int) -> str:
    board = asked_board(request)
    move = Move.from_action(greedy_actions(board.core, board.positions)[0])
    return f"Greed is good:\n1A, 2A or what?\n\n{str(move).lower()} \n"


def greedy_actions(core: Core, positions: Positions) -> Ints:
    """The first of the moves that win most at once."""
    choice: Ints = np.where(core.legal_mask(positions), move_gains(core, positions), -np.inf).argmax(axis=1)
    return choice


def measured(url: str, path: Path, *options: str) -> dict[str, Any]:
    assert main(["--base-url", url, "--model", "m", "--prompt", "notation", "--output", str(path), *options]) == 0
    return json.loads(path.read_text())


@pytest.mark.parametrize("form", PROMPTS)
def test_a_prompt_tells_position_seat_and_legal_moves(form: str) -> None:
    board = Board()
    board.push("5A")
    told = PROMPTS[form](board)
    assert "You are North. Your legal moves: 1A, 1C, 2A, 2C, 3A, 3C, 4A, 4C." in told
    assert (board.text() in told) == (form == "notation")
    assert (rules_in_words(board.rules) in told) == (form == "drawn")
    assert ("◉" in told) == (form == "drawn")
    assert told.splitlines()[-1].endswith("such as 5A.")


def test_rules_in_words_tell_apart_what_they_say_they_tell() -> None:
    of_two = [preset.rules for preset in PRESETS.values() if preset.rules.players == 2]
    suites = [rules for rules in of_two if set(rules.differences(Rules())) <= set(TOLD)]
    assert len(suites) >= 4
    assert len({rules_in_words(rules) for rules in suites}) == len(suites)
    assert set(FIELD_NAMES) > set(TOLD)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("5A", "5A"),
        (" 5a\n", "5A"),
        ("1C wins more than 2C does.\n\n2C", "2C"),
        ("4A", "illegal"),
        ("I play 5A", "unreadable"),
        ("5A.", "unreadable"),
        ("5A 2C", "unreadable"),
        ("5A\nThat is my move", "unreadable"),
        ("٥A", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_only_a_legal_move_on_the_last_line_is_one(reply: str, found: str) -> None:
    assert str(read_reply(reply, [Move.parse(text) for text in ("1C", "2C", "5A")])) == found


def test_a_model_that_plays_greedily_has_the_regret_of_greedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(play_greedily) as (url, seen):
        options = ["--positions", "60", "--jobs", "3", "--part", "test", "--seed", "5"]
        found = measured(url, tmp_path / "found.json", *options)
    suite = draw_positions(Rules(), "test", 60, 5)
    own, by_chance, greedy = (row["mean"] for row in found["regret"].values())
    assert own == pytest.approx(judge(suite, greedy_actions(suite.core, suite.positions)).regret.mean())
    assert max(own, greedy) < by_chance
    assert list(found["regret"]) == ["m", *BASELINES]
    assert found["replies"] == {"legal": 60, "illegal": 0, "unreadable": 0}
    assert found["suite"]["digest"] == suite.digest()
    texts = {Board.from_positions(suite.core, suite.positions, row).text() for row in range(60)}
    assert {asked_board(request).text() for request, _ in seen} == texts
    assert "0 of 60 replies were no legal move" in capsys.readouterr().out


def test_nonsense_and_illegal_moves_are_counted_and_random_moves_replace_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    null = json.dumps({"choices": [{"message": {"content": None}}]}).encode()

    def nonsense(_: dict[str, Any], number: int) -> str | tuple[int, bytes]:
        return ["9A", "Resign!", (200, null), "5B"][number % 4]

    with served(nonsense) as (url, _):
        found = measured(url, tmp_path / "found.json", "--positions", "20", "--seed", "3")
    assert found["replies"] == {"legal": 0, "illegal": 5, "unreadable": 15}
    by_chance = regret(make("random"), draw_positions(Rules(), "development", 20, 3), chance(3, "m"))
    assert found["regret"]["m"]["mean"] == by_chance.mean
    assert "20 of 20 replies were no legal move, 5 of them an illegal one" in capsys.readouterr().out


def test_the_environment_names_the_endpoint_and_the_key_stays_out_of_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "found.json"
    with served(play_greedily) as (url, seen):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/")
        monkeypatch.setenv("OPENAI_MODEL", "of-the-environment")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        extra = '{"temperature": 0}'
        assert main(["--prompt", "notation", "--positions", "2", "--extra", extra, "--output", str(output)]) == 0
    for request, headers in seen:
        assert (request["model"], request["temperature"]) == ("of-the-environment", 0)
        assert headers["Authorization"] == "Bearer sk-secret"
    told = capsys.readouterr()
    assert "secret" not in output.read_text() + told.out + told.err
    assert json.loads(output.read_text())["extra"] == {"temperature": 0}


def test_a_refusal_for_the_moment_is_tried_again() -> None:
    with served(lambda _, number: (429, b"slow down") if number < 3 else "5A") as (url, seen):
        assert Endpoint(url, "m", retries=2, pause=0).ask("?") == "5A"
        assert len(seen) == 3


NO_COMPLETIONS = [b"<html>", b"{}", b'{"choices": []}', b"\xff", b"[" * 100_000, b'{"choices": 5}']


@pytest.mark.parametrize(
    ("answer", "tries", "message"),
    [
        ((503, b'{"error": "the model is loading"}'), 3, r"completions \(3 tries\): status 503: .*model is loading"),
        ((401, b"no such key"), 1, "completions: status 401: no such key"),
        ((404, b""), 1, "completions: status 404: Not Found"),
        ((307, b"moved"), 1, "completions: status 307: moved"),
        *[((200, said), 1, r"not a chat completion: .* is --base-url right\?") for said in NO_COMPLETIONS],
    ],
)
def test_what_a_server_refuses_is_shown_and_tried_again_if_it_may_pass(
    answer: tuple[int, bytes], tries: int, message: str
) -> None:
    with served(lambda *_: answer) as (url, seen):
        with pytest.raises(EndpointError, match=message):
            Endpoint(url, "m", key="k", retries=2, pause=0).ask("?")
        assert len(seen) == tries


def test_a_slow_model_is_given_up_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    over = threading.Event()

    def slow(*_: object) -> str:
        over.wait()
        return "5A"

    with served(slow) as (url, _):
        options = ["--base-url", url, "--model", "m", "--positions", "1", "--timeout", "0.2", "--retries", "0"]
        status = main(options)
        over.set()
    assert status == 2
    assert "no answer within 0.2 s; give it longer by --timeout" in capsys.readouterr().err


def test_no_server_at_all() -> None:
    with served(play_greedily) as (url, _):
        pass
    with pytest.raises(EndpointError, match=r"completions \(2 tries\): no connection: "):
        Endpoint(url, "m", retries=1, pause=0).ask("?")
    with pytest.raises(EndpointError, match="OPENAI_API_KEY has characters that no key has"):
        Endpoint(url, "m", key="k\n")
