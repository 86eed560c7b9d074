"""engine.wasm in Python: what engine.js does, by wasmtime; and positions as JavaScript has them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oanquan_env import Core, MatchRules, Ownership, Positions, Rules
from oanquan_env.search.limits import SearchResult

wasmtime = pytest.importorskip("wasmtime")

WEB = Path(__file__).parents[1] / "oanquan_env" / "play" / "web"
PAGE = 2**16
FIELDS = "seeds", "stones", "scores", "mover", "ply", "ended"


def as_json(core: Core, positions: Positions) -> dict[str, Any]:
    """The first position of a batch."""
    columns = core.seeds(positions), core.stones(positions), positions.scores
    numbers = positions.mover, positions.ply, positions.ended
    return dict(zip(FIELDS, [column[0].tolist() for column in (*columns, *numbers)], strict=True))


class WebAssemblyEngine:
    """One record of each kind in the module's memory; its interface is that of engine.js."""

    def __init__(self) -> None:
        self.layout = json.loads((WEB / "engine.json").read_text())
        self._store = wasmtime.Store()
        module = wasmtime.Module.from_file(self._store.engine, str(WEB / "engine.wasm"))
        self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        place, self._places = self._exports["__heap_base"].value(self._store) + PAGE, {}
        for kind, record in self.layout["records"].items():
            place += -place % 64
            self._places[kind] = place
            place += record["size"]
        memory = self._exports["memory"]
        memory.grow(self._store, place // PAGE + 1)
        self._bytes = np.frombuffer(memory.get_buffer_ptr(self._store), np.uint8)

    def view(self, kind: str, field: str, count: int = 1, dtype: type[np.generic] = np.int32) -> np.ndarray:
        begin = self._places[kind] + self.layout["records"][kind][field]
        return self._bytes[begin : begin + count * np.dtype(dtype).itemsize].view(dtype)

    def numbers(self, kind: str, *fields: str) -> list[int]:
        return [self.view(kind, field)[0].item() for field in fields]

    def call(self, name: str, *kinds: str) -> None:
        returned = self._places["rules"] - 64
        status = self._exports[name](self._store, returned, returned + 8, *(self._places[kind] for kind in kinds))
        assert status == 0

    def use(self, rules: Rules, kind: str = "rules") -> None:
        for name, number in rules.numbers.items():
            self.view(kind, name, 1, np.int64)[0] = number
        self.call(f"fill_{kind}", kind)

    def write(self, position: dict[str, Any]) -> None:
        for name in FIELDS:
            value = np.atleast_1d(position[name])
            self.view("game", name, len(value))[:] = value

    def read(self, rules: Rules) -> dict[str, Any]:
        sizes = rules.squares, rules.players, rules.players
        rows = [self.view("game", name, size).tolist() for name, size in zip(FIELDS, sizes, strict=False)]
        return dict(zip(FIELDS, [*rows, *self.numbers("game", *FIELDS[3:])], strict=True))

    def legal(self, position: dict[str, Any]) -> list[int]:
        self.write(position)
        self.call("find_legal", "rules", "game")
        return [action for action in range(10) if self.view("game", "legal")[0] >> action & 1]

    def play(self, position: dict[str, Any], action: int) -> tuple[int, int, list[tuple[int, ...]]]:
        """Points captured, laps and steps."""
        self.write(position)
        self.view("game", "action")[0] = action
        self.call("play", "rules", "game")
        captured, laps, count = self.numbers("game", "captured", "laps", "step_count")
        return captured, laps, list(map(tuple, self.view("game", "steps", 4 * count).reshape(count, 4).tolist()))

    def standings(self, rules: Rules, position: dict[str, Any]) -> list[int]:
        self.write(position)
        self.call("find_standings", "rules", "game")
        points: list[int] = self.view("game", "points", rules.players).tolist()
        return points

    def search(self, rules: Rules, position: dict[str, Any], net: bytes | None, **limits: int) -> SearchResult:
        """As engine.js, but for the line of max^n, which is the first move alone."""
        kind, work = ("two_rules", ["two", "table"]) if rules.players == 2 else ("many_rules", ["many"])
        self.use(rules)
        self.use(rules, kind)
        self.write(position)
        if net is not None:
            self.view(kind, "net", len(net), np.uint8)[:] = np.frombuffer(net, np.uint8)
        for name, number in {"depth": 0, "nodes": 0, "every_move": 0, "has_net": net is not None, **limits}.items():
            self.view("query", name)[0] = number
        self.call("search_two" if rules.players == 2 else "search_many", kind, "game", "query", *work)
        valued, depth, proved, nodes = self.numbers("query", "valued", "reached", "proved", "played")
        values = self.view("query", "values", rules.actions, np.float64).tolist()
        known = {action: value for action, value in enumerate(values) if valued >> action & 1}
        value = self.view("query", "value", 1, np.float64)[0].item()
        actions = tuple(action for action in known if known[action] == value)
        line = tuple(move - 1 for move in self.view("query", "line", depth, np.int8).tolist() if move)
        line = line if rules.players == 2 else actions[:1]
        return SearchResult(actions[0], actions, value, depth, proved == 1, nodes, line, known)

    def settle(
        self, position: dict[str, Any], settings: MatchRules, ownership: Ownership, number: int, starter: int
    ) -> tuple[list[int], list[list[int]], dict[str, int]]:
        """Final points, marks, and winner, owed, match_end, match_winner and starter."""
        self.write(position)
        marks = self.view("match", "marks", 2 * self.layout["row"]).reshape(2, -1)
        marks[:, : ownership.fields] = ownership.marks()
        asked = {"match_measure": settings.match_measure == "margin", "fields_to_lose": settings.fields_to_lose}
        for name, value in {**asked, "max_rounds": settings.max_rounds, "round": number, "starter": starter}.items():
            self.view("match", name)[0] = value
        self.call("settle", "rules", "game", "match")
        told = "winner", "owed", "match_end", "match_winner", "starter"
        points = self.view("game", "points", 2).tolist()
        return points, marks[:, : ownership.fields].tolist(), dict(zip(told, self.numbers("match", *told), strict=True))
