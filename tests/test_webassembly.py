"""engine.wasm and engine.js against the core, the native searches and matches."""

import base64
import itertools
import json
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.webassembly.nets import net_bytes
from oanquan_env import PRESETS, Core, Match, MatchRules, Rules, RunawayGameError
from oanquan_env.engine.compiled import rule_record
from oanquan_env.engine.move import RUNAWAY, Steps, play_in_turn
from oanquan_env.match.match import resigned
from oanquan_env.match.settling import debt
from oanquan_env.playing import play_randomly, random_openings
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.maxn import ManySearch
from oanquan_env.search.value_net import ValueNet, read_value_net
from tests.nets import random_net
from tests.strategies import PRESET_NAMES, ownerships, seeds
from tests.strategies import rules as any_rules
from tests.webassembly import WEB, WebAssemblyEngine, as_json

ENGINE = WebAssemblyEngine()
presets_and_others = st.one_of(st.sampled_from(PRESET_NAMES).map(lambda name: PRESETS[name].rules), any_rules())
searchable = presets_and_others.map(lambda rules: rules.replace(refill="borrow"))


def compare_game(rules: Rules, rng: np.random.Generator) -> int:
    """Play a random game by the core's arrays and by engine.wasm; returns the number of plies."""
    core = Core(rules, compiled=False)
    positions = core.start(2)  # a batch of one would not be played by arrays
    ENGINE.use(rules)
    ENGINE.view("game", "mover")[0] = 0
    ENGINE.call("start", "rules", "game")
    assert ENGINE.read(rules) == as_json(core, positions)
    while True:
        now = as_json(core, positions)
        legal = core.legal_mask(positions)[0].nonzero()[0].tolist()
        assert ENGINE.legal(now) == legal
        assert ENGINE.standings(rules, now) == core.standings(positions)[0].tolist()
        if positions.over[0]:
            return positions.ply[0].item()
        mover, steps = positions.mover[0].item(), []
        turned = (positions.words[0].tolist()[mover:] + positions.words[0].tolist()[:mover] + [0] * 4)[:4]
        scores = (now["scores"][mover:] + now["scores"][:mover] + [0] * 4)[:4]
        action = int(rng.choice(legal))
        play_in_turn(core.numbers, rules.players, turned, scores, rules.max_plies - now["ply"] - 1, action, steps)
        captured, laps, noted = ENGINE.play(now, action)
        try:
            played = core.play(positions, [action, action])
        except RunawayGameError:
            assert ENGINE.view("game", "ended")[0] == RUNAWAY
            return positions.ply[0].item()
        assert (captured, laps, noted) == (played.captured[0], played.laps[0], steps)
        assert ENGINE.read(rules) == as_json(core, positions)


@given(presets_and_others, seeds)
def test_random_games_are_those_of_the_core(rules: Rules, seed: int) -> None:
    compare_game(rules, np.random.default_rng(seed))


@given(presets_and_others, seeds)
def test_tables_and_set_up_positions_are_those_of_the_core(rules: Rules, seed: int) -> None:
    rng, core, kept = np.random.default_rng(seed), Core(rules), rule_record(rules)
    held = ENGINE.view("rules", kept.dtype.names[0], kept.nbytes, np.uint8)
    held[:] = 0
    ENGINE.use(rules)
    assert held.tobytes() == kept.tobytes()
    empty = rng.random(rules.squares) < rng.choice([0.2, 0.9])
    board = np.where(empty, 0, rng.integers(0, 9, rules.squares)), rng.integers(0, rules.stones + 1, rules.players)
    scores, mover, ply = (
        rng.integers(-2, 7, rules.players),
        rng.integers(rules.players),
        rules.max_plies - rng.integers(2),
    )
    positions = core.setup(board[0][None], board[1][None], scores[None], mover, ply, checked=False)
    ENGINE.write({**as_json(core, positions), "ended": 0})
    ENGINE.call("set_up", "rules", "game")
    assert ENGINE.read(rules) == as_json(core, positions)


def test_an_illegal_move_is_not_played() -> None:
    core = Core()
    ENGINE.use(core.rules)
    position = as_json(core, core.start())
    for before, action in (
        (position, -1),
        (position, 10),
        (position | {"seeds": [0] * 12}, 3),
        (position | {"ended": 1}, 3),
    ):
        _, laps, _ = ENGINE.play(before, action)
        assert (laps, ENGINE.read(core.rules)) == (0, before)


def compare_search(rules: Rules, plies: int, seed: int, net: bool, **limits: int) -> int:
    """Search a random position natively and by engine.wasm; returns the nodes, or 0 for a game that is over."""
    rng, core = np.random.default_rng(seed), Core(rules)
    used = random_net(str(rules), scale=0.3, seed=seed) if net else None
    if rules.players == 2:
        native = Search(core, table_megabytes=16, threads=1, net=used)
    else:
        native = ManySearch(core, threads=1, net=used)
    positions = core.start()
    play_randomly(core, positions, plies, rng)
    if positions.over[0]:
        return 0
    every = bool(limits.pop("every_move"))
    expected = native.best_moves(positions, Limits(**limits), every_move=every)[0]
    content = None if used is None else net_bytes(used)
    assert ENGINE.search(rules, as_json(core, positions), content, every_move=every, **limits) == expected
    return expected.nodes


limits = st.one_of(
    st.fixed_dictionaries({"depth": st.integers(1, 5)}), st.fixed_dictionaries({"nodes": st.integers(1, 2_000)})
)


@given(searchable, st.integers(0, 30), seeds, st.booleans(), limits, st.booleans())
def test_searches_are_the_native_ones_node_for_node(
    rules: Rules, plies: int, seed: int, net: bool, limits: dict[str, int], every_move: bool
) -> None:
    compare_search(rules, plies, seed, net, every_move=every_move, **limits)


@given(any_rules(players=2), seeds, st.data())
def test_rounds_are_settled_as_matches_settle_them(rules: Rules, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    measure, to_lose = data.draw(st.sampled_from(["lack", "margin"])), data.draw(st.integers(1, rules.fields))
    match = Match(
        rules, MatchRules(match_measure=measure, fields_to_lose=to_lose, max_rounds=data.draw(st.integers(1, 2)))
    )
    match.ownership, match.starter = data.draw(ownerships(rules.fields)), data.draw(st.integers(0, 1))
    positions = match.core.start()
    play_randomly(match.core, positions, data.draw(st.sampled_from([3, rules.max_plies])), rng)
    positions.scores[0] += data.draw(st.integers(-40, 40))
    final, before, starter = resigned(positions), match.ownership, match.starter
    ENGINE.use(rules)
    points, marks, told = ENGINE.settle(as_json(match.core, final), match.match_rules, before, 1, starter)
    finished = match.close_round(final)
    assert points == list(finished.scores)
    assert np.array_equal(np.argsort(marks), np.argsort(match.ownership.marks()))
    assert np.sign(marks).tolist() == np.sign(match.ownership.marks()).tolist()
    assert told["winner"] == (-1 if finished.winner is None else finished.winner)
    owed = debt(max(points), min(points), rules.total // 2, measure == "margin")
    assert told["owed"] == (owed if finished.winner is not None else 0)
    ends = {None: 0, "fields_sold": 1, "max_rounds": 2}
    outcome = match.outcome
    assert told["match_end"] == ends[outcome and outcome.reason]
    assert told["match_winner"] == (-1 if outcome is None or outcome.winner is None else outcome.winner)
    assert outcome is not None or told["starter"] == match.starter


def calls_of_a_game(core: Core, rng: np.random.Generator) -> Iterator[tuple[list[Any], Any]]:
    """Calls of engine.js on the way through a random game, and what they must return."""
    rules, positions = core.rules, core.start()
    yield ["start"], as_json(core, positions)
    while True:
        before = as_json(core, positions)
        legal = core.legal_mask(positions)[0].nonzero()[0].tolist()
        yield ["legal", before], legal
        if positions.over[0]:
            yield ["standings", before], core.standings(positions)[0].tolist()
            yield ["setUp", before], before
            return
        action, mover = int(rng.choice(legal)), before["mover"]
        turned = [(row[mover:] + row[:mover] + [0] * 4)[:4] for row in (positions.words[0].tolist(), before["scores"])]
        steps: Steps = []
        play_in_turn(core.numbers, rules.players, *turned, rules.max_plies - before["ply"] - 1, action, steps)
        played = core.play(positions, [action])
        effects = {"points": int(played.captured[0]), "laps": int(played.laps[0])}
        yield ["play", before, action], {"position": as_json(core, positions), "steps": steps, **effects}


def calls_of_searches(core: Core, net: ValueNet, rng: np.random.Generator) -> Iterator[tuple[list[Any], Any]]:
    positions = random_openings(core, 1, 6, rng)
    search = (Search(core, table_megabytes=16, net=net) if core.rules.players == 2 else ManySearch(core, net=net)).best
    for limits, every in (({"depth": 4}, False), ({"nodes": 500}, True)):
        found = asdict(search(positions, Limits(**limits), every_move=every))
        yield ["search", as_json(core, positions), {**limits, "everyMove": every}], found


def calls_that_are_refused(core: Core) -> Iterator[tuple[list[Any], Any]]:
    start = as_json(core, core.start())
    yield ["play", start, 11], "RangeError: action 11 is not legal"
    yield ["search", start, {}], "RangeError: a search needs a depth or a number of nodes"
    yield ["search", {**start, "ended": 1}, {"depth": 1}], "RangeError: the game is over; there is no move to search"
    crowded = {**start, "seeds": [1, 0, 0, 0, 1, 250, 0, 0, 0, 0, 0, 3]}  # North refills, and 260 are too many
    yield ["play", crowded, 8], "RunawayGame: action 8 leads to a game without an end"
    yield ["net", [0]], f"RangeError: the net has undefined bytes, not {len(net_bytes(read_value_net('pretrained')))}"
    rows = {"sold": [[2], [0]], "pawned": [[], [2, 1]]}
    asked = {"ownership": rows, "starter": 0, "round": 4, "position": {**start, "scores": [20, 20], "ended": 5}}
    told = {"scores": [20, 50], "winner": 1, "ownership": {"sold": [[2, 0], []], "pawned": [[1], []]}, "over": False}
    yield ["settle", asdict(MatchRules()), asked], {**told, "owed": 15, "matchWinner": None, "starter": 0}


@pytest.mark.skipif(which("node") is None, reason="there is no Node")
def test_engine_js_returns_the_same() -> None:
    rng, cases, expected = np.random.default_rng(0), [], []
    for name in PRESET_NAMES:
        core, net = Core(name), read_value_net("pretrained", name)
        made = [*calls_of_a_game(core, rng), *calls_of_searches(core, net, rng)]
        made += calls_that_are_refused(core) if name == "mancala-world" else []
        content = base64.b64encode(net_bytes(net)).decode()
        cases.append({"fields": asdict(core.rules), "net": content, "calls": [call for call, _ in made]})
        derived = {"squares": core.rules.squares, "actions": core.rules.actions, "total": core.rules.total}
        expected.append([{**asdict(core.rules), **derived}, *(answer for _, answer in made)])
    command = ["node", Path(__file__).parent / "engine_calls.mjs", WEB]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=True)
    for rows, wanted in zip(json.loads(done.stdout), json.loads(json.dumps(expected)), strict=True):
        del rows[0]["key"]  # engine.js's own
        for row, one in zip(rows, wanted, strict=True):
            assert row == one


def test_files_of_the_page_are_small() -> None:
    assert (WEB / "engine.wasm").stat().st_size <= 150_000
    for name in PRESET_NAMES:
        assert len(net_bytes(read_value_net("pretrained", name))) <= 170_000


@pytest.mark.slow
def test_many_games_and_searches(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    plies = sum(compare_game(PRESETS[name].rules, rng) for name in PRESET_NAMES for _ in range(250))
    nodes = []
    for name, number in itertools.product(PRESET_NAMES, range(12)):
        rules = PRESETS[name].rules
        asked = {"depth": 8 - number % 4} if rules.players == 2 else {"nodes": 20_000}
        nodes.append(compare_search(rules, 2 * number, number, number % 2 > 0, every_move=number % 3 > 0, **asked))
    with capsys.disabled():
        print(f"\n{plies:,} moves and {len(nodes)} searches of {sum(nodes):,} nodes are the same")
    assert plies > 40_000
    assert sum(nodes) > 500_000
