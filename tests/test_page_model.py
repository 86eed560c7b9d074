"""The page's own sessions: the same requests lead to the positions, stories, matches and records of the library."""

import copy
import json
import random
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.page import catalogue
from oanquan_env import Board, Rules, parse_records
from oanquan_env.board import IllegalMoveError
from oanquan_env.engine.move_trace import MoveTrace
from oanquan_env.engine.notation import NotationError, seat_name
from oanquan_env.match.match import Match, Round, resigned
from oanquan_env.match.ownership import Ownership
from oanquan_env.match.settling import debt
from oanquan_env.play import vietnamese
from oanquan_env.records.games import GameRecord, format_records
from oanquan_env.records.match_records import is_resigned, match_records, resume_match, round_headers
from tests.node import CALLS, run_node
from tests.strategies import PRESET_NAMES

Json = dict[str, Any]
Script = list[tuple[str, Json]]
Told = tuple[bool, Json, MoveTrace | None]
"""Whether a request is refused; the state, and the last move, after it."""
PLAYED = "random"  # a player that is no person; the test chooses its moves
PROVED = catalogue()["certificates"]
OTHERS = ("undo", "undo", "redo", "back", "back", "resign", "load", "link", "next_round", "move")
VARIANTS = (
    "tonkin fields=3 seeds=3 quan_non=2",
    "vietnamese refill=forfeit refill_when=at_once mandarin_leftovers=split",
    "app mandarin_seeds=2 seeds=2 mandarin_seeds_capturable=False sowing=clockwise",
    "three-player fields=2 leftovers=split max_plies=9",
    "four-player fields=4 seeds=2 end=squares_empty refill=forfeit empty_mandarin=gap",
)


def played(scripts: list[Script]) -> list[list[Json]]:
    """The page's answers {refused, state, seats} to the requests of some sessions."""
    answers: list[list[Json]] = json.loads(run_node(CALLS / "session.mjs", asked=json.dumps(scripts)))
    return answers


# ---- the same session by the library's boards, matches and records ---------------------------------------------------


class Reference:
    """A game, with the moves that were taken back and the numbers of all moves."""

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
        """How many moves ago a person moved; 0 for never."""
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
            said = {self.played: f"{seat_name(record.rules, self.resigned)} resigns"}
            record = replace(record, termination="resigned", comments=said)
        return format_records([*(match_records(self.match, names) if self.match else []), record])

    def load(self) -> "Reference":
        records = parse_records(self.record())
        match, board = resume_match(records) if self.match else (None, records[0].board())
        return Reference(board, self.names, match, is_resigned(records[-1]))

    def link(self) -> "Reference":
        """A link holds no resignation of a single game."""
        if self.match is None:
            self.resigned = None
        return self.load()

    def scores(self) -> list[int] | None:
        settled, outcome = self.settled(), self.board.outcome
        return None if outcome is None else list(settled.rounds[-1].scores if settled else outcome.scores)

    def state(self) -> Json:
        """All that the page's state says by the library's word."""
        board, start, scores = self.board, self.board.start(), self.scores()
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
            "seats": [
                {"name": name, "person": name == "human", "proved": self._proved(seat)}
                for seat, name in enumerate(self.names)
            ],
            "turn": self.turn,
            "resigned": self.resigned,
            "outcome": scores and {
                "scores": scores,
                "winners": [seat for seat, score in enumerate(scores) if score == max(scores)],
                "termination": str(board.outcome and board.outcome.termination),
            },
            "can_undo": self.resigned is not None or self.ago > 0,
            "can_redo": self.resigned is None and bool(self.undone),
            "match": self.match and self._match(self.match),
            "puzzle": None,
            "trouble": "",
            "kept": False,
        }  # fmt: skip

    def _proved(self, seat: int) -> bool:
        """As the test's players say, but only with a certificate, and never where fields changed hands."""
        changed = self.match is not None and self.match.ownership.owners().any()
        holds = seat == 1 and self.names[seat] == PLAYED and self.played < 3 and not changed
        return holds and str(self.board.rules) in PROVED

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
        """A round, with the fields that changed hands after it."""
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
        """The trace of the last move; at the end of a game with the final points by ownership."""
        trace = self.board.last_trace
        return replace(trace, standings=tuple(self.scores() or ())) if trace and trace.termination else trace


def told(trace: MoveTrace) -> Json:
    """A move as the page shows it."""
    parts = ("gap", "square", "seeds", "stones", "points")
    laps = [{"kind": "lap", "square": lap.square, "seeds": lap.seeds, "squares": [*lap.squares]} for lap in trace.laps]
    takings = [{part: getattr(taking, part) for part in parts} for taking in trace.takings]
    refillings = [{"kind": "refilling", "player": one.player, "seeds": one.seeds} for one in trace.refillings]
    seeds, stones, scores = map(list, trace.frames()[-1])
    path = [square for lap in trace.laps for square in lap.squares]
    arrow = f"{trace.move.field + 1}{'↺↻'[trace.move.direction]}"
    return {
        "player": trace.player,
        "mover": (trace.player + 1) % trace.rules.players,
        "move": str(trace.move),
        "steps": [*laps, *({"kind": "taking", "player": trace.player} | taking for taking in takings), *refillings],
        "after": {"seeds": seeds, "stones": stones, "scores": scores},
        "standings": list(trace.standings),
        "last": {"origin": trace.laps[0].square, "path": path, "last": path[-1], "step": 1 - 2 * trace.move.direction}
        | {"captured": [taking.square for taking in trace.takings]},
        "lines": {
            "en": list(trace.lines()),
            "vi": [line[0].upper() + line[1:] for line in vietnamese.trace_lines(trace, arrow)],
        },
    }


def preview(trace: MoveTrace) -> Json:
    return {
        "path": [square for lap in trace.laps for square in lap.squares],
        "taken": [taking.square for taking in trace.takings],
        "captured": [trace.captured, sum(taking.stones for taking in trace.takings)],
    }


def requests(reference: Reference, rng: random.Random, count: int) -> tuple[Script, list[Told]]:
    """Requests of a session after its first one, and what the library says after each."""
    script: Script = []
    told = [(False, reference.state(), reference.last())]
    for _ in range(count):
        lucky, legal = rng.random(), [str(move) for move in reference.board.legal_moves]
        if reference.turn == "player" and lucky < 0.8:
            name, asked = "answer", {"move": rng.choice(legal)}
        elif reference.undone and lucky < 0.4:
            name, asked = "redo", {}
        elif reference.over and lucky < 0.8:
            over = reference.match is None or reference.state()["match"]["over"]
            name, asked = ("rematch", {"swap": rng.random() < 0.5}) if over else ("next_round", {})
        elif reference.turn == "person" and lucky < 0.8:
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
        told.append((refused, reference.state(), reference.last()))
    return script, told


@pytest.mark.parametrize("match", [None, "match_measure=lack"])
def test_sessions_are_those_of_the_library(match: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    scripts, wanted = [], []
    for text in (*PRESET_NAMES, *VARIANTS):
        rules = Rules.parse(text)
        if match is not None and rules.players > 2:
            continue
        names = [rng.choice(["human", "human", PLAYED]) for _ in range(rules.players)]
        asked = {"rules": text, "seats": names} | ({} if match is None else {"match": match})
        script, expected = requests(Reference(Board(rules), names, match and Match(rules, match)), rng, 60)
        scripts.append([("new", asked), *script])
        wanted.append(expected)
    compared = 0
    for script, expected, answers in zip(scripts, wanted, played(scripts), strict=True):
        moves: Json = {}
        for request, (refused, state, trace), answer in zip(script, expected, answers, strict=True):
            found = answer["state"]
            moves |= found["moves"]
            assert (answer["refused"] is not None) == refused, request
            assert comparable(found) == state, request
            if trace is not None:
                monkeypatch.setitem(vietnamese.SEAT_NAMES, trace.rules.players, answer["seats"])
                move = moves[str(found["line"][-1])]
                assert {name: move[name] for name in move if name not in ("under", "over")} == told(trace), request
                compared += 1
    assert compared > 200


def comparable(state: Json) -> Json:
    """The state without what the page adds, and without its moves."""
    own = ("version", "game", "moves", "link")
    found = {name: value for name, value in state.items() if name not in own}
    if found["match"]:
        found["match"] = {**found["match"], "codes": found["match"]["owners"]["codes"]}
        del found["match"]["owners"]
    return found


def test_a_puzzle_keeps_the_game_and_a_session_goes_on_elsewhere() -> None:
    begin, best = ("new", {"seats": ["human", PLAYED], "moves": "3A"}), ("move", {"move": "3A", "ply": 1})
    script = [begin, ("puzzle", {"number": 1}), best, ("puzzle", {"level": "hard", "number": 10**6}), ("reopen", {})]
    script += [
        ("resume", {}),
        ("resume", {}),
        ("answer", {"move": "1A"}),
        ("puzzle", {"level": "none"}),
        ("reopen", {}),
    ]
    [answers] = played([script])
    before, puzzle, solved, hard, again, after, refused, answered, none, there = (answer["state"] for answer in answers)
    assert (puzzle["puzzle"]["name"], puzzle["turn"]) == ("refute", "person")
    assert (solved["turn"], solved["legal"], solved["puzzle"]["answer"]["right"]) == ("solved", [], True)
    assert solved["moves"]["1"]["lines"]["vi"][0] == "Bạn đi 3↺."
    values = again["puzzle"]
    assert (values["level"], values["counts"]["hard"] > 2, values["answer"]) == ("hard", True, None)
    assert again["legal"]
    assert not again["previews"]
    assert {**again, "game": 0, "version": 0} == {**hard, "game": 0, "version": 0}
    kept = ("game", "line", "record", "seats", "turn", "position")
    assert [after[name] for name in kept if name != "game"] == [before[name] for name in kept if name != "game"]
    assert [answer["refused"] is None for answer in answers[6:9]] == [False, True, False]
    assert (refused["puzzle"], answered["line"], none["puzzle"]) == (None, [1, 2], None)
    assert there["record"] == none["record"]


def test_a_try_and_an_own_puzzle_leave_the_game_where_it_was() -> None:
    position = "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0"
    own: Json = {"rules": "mancala-world", "puzzle": {"position": position, "line": ["3A 2C"], "name": "own"}}
    script: Script = [("new", {"moves": "5A3A", "seats": ["human", PLAYED]}), ("branch", {"moves": 0})]
    script += [("move", {"move": "3A", "ply": 0}), ("rematch", {}), ("resume", {}), ("branch", {"moves": 1})]
    script += [("puzzle", own), ("move", {"move": "2C", "ply": 0}), ("reopen", {}), ("undo", {})]
    script += [("move", {"move": "5A", "ply": 0}), ("resume", {}), ("branch", {"moves": 9})]
    script += [("branch", {"moves": 1}), ("reopen", {}), ("resume", {})]
    [answers] = played([script])
    game, tried, moved, again, back, other, puzzle, right, reopened, _, wrong, end, none, begun, same, left = (
        one["state"] for one in answers
    )
    names = [seat["name"] for seat in other["seats"]]
    assert (tried["position"], moved["turn"], again["line"], again["kept"]) == (position, "player", [], True)
    assert names == [PLAYED, "human"]  # a person tries the move of the other player
    assert other["ply"] == 1
    assert (puzzle["puzzle"]["name"], puzzle["puzzle"]["answer"]) == ("own", None)
    assert right["puzzle"]["answer"] == {"move": "2C", "right": True, "line": ["3A 2C"]}
    assert (reopened["puzzle"]["level"], reopened["puzzle"]["answer"]) == ("own", None)
    assert wrong["puzzle"]["answer"]["right"] is False
    assert back == {**game, "version": back["version"], "moves": back["moves"]}
    assert (end["position"], end["kept"], end["puzzle"]) == (game["position"], False, None)
    assert answers[-4]["refused"]["code"] == "request"
    assert none["position"] == end["position"]
    assert (same["position"], same["seats"], same["kept"]) == (begun["position"], begun["seats"], True)
    assert (left["position"], left["kept"]) == (end["position"], False)


def test_a_puzzle_of_several_moves() -> None:
    puzzle = {"position": Board().text(), "line": ["3A", "1A", "2C 3A"], "name": "own"}
    given = ("puzzle", {"puzzle": puzzle, "rules": "mancala-world"})
    tries = [("4A", 0), ("3A", 1), ("3A", 0), ("5A", 2), ("2C", 2), ("3A", 2)]
    moves = [("move", {"move": move, "ply": ply}) for move, ply in tries]
    script = [("new", {"rules": "tonkin"}), given, moves[0], moves[1], ("undo", {}), moves[2], moves[3], ("reopen", {})]
    script += [given, moves[2], ("undo", {}), ("undo", {}), ("redo", {}), moves[4], moves[5], ("undo", {}), moves[5]]
    script += [("back", {"moves": 1}), moves[0], ("show_answer", {}), ("undo", {}), ("show_answer", {}), ("resume", {})]
    [answers] = played([script])
    refused = [number for number, answer in enumerate(answers) if answer["refused"]]
    assert refused == [3, 11, 14, 19]
    puzzles = [answer["state"]["puzzle"] for answer in answers]
    plies = [len(answer["state"]["line"]) for answer in answers]
    steps = [puzzle and (puzzle["step"], puzzle["answer"] and puzzle["answer"]["right"]) for puzzle in puzzles]
    first, second, wrong, right = (1, None), (2, None), (2, False), (2, True)
    assert steps[:8] == [None, first, (1, False), (1, False), first, second, wrong, first]
    assert steps[8:17] == [first, second, first, first, second, right, right, second, right]
    assert steps[17:] == [first, (1, False), (1, False), first, right, None]
    assert plies[:10] == [0, 0, 1, 1, 0, 2, 3, 0, 0, 2]  # the page replies
    assert plies[10:] == [0, 0, 2, 3, 3, 2, 3, 0, 1, 1, 0, 3, 0]
    assert [puzzles[number]["told"] for number in (16, 21)] == [False, True]
    assert (puzzles[1]["level"], puzzles[1]["steps"], puzzles[1]["rules"]) == ("own", 2, "mancala-world")
    assert answers[-1]["state"]["rules"] == "tonkin"


def test_records_name_those_who_played() -> None:
    text = '[Rules "mancala-world"]\n[South "Lan"]\n[North "random"]\n[Date "2025"]\n[Result "*"]\n\n1. 3A 1A\n*\n'
    script = [("load", {"text": text}), ("move", {"move": "2C", "ply": 2}), ("move", {"move": "2C", "ply": 3})]
    script += [("rematch", {}), ("load", {"text": text, "seats": ["random", "human"]}), ("answer", {"move": "2C"})]
    script += [("rematch", {"swap": True}), ("new", {"seats": ["human", "nobody"]}), ("new", {"seats": ["human"]})]
    [answers] = played([script])
    headers = [parse_records(answer["state"]["record"])[0].headers for answer in answers]
    assert [(each["South"], each["North"]) for each in headers[:7]] == [
        ("Lan", "random"), ("Lan", "random"), ("Lan", "human"), ("human", "human"), ("Lan", "random"),
        ("random", "random"), ("human", "random"),
    ]  # fmt: skip
    assert (headers[2]["Date"], "Date" in headers[3]) == ("2025", False)
    assert [answer["refused"] and answer["refused"]["code"] for answer in answers[6:]] == [None, "player", "player"]


def test_what_the_seats_are_called() -> None:
    seats = {
        ("human", "human"): ["bên dưới", "bên trên"],
        (PLAYED, PLAYED): ["bên dưới", "bên trên"],
        ("human", PLAYED): ["bạn", "máy"],
        (PLAYED, "human"): ["máy", "bạn"],
        (PLAYED, "human", PLAYED): ["máy bên trái", "bạn", "máy bên phải"],
        ("human", "human", PLAYED): ["bên dưới", "bên phải", "bên trái"],
        (PLAYED, PLAYED, PLAYED, "human"): ["máy bên phải", "máy bên trên", "máy bên trái", "bạn"],
    }
    presets = {2: "tonkin", 3: "three-player", 4: "four-player"}
    answers = played([[("new", {"rules": presets[len(names)], "seats": names})] for names in seats])
    assert [answer["seats"] for [answer] in answers] == list(seats.values())


def test_lessons_and_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vietnamese.SEAT_NAMES, 2, ["bạn", "đối thủ"])
    asked = [{}, {"moves": 1}, {"moves": 1}, {"moves": 0}, {"moves": 3}, {"moves": 1.5}]
    [answers] = played([[("new", {"moves": "3A1C"}), ("lessons", {}), *(("hint", moves) for moves in asked)]])
    for lesson in answers[1]["lessons"]:
        if lesson["move"]:
            start, move = lesson["start"], lesson["move"]
            board = Board.setup(start["seeds"], start["stones"], start["scores"], rules="vietnamese")
            board.push(move["move"])
            assert board.last_trace is not None
            assert {name: move[name] for name in move if name not in ("under", "over")} == told(board.last_trace)
    now, first, _, none, *refused = answers[2:]
    board = Board()
    board.push("3A")
    assert (first["hint"]["serial"], first["hint"]["ply"], first["hint"]["best"]) == (1, 1, board.text())
    assert (now["hint"]["serial"], now["hint"]["options"]) == (2, {"review": False, "proved": True})
    assert (none["hint"]["serial"], none["hint"]["options"]["review"]) == (0, True)
    assert [answer["refused"]["code"] for answer in refused] == ["request", "request"]
