"""The games of the page and the widget without either: requests, states, players that fail, records, levels."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Core, Positions, Rules, parse_records
from oanquan_env.arrays import Ints
from oanquan_env.match_records import replay_match
from oanquan_env.play import levels, session, warming
from oanquan_env.play.lessons import LESSONS, lessons
from oanquan_env.play.levels import LEVELS, first_playing
from oanquan_env.play.session import Session, SessionError
from oanquan_env.play.vietnamese import TERMINATIONS, TURN_ENDS
from oanquan_env.play.warming import Warming
from oanquan_env.players import Policy, value_net
from oanquan_env.players.value_net import ValueNetError
from tests.players import FirstMove, LastMove, Slow
from tests.strategies import PRESET_NAMES

END = "2,3,1,0,0,4*/3,0,1,2,0,0 22,22 0 30"
"""3A captures the last stone: South 42, North 28."""


@pytest.fixture(autouse=True)
def own_players() -> Iterator[None]:
    """No player of another test is shared."""
    session.shared_seat.cache_clear()
    session.shared_adviser.cache_clear()
    yield
    session.shared_seat.cache_clear()
    session.shared_adviser.cache_clear()


def line(played: Session) -> list[str]:
    return [str(move) for move in played.game.board.history]


def refused(played: Session, name: str, **arguments: Any) -> SessionError:
    before = played.state()
    with pytest.raises(SessionError) as raised:
        played.request(name, arguments)
    assert played.state() == before
    return raised.value


# ---- a game ----------------------------------------------------------------------------------------------------------


def test_a_move_and_its_answer() -> None:
    played = Session(names=("human", "greedy"), rng=np.random.default_rng(1))
    played.request("move", {"move": "3A", "ply": 0})
    assert played.state()["turn"] == "player"
    assert played.answer()
    state = played.state()
    assert (state["turn"], state["ply"], len(state["moves"])) == ("person", 2, 2)
    assert state["moves"][1]["lines"]["en"][0] == "South plays 3A."
    assert state["moves"][1]["lines"]["vi"][0] == "Nam đi 3A."
    assert not played.answer()  # it is a person's turn
    assert json.loads(json.dumps(state))["position"] == played.game.board.text()


def test_a_state_leaves_out_the_moves_that_the_page_has() -> None:
    played = Session()
    for ply, move in enumerate(("1A", "2A", "1A")):
        played.request("move", {"move": move, "ply": ply})
    number = played.state()["game"]
    assert list(played.state(number, 1)["moves"]) == [2, 3]
    assert list(played.state(number + 1, 1)["moves"]) == [1, 2, 3]  # those were another game's
    assert list(played.state("?", "?")["moves"]) == [1, 2, 3]


def test_a_move_that_is_redone_has_the_same_number() -> None:
    played = Session()
    for ply, move in enumerate(("1A", "2A")):
        played.request("move", {"move": move, "ply": ply})
    played.request("undo", {})
    assert (played.state()["line"], played.state()["can_redo"]) == ([1], True)
    played.request("redo", {})
    assert played.state()["line"] == [1, 2]
    played.request("undo", {})
    played.request("move", {"move": "4C", "ply": 1})
    assert played.state()["line"] == [1, 3]
    played.request("back", {"moves": 0})
    assert played.state()["line"] == []
    played.request("redo", {})
    assert line(played) == ["1A", "4C"]


@pytest.mark.parametrize("rules", PRESET_NAMES)
def test_every_preset_is_drawn_and_played(rules: str) -> None:
    played = Session(rules, ["random"] * Rules.parse(rules).players, rng=np.random.default_rng(2))
    for _ in range(3):
        played.answer()
    state, drawing = played.state(), played.drawing()
    assert len(drawing["squares"]) == Rules.parse(rules).squares
    last = state["moves"][state["line"][-1]]["after"]
    board = played.game.board
    assert (list(last["seeds"]), list(last["stones"]), list(last["scores"])) == (
        board.seeds,
        board.stones,
        board.scores,
    )


def test_what_cannot_be_done_changes_nothing() -> None:
    played = Session(names=("human", "greedy"))
    assert refused(played, "move", move="9A", ply=0).code == "move"
    assert refused(played, "move", move="1A", ply=4).code == "move"  # comes too late
    assert refused(played, "undo").code == "request"
    assert refused(played, "redo").code == "request"
    assert refused(played, "next_round").code == "request"
    assert refused(played, "back", moves=1).code == "request"
    assert refused(played, "back", moves="0").code == "request"
    assert refused(played, "dance").code == "request"
    assert refused(played, "move", field=3).code == "request"
    assert refused(played, "new", rules="chess").code == "rules"
    assert refused(played, "new", seats=["human", "nobody"]).code == "player"
    assert refused(played, "new", seats=["human"]).code == "player"
    assert refused(played, "new", starter=2).code == "request"
    assert refused(played, "new", rules="three-player", match="").code == "rules"
    error = refused(played, "new", position="5,5,5,5,x,0*/5,5,5,5,5,0* 0,0 0 0")
    assert (error.code, error.column) == ("position", 9)
    played.request("move", {"move": "1A", "ply": 0})
    assert refused(played, "resign").code == "request"  # it is the player's turn
    assert refused(played, "move", move="1A", ply=1).code == "move"


def test_a_game_begins_as_it_is_asked_for() -> None:
    played = Session()
    played.request("new", {"rules": "tonkin seeds=4", "seats": ["human", "easy"], "starter": 1})
    state = played.state()
    assert (state["rules"], state["mover"], state["turn"]) == ("tonkin seeds=4", 1, "player")
    assert [seat["name"] for seat in state["seats"]] == ["human", "easy"]
    played.request("new", {"rules": "three-player"})
    assert [seat["name"] for seat in played.state()["seats"]] == ["human"] * 3
    played.request("new", {"position": END})
    played.request("move", {"move": "3A", "ply": 30})
    state = played.state()
    assert state["turn"] == "over"
    assert state["outcome"] == {"scores": [42, 28], "winners": [0], "termination": "stones_captured"}


def test_a_person_resigns_and_thinks_better_of_it() -> None:
    played = Session()
    played.request("resign", {})
    assert (played.state()["resigned"], played.state()["turn"], played.state()["legal"]) == (0, "over", [])
    played.request("undo", {})
    assert (played.state()["resigned"], played.state()["turn"]) == (None, "person")


def test_no_move_is_redone_after_a_resignation() -> None:
    played = Session()
    played.request("move", {"move": "1A", "ply": 0})
    played.request("undo", {})
    played.request("resign", {})
    assert not played.state()["can_redo"]
    assert refused(played, "redo").code == "request"
    played.request("undo", {})
    played.request("redo", {})
    assert (line(played), played.state()["turn"]) == (["1A"], "person")


# ---- players ---------------------------------------------------------------------------------------------------------


def test_the_choice_of_a_slow_player_is_dropped_if_the_game_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(Board().core)
    monkeypatch.setattr(levels, "make_policy", lambda name, rules: slow)
    played = Session(names=("human", "slow"))
    played.request("move", {"move": "1A", "ply": 0})
    thread = threading.Thread(target=played.answer)
    thread.start()
    assert slow.asked.wait(60)
    played.request("undo", {})  # nothing is held up
    slow.go_on.set()
    thread.join()
    assert line(played) == []


def test_a_player_that_fails_is_told_and_undo_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(FirstMove):
        def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
            raise ZeroDivisionError("no idea")

    monkeypatch.setattr(levels, "make_policy", lambda name, rules: Broken(Board().core))
    played = Session(names=("human", "broken"))
    played.request("move", {"move": "1A", "ply": 0})
    assert played.answer()
    assert played.state()["trouble"] == "ZeroDivisionError: no idea"
    assert not played.answer()  # it is not asked again
    played.request("undo", {})
    assert (played.state()["trouble"], played.state()["turn"]) == ("", "person")


def test_a_hint_says_what_each_move_is_worth() -> None:
    pytest.importorskip("numba")
    assert session.shared_adviser(Rules())[0].ready.wait(120)
    hint = Session().hint()
    assert hint["best"] in ("2C", "4A")
    assert hint["values"]["5A"] == hint["values"]["1C"] == -24  # they lose the game
    assert hint["search"]["value"] == max(hint["values"].values())
    over = Session(board=Board.parse(END))
    over.request("move", {"move": "3A", "ply": 30})
    with pytest.raises(SessionError, match="over"):
        over.hint()


def test_levels_fall_back_to_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents", None)  # as if it were not installed
    assert [first_playing(level.players, Rules())[0] for level in LEVELS.values()] == [
        "greedy",
        "greedy",
        "maxn:depth=3",
        "maxn:depth=5",
        "lookahead:pretrained",
    ]
    assert first_playing(LEVELS["perfect"].players, Rules.parse("tonkin seeds=3"))[0] == "maxn:depth=7"
    assert session.shared_adviser(Rules())[0].ready.wait(60)
    hint = Session().hint()
    assert hint["player"] == "lookahead:pretrained"
    assert set(hint["values"]) == {str(move) for move in Board().legal_moves}
    assert hint["search"]["value"] == max(hint["values"].values())


def test_levels_take_the_best_that_is_installed() -> None:
    pytest.importorskip("numba")
    played = {"mancala-world": "minimax:ms=1000,net=pretrained", "tonkin seeds=3": "minimax:ms=1000"}
    played |= {"vietnamese refill=forfeit": "maxn:depth=7", "three-player": "maxn:depth=7"}
    for rules, name in played.items():
        assert first_playing(LEVELS["perfect"].players, Rules.parse(rules))[0] == name


def damage_value_nets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    damaged = tmp_path / "value.npz"
    damaged.write_bytes(b"PK\x03\x04 and nothing more")
    monkeypatch.setattr(value_net, "_pretrained_path", lambda rules: damaged)


def test_a_damaged_file_is_told_and_no_other_player_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    damage_value_nets(monkeypatch, tmp_path)
    with pytest.raises(ValueNetError, match="not a value net"):
        first_playing(LEVELS["hard"].players, Rules())
    played = Session(names=("human", "hard"))
    wait_until_loaded(played)
    played.request("move", {"move": "1A", "ply": 0})
    assert played.answer()
    assert re.fullmatch(r"ValueNetError: .*value\.npz: not a value net.*", played.state()["trouble"])
    adviser, _ = session.shared_adviser(Rules())
    assert adviser.ready.wait(60)
    with pytest.raises(ValueNetError, match="not a value net"):
        Session().hint()


def wait_until_loaded(played: Session) -> None:
    for seat in played.game.seats:
        if isinstance(seat.policy, Warming):
            assert seat.policy.ready.wait(60)


def test_another_player_plays_until_a_level_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def make_slowly(name: str, rules: Rules) -> Policy:
        assert go_on.wait(60)
        return FirstMove(Core(rules))

    monkeypatch.setattr(levels, "make_policy", make_slowly)
    monkeypatch.setattr(warming, "make_policy", lambda name, rules: LastMove(Core(rules)))
    played = Session(names=("hard", "human"))
    last = str(played.game.board.legal_moves[-1])
    assert played.answer()
    assert line(played) == [last]
    go_on.set()
    wait_until_loaded(played)
    played.request("back", {"moves": 0})
    first = str(played.game.board.legal_moves[0])
    assert played.answer()
    assert line(played) == [first]


# ---- matches and records ---------------------------------------------------------------------------------------------


def play_round(played: Session) -> None:
    while played.game.board.outcome is None:
        played.answer()


def match_between(first: str, second: str, seed: int) -> Session:
    played = Session(rng=np.random.default_rng(seed))
    played.request("new", {"seats": [first, second], "match": "fields_to_lose=2"})
    return played


def test_a_whole_match_is_played_saved_and_opened() -> None:
    played = match_between("greedy", "random", 4)
    while True:
        play_round(played)
        state = played.state()
        assert state["outcome"]["scores"] == list(state["match"]["rounds"][-1]["scores"])
        if state["match"]["over"]:
            break
        played.request("next_round", {})
    assert state["match"]["winner"] is not None
    assert state["match"]["sold"][1 - state["match"]["winner"]] >= 2
    assert refused(played, "next_round").code == "request"
    text = played.saved()
    records = parse_records(text)
    assert len(replay_match(records).rounds) == len(state["match"]["rounds"])
    opened = Session()
    opened.request("load", {"text": text})
    assert opened.state()["match"] == state["match"]
    assert opened.state()["outcome"] == state["outcome"]


def test_a_match_is_saved_in_the_middle_of_a_round() -> None:
    played = match_between("greedy", "random", 5)
    play_round(played)
    played.request("next_round", {})
    for _ in range(3):
        played.answer()
    opened = Session()
    opened.request("load", {"text": played.saved()})
    assert opened.state()["match"] == played.state()["match"]
    assert opened.state()["position"] == played.state()["position"]
    broken = played.saved().replace('[Round "2"]', '[Round "3"]')
    error = refused(opened, "load", text=broken)
    assert error.code == "record"
    assert "round 2: Round is '3'" in str(error)
    among_games = f"{Session().saved()}\n{parse_records(played.saved())[1]}"
    assert "fields are sold" in str(refused(opened, "load", text=among_games, number=2))


def test_the_last_move_of_a_round_can_be_taken_back_before_the_next_one() -> None:
    played = Session()
    played.request("new", {"match": "fields_to_lose=1"})
    for ply, move in enumerate(("5A", "3A")):
        played.request("move", {"move": move, "ply": ply})
    state = played.state()
    assert (state["outcome"]["scores"], state["match"]["sold"], state["match"]["over"]) == ([22, 46], [1, 0], True)
    played.request("undo", {})
    assert (played.state()["match"]["sold"], played.state()["match"]["over"]) == ([0, 0], False)


def test_a_resigned_round_is_lost_and_the_match_goes_on() -> None:
    played = Session()
    played.request("new", {"match": ""})
    for ply, move in enumerate(("3A", "4A")):
        played.request("move", {"move": move, "ply": ply})
    kept = played.game.board.scores[0]
    played.request("resign", {})
    state = played.state()
    assert (state["turn"], state["resigned"], state["match"]["settled"]) == ("over", 0, True)
    assert state["match"]["rounds"] == [{"scores": (kept, 70 - kept), "winner": 1}]
    assert state["match"]["sold"] == [(35 - kept) // 10, 0]
    opened = Session()
    opened.request("load", {"text": played.saved()})
    assert opened.state()["match"] == state["match"]
    assert opened.state()["resigned"] == 0
    played.request("undo", {})
    assert (played.state()["resigned"], played.state()["match"]["sold"]) == (None, [0, 0])
    played.request("resign", {})
    played.request("next_round", {})
    assert (played.state()["match"]["number"], played.state()["mover"], played.state()["turn"]) == (2, 0, "person")
    opened.request("load", {"text": played.saved()})
    assert opened.state()["match"] == played.state()["match"]


def test_a_resignation_is_saved_with_the_game() -> None:
    played = Session()
    played.request("move", {"move": "2C", "ply": 0})
    played.request("resign", {})
    opened = Session()
    opened.request("load", {"text": played.saved()})
    assert (line(opened), opened.state()["resigned"]) == (["2C"], 1)


def test_a_game_is_saved_and_opened() -> None:
    played = Session(names=("human", "greedy"), rng=np.random.default_rng(0))
    played.request("move", {"move": "2C", "ply": 0})
    played.answer()
    opened = Session()
    opened.request("load", {"text": played.saved()})
    assert line(opened) == line(played)
    two = f"{played.saved()}\n{Session('three-player').saved()}"
    assert refused(opened, "load", text=two).games == 2
    opened.request("load", {"text": two, "number": 2})
    assert opened.state()["rules"] == "three-player"
    assert refused(opened, "load", text=two, number=3).code == "record"
    assert refused(opened, "load", text="[Rules").code == "record"
    assert refused(opened, "load", text="").code == "record"


# ---- words -----------------------------------------------------------------------------------------------------------


def test_the_lessons_show_what_they_say() -> None:
    shown = {lesson["name"]: lesson["move"] for lesson in lessons()}
    steps = {name: [step["kind"] for step in move["steps"]] for name, move in shown.items() if move}
    assert steps == {
        "sow": ["lap"],
        "relay": ["lap", "lap"],
        "capture": ["lap", "taking"],
        "chain": ["lap", "taking", "taking"],
        "refill": ["lap", "refilling"],
        "end": ["lap", "taking"],
    }
    assert shown["chain"]["steps"][2]["stones"] == 1
    assert shown["end"]["standings"] == (42, 28)
    assert all(Board.parse(lesson.position).mover == 0 for lesson in LESSONS)


def test_both_languages_tell_the_same_steps() -> None:
    rng = np.random.default_rng(3)
    for rules in PRESET_NAMES:
        played = Session(rules, ["random"] * Rules.parse(rules).players, rng=rng)
        while played.game.board.outcome is None:
            played.answer()
        moves = played.state()["moves"].values()
        assert all(len(move["lines"]["en"]) == len(move["lines"]["vi"]) for move in moves)
        assert moves
    assert len(TURN_ENDS) == 7
    assert len(TERMINATIONS) == 4
