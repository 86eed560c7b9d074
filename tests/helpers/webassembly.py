"""The page's WebAssembly module, run by wasmtime through the methods of engine.js, and the core's expected answers."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np
import pytest

from oanquan_env import Core, Match, Positions, Rules
from oanquan_env.engine.move import MAX_PLIES, play
from oanquan_env.engine.scoring import in_turn
from oanquan_env.match.match import resigned
from oanquan_env.match.settling import debt
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import MaxnSearch
from oanquan_env.search.value_net import ValueNet
from tests import ROOT
from tools.write_page import net_bytes

wasmtime = pytest.importorskip("wasmtime")

WEB = ROOT / "oanquan_env" / "play" / "web"
PAGE = 2**16
FIELDS = "seeds", "stones", "scores", "mover", "ply", "ended"
Json: TypeAlias = dict[str, Any]
Call: TypeAlias = tuple[list[Any], Any]
"""A call as [method of engine.js, *arguments], and its expected answer."""


class PageEngine:
    """A WebAssembly module with one record of each kind; its methods have the names and results of engine.js."""

    def __init__(self, module: str = "engine.wasm") -> None:
        self.layout, self._held = json.loads((WEB / "engine.json").read_text()), None
        self._store = wasmtime.Store()
        code = wasmtime.Module.from_file(self._store.engine, str(WEB / module))
        self._exports = wasmtime.Instance(self._store, code, []).exports(self._store)
        place, self._places = self._exports["__heap_base"].value(self._store) + PAGE, {}
        for kind, record in self.layout["records"].items():
            place += -place % 64
            self._places[kind] = place
            place += record["size"]
        memory = self._exports["memory"]
        memory.grow(self._store, place // PAGE + 1)
        self._bytes = np.frombuffer(memory.get_buffer_ptr(self._store), np.uint8)

    def answer(self, rules: Rules, call: list[Any]) -> Any:
        name, *given = call
        if self._held != rules:
            self.use(rules)
            self._held = rules
        return getattr(self, name)(rules, *given)

    def view(self, kind: str, field: str, count: int = 1, dtype: type[np.generic] = np.int32) -> np.ndarray:
        begin = self._places[kind] + self.layout["records"][kind][field]
        return self._bytes[begin : begin + count * np.dtype(dtype).itemsize].view(dtype)

    def record(self, kind: str) -> np.ndarray:
        return self._bytes[self._places[kind] :][: self.layout["records"][kind]["size"]]

    def numbers(self, kind: str, *fields: str) -> list[int]:
        return [self.view(kind, field)[0].item() for field in fields]

    def call(self, name: str, *kinds: str, **numbers: int) -> None:
        """Call the export `name` with records of these kinds, after writing `numbers` to fields of the last record."""
        for field, number in numbers.items():
            self.view(kinds[-1], field)[0] = number
        returned = self._places["rules"] - 64
        assert self._exports[name](self._store, returned, returned + 8, *(self._places[kind] for kind in kinds)) == 0

    def use(self, rules: Rules, kind: str = "rules") -> None:
        self.view(kind, "players", len(rules.numbers), np.int64)[:] = list(rules.numbers.values())
        self.call(f"fill_{kind}", kind)

    def write(self, position: Json) -> None:
        for name in FIELDS:
            value = np.atleast_1d(position[name])
            self.view("game", name, len(value))[:] = value

    def read(self, rules: Rules) -> Json:
        sizes = rules.squares, rules.players, rules.players
        rows = [self.view("game", name, size).tolist() for name, size in zip(FIELDS, sizes, strict=False)]
        return dict(zip(FIELDS, [*rows, *self.numbers("game", *FIELDS[3:])], strict=True))

    def start(self, rules: Rules, starter: int = 0) -> Json:
        self.call("start", "rules", "game", mover=starter)
        return self.read(rules)

    def setUp(self, rules: Rules, position: Json) -> Json:
        self.write({**position, "ended": 0})
        self.call("set_up", "rules", "game")
        return self.read(rules)

    def legal(self, rules: Rules, position: Json) -> list[int]:
        self.write(position)
        self.call("find_legal", "rules", "game")
        return [action for action in range(rules.actions) if self.view("game", "legal")[0] >> action & 1]

    def play(self, rules: Rules, position: Json, action: int) -> Any:
        self.write(position)
        self.call("play", "rules", "game", action=action)
        points, laps, count = self.numbers("game", "captured", "laps", "step_count")
        if laps == 0:
            return f"RangeError: action {action} is not legal"
        steps = self.view("game", "steps", 4 * count).reshape(count, 4).tolist()
        return {"position": self.read(rules), "steps": steps, "points": points, "laps": laps}

    def standings(self, rules: Rules, position: Json) -> Any:
        self.write(position)
        self.call("find_standings", "rules", "game")
        return self.view("game", "points", rules.players).tolist()

    def search(self, rules: Rules, position: Json, limits: Json) -> Json:
        """Return the result of a search; with more than two players, its line has only the first move."""
        limits = {"depth": 0, "nodes": 0, "net": None, **limits}
        kind, work = ("two_rules", ["two", "table"]) if rules.players == 2 else ("many_rules", ["many"])
        self.use(rules, kind)
        self.write(position)
        if (net := limits.pop("net")) is not None:
            self.view(kind, "net", len(net), np.uint8)[:] = np.frombuffer(net, np.uint8)
        for name, number in {"has_net": net is not None, "every_move": limits.pop("everyMove"), **limits}.items():
            self.view("query", name)[0] = number
        self.call("search_two" if rules.players == 2 else "search_many", kind, "game", "query", *work)
        valued, depth, proved, nodes = self.numbers("query", "valued", "reached", "proved", "played")
        every = self.view("query", "values", rules.actions, np.float64).tolist()
        values = {action: value for action, value in enumerate(every) if valued >> action & 1}
        value = self.view("query", "value", 1, np.float64)[0].item()
        actions = [action for action in values if values[action] == value]
        line = [move - 1 for move in self.view("query", "line", depth, np.int8).tolist() if move]
        found = {"action": actions[0], "actions": actions, "value": value, "values": values, "depth": depth}
        return {**found, "proved": proved == 1, "nodes": nodes, "line": line if rules.players == 2 else actions[:1]}

    def settle(self, rules: Rules, match_rules: Json, asked: Json) -> Json:
        self.write(asked["position"])
        row, owned = self.layout["row"], asked["ownership"]
        marks = self.view("match", "marks", 2 * row).reshape(2, row)
        marks[:] = 0
        for player in (0, 1):
            marks[player, owned["sold"][player]] = 1 + np.arange(len(owned["sold"][player]))
            marks[player, owned["pawned"][player]] = -1 - np.arange(len(owned["pawned"][player]))
        settings = {**match_rules, "match_measure": match_rules["match_measure"] == "margin"}
        self.call("settle", "rules", "game", "match", **settings, round=asked["round"], starter=asked["starter"])
        order = [np.argsort(np.abs(line), kind="stable") for line in marks]
        sold, pawned = (
            [[field for field in order[player].tolist() if marks[player, field] * sign > 0] for player in (0, 1)]
            for sign in (1, -1)
        )
        winner, end, match_winner, starter = self.numbers("match", "winner", "match_end", "match_winner", "starter")
        return {
            "scores": self.view("game", "points", 2).tolist(),
            "winner": None if winner < 0 else winner,
            "owed": self.numbers("match", "owed")[0],
            "ownership": {"sold": sold, "pawned": pawned},
            "over": end != 0,
            "matchWinner": None if match_winner < 0 else match_winner,
            "starter": starter,
        }


# ---- answers of the core ---------------------------------------------------------------------------------------------


def as_json(core: Core, positions: Positions) -> Json:
    """Return the first position of a batch in the JSON form that engine.js uses."""
    columns = core.seeds(positions), core.stones(positions), positions.scores
    numbers = positions.mover, positions.ply, positions.ended
    return dict(zip(FIELDS, [column[0].tolist() for column in (*columns, *numbers)], strict=True))


def calls_of_a_game(rules: Rules, rng: np.random.Generator) -> Iterator[Call]:
    """Play a random game with NumPy, and yield the calls for each of its positions and moves."""
    core = Core(rules, compiled=False)
    positions = core.start()
    yield ["start"], as_json(core, positions)
    while True:
        before = as_json(core, positions)
        legal = core.legal_mask(positions)[0].nonzero()[0].tolist()
        yield ["legal", before], legal
        yield ["standings", before], core.standings(positions)[0].tolist()
        yield ["setUp", before], before
        if positions.over[0]:
            return
        yield call_of_a_move(core, positions, int(rng.choice(legal)))


def call_of_a_move(core: Core, positions: Positions, action: int) -> Call:
    """Play an action in place in a batch of one position, and return the call with its expected answer."""
    before, mover, steps = as_json(core, positions), int(positions.mover[0]), list[tuple[int, int, int, int]]()
    sides, scores = (in_turn(core.rules.players, one[0], mover) for one in (positions.words, positions.scores))
    play(core.numbers, core.rules.players, sides, scores, core.rules.max_plies - before["ply"] - 1, action, steps)
    played = core.play(positions, [action])
    if positions.ended[0] > MAX_PLIES:
        steps.clear()
    effects = {"points": int(played.captured[0]), "laps": int(played.laps[0])}
    return ["play", before, action], {"position": as_json(core, positions), "steps": [*map(list, steps)], **effects}


def call_of_a_search(core: Core, positions: Positions, net: ValueNet | None, limits: Json, line: bool = True) -> Call:
    """Search a position natively, and return the call; unless `line`, a max^n result has only the line's first move."""
    every = limits["everyMove"]
    given = Limits(**{name: number for name, number in limits.items() if name != "everyMove"})
    if core.rules.players == 2:
        found = Search(core, table_megabytes=16, threads=1, net=net).best(positions, given, every_move=every)
    elif line:
        found = MaxnSearch(core, net=net, threads=1).best(positions, given, every_move=every)
    else:
        found = MaxnSearch(core, net=net, threads=1).best_moves(positions, given, every_move=every)[0]
    answer = {**asdict(found), "actions": list(found.actions), "line": list(found.line)}
    del answer["proved_actions"]  # the page needs only whether the best value is proved
    return ["search", as_json(core, positions), {**limits, "net": net and net_bytes(net)}], answer


def call_of_a_round(match: Match, positions: Positions) -> Call:
    """Close a match's current round at a position, by resignation if the game is not over; return the call."""

    def owned() -> Json:
        return {"sold": [*map(list, match.ownership.sold)], "pawned": [*map(list, match.ownership.pawned)]}

    final, asked = resigned(positions), {"ownership": owned(), "starter": match.starter, "round": match.round_number}
    asked["position"] = as_json(match.core, final)
    settled = match.close_round(final)
    by_margin = match.match_rules.match_measure == "margin"
    owed = debt(max(settled.scores), min(settled.scores), match.rules.total // 2, by_margin)
    answer = {"scores": list(settled.scores), "winner": settled.winner, "ownership": owned()}
    answer["owed"] = 0 if settled.winner is None else owed
    over = match.outcome is not None
    starter = 1 - (asked["starter"] if settled.winner is None else settled.winner)
    answer |= {"over": over, "matchWinner": match.outcome.winner if match.outcome else None, "starter": starter}
    assert over or starter == match.starter
    return ["settle", asdict(match.match_rules), asked], answer
