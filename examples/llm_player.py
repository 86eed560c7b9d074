"""The regret of a language model's moves, asked over the OpenAI chat-completions protocol.

    python -m examples.llm_player --base-url http://localhost:11434/v1 --model llama3.1
    OPENAI_API_KEY=… python -m examples.llm_player --base-url https://api.openai.com/v1 --model gpt-4o-mini --jobs 8

The model gets positions of the regret suite as text, each in a request of its own. The last line of its reply must be a
legal move and nothing else, such as `5A`; for any other reply a random legal move is played, and the reply is counted.
The key comes from the environment alone: other users can read a command line.
"""

import argparse
import json
import os
import sys
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from oanquan_env import Board, Core, Positions, Rules, render
from oanquan_env.arrays import Ints
from oanquan_env.benchmark.regret import judge
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.engine.notation import Move, NotationError, names, seat_name
from oanquan_env.players import RandomPolicy, make

RULES = """\
O An Quan is a game of two players, South and North. Each owns a row of 5 fields, numbered from its own left. Between \
the rows, at both ends, lies a mandarin square that nobody owns. All squares form one ring. A seed is worth 1 point, a \
mandarin stone 10.
A move is the number of one of your fields that is not empty, and A (anticlockwise) or C (clockwise). You lift all \
seeds of the field and drop them one by one into the squares that follow, mandarin squares included. Then look at the \
square after the last seed:
- If it is a mandarin square, empty or not, your turn ends.
- If it is a field that is not empty, lift its seeds and sow them in the same direction; then look again.
- If it is an empty field and the square after it is not empty, you capture all that lies there; so you do again while \
after the captured square there is an empty field and then a square that is not empty. Then your turn ends.
- If it is an empty field and the square after it is empty too, your turn ends.
A player to move whose fields are all empty pays 5 points to put one seed into each, even points that it does not have.
The game ends when both stones have been captured; then each player gets the seeds on its own fields. Your aim is to \
end with as many more points than the other player as you can."""


def prompt_of(board: Board) -> str:
    """The rules of `mancala-world` in words, the board as a picture of characters, and the legal moves."""
    signs = f"({render.terminal.STONE} is a mandarin stone; the numbers outside are the fields')"
    asked = f"You are {seat_name(board.rules, board.mover)}. Your legal moves: {names(board.legal_moves)}."
    end = "The last line of your reply must be your move alone, such as 5A."
    return f"{RULES}\n\n{render.text(board)}\n{signs}\n\n{asked} {end}"


def read_reply(reply: str, legal: list[Move]) -> Move | None:
    """The legal move that is the last line of a reply, if it is one."""
    try:
        move = Move.parse((reply.strip().splitlines() or [""])[-1].strip())
    except NotationError:
        return None
    return move if move in legal else None


class LanguagePlayer:
    """A language model as a player; `replies` counts its `legal` and `other` replies."""

    def __init__(self, core: Core, base_url: str, model: str, jobs: int = 1) -> None:
        self.core, self.url, self.model = core, f"{base_url.rstrip('/')}/chat/completions", model
        self.jobs, self.replies = jobs, Counter(legal=0, other=0)

    def ask(self, prompt: str) -> str:
        """The model's reply; raises `OSError` after four tries, and `ValueError` for what is no chat completion."""
        body = json.dumps({"model": self.model, "messages": [{"role": "user", "content": prompt}]}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        if key := os.environ.get("OPENAI_API_KEY"):
            request.add_unredirected_header("Authorization", f"Bearer {key}")
        for wait in (1, 4, 16, 0):
            try:
                with urllib.request.urlopen(request, timeout=120) as reply:
                    return str(json.load(reply)["choices"][0]["message"]["content"] or "")
            except (KeyError, IndexError, TypeError, ValueError):
                raise ValueError(f"{self.url}: the answer is not a chat completion") from None
            except OSError:  # also of a refusal for the moment
                if not wait:
                    raise
                time.sleep(wait)
        raise AssertionError

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        actions = RandomPolicy(self.core).choose(positions, rng)
        boards = [Board.from_positions(self.core, positions, row) for row in range(len(positions))]
        with ThreadPoolExecutor(self.jobs) as pool:
            for row, reply in enumerate(pool.map(lambda board: self.ask(prompt_of(board)), boards)):
                move = read_reply(reply, boards[row].legal_moves)
                self.replies["other" if move is None else "legal"] += 1
                actions[row] = actions[row] if move is None else move.action
        return actions


def main(arguments: list[str]) -> dict[str, float]:
    """Measure a model beside random and greedy; returns their mean regrets in points."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("positions", 100), ("jobs", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default, help="(default: %(default)s)")
    for name in ("base-url", "model"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args(arguments)
    rng, whole = np.random.default_rng(options.seed), load_suite(Rules()).part("development")
    suite = whole.take(np.sort(rng.permutation(len(whole))[: options.positions]))
    player = LanguagePlayer(suite.core, options.base_url, options.model, options.jobs)
    players = {options.model: player, "random": make("random"), "greedy": make("greedy")}
    found = {name: float(judge(suite, one.choose(suite.positions, rng)).regret.mean()) for name, one in players.items()}
    print("\n".join(f"{name}: regret {regret:.2f} points" for name, regret in found.items()))
    print(f"{player.replies['other']} of {len(suite)} replies were no legal move; random moves replaced them")
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
