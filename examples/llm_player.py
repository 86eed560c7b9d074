"""How far a language model's moves are from the best ones, asked over the OpenAI chat-completions protocol.

    python -m examples.llm_player --base-url http://localhost:11434/v1 --model llama3.1
    OPENAI_API_KEY=… python -m examples.llm_player --base-url https://api.openai.com/v1 --model gpt-4o-mini --jobs 8

The model gets positions of the regret suite as text, each in a request of its own, and answers with a move. Regret says
what its moves lose on average, in points; random and greedy play the same positions beside it. Wins say much less: a
model that loses every game may still be nearer to the best play than another that does so.

The last line of a reply must be a legal move and nothing else, such as `5A`; what stands before it is not read, so that
a model may think aloud. For any other reply a random legal move is played, and the reply is counted.

A request that got no answer, or was refused for the moment, is sent again; after that the run ends and says why. The
key comes from the environment alone, as other users of a machine can read a command line.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from examples.chat_endpoint import Endpoint
from oanquan_env import Board, Positions, render
from oanquan_env.arrays import Ints
from oanquan_env.benchmark.markdown import regret_table
from oanquan_env.benchmark.pairs import chance
from oanquan_env.benchmark.progress import ProgressLine
from oanquan_env.benchmark.regret import PHASES, Suite, regret
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import Move, NotationError, names, seat_name
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.files import check_place, one_line, parse_json, write_atomically
from oanquan_env.players import RandomPolicy, make

PROG = "python -m examples.llm_player"
BASELINES = ("random", "greedy")
ANSWER = "Think as long as you like. The last line of your reply must be your move alone, such as 5A."


# ---- the position as text --------------------------------------------------------------------------------------------


TOLD = ("empty_mandarin", "refill_when", "end", "stone_value", "max_plies", "fields", "capture")
"""Fields of `Rules` that the words below tell; in all others the rules must be the default ones."""


def rules_in_words(rules: Rules) -> str:
    """The rules of two players, as far as they differ in the fields that are `TOLD`."""
    gap = rules.empty_mandarin == "gap"
    halt = "a mandarin square that is not empty" if gap else "a mandarin square, empty or not"
    empty = "an empty square" if gap else "an empty field"
    again = f"after the captured square there is again {empty}, and then a square that is not empty"
    chain = "" if rules.capture == "single" else f" If {again}, you capture that too, and so on."
    at_once = rules.refill_when == "at_once"
    when = "A player whose fields are all empty at the end of any turn" if at_once else "A player to move"
    left = "" if at_once else " whose fields are all empty"
    ending = "both stones have been captured" if rules.end == "stones_captured" else "both mandarin squares are empty"
    return f"""\
O An Quan is a game of two players, South and North. Each owns a row of {rules.fields} fields, numbered from its own \
left. Between the rows, at both ends, lies a mandarin square that nobody owns. All squares form one ring. A seed is \
worth 1 point, a mandarin stone {rules.stone_value}.
A move is the number of one of your fields that is not empty, and A (anticlockwise) or C (clockwise). Anticlockwise is \
from your left to your right, then through the mandarin square at your right, then on through the other row.
You lift all seeds of the field and drop them one by one into the squares that follow in that direction, mandarin \
squares included. Then look at the square after the last seed:
- If it is {halt}, your turn ends.
- If it is a field that is not empty, lift its seeds and sow them in the same direction; then look again.
- If it is {empty} and the square after it is not empty, you capture all that lies there.{chain} Then your turn ends.
- If it is {empty} and the square after it is empty too, your turn ends.
{when}{left} pays {rules.fields} points to put one seed into each of its fields, even points that it does not have yet.
The game ends when {ending}; after {rules.max_plies} moves it ends in any case. Then each player gets the \
seeds that are left on its own fields. Your aim is to end with as many more points than the other player as you can."""


def drawn_prompt(board: Board) -> str:
    """The rules in words, the board as a picture of characters, and the legal moves."""
    drawing = (
        f"{render.text(board)}\n({render.terminal.STONE} is a mandarin stone; the numbers outside are the fields')"
    )
    return _prompt(board, rules_in_words(board.rules), drawing)


def notation_prompt(board: Board) -> str:
    """One line of notation for the position, without the rules of the game."""
    notation = (
        f"Ô Ăn Quan, rules '{board.rules}'. A position is South's fields from its left and the mandarin square after "
        "them, then North's likewise (* is a mandarin stone); the scores of South and North; who moves (0 South, 1 "
        "North); the ply. A move is the mover's field from its own left, and A (anticlockwise) or C (clockwise)."
    )
    return _prompt(board, notation, board.text())


PROMPTS: dict[str, Callable[[Board], str]] = {"drawn": drawn_prompt, "notation": notation_prompt}


def _prompt(board: Board, explained: str, position: str) -> str:
    moves = board.legal_moves
    asked = f"You are {seat_name(board.rules, board.mover)}. Your legal moves: {names(moves)}. Which move is the best?"
    return f"{explained}\n\n{position}\n\n{asked}\n{ANSWER}"


def read_reply(reply: str, legal: list[Move]) -> Move | str:
    """The legal move that is the last line of a reply, or what is wrong with it: `illegal` or `unreadable`."""
    try:
        move = Move.parse((reply.strip().splitlines() or [""])[-1].strip())
    except NotationError:
        return "unreadable"
    return move if move in legal else "illegal"


# ---- the player ------------------------------------------------------------------------------------------------------


class LanguagePlayer:
    """A language model as a `oanquan_env.players.Policy`.

    Args:
        core: of the rules to play.
        ask: returns the model's reply to a prompt; called from `jobs` threads at once.
        prompt: one of `PROMPTS`.
        jobs: requests under way at once.
        advance: hears of each reply.

    Attributes:
        replies: how many were a legal move, `illegal` or `unreadable`. For both of these a random legal move is played.
    """

    def __init__(
        self,
        core: Core,
        ask: Callable[[str], str],
        prompt: str = "drawn",
        jobs: int = 1,
        advance: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.core = core
        self.replies = Counter(legal=0, illegal=0, unreadable=0)
        self._ask, self._prompt, self._jobs, self._advance = ask, PROMPTS[prompt], jobs, advance
        self._random = RandomPolicy(core)

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`; raises what `ask` raises."""
        actions = self._random.choose(positions, rng)
        boards = [Board.from_positions(self.core, positions, row) for row in range(len(positions))]
        with ThreadPoolExecutor(self._jobs) as pool:
            for row, reply in enumerate(pool.map(lambda board: self._ask(self._prompt(board)), boards)):
                found = read_reply(reply, boards[row].legal_moves)
                self.replies["legal" if isinstance(found, Move) else found] += 1
                if isinstance(found, Move):
                    actions[row] = found.action
                self._advance(1)
        return actions


# ---- the command -----------------------------------------------------------------------------------------------------


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=PROG, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add, given = parser.add_argument, os.environ.get
    add("--base-url", metavar="URL", default=given("OPENAI_BASE_URL"), help="(default: $OPENAI_BASE_URL)")
    add("--model", metavar="NAME", default=given("OPENAI_MODEL"), help="(default: $OPENAI_MODEL)")
    add("--prompt", choices=PROMPTS, default="drawn", help="how positions are told (default: %(default)s)")
    add("--rules", type=Rules.parse, default=DEFAULT_PRESET, help="of two players, with a suite (default: %(default)s)")
    add("--positions", metavar="N", type=int, default=100, help="how many, drawn by the seed (default: %(default)s)")
    add("--part", choices=("development", "test"), default="development", help="of the suite (default: %(default)s)")
    add("--seed", type=int, default=0, help="of all chance of ours (default: %(default)s)")
    add("--jobs", metavar="N", type=int, default=1, help="requests under way at once (default: %(default)s)")
    add("--timeout", metavar="S", type=float, default=120, help="seconds of silence at most (default: %(default)s)")
    add("--retries", metavar="N", type=int, default=3, help="times that a request is repeated (default: %(default)s)")
    add("--extra", metavar="JSON", default="{}", help="""more fields of a request, as '{"temperature": 0}'""")
    add("--output", metavar="FILE", type=Path, help="write everything that was measured here, as JSON")
    options = parser.parse_args(arguments)
    for name, variable in (("base_url", "OPENAI_BASE_URL"), ("model", "OPENAI_MODEL")):
        if not getattr(options, name):
            parser.error(f"--{name.replace('_', '-')} is needed, or {variable} in the environment")
    for name, least in (("positions", 1), ("jobs", 1), ("retries", 0), ("seed", 0)):
        if getattr(options, name) < least:
            parser.error(f"--{name} must be {least} or more; got {getattr(options, name)}")
    if not 0 < options.timeout < float("inf"):
        parser.error(f"--timeout must be a number of seconds above 0; got {options.timeout}")
    return options


def draw_positions(rules: Rules, part: Any, count: int, seed: int) -> Suite:
    """`count` positions of a part of the rules' suite; raises `ValueError` where there is none or it has fewer."""
    suite = find_suite(rules)
    if suite is None or rules.players > 2:
        raise ValueError(f"--rules: there is no regret suite of two players for '{rules}'")
    untold = sorted(set(rules.differences(Rules())) - set(TOLD))
    if untold:
        raise ValueError(f"--rules: this example has no words for the {', '.join(untold)} of '{rules}'")
    whole = suite.part(part)
    if count > len(whole):
        raise ValueError(f"--positions: the {part} part of {suite.name} has {len(whole)}; got {count}")
    return whole.take(np.sort(np.random.default_rng(seed).permutation(len(whole))[:count]))


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Ask the model and the baselines; returns what `--output` writes."""
    extra = parse_json(options.extra)
    if not isinstance(extra, dict):
        raise ValueError(f"--extra must be a JSON object; got {one_line(options.extra)!r}")
    key = os.environ.get("OPENAI_API_KEY", "")
    endpoint = Endpoint(options.base_url, options.model, key, extra, options.timeout, options.retries)
    if options.output:
        check_place("--output", options.output)
    suite = draw_positions(options.rules, options.part, options.positions, options.seed)
    line = ProgressLine()
    player = LanguagePlayer(suite.core, endpoint.ask, options.prompt, options.jobs, line.advance)
    line.begin(f"{options.model}, replies", len(suite))
    began = time.perf_counter()
    try:
        rows = {options.model: regret(player, suite, chance(options.seed, options.model))}
    finally:
        line.end()
    seconds = time.perf_counter() - began
    rows |= {name: regret(make(name, suite.core.rules), suite, chance(options.seed, name)) for name in BASELINES}
    print(regret_table(rows, ("all", *PHASES), padded=True))
    wrong = len(suite) - player.replies["legal"]
    said = f"{wrong} of {len(suite)} replies were no legal move, {player.replies['illegal']} of them an illegal one"
    print(f"{said}; random moves replaced them.")
    settings = {name: value for name, value in vars(options).items() if name not in ("output", "extra")}
    return {
        **settings,
        "rules": str(suite.core.rules),
        "extra": extra,
        "suite": {"name": suite.name, "digest": suite.digest()},
        "replies": dict(player.replies),
        "seconds": round(seconds, 1),
        "regret": {name: dataclasses.asdict(row) for name, row in rows.items()},
    }


def main(arguments: list[str]) -> int:
    """Measure a model; returns the exit status."""
    options = parse(arguments)
    try:
        found = run(options)
        if options.output:
            write_atomically(options.output, (json.dumps(found, indent=1) + "\n").encode())
    except (ValueError, OSError) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
