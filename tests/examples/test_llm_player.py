"""Test a language model as a player, with a local server that speaks the chat-completions protocol."""

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

from examples.llm_player import LanguageModel, main, play, prompt_of, read_reply
from oanquan_env import Board, Move


@contextmanager
def served(answer: Callable[[str, int], tuple[int, Any]]) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Serve the status and JSON that `answer(prompt, n)` returns for request n; yield the URL and all headers sent."""
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


def model_of(url: str, folder: Path, **settings: Any) -> LanguageModel:
    defaults = {"legal_moves": False, "retries": 1, "transcripts": folder / "llm.jsonl"}
    return LanguageModel(url, "m", **{**defaults, **settings})


class Scripted(LanguageModel):
    """A language model that gives `replies`, one after another."""

    def __init__(self, folder: Path, replies: list[str], **settings: Any) -> None:
        vars(self).update(vars(model_of("", folder, **settings)))
        self.script, self.requests = iter(replies), list[list[dict[str, str]]]()

    def ask(self, messages: list[dict[str, str]]) -> str:
        self.requests.append(list(messages))
        return next(self.script)


def test_replies_are_counted_and_asked_for_again_and_kept(tmp_path: Path) -> None:
    board = Board()
    model = Scripted(tmp_path, ["no idea", "**3a**", "9A", "I play 3A.", "1A", "7C", "?"])
    chosen = [model.choose_move(board) for _ in range(4)]
    assert chosen == [Move.parse("3A"), Move.parse("3A"), Move.parse("1A"), None]
    assert model.replies == {"legal": 3, "illegal": 2, "unparsed": 2}
    assert [len(messages) for messages in model.requests] == [1, 3, 1, 3, 1, 1, 3]
    assert [messages[-1]["content"] for messages in model.requests[1:4:2]] == [
        "Your last line must name exactly one move. Try again.",
        "9A is not a legal move. Try again.",
    ]
    lines = [json.loads(line) for line in (tmp_path / "llm.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["replies"] for line in lines] == [
        ["unparsed", "legal"],
        ["illegal", "legal"],
        ["legal"],
        ["illegal", "unparsed"],
    ]
    assert [message["role"] for message in lines[0]["messages"]] == ["user", "assistant", "user", "assistant"]
    assert lines[0]["messages"][-1]["content"] == "**3a**"
    assert {line["position"] for line in lines} == {board.text()}
    assert Scripted(tmp_path, ["?"], retries=0).choose_move(board) is None


def test_a_game_ends_by_its_outcome_or_a_forfeit(tmp_path: Path) -> None:
    """A winning move wins, two illegal replies forfeit, and a game that the opponent wins at once is lost."""
    board, rng = Board.parse("0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0"), np.random.default_rng(0)
    assert play(Scripted(tmp_path, ["3A"]), board.copy(), 0, "greedy", rng) == "wins"
    assert play(Scripted(tmp_path, ["4A", "5A"]), board.copy(), 0, "greedy", rng) == "forfeits"
    lost = Board.parse("4,1,0,2,0,0/0,0,1,0,0,3* 27,22 1 0")
    assert play(Scripted(tmp_path, []), lost, 0, "greedy", rng) == "losses"


def test_a_model_is_compared_with_the_baselines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    options = ["--model", "m", "--positions", "20", "--games", "3", "--jobs", "2", "--legal-moves"]
    options += ["--transcripts", str(tmp_path / "new" / "llm.jsonl")]
    with served(last_legal) as (url, seen):
        found = main(["--base-url", url, *options])
    assert set(found["regret"]) == {"m", "random", "greedy"}
    regret, text = found["regret"]["m"], capsys.readouterr().out
    assert f"m: regret {regret.mean:.2f} ({regret.low:.2f} to {regret.high:.2f}) points" in text
    assert "m answered 20 of 20 positions" in text
    assert sum(found["results"].values()) == 3
    assert found["replies"] == {"legal": len(seen), "illegal": 0, "unparsed": 0}
    assert len((tmp_path / "new" / "llm.jsonl").read_text(encoding="utf-8").splitlines()) == len(seen) > 20
    assert {headers["Authorization"] for headers in seen} == {"Bearer secret"}


def test_a_model_that_never_answers_forfeits_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--model", "m", "--positions", "5", "--games", "2", "--transcripts", str(tmp_path / "llm.jsonl")]
    with served(lambda *_: completion("no idea")) as (url, _):
        found = main(["--base-url", url, *options])
    assert set(found["regret"]) == {"random", "greedy"}
    assert found["results"] == {"forfeits": 2}
    assert found["replies"]["unparsed"] == 2 * (5 + 2)
    assert "against greedy: 0 wins, 0 draws, 0 losses, 2 forfeits" in capsys.readouterr().out


def test_a_refusal_is_tried_again_and_an_unknown_answer_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    question = [{"role": "user", "content": "?"}]
    with served(lambda _, n: (503, {}) if n < 3 else completion("5A")) as (url, _):
        assert model_of(url, tmp_path).ask(question) == "5A"
    assert waits == [1, 4]
    for answer in ({}, [], {"choices": []}, "?"):
        with served(lambda *_, answer=answer: (200, answer)) as (url, _), pytest.raises(ValueError, match="not a chat"):
            model_of(url, tmp_path).ask(question)
    with served(lambda *_: (500, {})) as (url, _), pytest.raises(OSError, match="500"):
        model_of(url, tmp_path).ask(question)


@pytest.mark.parametrize(
    ("reply", "move"),
    [
        ("5A", "5A"),
        ("So:\n 5a \n", "5A"),
        ("**3A**", "3A"),
        ("Thinking of 1A and 2C …\nI play 3A.", "3A"),
        ("5A!\nGood luck!", "5A"),
        ("5A, yes, 5A", "5A"),
        ("9A", "9A"),
        ("\\boxed{3A}", "3A"),
        ("", None),
        ("3A, because 4C loses", None),
        ("15A or x3A or 3Ab", None),
    ],
)
def test_the_only_move_of_the_last_line_that_names_one_is_read(reply: str, move: str | None) -> None:
    assert read_reply(reply) == (move and Move.parse(move))


def test_prompts_list_the_legal_moves_only_where_asked_for() -> None:
    assert "Your legal moves: 1A, 1C" in prompt_of(Board(), legal_moves=True)
    assert "legal moves" not in prompt_of(Board())
