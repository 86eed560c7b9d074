"""Measure how well a language model plays, over the OpenAI chat-completions protocol.

    python -m examples.llm_player --base-url http://localhost:11434/v1 --model llama3.1
    python -m examples.llm_player --base-url http://localhost:11434/v1 --model llama3.1 --suite pairs --games 0
    OPENAI_API_KEY=… python -m examples.llm_player --base-url https://api.openai.com/v1 --model gpt-4o-mini --jobs 8

The model gets positions of a suite as text, each in its own conversation, and then plays whole games; see
docs/language-models.md. The same command continues an interrupted run: it takes the replies from the transcript. The
key comes only from the environment, because other users can read a command line.
"""

import argparse
import json
import os
import re
import sys
import urllib.request
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from threading import Event, Lock
from typing import Any

import numpy as np

from oanquan_env import Board, Move, Rules, choose_move
from oanquan_env.benchmark.evaluation import OPENING_PLIES, default_openings
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.regret import Suite, judge
from oanquan_env.benchmark.rule_pairs import RulePairs, best_moves, load_rule_pairs
from oanquan_env.benchmark.statistics import Estimate, loss_estimate, score_estimate
from oanquan_env.benchmark.suites import find_suite, load_suite
from oanquan_env.benchmark.tables import interval, table
from oanquan_env.errors import UsageError
from oanquan_env.files import one_line
from oanquan_env.players import make
from oanquan_env.text import prompt, read_answer

RESULTS = ("wins", "draws", "losses", "forfeits")
FOLLOWING = ("follows", "reverts", "neither", "forfeits")
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


@dataclass(frozen=True)
class Reply:
    """A completion: its text, why it ended, and the tokens that the endpoint counted in the prompt and in the text."""

    text: str
    finish_reason: str | None = None
    tokens: tuple[int, int] = (0, 0)


def send(request: urllib.request.Request) -> Reply:
    """Send a request and return the completion. Raises `RequestError`."""
    try:
        with urllib.request.build_opener(AnyStatus).open(request, timeout=120) as response:
            try:
                content = response.read()
            except IncompleteRead as short:
                content = short.partial
    except (OSError, HTTPException, ValueError) as error:
        raise RequestError(f"{request.full_url}: {one_line(error) or type(error).__name__}", repeat=True) from None
    try:
        received = json.loads(content)
    except (ValueError, RecursionError):
        received = content.decode(errors="replace")
    match received:
        case {"choices": [{"message": dict(message)} as choice, *_]} if response.status < 300:
            text = message.get("content") or ""
            parts = text if isinstance(text, list) else [text]  # thoughts and pictures are parts without `text`
            texts = [str(part.get("text") or "") if isinstance(part, dict) else str(part) for part in parts]
            usage = received.get("usage") or {}
            tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
            return Reply("".join(texts), choice.get("finish_reason"), tokens)
        case {"error": {"message": reason}} | {"error": reason} | {"message": reason} | {"detail": reason} | reason:
            repeat = response.status < 300 or response.status >= 500 or response.status in TEMPORARY
            said = f"not a chat completion (status {response.status}): {one_line(reason)}"
            raise RequestError(f"{request.full_url}: {said}", repeat=repeat)


class LanguageModel:
    """A language model that is asked for moves.

    Args:
        options: the options of the command line, see `parse`. Conversations are appended to the file
            `options.transcripts` as lines of JSON; earlier ones with the same settings are not repeated.

    Attributes:
        replies: counts of replies by outcome (`oanquan_env.text.Answer`), and of conversations that `failed`.
        tokens: numbers of tokens in prompts and in replies, as far as the endpoint counts them.
        reused: number of conversations that were taken from the transcript.
        ended: why no more requests are sent; empty while they are.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.url, self.options = f"{options.base_url.rstrip('/')}/chat/completions", options
        self.settings = {"model": options.model, "retries": options.retries, "max_tokens": options.max_tokens}
        self.replies, self._lock = Counter(legal=0, illegal=0, unparsable=0, truncated=0, failed=0), Lock()
        self.tokens, self.reused, self.ended, self._stopped = [0, 0], 0, "", Event()
        self._failures = MOST_FAILURES - 1  # in a row; the run ends if the first request fails
        self._stored = self._read_transcript()

    def _read_transcript(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return the finished conversations of earlier runs by task and prompt; end a line that was cut off."""
        path, stored = self.options.transcripts, dict[tuple[str, str], dict[str, Any]]()
        content = path.read_bytes() if path.is_file() else b""  # it may be a pipe or a device
        if content and not content.endswith(b"\n"):
            with path.open("a") as file:
                file.write("\n")
        for line in content.splitlines():
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                move = entry["move"] and Move.parse(entry["move"])
                finished = "failed" not in entry["replies"] and (move or len(entry["replies"]) > self.options.retries)
                if finished and entry["settings"] == self.settings:
                    stored[entry["task"], entry["messages"][0]["content"]] = entry
        return stored

    def stop(self, reason: str) -> None:
        """Send no more requests."""
        self.ended = self.ended or reason
        self._stopped.set()

    def ask(self, messages: list[dict[str, str]]) -> Reply:
        """Return the reply. Raises `RequestError`, or `CancelledError` if the run has ended."""
        content: dict[str, Any] = {"model": self.options.model, "messages": messages}
        if self.options.max_tokens:
            content["max_tokens"] = self.options.max_tokens
        body = json.dumps(content).encode()
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

    def choose_move(self, board: Board, task: str) -> Move | None:
        """Ask for a move and save the conversation; return None on a forfeit. Raises the errors of `ask`."""
        text = prompt(board, rules=not self.options.no_rules, legal_moves=self.options.legal_moves)
        if stored := self._stored.get((task, text)):
            with self._lock:
                self.reused += 1
                self._count(stored)
            return Move.parse(stored["move"]) if stored["move"] else None
        messages, verdicts = [{"role": "user", "content": text}], list[str]()
        entry: dict[str, Any] = {"task": task, "settings": self.settings, "rules": str(board.rules)}
        entry |= {"position": board.text(), "move": None, "replies": verdicts, "finish_reasons": [], "tokens": [0, 0]}
        entry["messages"] = messages
        try:
            while True:
                reply = self.ask(messages)
                answer = read_answer(reply.text, board, reply.finish_reason)
                verdicts.append(answer.outcome)
                entry["finish_reasons"].append(reply.finish_reason)
                entry["tokens"] = [total + new for total, new in zip(entry["tokens"], reply.tokens, strict=True)]
                messages.append({"role": "assistant", "content": reply.text})
                if answer.move or len(verdicts) > self.options.retries:
                    entry["move"] = answer.move and str(answer.move)
                    return answer.move
                faults = {"illegal": f"{answer.named} is not a legal move.", "truncated": "Your reply was cut off."}
                fault = faults.get(answer.outcome, "Your last line must name exactly one move.")
                messages.append({"role": "user", "content": f"{fault} Try again."})
        except RequestError as error:
            verdicts.append("failed")
            messages.append({"role": "error", "content": str(error)})
            raise
        finally:
            with self._lock, self.options.transcripts.open("a", encoding="utf-8", errors="backslashreplace") as file:
                self._count(entry)
                file.write(json.dumps(entry, ensure_ascii=False) + "\n" if verdicts else "")

    def _count(self, entry: dict[str, Any]) -> None:
        self.replies.update(entry["replies"])
        self.tokens = [total + new for total, new in zip(self.tokens, entry["tokens"], strict=True)]


def play(model: LanguageModel, board: Board, seat: int, opponent: str, rng: np.random.Generator, task: str) -> str:
    """Play a game on, with the model in `seat`, until it ends or the model forfeits; return one of `RESULTS`."""
    player = make(opponent, board.rules)
    while (outcome := board.outcome) is None:
        move = model.choose_move(board, task) if board.mover == seat else choose_move(player, board, rng)
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


def followed(asked: Sequence[RulePairs], answers: dict[int, Move | None]) -> dict[str, Estimate]:
    """Return the shares `FOLLOWING` of the answers, and `random follows` and `random reverts` of a random legal move.

    Each entry of `asked` has one position; `answers` has the moves by its index.
    """
    samples = []
    for number, move in answers.items():
        given, other = (best_moves(suite)[0] for suite in (asked[number].given, asked[number].other))
        legal = np.isfinite(asked[number].given.values[0])
        follows, reverts = (move is not None and bool(best[move.action]) for best in (given, other))
        neither = move is not None and not follows and not reverts
        by_chance = [(best & legal).sum() / legal.sum() for best in (given, other)]
        samples.append([follows, reverts, neither, move is None, *by_chance])
    names = (*FOLLOWING, "random follows", "random reverts")
    columns = np.array(samples, dtype=np.float64).T
    return {name: score_estimate(column) for name, column in zip(names, columns, strict=True)}


def questions(
    options: argparse.Namespace, rng: np.random.Generator
) -> tuple[list[RulePairs], Suite | None, list[Board]]:
    """Return the rule pairs or the suite of positions to ask about, and a board for each.

    A rule pair is asked under both rule sets, unless the prompt states no rules.
    """
    if options.suite == "pairs":
        sides = [side for pairs in load_rule_pairs() for side in (pairs, pairs.swapped())[: 2 - options.no_rules]]
        every = [side.take(np.array([row])) for side in sides for row in range(len(side))]
        asked = [every[number] for number in rng.permutation(len(every))[: options.positions]]
        return asked, None, [pair.given.valued_board(0).board for pair in asked]
    whole = find_suite(options.rules)
    assert whole
    full_suite = whole.part("development")
    suite = full_suite.take(np.sort(rng.permutation(len(full_suite))[: options.positions]))
    return [], suite, [suite.valued_board(row).board for row in range(len(suite))]


def main(arguments: list[str]) -> dict[str, Any]:
    """Measure a model. Return regrets (also of the baselines) or shares, game results, counts of replies, `ended`."""
    options = parse_options(arguments)
    model, rng = LanguageModel(options), np.random.default_rng(options.seed)
    asked, suite, boards = questions(options, rng)
    core = Board(options.rules).core
    openings = load_openings(core, default_openings(core.rules), max(1, (options.games + 1) // 2), OPENING_PLIES, rng)
    rngs, answers, results = rng.spawn(options.games), dict[int, Move | None](), dict[int, str]()

    def ask_about(number: int) -> None:
        answers[number] = model.choose_move(boards[number], f"position {number}")

    def play_game(number: int) -> None:
        board = Board.from_positions(core, openings.positions, number // 2)
        results[number] = play(model, board, number % 2, options.opponent, rngs[number], f"game {number}")

    with ThreadPoolExecutor(options.jobs) as pool:
        tasks = [pool.submit(ask_about, number) for number in range(len(boards))]
        tasks += [pool.submit(play_game, number) for number in range(options.games)]
        try:
            for task in tasks:
                with suppress(RequestError, CancelledError):
                    task.result()
        except (KeyboardInterrupt, OSError) as error:  # OSError: the transcript cannot be written
            model.stop(str(error) or "interrupted")
    measured: dict[str, Any] = {"replies": model.replies, "results": Counter(results.values()), "ended": model.ended}
    answers = dict(sorted(answers.items()))  # threads finish in any order
    measured["regret"] = regrets(suite, answers, rng) if suite and answers else {}
    measured["following"] = followed(asked, answers) if asked and answers else {}
    print(report(model, measured, answers, results))
    if model.ended:
        missing = f"{len(boards) - len(answers)} positions and {options.games - len(results)} games are missing"
        print(f"the run ended early ({missing}): {model.ended}", file=sys.stderr)
    return measured


def report(
    model: LanguageModel, measured: dict[str, Any], answers: dict[int, Move | None], results: dict[int, str]
) -> str:
    """Return tables of the results."""
    options, parts = model.options, list[str]()
    if groups := measured["regret"]:
        rows = [
            [options.model if name == "model" else name]
            + [interval(groups[group][name], ".2f") if group in groups else "" for group in ("answered", "asked")]
            for name in groups["asked"]
        ]
        counts = sum(move is not None for move in answers.values()), len(answers)
        heads = [f"regret in the {counts[0]} answered positions", f"in all {counts[1]}, forfeits as random moves"]
        parts.append(table(["player", *heads], rows, padded=True))
    if shares := measured["following"]:
        rows = [[name, interval(share, ".1f", 100)] for name, share in shares.items()]
        parts.append(table([f"{options.model}, {len(answers)} positions", "% (95 %)"], rows, padded=True))
    if results:
        games, points = measured["results"], {"wins": 1.0, "draws": 0.5}
        by_opening = dict[int, list[float]]()
        for number, result in sorted(results.items()):
            by_opening.setdefault(number // 2, []).append(points.get(result, 0.0))
        score = score_estimate(np.array([np.mean(scores) for scores in by_opening.values()]))
        heads, cells = [*RESULTS, "score, % (95 %)"], [*(str(games[name]) for name in RESULTS)]
        row = [f"{options.model} against {options.opponent}", *cells, interval(score, ".1f", 100)]
        parts.append(table(["games, a forfeit is a loss", *heads], [row], padded=True))
    parts.append("replies: " + ", ".join(f"{count} {kind}" for kind, count in model.replies.items()))
    parts[-1] += f"\ntokens: {model.tokens[0]:,} in prompts, {model.tokens[1]:,} in replies"
    parts[-1] += f"\nfrom the transcript: {model.reused} conversations" if model.reused else ""
    return "\n\n".join(parts)


def parse_options(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line, after checking everything that could fail after the work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value, text in (
        ("positions", 100, "number of positions of the suite"),
        ("rules", str(Rules()), "rules of the games and of the suite regret"),
        ("games", 20, "number of games, or 0; two games start from each balanced opening, with the seats swapped"),
        ("opponent", "greedy", "opponent in these games"),
        ("retries", 1, "further tries after a reply without a legal move"),
        ("max-tokens", 0, "limit on the tokens of a reply; 0: the endpoint's own limit"),
        ("jobs", 1, "number of parallel requests"),
        ("seed", 0, "seed of all randomness"),
        ("transcripts", Path("runs/llm.jsonl"), "file to which conversations are appended"),
    ):
        parser.add_argument(f"--{name}", type=type(value), default=value, help=f"{text} (default: %(default)s)")
    for name in ("base-url", "model"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--suite", choices=("regret", "pairs"), default="regret", help="the positions to ask about")
    parser.add_argument("--legal-moves", action="store_true", help="list the legal moves in each prompt")
    parser.add_argument("--no-rules", action="store_true", help="do not state the rules in prompts")
    options = parser.parse_args(arguments)
    if min(options.positions, options.jobs) < 1 or min(options.games, options.retries, options.max_tokens) < 0:
        parser.error("--positions and --jobs must be 1 or more; --games, --retries and --max-tokens 0 or more")
    if not re.match("https?://", options.base_url):
        parser.error(f"--base-url must begin with http:// or https://; got {options.base_url}")
    try:
        make(options.opponent, options.rules)
        if options.suite == "regret" and find_suite(options.rules) is None:
            load_suite(options.rules)  # raises an error that says how to make one
        options.transcripts.parent.mkdir(parents=True, exist_ok=True)
        options.transcripts.open("a").close()
    except (UsageError, OSError) as error:
        parser.error(str(error))
    return options


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])["ended"]))
