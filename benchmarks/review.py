"""The review of a game on the page against a search of four million moves in every position.

    python -m benchmarks.review
    python -m benchmarks.review --keep games.jsonl --publish  # also writes benchmarks/results/review.json

Games of the page's levels, of `greedy` and of `random`, seats drawn by lot, begin at the set-up. The page's own modules
review them under Node.js, first by a quick pass and then by all moves of its budget. The reference is
`minimax:nodes=4000000`; where the table of openings proves more, its values are kept within those bounds, too.
"""

from __future__ import annotations

import contextlib
import functools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.config import OptionalFile, progress_bar
from benchmarks import report
from benchmarks.newcomer import untimed
from benchmarks.puzzle_themes import points_lead
from oanquan_env import PRESETS, Board, Move
from oanquan_env.benchmark.opening_values import opening_move_values
from oanquan_env.play.levels import LEVELS, player_at
from oanquan_env.players import Policy, make
from oanquan_env.playing import choose_move
from oanquan_env.search.bounds import Bounds
from oanquan_env.search.deepening import Limits, Search

PROGRAM = Path(__file__).with_suffix(".mjs")
REFERENCE = 4_000_000
"""Moves that the search of each position plays."""
MIXED = ("greedy", "random")
LARGE = 3
"""Points, as on the page: a move that gives away so many is listed as a mistake."""
HEADS = (
    "rules",
    "games",
    "moves",
    "review",
    "off by more than 3",
    "mistakes",
    "found",
    "false",
    "other winner",
    "found",
    "false",
)
STAGES = {"quick": "quick pass", "full": "whole"}
KINDS = {"search": "the search alone", "proved": "the search within proved bounds"}


class Loss(NamedTuple):
    """What a move gave away, in points, and whether it changed who wins."""

    points: int
    changed: bool

    @classmethod
    def of(cls, values: dict[int, float], action: int, lead: int) -> Loss:
        """Of one of the moves with these values; `lead` are the mover's points over the other's."""
        best, chosen = max(values.values()), values[action]
        return cls(round(best - chosen), bool(np.sign(best + lead) != np.sign(chosen + lead)))


def written(losses: Iterable[Loss]) -> str:
    """The losses of a game as text: points, with an exclamation mark where another player wins."""
    return " ".join(f"{points}{'!' * changed}" for points, changed in losses)


def read(text: str) -> list[Loss]:
    """The same again."""
    return [Loss(int(one.rstrip("!")), one.endswith("!")) for one in text.split()]


class Referee:
    """Plays games of some rules, and searches their positions."""

    def __init__(self, rules: str) -> None:
        parsed = PRESETS[rules].rules
        levels = (player_at(untimed(level), parsed) for level in LEVELS.values())
        self.rules = rules
        self._players: list[Policy] = [*levels, *(make(name, parsed) for name in MIXED)]
        self._search = Search(Board(parsed).core, threads=1)
        self._values = functools.cache(self._search_values)

    def play(self, number: int) -> Board:
        """The finished game of that number, of players who are drawn by lot."""
        rng, board = np.random.default_rng(number), Board(self.rules)
        seats = rng.choice(len(self._players), 2)
        while board.outcome is None:
            board.push(choose_move(self._players[seats[board.mover]], board, rng))
        return board

    def losses(self, board: Board) -> dict[str, list[Loss]]:
        """Of each move of a game, of each of `KINDS`."""
        found: dict[str, list[Loss]] = {kind: [] for kind in KINDS}
        for at, played in zip(board.boards(), board.history, strict=False):
            values, known = self._values(at.text()), opening_move_values(at)
            bounds = {action: known.get(Move.from_action(action), Bounds()) for action in values}
            within = {
                action: min(max(value, bounds[action].lower), bounds[action].upper) for action, value in values.items()
            }
            lead = points_lead(at)
            for kind, ones in zip(KINDS, (values, within), strict=True):
                found[kind].append(Loss.of(ones, played.action, lead))
        return found

    def _search_values(self, position: str) -> dict[int, float]:
        limits = Limits(nodes=REFERENCE)
        return self._search.best(Board.parse(position, rules=self.rules).positions, limits, every_move=True).values


@contextlib.contextmanager
def page() -> Iterator[Callable[[Board], dict[str, Any]]]:
    """The page's review of a game."""
    node = shutil.which("node")
    if node is None:
        sys.exit("python -m benchmarks.review needs Node.js, which runs the page's modules")
    with subprocess.Popen([node, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def review(board: Board) -> dict[str, Any]:
            asked = {"rules": str(board.rules), "moves": "".join(map(str, board.history))}
            stdin.write(json.dumps(asked) + "\n")
            stdin.flush()
            answer = stdout.readline()
            if not answer:
                raise RuntimeError(f"{PROGRAM.name} ended in the game {asked}")
            told: dict[str, Any] = json.loads(answer)
            return told

        yield review
        stdin.close()


def measure(options: Options) -> dict[str, list[dict[str, str]]]:
    """Of each game its moves, their losses by the review, and by the reference; those in `options.keep` are known."""
    names = [name for name, preset in PRESETS.items() if preset.rules.players == 2]
    found: dict[str, list[dict[str, str]]] = {name: [] for name in names}
    if options.keep and options.keep.exists():
        for line in options.keep.read_text(encoding="utf-8").splitlines():
            kept = json.loads(line)
            found[kept.pop("rules")].append(kept)
    referees = functools.cache(Referee)
    with page() as review, progress_bar() as progress:
        for number in progress.track(range(options.games)):
            for name in names:
                if len(found[name]) > number:
                    continue
                board = referees(name).play(number)
                told, truth = review(board), referees(name).losses(board)
                losses = {stage: [Loss(*one) for one in told[stage]] for stage in STAGES} | truth
                game = {"moves": " ".join(map(str, board.history))} | {
                    kind: written(ones) for kind, ones in losses.items()
                }
                found[name].append(game)
                if options.keep:
                    with options.keep.open("a", encoding="utf-8") as kept_file:
                        kept_file.write(json.dumps({"rules": name, **game}) + "\n")
    return {name: games[: options.games] for name, games in found.items()}


def counts(games: list[dict[str, str]], stage: str, kind: str = "proved") -> dict[str, int]:
    """How many moves the review and the reference agree on."""
    told, truth = ([loss for game in games for loss in read(game[one])] for one in (stage, kind))
    off = sum(abs(ours.points - theirs.points) > LARGE for ours, theirs in zip(told, truth, strict=True))
    large = ([loss.points >= LARGE for loss in losses] for losses in (told, truth))
    changed = ([loss.changed for loss in losses] for losses in (told, truth))
    return {
        "games": len(games),
        "moves": len(truth),
        "off": off,
        **agreement("large", *large),
        **agreement("changed", *changed),
    }


def agreement(name: str, listed: list[bool], true: list[bool]) -> dict[str, int]:
    """How many there are, how many of them are found, and how many are listed."""
    found = sum(ours and theirs for ours, theirs in zip(listed, true, strict=True))
    return {name: sum(true), f"{name} found": found, f"{name} listed": sum(listed)}


def row(rules: str, stage: str, of: dict[str, int]) -> list[str]:
    """One line of the table."""
    cells = [rules, str(of["games"]), str(of["moves"]), STAGES[stage], share(of["off"], of["moves"])]
    for name in ("large", "changed"):
        right, listed = of[f"{name} found"], of[f"{name} listed"]
        cells += [str(of[name]), share(right, of[name]), share(listed - right, listed)]
    return cells


def share(part: int, whole: int) -> str:
    """Of how many, in per cent."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def table_rows(results: dict[str, Any]) -> list[list[str]]:
    """For each preset, and for all of them, how far both passes agree with the reference."""
    games = {f"`{name}`": found for name, found in results["results"].items()}
    games["all"] = [game for found in games.values() for game in found]
    return [row(name, stage, counts(found, stage)) for name, found in games.items() for stage in STAGES]


@dataclass(frozen=True)
class Options(report.Options):
    """The command line."""

    games: int = 20
    """games of each preset of two players"""
    keep: OptionalFile = None
    """a file of the games that are finished: another run goes on behind them"""


def main() -> None:
    """Play the games, review them, and compare."""
    options = report.read_options(Options, __doc__, "review")
    found = measure(options)
    results = {"reference": f"minimax:nodes={REFERENCE}", "results": found}
    report.show("Losses by the review against the reference", HEADS, table_rows(results))
    every = [game for games in found.values() for game in games]
    for kind, name in KINDS.items():
        of = counts(every, "full", kind)
        print(f"off by more than {LARGE} from {name}: {share(of['off'], of['moves'])}")
    report.write(options, "review", results)


if __name__ == "__main__":
    main()
