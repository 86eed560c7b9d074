"""A model of the page's sessions that uses the library's boards, matches and records; the page must agree with it."""

import copy
import random
from dataclasses import replace
from typing import Any

from oanquan_env import Board, parse_records
from oanquan_env.board import IllegalMoveError
from oanquan_env.engine.notation import Language, NotationError, seat_name
from oanquan_env.engine.trace import MoveTrace
from oanquan_env.match.match import Match, Round, resigned
from oanquan_env.match.ownership import Ownership
from oanquan_env.match.settling import debt
from oanquan_env.records.games import GameRecord, format_records
from oanquan_env.records.match_records import is_resigned, match_records, resume_match, round_headers

Json = dict[str, Any]
Script = list[tuple[str, Json]]
Answer = tuple[bool, Json, MoveTrace | None]
"""Whether a request is refused; after it, the page's state and the trace of the last move (None if there is none)."""
PLAYED = "random"  # the name of a player whose moves the test chooses
OTHERS = ("undo", "undo", "redo", "back", "back", "resign", "load", "link", "next_round", "move")


class Reference:
    """A session's game, the moves that were taken back, the serial number of each move, and the match, if any."""

    def __init__(self, board: Board, names: list[str], match: Match | None = None, gave_up: bool = False) -> None:
        self.board, self.names, self.match = board, names, match
        self.resigned = board.mover if gave_up and board.outcome is None else None
        self.undone: list[list[str]] = []
        self.serials: dict[tuple[int, str], int] = {}

    @property
    def over(self) -> bool:
        return self.board.outcome is not None or self.resigned is not None

    @property
    def turn(self) -> str:
        return "over" if self.over else "person" if self.names[self.board.mover] == "human" else "player"

    @property
    def ago(self) -> int:
        """The number of moves since a person last moved, including that move; 0 if no person has moved."""
        movers = (self.names[(self.board.mover - back) % len(self.names)] for back in range(1, self.played + 1))
        return next((back for back, name in enumerate(movers, 1) if name == "human"), 0)

    @property
    def played(self) -> int:
        return len(self.board.history)

    def line(self) -> list[int]:
        line = [0]
        for move in self.board.history:
            line.append(self.serials.setdefault((line[-1], str(move)), len(self.serials) + 1))
        return line[1:]

    def push(self, move: str) -> None:
        self.board.push(move)
        self.undone.clear()

    def undo(self) -> None:
        if self.resigned is not None:
            self.resigned = None
        elif self.ago:
            self.back(self.played - self.ago)
        else:
            raise ValueError

    def redo(self) -> None:
        if self.resigned is not None or not self.undone:
            raise ValueError
        for move in self.undone.pop():
            self.board.push(move)

    def back(self, moves: int) -> None:
        if not 0 <= moves <= self.played:
            raise ValueError
        self.resigned = None
        if moves < self.played:
            self.undone.append([str(self.board.pop()) for _ in range(self.played - moves)][::-1])

    def resign(self) -> None:
        if self.turn != "person":
            raise ValueError
        self.resigned = self.board.mover

    def settled(self) -> Match | None:
        if self.match is None or not self.over:
            return None
        settled = copy.copy(self.match)
        settled.rounds = self.match.rounds.copy()
        settled.close_round(resigned(self.board.positions), [move.action for move in self.board.history])
        return settled

    def next_round(self) -> "Reference":
        settled = self.settled()
        if settled is None or settled.outcome is not None:
            raise ValueError
        return Reference(Board.from_positions(settled.core, settled.positions), self.names, settled)

    def rematch(self, *, swap: bool) -> "Reference":
        names = [*self.names[1:], self.names[0]] if swap else self.names
        match = self.match and Match(self.board.rules, self.match.match_rules)
        return Reference(Board(self.board.rules) if match else self.board.start(), names, match)

    def record(self) -> str:
        names = {seat_name(self.board.rules, seat): name for seat, name in enumerate(self.names)}
        settled = self.settled()
        if settled is not None:
            return format_records(match_records(settled, names))
        record = GameRecord.from_board(self.board, {**names, **(round_headers(self.match) if self.match else {})})
        if self.resigned is not None:
            comments = {self.played: f"{seat_name(record.rules, self.resigned)} resigns"}
            record = replace(record, termination="resigned", comments=comments)
        return format_records([*(match_records(self.match, names) if self.match else []), record])

    def load(self) -> "Reference":
        records = parse_records(self.record())
        match, board = resume_match(records) if self.match else (None, records[0].board())
        return Reference(board, self.names, match, is_resigned(records[-1]))

    def link(self) -> "Reference":
        """Return the session loaded from its link, which omits a resignation unless the game belongs to a match."""
        if self.match is None:
            self.resigned = None
        return self.load()

    def scores(self) -> list[int] | None:
        settled, outcome = self.settled(), self.board.outcome
        return None if outcome is None else list(settled.rounds[-1].scores if settled else outcome.scores)

    def state(self) -> Json:
        """Return the part of the page's state that the library can compute."""
        board, start, scores = self.board, self.board.start(), self.scores()
        winners = [seat for seat, score in enumerate(scores) if score == max(scores)] if scores else None
        others = [seat for seat in range(board.rules.players) if seat != self.resigned]
        return {
            "rules": str(board.rules),
            "record": self.record(),
            "position": board.text(),
            "start": {"seeds": start.seeds, "stones": start.stones, "scores": start.scores},
            "starter": start.mover,
            "line": self.line(),
            "mover": board.mover,
            "ply": board.ply,
            "legal": [] if self.over else [str(move) for move in board.legal_moves],
            "previews": {str(move): preview(board.sowing(move)) for move in board.legal_moves}
            if self.turn == "person"
            else {},
            "seats": [{"name": name, "person": name == "human"} for name in self.names],
            "turn": self.turn,
            "resigned": self.resigned,
            "winners": winners if self.resigned is None else others,
            "outcome": scores and {
                "scores": scores,
                "winners": winners,
                "termination": str(board.outcome and board.outcome.termination),
            },
            "can_undo": self.resigned is not None or self.ago > 0,
            "can_redo": self.resigned is None and bool(self.undone),
            "match": self.match and self._match(self.match),
            "puzzle": None,
            "trouble": "",
            "can_resume": False,
        }  # fmt: skip

    def _match(self, match: Match) -> Json:
        settled = self.settled()
        shown = settled or match
        owners = [*(one.ownership for one in shown.rounds), shown.ownership]
        return {
            "number": match.round_number,
            "rounds": [self._round(one, after) for one, after in zip(shown.rounds, owners[1:], strict=True)],
            "codes": match.ownership.owners().tolist(),
            "sold": [len(row) for row in shown.ownership.sold],
            "pawned": [len(row) for row in shown.ownership.pawned],
            "fields_to_lose": match.match_rules.fields_to_lose,
            "settled": settled is not None,
            "over": shown.outcome is not None,
            "winner": shown.outcome and shown.outcome.winner,
        }

    def _round(self, finished: Round, after: Ownership) -> Json:
        """Return the result of a finished round and the fields that changed hands after it."""
        before, scores, half = finished.ownership, list(finished.scores), self.board.rules.total // 2
        held = [set(owned.sold_text().split()) | set(owned.pawned_text().split()) for owned in (before, after)]
        return {
            "scores": scores,
            "winner": finished.winner,
            "owed": debt(max(scores), min(scores), half, 0) if finished.winner is not None else 0,
            "sold": sorted(set(after.sold_text().split()) - set(before.sold_text().split())),
            "pawned": sorted(set(after.pawned_text().split()) - set(before.pawned_text().split())),
            "returned": sorted(held[0] - held[1]),
        }

    def last(self) -> MoveTrace | None:
        """Return the trace of the last move; if it ended the game, its standings take owned fields into account."""
        trace = self.board.last_trace
        return replace(trace, standings=tuple(self.scores() or ())) if trace and trace.termination else trace


def move_json(trace: MoveTrace, seats: dict[Language, list[str]]) -> Json:
    """Return a move in the form of the page's state; `seats` are the players' names by language."""
    parts = ("gap", "square", "seeds", "stones", "points")
    laps = [{"kind": "lap", "square": lap.square, "seeds": lap.seeds, "squares": [*lap.squares]} for lap in trace.laps]
    captures = [{part: getattr(capture, part) for part in parts} for capture in trace.captures]
    refillings = [{"kind": "refilling", "player": one.player, "seeds": one.seeds} for one in trace.refillings]
    seeds, stones, scores = map(list, trace.frames()[-1])
    path = [square for lap in trace.laps for square in lap.squares]
    return {
        "player": trace.player,
        "mover": (trace.player + 1) % trace.rules.players,
        "move": str(trace.move),
        "steps": [*laps, *({"kind": "taking", "player": trace.player} | capture for capture in captures), *refillings],
        "after": {"seeds": seeds, "stones": stones, "scores": scores},
        "standings": list(trace.standings),
        "last": {"origin": trace.laps[0].square, "path": path, "last": path[-1], "step": 1 - 2 * trace.move.direction}
        | {"captured": [capture.square for capture in trace.captures]},
        "lines": {language: list(trace.lines(language, names)) for language, names in seats.items()},
    }


def preview(trace: MoveTrace) -> Json:
    return {
        "path": [square for lap in trace.laps for square in lap.squares],
        "taken": [capture.square for capture in trace.captures],
        "captured": [trace.captured, sum(capture.stones for capture in trace.captures)],
    }


def requests(reference: Reference, rng: random.Random, count: int) -> tuple[Script, list[Answer]]:
    """Draw `count` requests that follow a session's first one; return them and the `count` + 1 expected answers."""
    script: Script = []
    answers = [(False, reference.state(), reference.last())]
    for _ in range(count):
        draw, legal = rng.random(), [str(move) for move in reference.board.legal_moves]
        if reference.turn == "player" and draw < 0.8:
            name, asked = "answer", {"move": rng.choice(legal)}
        elif reference.undone and draw < 0.4:
            name, asked = "redo", {}
        elif reference.over and draw < 0.8:
            over = reference.match is None or reference.state()["match"]["over"]
            name, asked = ("rematch", {"swap": rng.random() < 0.5}) if over else ("next_round", {})
        elif reference.turn == "person" and draw < 0.8:
            name, asked = "move", {"move": rng.choice([*legal, *legal, "9A"]), "ply": reference.board.ply}
        else:
            name = rng.choice(OTHERS)
            asked = {
                "back": {"moves": rng.randint(max(reference.played - 4, -1), reference.played + 1)},
                "load": {"text": reference.record()},
                "move": {"move": "1A", "ply": reference.board.ply + 1},
            }.get(name, {})
        try:
            if name == "move" and asked["ply"] != reference.board.ply:
                raise ValueError
            if name in ("move", "answer"):
                reference.push(asked["move"])
            else:
                reference = getattr(reference, name)(**({} if name == "load" else asked)) or reference
            refused = False
        except (ValueError, NotationError, IllegalMoveError):
            refused = True
        script.append((name, asked))
        answers.append((refused, reference.state(), reference.last()))
    return script, answers
