"""Make the page's puzzles for each two-player preset: positions from games, with one move that provably wins.

    python -m tools.write_puzzles                   for all presets
    python -m tools.write_puzzles --rules tonkin    for one preset

*Games.* The page's levels except the last play one another with random seats, starting after each number of random
plies in `RANDOM_PLIES`. A search of `FILTER_DEPTH` plies with the value net looks for running positions in which
exactly one move seems to win the game. Of positions that are equal except for scores, mirroring and swapped seats, one
is kept. These candidates are examined in random order until each difficulty has `PER_LEVEL`. If the games so far
yield too few, another batch is played, up to `BATCHES` in total.

*Proof.* The solver is to move, and its goal is to win the game: a final margin of `GOAL` points or more. Proof-number
search (`oanquan_env.proofs.proof_search`) proves for every move of the solver either that it reaches the goal whatever
the opponent plays (a *right* move) or that the opponent can prevent it. A position is rejected if the search proves
neither for one of its moves within `NODES` nodes, or if it has fewer than `FEWEST` legal moves.

*Line.* The first move is the only right move. The opponent then plays the reply that leaves the solver the fewest right
moves; among equal replies, it plays the one with the longest proof. If only one move is right again, the line
continues, up to `LONGEST` moves of the solver; if several are right, each of them is accepted, and the line ends there.
At least half of the legal moves must be wrong at each step; otherwise the line ends before that step. A line has at
least two moves of the solver.

*Difficulty.* The page's levels in `WEAKER` try each puzzle `TRIALS` times in total, a third each; a trial succeeds if
it finds the whole line. A puzzle is easy if at least the share `EASY` of the trials succeeds, and hard if less than the
share `HARD` succeeds.

*Choice.* A file has `PER_LEVEL` puzzles of each difficulty. Longer lines are preferred, then earlier puzzles. If one
difficulty has fewer puzzles, the others fill the file up to three times `PER_LEVEL`. Puzzles whose first move makes the
largest capture in the position are rejected, except `BADGES` easy ones. Of the candidates whose seemingly winning move
makes the largest capture, only about one in ten is examined.

*Themes*: see `tools.puzzle_themes`.
"""

import argparse
import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from oanquan_env import PRESETS, Board, Core, Positions
from oanquan_env.array_types import Ints
from oanquan_env.engine.core import advance
from oanquan_env.engine.move import RUNNING
from oanquan_env.engine.notation import Move
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.files import write_atomically
from oanquan_env.play.levels import LEVELS, Level, player_at
from oanquan_env.proofs.proof_search import PROVED, ProofTable
from oanquan_env.rollouts import random_openings, seated
from oanquan_env.search.deepening import Search
from oanquan_env.search.search_state import apply_move, mover_first
from oanquan_env.search.value_net import read_value_net
from tools.puzzle_themes import is_largest_badge, points_lead, themes_of

FOLDER = Path(__file__).parents[1] / "oanquan_env" / "play" / "web" / "data"
NAMES = tuple(name for name, preset in PRESETS.items() if preset.rules.players == 2)

GAMES = {"vietnamese": 3000}
"""Games per batch by preset; 2,000 for all others."""
BATCHES = 3
"""Maximum number of batches; another batch is played only if the earlier batches yield too few puzzles."""
RANDOM_PLIES = (0, 1, 2, 3)
FIRST_PLY, LAST_PLY = {"vietnamese": 12}, 60
"""The earliest ply of a puzzle by preset (3 for all others), and the latest ply for all presets."""
FILTER_DEPTH = {"vietnamese": 4}
"""Depth of the filtering search in plies by preset; 6 for all others."""
NODES_PER_MS = 1000
"""Nodes per millisecond assumed for a search with a value net on the page; see `untimed`."""
GOAL = 1
NODES = 400_000
MEGABYTES = 32.0
FEWEST = 3
LONGEST = 3
PLAYERS = ("beginner", "easy", "medium", "hard")
WEAKER = ("beginner", "easy", "medium")
TRIALS = 1000
EASY, HARD = 0.25, 0.02
PER_LEVEL = 40
BADGES = 6


class Step(NamedTuple):
    """A position with the solver to move: right moves, number of legal moves, plies of the shortest proof."""

    right: tuple[str, ...]
    legal: int
    plies: int


class UnsolvedError(Exception):
    """Raised for a move that is proved neither right nor wrong."""


# ---- positions -------------------------------------------------------------------------------------------------------


def natural_positions(core: Core, games: int, first_ply: int, rng: np.random.Generator) -> Positions:
    """Play games between levels; return distinct (by `canonical_keys`) positions at plies `first_ply` to `LAST_PLY`."""
    levels = [player_at(untimed(LEVELS[name]), core.rules) for name in PLAYERS]
    seating = rng.integers(len(levels), size=(games, 2))
    openings = [random_openings(core, games // len(RANDOM_PLIES), plies, rng) for plies in RANDOM_PLIES]
    positions = Positions.concatenate(openings)
    batches = [positions[positions.ply >= first_ply]]
    for rows, _ in advance(core, positions, seated(levels, seating, rng)):
        now = positions[rows]
        batches.append(now[~now.over & (now.ply >= first_ply) & (now.ply <= LAST_PLY)])
    visited = Positions.concatenate(batches)
    return visited[first_of_each(canonical_keys(core, visited))]


def candidates(core: Core, positions: Positions, depth: int) -> tuple[Positions, Ints]:
    """Return positions in which a search to `depth` expects one of `FEWEST` or more moves to win, and these actions."""
    search = Search(core, threads=1, net=read_value_net("pretrained", core.rules))
    lead = positions.scores[:, 0] - positions.scores[:, 1]
    lead = np.where(positions.mover == 0, lead, -lead)
    finals = search.values(positions, depth) + lead[:, None]
    rows = (((finals >= GOAL).sum(axis=1) == 1) & (core.legal_mask(positions).sum(axis=1) >= FEWEST)).nonzero()[0]
    return positions[rows], np.nanargmax(finals[rows], axis=1)


# ---- proofs ----------------------------------------------------------------------------------------------------------


class Prover:
    """A proof search for moves that reach the goal. Its own table makes puzzles independent of each other."""

    def __init__(self, core: Core, nodes: int = NODES) -> None:
        self.table, self._nodes = ProofTable(core, MEGABYTES), nodes

    def reaches(self, board: Board, move: str) -> int:
        """Return the plies of the proof that a move reaches `GOAL` (1 if it ends the game); 0 if it provably cannot.

        Raises `UnsolvedError` if neither is proved, or if the proof is longer than the ply limit allows.
        """
        own, other = mover_first(board.positions)[0].tolist()
        own, other, gain, state = apply_move(self.table.rules, own, other, Move.parse(move).action)
        most = gain + points_lead(board) - GOAL  # the opponent's largest future margin that meets the goal
        if state != RUNNING:
            return int(most >= 0)
        for bound, is_lower in ((most, False), (most + 1, True)):
            if self.table.prove(own, other, bound, is_lower=is_lower, nodes=self._nodes) == PROVED:
                plies = 1 + self.table.plies(own, other, bound, is_lower=is_lower)
                if board.ply + plies > board.rules.max_plies:
                    break
                return 0 if is_lower else plies
        raise UnsolvedError

    def step(self, board: Board) -> Step:
        """Return the `Step` at a position with the solver to move, after proving each move right or wrong."""
        legal = [str(move) for move in board.legal_moves]
        plies = {move: length for move in legal if (length := self.reaches(board, move))}
        return Step(tuple(plies), len(legal), min(plies.values(), default=0))

    def defence(self, board: Board) -> tuple[str, Board, Step] | None:
        """Return the reply that leaves the solver the fewest right moves, the board after it, and the `Step` there.

        Return None if every reply ends the game.
        """
        replies = []
        for reply in map(str, board.legal_moves):
            after = board.copy()
            after.push(reply)
            if after.outcome is None:
                replies.append((reply, after, self.step(after)))
        return min(replies, key=lambda reply: (len(reply[2].right), -reply[2].plies), default=None)


def line_of(board: Board, prover: Prover) -> list[str] | None:
    """Return the moves of solver and opponent in turn; the last entry joins all right moves with spaces.

    Return None if several first moves are right, or none, or if the line has only one move.
    """
    step, line = prover.step(board), list[str]()
    if len(step.right) != 1:
        return None
    while True:
        line.append(" ".join(step.right))
        if len(step.right) > 1 or len(line) == 2 * LONGEST - 1:
            break
        board = board.copy()
        board.push(step.right[0])
        answer = None if board.outcome else prover.defence(board)
        if answer is None or 2 * len(answer[2].right) > answer[2].legal:
            break
        reply, board, step = answer
        line.append(reply)
    return line if len(line) > 1 else None


# ---- difficulty ------------------------------------------------------------------------------------------------------


def untimed(level: Level) -> Level:
    """Return the level with only its first player, limited by its depth or by nodes instead of by time."""
    name = re.sub(r"(depth=\d+),ms=\d+", r"\1", level.players[0])
    name = re.sub(r"ms=(\d+)", lambda match: f"nodes={NODES_PER_MS * int(match[1])}", name)
    return level._replace(players=(name,))


def share_found(core: Core, board: Board, line: list[str], rng: np.random.Generator) -> float:
    """Return the share of trials by the weaker levels that find the whole line."""
    successes = 0
    for number, name in enumerate(WEAKER):
        level, at = player_at(untimed(LEVELS[name]), core.rules), board.copy()
        trying = len(range(number, TRIALS, len(WEAKER)))
        for right, reply in itertools.zip_longest(line[::2], line[1::2]):
            chosen = level.choose(at.positions[np.zeros(trying, dtype=np.intp)], rng) if trying else np.zeros(0)
            trying = int(np.isin(chosen, [Move.parse(move).action for move in right.split()]).sum())
            at.push(right.split()[0])
            if reply:
                at.push(reply)
        successes += trying
    return successes / TRIALS


def level_of(share: float) -> str:
    """Return the difficulty of a puzzle, given the share of trials that solve it."""
    return "easy" if share >= EASY else "hard" if share < HARD else "medium"


# ---- making ----------------------------------------------------------------------------------------------------------


def examine(core: Core, board: Board) -> dict[str, Any] | None:
    """Return a puzzle made from a candidate, or None if it is unsuitable; a hash of the position seeds the trials."""
    try:
        line = line_of(board, Prover(core))
    except UnsolvedError:
        return None
    if line is None:
        return None
    text = board.text()
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {
        "id": digest[:6],
        "position": text,
        "line": line,
        "themes": themes_of(board, [moves.split()[0] for moves in line]),
        "found": round(share_found(core, board, line, np.random.default_rng(int(digest, 16))), 3),
        "badge": is_largest_badge(board, line[0]),
    }


def examined(name: str) -> Iterator[dict[str, Any] | None]:
    """Yield a puzzle for each candidate of a preset, or None if the candidate is rejected or skipped."""
    core = Core(PRESETS[name].rules)
    examined_keys: set[bytes] = set()
    number = 0
    for batch in range(BATCHES):
        rng = np.random.default_rng(batch)
        natural = natural_positions(core, GAMES.get(name, 2000), FIRST_PLY.get(name, 3), rng)
        positions, actions = candidates(core, natural, FILTER_DEPTH.get(name, 6))
        keys = [key.tobytes() for key in canonical_keys(core, positions)]
        print(f"{name}: batch {batch}, {len(natural)} positions, {len(positions)} candidates", flush=True)
        for row in rng.permutation(len(positions)).tolist():
            if keys[row] in examined_keys:
                continue
            examined_keys.add(keys[row])
            board = Board.from_positions(core, positions, row)
            badge = is_largest_badge(board, str(Move.from_action(actions[row])))
            number += 1
            yield None if badge and (number - 1) % 10 else examine(core, board)


def by_level(puzzles: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Group puzzles by difficulty; omit puzzles that begin with the largest capture, except `BADGES` easy ones."""
    levels: dict[str, list[dict[str, Any]]] = {"easy": [], "medium": [], "hard": []}
    badges = 0
    for puzzle in puzzles:
        level = level_of(puzzle["found"])
        if puzzle["badge"]:
            badges += level == "easy"
            if level != "easy" or badges > BADGES:
                continue
        levels[level].append({key: value for key, value in puzzle.items() if key != "badge"})
    return levels


def choose(puzzles: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Choose the puzzles of a file; return them by difficulty, the easiest of each difficulty first."""
    levels = by_level(puzzles)
    spare = 3 * PER_LEVEL - sum(min(PER_LEVEL, len(members)) for members in levels.values())
    for level, members in levels.items():
        count = min(len(members), PER_LEVEL + spare)
        spare -= max(0, count - PER_LEVEL)
        longest = sorted(members, key=lambda puzzle: -len(puzzle["line"]))[:count]
        levels[level] = sorted(longest, key=lambda puzzle: -puzzle["found"])
    return levels


def as_json(levels: dict[str, list[dict[str, Any]]]) -> bytes:
    """Return compact JSON with one puzzle per line."""
    text = json.dumps(levels, separators=(",", ":"))
    return re.sub(r"\},\{", "},\n{", text).encode() + b"\n"


def make(name: str) -> None:
    """Make and write the puzzle file of the preset `name`."""
    made_puzzles: list[dict[str, Any]] = []
    for tried, puzzle in enumerate(examined(name), 1):
        made_puzzles += [puzzle] if puzzle else []
        counts = {level: len(members) for level, members in by_level(made_puzzles).items()}
        if tried % 50 == 0:
            print(f"{name}: {tried} tried, {counts}", flush=True)
        if min(counts.values()) >= PER_LEVEL:
            break
    content = as_json(choose(made_puzzles))
    write_atomically(FOLDER / f"puzzles-{name}.json", content)
    print(f"{name}: {tried} tried, {counts} found, {len(content):,} bytes", flush=True)


def main() -> None:
    """Make the files of all two-player presets, or only of the preset given by `--rules`."""
    description = (__doc__ or "").partition("\n\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tools.write_puzzles", description=description)
    parser.add_argument("--rules", choices=NAMES, help="make puzzles for this preset only")
    options = parser.parse_args()
    for name in [options.rules] if options.rules else NAMES:
        make(name)


if __name__ == "__main__":
    main()
