"""Test engine.wasm and engine.js against the core, the native searches and matches."""

import base64
import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oanquan_env import PRESETS, Core, Match, MatchRules, Rules, Termination
from oanquan_env.engine.compiled import rule_record
from oanquan_env.engine.notation import parse_position
from oanquan_env.rollouts import play_randomly, random_openings
from oanquan_env.search.value_net import read_value_net
from tests.helpers.boards import ENDLESS, endless_rules
from tests.helpers.nets import random_net
from tests.helpers.node import CALLS, run_node
from tests.helpers.strategies import PRESET_NAMES, ownerships, seeds
from tests.helpers.strategies import rules as any_rules
from tests.helpers.webassembly import (
    WEB,
    Call,
    Json,
    PageEngine,
    as_json,
    call_of_a_move,
    call_of_a_round,
    call_of_a_search,
    calls_of_a_game,
)
from tools.write_page import net_bytes

ENGINE, MOVES = PageEngine(), PageEngine("moves.wasm")
START = as_json(Core(), Core().start())
ILLEGAL = (START, -1), (START, 10), ({**START, "seeds": [0] * 12}, 3), ({**START, "ended": 1}, 3)
REFUSED: list[Call] = [
    (["play", position, action], f"RangeError: action {action} is not legal") for position, action in ILLEGAL
]
presets_and_others = st.one_of(st.sampled_from(PRESET_NAMES).map(lambda name: PRESETS[name].rules), any_rules())
searchable = presets_and_others.map(lambda rules: rules.replace(refill="borrow"))


def compare_game(engine: PageEngine, rules: Rules, rng: np.random.Generator) -> int:
    """Play a random game, check all answers of the engine, and return the number of plies."""
    plies = 0
    for call, answer in calls_of_a_game(rules, rng):
        assert engine.answer(rules, call) == answer, call
        plies += call[0] == "play"
    return plies


def compare_search(rules: Rules, plies: int, seed: int, net: bool, limits: Json) -> int:
    """Check that engine and native search agree after random plies; return the nodes, or 0 if the game is over."""
    core = Core(rules)
    positions = core.start()
    play_randomly(core, positions, plies, np.random.default_rng(seed))
    if positions.over[0]:
        return 0
    used = random_net(str(rules), scale=0.3, seed=seed) if net else None
    call, answer = call_of_a_search(core, positions, used, limits, line=False)
    assert ENGINE.answer(rules, call) == answer
    nodes: int = answer["nodes"]
    return nodes


@given(presets_and_others, seeds)
def test_random_games_are_those_of_the_core(rules: Rules, seed: int) -> None:
    compare_game(ENGINE, rules, np.random.default_rng(seed))


def test_the_small_module_plays_alike() -> None:
    for name in PRESET_NAMES:
        assert compare_game(MOVES, PRESETS[name].rules, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("rules", "position", "action", "ending"),
    [
        (Rules(), "1,0,0,0,1,250*/0,0,0,0,0,3* 0,0 0 0", 8, Termination.TOO_MANY_SEEDS),
        (endless_rules(), ENDLESS, 0, Termination.ENDLESS_RELAY),
    ],
)
def test_a_move_that_cannot_be_completed_ends_the_game(
    rules: Rules, position: str, action: int, ending: Termination
) -> None:
    core = Core(rules, compiled=False)
    call, answer = call_of_a_move(core, parse_position(core, position, checked=False), action)
    assert (answer["position"]["ended"], answer["steps"]) == (ending, [])
    assert answer["position"]["seeds"] == call[1]["seeds"]
    assert ENGINE.answer(rules, call) == answer


def test_a_move_that_cannot_be_played_is_refused() -> None:
    assert all(ENGINE.answer(Rules(), call) == answer for call, answer in REFUSED)


@given(presets_and_others, seeds)
def test_tables_and_set_up_positions_are_those_of_the_core(rules: Rules, seed: int) -> None:
    rng, core, kept = np.random.default_rng(seed), Core(rules), rule_record(rules)
    held = ENGINE.record("rules")
    held[:] = 0
    ENGINE.use(rules)
    assert held.tobytes() == kept.tobytes()
    squares = np.where(rng.random(rules.squares) < rng.choice([0.2, 0.9]), 0, rng.integers(0, 9, rules.squares))
    stones, scores = rng.integers(0, rules.stones + 1, rules.players), rng.integers(-2, 7, rules.players)
    mover, ply = rng.integers(rules.players), rules.max_plies - rng.integers(2)
    positions = core.setup(squares[None], stones[None], scores[None], mover, ply, checked=False)
    assert ENGINE.answer(rules, ["setUp", {**as_json(core, positions), "ended": 0}]) == as_json(core, positions)


depths_or_nodes = st.one_of(
    st.fixed_dictionaries({"depth": st.integers(1, 5), "everyMove": st.booleans()}),
    st.fixed_dictionaries({"nodes": st.integers(1, 2_000), "everyMove": st.booleans()}),
)


@given(searchable, st.integers(0, 30), seeds, st.booleans(), depths_or_nodes)
@example(
    Rules.parse("fields=2 seeds=2 first_move_captures_mandarin=False"), 0, 0, False, {"depth": 5, "everyMove": True}
)
def test_searches_are_the_native_ones_node_for_node(
    rules: Rules, plies: int, seed: int, net: bool, limits: Json
) -> None:
    compare_search(rules, plies, seed, net, limits)


@given(any_rules(players=2), seeds, st.data())
def test_rounds_are_settled_as_matches_settle_them(rules: Rules, seed: int, data: st.DataObject) -> None:
    measure, to_lose = data.draw(st.sampled_from(["lack", "margin"])), data.draw(st.integers(1, rules.fields))
    rounds = data.draw(st.integers(1, 2))
    match = Match(rules, MatchRules(match_measure=measure, fields_to_lose=to_lose, max_rounds=rounds))
    match.ownership, match.starter = data.draw(ownerships(rules.fields)), data.draw(st.integers(0, 1))
    positions = match.core.start()
    play_randomly(match.core, positions, data.draw(st.sampled_from([3, rules.max_plies])), np.random.default_rng(seed))
    positions.scores[0] += data.draw(st.integers(-40, 40))
    call, answer = call_of_a_round(match, positions)
    assert ENGINE.answer(rules, call) == answer


def test_engine_js_gives_the_same_answers() -> None:
    rng, cases, answers = np.random.default_rng(0), [], []
    for name in PRESET_NAMES:
        core, net = Core(name), read_value_net("pretrained", name)
        derived = {"squares": core.rules.squares, "actions": core.rules.actions, "total": core.rules.total}
        made: list[Call] = [(["rules", asdict(core.rules)], {**asdict(core.rules), **derived})]
        made += calls_of_a_game(core.rules, rng)
        for limits in ({"depth": 4, "everyMove": False}, {"nodes": 500, "everyMove": True}):
            call, answer = call_of_a_search(core, random_openings(core, 1, 6, rng), net, limits, line=False)
            made.append((call, {name: part for name, part in answer.items() if name != "line"}))
        if core.rules.players == 2:
            match = Match(name)
            match.ownership = match.ownership.parse("S3 N1", "S1 N5", 5)
            made.append(call_of_a_round(match, random_openings(core, 1, 7, rng)))
        cases.append({"fields": asdict(core.rules), "calls": [call for call, _ in made]})
        answers.append([answer for _, answer in made])
    limits = "RangeError: a search needs a depth or a number of nodes"
    over = "RangeError: the game is over; there is no move to search"
    wrong = [(["search", START, {}], limits), (["search", {**START, "ended": 1}, {"depth": 1}], over), *REFUSED]
    cases.append({"fields": asdict(Rules()), "calls": [call for call, _ in wrong]})
    answers.append([answer for _, answer in wrong])
    asked = json.dumps(cases, default=lambda net: base64.b64encode(net).decode())
    output = run_node(CALLS / "webassembly.mjs", WEB, stdin=asked)
    for found, wanted in zip(json.loads(output), json.loads(json.dumps(answers)), strict=True):
        for one, other in zip(found, wanted, strict=True):
            assert one == other


def test_files_of_the_page_are_small() -> None:
    assert (WEB / "engine.wasm").stat().st_size <= 150_000
    for name in PRESET_NAMES:
        assert len(net_bytes(read_value_net("pretrained", name))) <= 170_000
