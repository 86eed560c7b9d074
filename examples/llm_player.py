"""Measure how well a language model plays, over the OpenAI chat-completions protocol.

    python -m examples.llm_player --base-url http://localhost:11434/v1 --model llama3.1
    OPENAI_API_KEY=… python -m examples.llm_player --base-url https://api.openai.com/v1 --model gpt-4o-mini --jobs 8

The model gets positions of the regret suite as text, each in its own conversation, and then plays whole games; see
docs/language-models.md. The key comes only from the environment, because other users can read a command line.
"""

import argparse
import json
import os
import re
import sys
import urllib.request
from collections import Counter
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from threading import Event, Lock
from typing import Any

import numpy as np

from oanquan_env import Board, Move, Rules, choose_move
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.regret import Suite, judge
from oanquan_env.benchmark.report import interval
from oanquan_env.benchmark.statistics import Estimate, loss_estimate
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.errors import UsageError
from oanquan_env.files import one_line
from oanquan_env.players import make
from oanquan_env.text import prompt, read_answer

RESULTS = ("wins", "draws", "losses", "forfeits")
WAITS = (1.0, 4.0, 16.0)  # seconds before a request is repeated
TEMPORARY = (408, 409, 425, 429)  # statuses below 500 after which a request is repeated
MOST_FAILURES = 3  # number of failures in a row that end the run


class RequestError(Exception):
    """Raised if a request gets no reply; the message says why. `repeat` says whether repeating it may help."""

    def __init__(self, reason: str, *, repeat: bool) -> None:
        super().__init__(reason)
        self.repeat = repeat


class AnyStatus(urllib.request.HTTPErrorProcessor):
    """Returns the responses of all statuses, because the content of an error says what is wrong."""

    http_response = https_response = staticmethod(lambda _, response: response)


def send(request: urllib.request.Request) -> tuple[str, str | None]:
    """Send a request; return the text of the completion and its finish reason. Raises `RequestError`."""
    try:
        with urllib.request.build_opener(AnyStatus).open(request, timeout=120) as response:
            try:
                content = response.read()
            except IncompleteRead as short:
                content = short.partial
    except (OSError, HTTPException, ValueError) as error:
        raise RequestError(f"{request.full_url}: {one_line(error) or type(error).__name__}", repeat=True) from None
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = content.decode(errors="replace")
    match found:
        case {"choices": [{"message": dict(message)} as choice, *_]} if response.status < 300:
            text = message.get("content") or ""
            parts = text if isinstance(text, list) else [text]  # thoughts and pictures are parts without `text`
            texts = [str(part.get("text") or "") if isinstance(part, dict) else str(part) for part in parts]
            return "".join(texts), choice.get("finish_reason")
        case {"error": {"message": reason}} | {"error": reason} | {"message": reason} | {"detail": reason} | reason:
            repeat = response.status < 300 or response.status >= 500 or response.status in TEMPORARY
            said = f"not a chat completion (status {response.status}): {one_line(reason)}"
            raise RequestError(f"{request.full_url}: {said}", repeat=repeat)


class LanguageModel:
    """A language model that is asked for moves.

    Args:
        base_url: URL of the endpoint, without `/chat/completions`.
        model: name of the model at that endpoint.
        legal_moves: whether prompts list the legal moves.
        retries: number of times that the model is asked again after a reply without a legal move.
        transcripts: file to which each conversation is appended as a line of JSON.

    Attributes:
        replies: counts of replies by outcome (`oanquan_env.text.Answer`), and of conversations that `failed`.
        ended: why no more requests are sent; empty while they are.
    """

    def __init__(self, base_url: str, model: str, legal_moves: bool, retries: int, transcripts: Path) -> None:
        self.url, self.model = f"{base_url.rstrip('/')}/chat/completions", model
        self.legal_moves, self.retries, self.transcripts = legal_moves, retries, transcripts
        self.replies, self._lock = Counter(legal=0, illegal=0, unparsable=0, truncated=0, failed=0), Lock()
        self.ended, self._stopped = "", Event()
        self._failures = MOST_FAILURES - 1  # in a row; the run ends if the first request fails

    def stop(self, reason: str) -> None:
        """Send no more requests."""
        self.ended = self.ended or reason
        self._stopped.set()

    def ask(self, messages: list[dict[str, str]]) -> tuple[str, str | None]:
        """Return the reply and its finish reason. Raises `RequestError`, or `CancelledError` if the run has ended."""
        body = json.dumps({"model": self.model, "messages": messages}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        if key := "".join(os.environ.get("OPENAI_API_KEY", "").split()):
            request.add_unredirected_header("Authorization", f"Bearer {key}")
        if self._stopped.is_set():
            raise CancelledError
        waits = iter(WAITS)
        while True:
            try:
                reply = send(request)
            except RequestError as error:
                wait = next(waits, None)
                if not error.repeat or wait is None or self._stopped.wait(wait):
                    self._failures += 1
                    if self._failures >= MOST_FAILURES:
                        self.stop(str(error))
                    raise
            else:
                self._failures = 0
                return reply

    def choose_move(self, board: Board) -> Move | None:
        """Ask for a move and save the conversation; return None on a forfeit. Raises the errors of `ask`."""
        messages, verdicts = [{"role": "user", "content": prompt(board, legal_moves=self.legal_moves)}], list[str]()
        try:
            while True:
                reply, finish_reason = self.ask(messages)
                answer = read_answer(reply, board, finish_reason)
                verdicts.append(answer.outcome)
                messages.append({"role": "assistant", "content": reply})
                if answer.move or len(verdicts) > self.retries:
                    return answer.move
                faults = {"illegal": f"{answer.named} is not a legal move.", "truncated": "Your reply was cut off."}
                fault = faults.get(answer.outcome, "Your last line must name exactly one move.")
                messages.append({"role": "user", "content": f"{fault} Try again."})
        except RequestError as error:
            verdicts.append("failed")
            messages.append({"role": "error", "content": str(error)})
            raise
        finally:
            line = {"model": self.model, "position": board.text(), "replies": verdicts, "messages": messages}
            with self._lock, self.transcripts.open("a", encoding="utf-8", errors="backslashreplace") as file:
                self.replies.update(verdicts)
                file.write(json.dumps(line, ensure_ascii=False) + "\n" if verdicts else "")


def play(model: LanguageModel, board: Board, seat: int, opponent: str, rng: np.random.Generator) -> str:
    """Play a game on, with the model in `seat`, until it ends or the model forfeits; return one of `RESULTS`."""
    player = make(opponent, board.rules)
    while (outcome := board.outcome) is None:
        move = model.choose_move(board) if board.mover == seat else choose_move(player, board, rng)
        if move is None:
            return "forfeits"
        board.push(move)
    return "draws" if outcome.winner is None else "wins" if outcome.winner == seat else "losses"


def regrets(suite: Suite, answers: dict[int, Move | None], rng: np.random.Generator) -> dict[str, dict[str, Estimate]]:
    """Return the mean regrets, with intervals, of the model, `random` and `greedy`, by group of rows in `answers`.

    The group `answered` has the positions with a move, and `asked` also has those with None, where the model's regret
    is the expected regret of a random legal move. Empty groups are left out.
    """
    asked = np.array(sorted(answers), dtype=np.intp)
    answered = np.array([answers[row] is not None for row in asked], dtype=np.bool_)
    suite, moves = suite.take(asked), [move for row in asked if (move := answers[row])]
    random = np.nanmean(np.nanmax(suite.values, axis=1, keepdims=True) - suite.values, axis=1)
    own, greedy = random.copy(), judge(suite, make("greedy").choose(suite.positions, rng)).regret
    own[answered] = judge(suite.take(answered), np.array([move.action for move in moves], dtype=np.intp)).regret
    losses = {"model": own, "random": random, "greedy": greedy}
    return {
        group: {name: loss_estimate(lost[rows]) for name, lost in losses.items()}
        for group, rows in (("answered", answered), ("asked", np.ones_like(answered)))
        if rows.any()
    }


def main(arguments: list[str]) -> dict[str, Any]:
    """Measure a model. Return all regrets (also of the baselines), game results, counts of replies, and `ended`."""
    options = parse(arguments)
    model = LanguageModel(options.base_url, options.model, options.legal_moves, options.retries, options.transcripts)
    rng, full_suite = np.random.default_rng(options.seed), load_suite(Rules()).part("development")
    suite = full_suite.take(np.sort(rng.permutation(len(full_suite))[: options.positions]))
    openings = load_openings(suite.core, "balanced", (options.games + 1) // 2, 0, rng).positions
    rngs, answers, results = rng.spawn(options.games), dict[int, Move | None](), list[str]()

    def ask_about(row: int) -> None:
        answers[row] = model.choose_move(Board.from_positions(suite.core, suite.positions, row))

    def play_game(number: int) -> None:
        board = Board.from_positions(suite.core, openings, number // 2)
        results.append(play(model, board, number % 2, options.opponent, rngs[number]))

    with ThreadPoolExecutor(options.jobs) as pool:
        tasks = [pool.submit(ask_about, row) for row in range(len(suite))]
        tasks += [pool.submit(play_game, number) for number in range(options.games)]
        try:
            for task in tasks:
                with suppress(RequestError, CancelledError):
                    task.result()
        except (KeyboardInterrupt, OSError) as error:  # OSError: the transcript cannot be written
            model.stop(str(error) or "interrupted")
    measured = regrets(suite, answers, rng) if answers else {}
    answered = sum(move is not None for move in answers.values())
    note = f"{options.model} answered {answered} of {len(answers)} positions; the others count as random moves"
    for group, estimates in measured.items():
        print("regret in points over the answered positions:" if group == "answered" else f"{note}:")
        for name, one in estimates.items():
            print(f"  {options.model if name == 'model' else name} {interval(one, '.2f')}")
    games = Counter(results)
    print(f"against {options.opponent}: " + ", ".join(f"{games[name]} {name}" for name in RESULTS))
    print("replies: " + ", ".join(f"{count} {kind}" for kind, count in model.replies.items()))
    if model.ended:
        missing = f"{len(suite) - len(answers)} positions and {options.games - len(results)} games are missing"
        print(f"the run ended early ({missing}): {model.ended}", file=sys.stderr)
    return {"regret": measured, "results": games, "replies": model.replies, "ended": model.ended}


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line, after checking everything that could fail after the work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value, text in (
        ("positions", 100, "number of positions of the regret suite"),
        ("games", 20, "number of games; two games start from each balanced opening, with the seats swapped"),
        ("opponent", "greedy", "opponent in these games"),
        ("retries", 1, "further tries after a reply without a legal move"),
        ("jobs", 1, "number of parallel requests"),
        ("seed", 0, "seed of all randomness"),
        ("transcripts", Path("runs/llm.jsonl"), "file to which conversations are appended"),
    ):
        parser.add_argument(f"--{name}", type=type(value), default=value, help=f"{text} (default: %(default)s)")
    for name in ("base-url", "model"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--legal-moves", action="store_true", help="list the legal moves in each prompt")
    options = parser.parse_args(arguments)
    if min(options.positions, options.games, options.jobs) < 1 or options.retries < 0:
        parser.error("--positions, --games and --jobs must be 1 or more, and --retries 0 or more")
    if not re.match("https?://", options.base_url):
        parser.error(f"--base-url must begin with http:// or https://; got {options.base_url}")
    try:
        make(options.opponent)
        options.transcripts.parent.mkdir(parents=True, exist_ok=True)
        options.transcripts.open("a").close()
    except (UsageError, OSError) as error:
        parser.error(str(error))
    return options


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])["ended"]))
