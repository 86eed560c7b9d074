"""Measure how well a language model plays, over the OpenAI chat-completions protocol.

    python -m examples.llm_player --base-url http://localhost:11434/v1 --model llama3.1
    OPENAI_API_KEY=… python -m examples.llm_player --base-url https://api.openai.com/v1 --model gpt-4o-mini --jobs 8

The model gets positions of the regret suite as text, each in its own conversation, and then plays whole games. The last
line that names a move must name only one move: `**3A**` and "I play 3A." are accepted. After a reply without a move, or
with an illegal move, the model is asked again, up to `--retries` times; then it forfeits the game or the position. All
conversations are appended to a file. The key comes only from the environment, because other users can read a command
line.
"""

import argparse
import json
import os
import re
import sys
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from oanquan_env import Board, Move, Rules, choose_move, render
from oanquan_env.array_types import Ints
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.regret import Suite, judge
from oanquan_env.benchmark.statistics import Estimate, bootstrap_means
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.engine.notation import names, seat_name
from oanquan_env.players import make

MOVE = re.compile(r"(?<!\w)[1-9][AaCc](?!\w)")
RESULTS = ("wins", "draws", "losses", "forfeits")

RULES = """\
O An Quan is a game of two players, South and North. Each owns a row of 5 fields, numbered from its own left. Between \
the rows, at both ends, lies a mandarin square that nobody owns. All squares form one ring. A seed is worth 1 point, a \
mandarin stone 10.
A move is the number of one of your fields that is not empty, and A (anticlockwise) or C (clockwise). You lift all \
seeds of the field and drop them one by one into the squares that follow, mandarin squares included. Then look at the \
square after the last seed:
- If it is a mandarin square, empty or not, your turn ends.
- If it is a field that is not empty, lift its seeds and sow them in the same direction; then look again.
- If it is an empty field and the square after it is not empty, you capture everything in it. If another empty field \
and then another square that is not empty follow, you capture that square as well, and so on. Then your turn ends.
- If it is an empty field and the square after it is empty too, your turn ends.
A player to move whose fields are all empty pays 5 points to put one seed into each, even if it has fewer than 5 points.
The game ends when both stones have been captured; then each player gets the seeds on its own fields. Your aim is to \
end with as many more points than the other player as you can."""


def prompt_of(board: Board, legal_moves: bool = False) -> str:
    """Return a prompt with the rules of `mancala-world`, the board as text and, if requested, the legal moves."""
    signs = f"({render.terminal.STONE} is a mandarin stone; the numbers outside the board are field numbers)"
    legal = f" Your legal moves: {names(board.legal_moves)}." if legal_moves else ""
    task = f"You are {seat_name(board.rules, board.mover)}.{legal}"
    end = "The last line of your reply must be only your move, such as 5A."
    return f"{RULES}\n\n{render.text(board)}\n{signs}\n\n{task} {end}"


def read_reply(reply: str) -> Move | None:
    """Return the move in the last line of `reply` that names a move; None if that line names several or none exists."""
    lines = [{text.upper() for text in MOVE.findall(line)} for line in reply.splitlines()]
    named = next((moves for moves in reversed(lines) if moves), set())
    return Move.parse(named.pop()) if len(named) == 1 else None


class LanguageModel:
    """A language model that is asked for moves.

    Args:
        base_url: URL of the endpoint, without `/chat/completions`.
        model: name of the model at that endpoint.
        legal_moves: whether prompts list the legal moves.
        retries: number of times that the model is asked again after a reply without a legal move.
        transcripts: file to which each conversation is appended as a line of JSON.

    Attributes:
        replies: counts of `legal`, `illegal` and `unparsed` replies.
    """

    def __init__(self, base_url: str, model: str, *, legal_moves: bool, retries: int, transcripts: Path) -> None:
        self.url, self.model = f"{base_url.rstrip('/')}/chat/completions", model
        self.legal_moves, self.retries, self.transcripts = legal_moves, retries, transcripts
        self.replies, self._lock = Counter(legal=0, illegal=0, unparsed=0), Lock()

    def ask(self, messages: list[dict[str, str]]) -> str:
        """Return the model's reply. Raises `OSError` after four failures and `ValueError` for a malformed response."""
        body = json.dumps({"model": self.model, "messages": messages}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        if key := os.environ.get("OPENAI_API_KEY"):
            request.add_unredirected_header("Authorization", f"Bearer {key}")
        for wait in (1, 4, 16, 0):
            try:
                with urllib.request.urlopen(request, timeout=120) as reply:
                    return str(json.load(reply)["choices"][0]["message"]["content"] or "")
            except (KeyError, IndexError, TypeError, ValueError):
                raise ValueError(f"{self.url}: the response is not a chat completion") from None
            except OSError:  # includes temporary HTTP errors such as rate limits
                if not wait:
                    raise
                time.sleep(wait)
        raise AssertionError

    def choose_move(self, board: Board) -> Move | None:
        """Ask for a move and save the conversation; return None on a forfeit. Several threads may call this method."""
        messages, verdicts = [{"role": "user", "content": prompt_of(board, self.legal_moves)}], list[str]()
        while len(verdicts) <= self.retries and "legal" not in verdicts:
            reply = self.ask(messages)
            move = read_reply(reply)
            verdicts.append("unparsed" if move is None else "legal" if move in board.legal_moves else "illegal")
            fault = "Your last line must name exactly one move." if move is None else f"{move} is not a legal move."
            messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": f"{fault} Try again."}]
        line = {"model": self.model, "position": board.text(), "replies": verdicts, "messages": messages[:-1]}
        with self._lock, self.transcripts.open("a", encoding="utf-8") as file:
            self.replies.update(verdicts)
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return move if verdicts[-1] == "legal" else None


def play(model: LanguageModel, board: Board, seat: int, opponent: str, rng: np.random.Generator) -> str:
    """Play a game on, with the model in `seat`, until it ends or the model forfeits; return one of `RESULTS`."""
    player = make(opponent, board.rules)
    while (outcome := board.outcome) is None:
        move = model.choose_move(board) if board.mover == seat else choose_move(player, board, rng)
        if move is None:
            return "forfeits"
        board.push(move)
    return "draws" if outcome.winner is None else "wins" if outcome.winner == seat else "losses"


def regret_of(suite: Suite, actions: Ints) -> Estimate:
    """Return the mean regret, with its interval, of (N,) actions, one for each position of the suite."""
    return bootstrap_means(judge(suite, actions).regret[None, :, None], np.random.default_rng(0))[0]


def main(arguments: list[str]) -> dict[str, Any]:
    """Measure a model; return regrets (also of random and greedy), game results, and counts of replies."""
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
    settings = {name: getattr(options, name) for name in ("legal_moves", "retries", "transcripts")}
    model = LanguageModel(options.base_url, options.model, **settings)
    options.transcripts.parent.mkdir(parents=True, exist_ok=True)
    rng, full_suite = np.random.default_rng(options.seed), load_suite(Rules()).part("development")
    suite = full_suite.take(np.sort(rng.permutation(len(full_suite))[: options.positions]))
    core, number = suite.core, range(options.games)
    boards = [Board.from_positions(core, suite.positions, row) for row in range(len(suite))]
    openings = load_openings(core, "balanced", (options.games + 1) // 2, 0, rng).positions
    starts = [Board.from_positions(core, openings, game // 2) for game in number]
    with ThreadPoolExecutor(options.jobs) as pool:
        moves = list(pool.map(model.choose_move, boards))
        seats, rngs = [game % 2 for game in number], rng.spawn(options.games)
        results = Counter(pool.map(play, repeat(model), starts, seats, repeat(options.opponent), rngs))
    answered = np.array([row for row, move in enumerate(moves) if move], dtype=np.intp)
    regrets = {name: regret_of(suite, make(name).choose(suite.positions, rng)) for name in ("random", "greedy")}
    if answered.size:
        regrets[options.model] = regret_of(suite.take(answered), np.array([move.action for move in moves if move]))
    for name, one in regrets.items():
        print(f"{name}: regret {one.mean:.2f} ({one.low:.2f} to {one.high:.2f}) points")
    print(f"{options.model} answered {len(answered)} of {len(moves)} positions; its regret is over these positions")
    print(f"against {options.opponent}: " + ", ".join(f"{results[name]} {name}" for name in RESULTS))
    print("replies: " + ", ".join(f"{count} {kind}" for kind, count in model.replies.items()))
    return {"regret": regrets, "results": results, "replies": model.replies}


if __name__ == "__main__":
    main(sys.argv[1:])
