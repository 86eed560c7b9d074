"""Test a language model as a player, with a local server that speaks the chat-completions protocol."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from examples import llm_player
from examples.llm_player import LanguageModel, Reply, RequestError, main, parse_options, play
from oanquan_env import Board, Move, Rules
from oanquan_env.benchmark.rule_pairs import best_moves, load_rule_pairs
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.players import make
from oanquan_env.text import prompt
from tests.helpers import Capture, Patch
from tests.helpers.endpoint import completion, served

Answer = Callable[[str, int], tuple[Any, ...]]


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: Patch) -> None:
    monkeypatch.setattr(llm_player, "WAITS", (0.0, 0.0, 0.0))


def last_legal(prompt: str, _: int) -> tuple[int, Any]:
    moves = re.search(r"Your legal moves: (.*)\. Choose", prompt)
    return completion(f"I think of 1A\n{moves[1].split(', ')[-1]}\n")


def options_of(folder: Path, *options: str, url: str = "http://localhost") -> Any:
    return parse_options(["--base-url", url, "--model", "m", "--transcripts", str(folder / "llm.jsonl"), *options])


def model_of(url: str, folder: Path, *options: str) -> LanguageModel:
    return LanguageModel(options_of(folder, *options, url=url))


def run(answer: Answer, transcripts: Path, *options: str) -> tuple[Any, list[dict[str, Any]]]:
    """Run the command with an endpoint that gives `answer`, by default for six positions and one game.

    Return the results and the requests.
    """
    words = ["--model", "m", "--positions", "6", "--games", "1", "--legal-moves", "--transcripts", str(transcripts)]
    with served(answer) as (url, seen):
        return main(["--base-url", url, *words, *options]), seen


def lines_of(transcripts: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in transcripts.read_text(encoding="utf-8").splitlines()]


class Scripted(LanguageModel):
    """A language model that gives `replies`, one after another."""

    def __init__(self, folder: Path, replies: list[str], *options: str) -> None:
        super().__init__(options_of(folder, *options))
        self.script, self.requests = iter(replies), list[list[dict[str, str]]]()

    def ask(self, messages: list[dict[str, str]]) -> Reply:
        self.requests.append(list(messages))
        return Reply(next(self.script), "stop", (10, 1))


def test_replies_are_counted_and_asked_for_again_and_kept(tmp_path: Path) -> None:
    board = Board()
    model = Scripted(tmp_path, ["no idea", "**3a**", "9A", "I play 3A.", "1A", "7C", "?"])
    chosen = [model.choose_move(board, f"position {number}") for number in range(4)]
    assert chosen == [Move.parse("3A"), Move.parse("3A"), Move.parse("1A"), None]
    assert model.replies == {"legal": 3, "illegal": 2, "unparsable": 2, "truncated": 0, "failed": 0}
    assert [len(messages) for messages in model.requests] == [1, 3, 1, 3, 1, 1, 3]
    assert [messages[-1]["content"] for messages in model.requests[1:4:2]] == [
        "Your last line must name exactly one move. Try again.",
        "9A is not a legal move. Try again.",
    ]
    lines = lines_of(tmp_path / "llm.jsonl")
    outcomes = "unparsable legal, illegal legal, legal, illegal unparsable"
    assert ", ".join(" ".join(line["replies"]) for line in lines) == outcomes
    assert [message["role"] for message in lines[0]["messages"]] == ["user", "assistant", "user", "assistant"]
    assert lines[0]["messages"][-1]["content"] == "**3a**"
    assert {line["position"] for line in lines} == {board.text()}
    assert [line["tokens"] for line in lines] == [[20, 2], [20, 2], [10, 1], [20, 2]]
    assert [line["finish_reasons"] for line in lines][1:3] == [["stop", "stop"], ["stop"]]
    assert [line["move"] for line in lines] == ["3A", "3A", "1A", None]
    assert Scripted(tmp_path, ["?"], "--retries", "0").choose_move(board, "position 0") is None


def test_a_game_ends_by_its_outcome_or_a_forfeit(tmp_path: Path) -> None:
    """A winning move wins, two illegal replies forfeit, and a game that the opponent wins at once is lost."""
    board, rng = Board.parse("0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0"), np.random.default_rng(0)
    assert play(Scripted(tmp_path, ["3A"]), board.copy(), 0, "greedy", rng, "game 0") == "wins"
    assert play(Scripted(tmp_path, ["4A", "5A"]), board.copy(), 0, "greedy", rng, "game 1") == "forfeits"
    lost = Board.parse("4,1,0,2,0,0/0,0,1,0,0,3* 27,22 1 0")
    assert play(Scripted(tmp_path, []), lost, 0, "greedy", rng, "game 0") == "losses"


def test_a_model_is_compared_with_the_baselines(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    path = tmp_path / "new" / "llm.jsonl"
    found, seen = run(last_legal, path, "--positions", "20", "--games", "3", "--jobs", "2")
    assert set(found["regret"]["answered"]) == {"model", "random", "greedy"}
    regret, text = found["regret"]["answered"]["model"], capsys.readouterr().out
    assert re.search(rf"m +\| +{regret.mean:.2f} \({regret.low:.2f} to {regret.high:.2f}\)", text)
    assert "regret in the 20 answered positions | in all 20, forfeits as random moves" in text
    assert f"tokens: {100 * len(seen):,} in prompts, {7 * len(seen):,} in replies" in text
    assert sum(found["results"].values()) == 3
    assert found["replies"] == {"legal": len(seen), "illegal": 0, "unparsable": 0, "truncated": 0, "failed": 0}
    assert len(lines_of(path)) == len(seen) > 20
    assert {headers["Authorization"] for headers in seen} == {"Bearer secret"}


def test_a_model_that_never_answers_forfeits_everything(tmp_path: Path, capsys: Capture) -> None:
    found, _ = run(lambda *_: completion("no idea"), tmp_path / "llm.jsonl", "--positions", "5", "--games", "2")
    assert set(found["regret"]) == {"asked"}
    assert found["regret"]["asked"]["model"].mean == found["regret"]["asked"]["random"].mean
    assert found["results"] == {"forfeits": 2}
    assert found["replies"]["unparsable"] == 2 * (5 + 2)
    text = capsys.readouterr().out
    assert re.search(r"\| m against greedy +\| +0 \| +0 \| +0 \| +2 \| +0.0 \(0.0 to", text)
    assert "regret in the 0 answered positions" in text


def test_regrets_are_over_the_same_positions() -> None:
    """Unanswered positions count as the mean regret of the legal moves."""
    suite, rows = load_suite(Rules()).take(np.arange(6)), np.array([0, 1, 3, 4])
    lost = (np.nanmax(suite.values, axis=1, keepdims=True) - suite.values)[rows]
    worst = np.nanargmax(lost, axis=1)
    answers = {4: None, 1: Move.from_action(int(worst[1])), 3: Move.from_action(int(worst[2])), 0: None}
    found = llm_player.regrets(suite, answers, np.random.default_rng(0))
    random = np.nanmean(lost, axis=1)
    own = np.where([False, True, True, False], lost[range(4), worst], random)
    greedy = lost[range(4), make("greedy").choose(suite.positions[rows], np.random.default_rng(0))]
    for name, expected in (("model", own), ("random", random), ("greedy", greedy)):
        assert found["asked"][name].mean == pytest.approx(expected.mean())
        assert found["answered"][name].mean == pytest.approx(expected[1:3].mean())


@pytest.mark.parametrize(
    ("response", "reason", "requests"),
    [
        ((200, b'{"choices": [', 4000), "status 200.*choices", 4),
        ((200, {"error": {"message": "overloaded", "code": 529}}), "overloaded", 4),
        ((200, b"<html><h1>Bad gateway"), "<html>", 4),
        ((200, b"[" * 100_000), "status 200", 4),
        ((200, {"choices": []}), "status 200.*choices", 4),
        ((503, b""), "status 503", 4),
        ((429, {"error": "too fast"}), "too fast", 4),
        ((404, {"error": {"message": "no model m"}}, 4000), "status 404.*no model m", 1),
        ((401, {"detail": "no key"}), "no key", 1),
        ((307, {}), "status 307", 1),
    ],
)
def test_a_failed_request_is_repeated_if_that_may_help(
    tmp_path: Path, response: tuple[Any, ...], reason: str, requests: int
) -> None:
    with served(lambda *_: response) as (url, seen), pytest.raises(RequestError, match=reason):
        model_of(url, tmp_path).ask([{"role": "user", "content": "?"}])
    assert len(seen) == requests
    with served(lambda _, n: response if n < requests else completion("5A")) as (url, _):
        assert model_of(url, tmp_path).ask([{"role": "user", "content": "?"}]).text == "5A"


def test_all_forms_of_content_are_read(tmp_path: Path) -> None:
    parts = [{"type": "thinking", "thinking": "1A?"}, {"type": "text", "text": "I play "}, "5A"]
    for content, text in ((parts, "I play 5A"), (None, ""), ("\ud800 5A", "\ud800 5A")):
        with served(lambda *_, content=content: completion(content)) as (url, _):
            model = model_of(url, tmp_path)
            assert model.ask([{"role": "user", "content": "?"}]) == Reply(text, "stop", (100, 7))
            assert model.choose_move(Board(), repr(content)) == (Move.parse("5A") if text else None)
    assert lines_of(tmp_path / "llm.jsonl")[-1]["messages"][-1]["content"] == "\ud800 5A"
    with served(lambda _, n: completion("5A", "length" if n == 1 else "stop")) as (url, _):
        model = model_of(url, tmp_path)
        assert model.choose_move(Board(), "position 0") == Move.parse("5A")
    assert (model.replies["truncated"], model.replies["legal"]) == (1, 1)
    assert "Your reply was cut off. Try again." in (tmp_path / "llm.jsonl").read_text(encoding="utf-8")


def failing(*requests: int) -> Answer:
    """Return the answers of an endpoint that fails at these requests."""
    return lambda prompt, n: (404, {"error": "filtered"}) if n in requests else last_legal(prompt, n)


def test_a_run_continues_after_failures_and_ends_after_three_in_a_row(
    tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    """The results so far are printed, and the transcript has the failures."""
    found, _ = run(failing(2, 4, 5), tmp_path / "1")
    assert "in the 3 answered positions | in all 3," in capsys.readouterr().out
    assert (found["replies"]["failed"], found["results"].total(), found["ended"]) == (3, 1, "")
    lines = lines_of(tmp_path / "1")
    assert [line["replies"] == ["failed"] for line in lines[:6]] == [False, True, False, True, True, False]
    assert "filtered" in lines[1]["messages"][-1]["content"]

    found, _ = run(failing(*range(3, 99)), tmp_path / "2")
    out, err = capsys.readouterr()
    assert "in the 2 answered positions | in all 2," in out
    assert found["replies"] == {"legal": 2, "illegal": 0, "unparsable": 0, "truncated": 0, "failed": 3}
    assert "(4 positions and 1 games are missing)" in err
    assert "filtered" in err

    assert "No space left" in run(last_legal, Path("/dev/full"))[0]["ended"]
    monkeypatch.setattr(llm_player, "send", Mock(side_effect=[Reply("1A"), *[KeyboardInterrupt] * 9]))
    assert run(last_legal, tmp_path / "3")[0]["ended"] == "interrupted"
    assert "in all 1, forfeits as random moves" in capsys.readouterr().out


def test_a_dead_endpoint_ends_the_run_with_its_reason(tmp_path: Path, capsys: Capture) -> None:
    with served(last_legal) as (url, _):
        pass
    found = main(["--base-url", url, "--model", "m", "--jobs", "4", "--transcripts", str(tmp_path / "llm.jsonl")])
    assert found["regret"] == {}
    assert "refused" in found["ended"]
    assert "(100 positions and " in capsys.readouterr().err


def test_a_run_goes_on_from_its_transcript(tmp_path: Path, capsys: Capture) -> None:
    """Failed and unfinished conversations are repeated; other settings repeat all of them."""
    path = tmp_path / "llm.jsonl"
    whole, seen = run(last_legal, tmp_path / "whole.jsonl")
    partial, early = run(failing(*range(5, 99)), path)
    assert ("filtered" in partial["ended"], len(early)) == (True, 7)
    lines = path.read_bytes().splitlines(keepends=True)
    unfinished = json.dumps({**json.loads(lines[1]), "move": None, "replies": ["illegal"]}).encode() + b"\n"
    # a failure, two unfinished conversations, and a line that was being written when the run was killed
    path.write_bytes(b"".join([lines[5], lines[0], unfinished, *lines[2:4]])[:-20])
    found, late = run(last_legal, path)
    assert (found, len(late)) == (whole, len(seen) - 2)
    assert "from the transcript: 2 conversations" in capsys.readouterr().out
    assert run(last_legal, path) == (whole, [])
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[-len(late) :])
    _, repeated = run(last_legal, path, "--max-tokens", "50")
    assert [request["body"].get("max_tokens") for request in repeated] == [50] * len(seen)
    assert "max_tokens" not in seen[0]["body"]


def test_rule_pairs_are_asked_under_both_rule_sets_and_without_rules(tmp_path: Path) -> None:
    """A model that plays the best move of the other rules reverts; one that names no move forfeits."""
    sides = [side for pairs in load_rule_pairs() for side in (pairs, pairs.swapped())]
    others = {
        prompt(pairs.given.valued_board(row).board, legal_moves=True): Move.from_action(
            int(best_moves(pairs.other)[row].argmax())
        )
        for pairs in sides
        for row in range(0, len(pairs), 4)
    }
    options = ["--suite", "pairs", "--positions", "40", "--games", "0", "--retries", "0"]

    def answer(asked: str, _: int) -> tuple[int, Any]:
        return completion(f"I play {others[asked]}." if asked in others else "no idea")

    found, seen = run(answer, tmp_path / "1", *options)
    known = sum(request["body"]["messages"][0]["content"] in others for request in seen)
    assert 0 < known < len(seen) == 40
    shares = {name: round(40 * found["following"][name].mean) for name in llm_player.FOLLOWING}
    assert shares == {"follows": 0, "reverts": known, "neither": 0, "forfeits": 40 - known}
    assert 0.1 < found["following"]["random follows"].mean < 0.5
    _, seen = run(answer, tmp_path / "2", *options, "--no-rules")
    prompts = [request["body"]["messages"][0]["content"] for request in seen]
    assert all(text.startswith("The position after ") for text in prompts)
