"""The games of the page and the widget without either: requests, states, words, matches, records."""

import json

import numpy as np
import pytest

from oanquan_env import Board, Rules, parse_records
from oanquan_env.play.lessons import LESSONS, lessons
from oanquan_env.play.puzzles import LEAST_LOSS, puzzles_of
from oanquan_env.play.refusal import SessionError
from oanquan_env.play.session import Session
from oanquan_env.records.match_records import replay_match
from tests.sessions import opened, play, refused
from tests.strategies import PRESET_NAMES

pytestmark = pytest.mark.usefixtures("own_players")

END = "2,3,1,0,0,4*/3,0,1,2,0,0 22,22 0 30"
"""3A captures the last stone: South 42, North 28."""


def test_a_move_and_its_answer() -> None:
    played = Session(names=("human", "greedy"), rng=np.random.default_rng(1))
    play(played, "3A")
    assert played.state()["turn"] == "player"
    assert played.answer()
    state = played.state()
    assert (state["turn"], state["ply"], len(state["moves"])) == ("person", 2, 2)
    assert [state["moves"][1]["lines"][language][0] for language in ("en", "vi")] == ["South plays 3A.", "Nam đi 3↺."]
    assert not played.answer()  # it is a person's turn
    assert json.loads(json.dumps(state))["position"] == played.game.board.text()
    play(played, str(played.game.board.legal_moves[0]))
    assert refused(played, "resign").code == "request"  # it is the player's turn
    assert refused(played, "move", move="1A", ply=3).code == "move"


def test_a_game_begins_as_it_is_asked_for_and_its_positions_are_valued() -> None:
    played = Session()
    played.request("new", {"rules": "tonkin seeds=4", "seats": ["human", "easy"], "starter": 1})
    state = played.state()
    assert (state["rules"], state["mover"], state["turn"], state["seats"][1]["name"]) == (
        "tonkin seeds=4",
        1,
        "player",
        "easy",
    )
    played.request("new", {"rules": "three-player"})
    assert [seat["name"] for seat in played.state()["seats"]] == ["human"] * 3
    played.request("new", {"position": END})
    assert played.state()["previews"]["3A"]["captured"] == [14, 1]
    play(played, "3A")
    state, outcome = played.state(), {"scores": [42, 28], "winners": [0], "termination": "stones_captured"}
    assert (state["turn"], state["outcome"], state["previews"]) == ("over", outcome, {})
    before = played.hint(0)
    assert (before["serial"], before["best"], before["values"]["3A"], before["captured"]) == (0, "3A", 14, [14, 1])
    for moves in (1, 2, "0", True):
        with pytest.raises(SessionError):
            played.hint(moves)  # type: ignore[arg-type]


def test_the_lessons_show_what_they_say() -> None:
    shown = {lesson["name"]: lesson["move"] for lesson in lessons()}
    steps = {name: " ".join(step["kind"] for step in move["steps"]) for name, move in shown.items() if move}
    assert steps == {"sow": "lap", "relay": "lap lap", "capture": "lap taking", "chain": "lap taking taking"} | {
        "refill": "lap refilling",
        "end": "lap taking",
    }
    assert shown["chain"]["steps"][2]["stones"] == 1
    assert shown["end"]["standings"] == (42, 28)
    assert all(Board.parse(lesson.position).mover == 0 for lesson in LESSONS)


def test_every_preset_is_drawn_and_told_in_the_same_steps_in_both_languages() -> None:
    rng = np.random.default_rng(3)
    for rules in PRESET_NAMES:
        played = Session(rules, ["random"] * Rules.parse(rules).players, rng=rng)
        while played.game.board.outcome is None:
            played.answer()
        moves, board = list(played.state()["moves"].values()), played.game.board
        assert all(len(move["lines"]["en"]) == len(move["lines"]["vi"]) for move in moves)
        assert [list(moves[-1]["after"][part]) for part in ("seeds", "stones")] == [board.seeds, board.stones]
        assert len(played.drawing()["squares"]) == board.rules.squares


@pytest.mark.parametrize("rules", ["mancala-world", "tonkin"])
def test_puzzles_have_one_best_move(rules: str) -> None:
    puzzles = puzzles_of(Rules.parse(rules))
    for puzzle in puzzles["first"]:
        takes = [move for move in puzzle.board.legal_moves if any(t.stones for t in puzzle.board.sowing(move).takings)]
        assert takes == [puzzle.best]
    for level in ("easy", "medium", "hard"):
        for puzzle in puzzles[level]:
            first, second, *_ = sorted(puzzle.values.values(), reverse=True)
            assert puzzle.values[puzzle.best] == first >= second + LEAST_LOSS
            assert set(puzzle.values) == set(puzzle.board.legal_moves)


def test_a_whole_match_is_played_and_can_be_saved_and_opened_at_any_time() -> None:
    played = Session(rng=np.random.default_rng(4))
    played.request("new", {"seats": ["greedy", "random"], "match": "fields_to_lose=2"})
    while not (state := played.state())["match"]["over"]:
        if state["match"]["settled"]:
            assert state["outcome"]["scores"] == list(state["match"]["rounds"][-1]["scores"])
            played.request("next_round", {})
        else:
            played.answer()
        if played.game.board.ply % 5 < 2:
            again = opened(text := played.saved()).state()
            assert all(again[part] == played.state()[part] for part in ("match", "position", "outcome"))
    assert state["match"]["sold"][1 - state["match"]["winner"]] >= 2
    assert refused(played, "next_round").code == "request"
    records = parse_records(played.saved())
    assert len(replay_match(records).rounds) == len(state["match"]["rounds"]) >= 2
    assert "round 2: Round is '3'" in str(refused(played, "load", text=text.replace('[Round "2"]', '[Round "3"]')))
    among_games = f"{Session().saved()}\n{records[1]}"
    assert "fields are sold" in str(refused(played, "load", text=among_games, number=2))


def test_a_resigned_round_is_lost_and_the_match_goes_on() -> None:
    played = Session()
    played.request("new", {"match": ""})
    play(played, "3A", "4A")
    kept = played.game.board.scores[0]
    played.request("resign", {})
    state = played.state()
    assert (state["turn"], state["resigned"], state["match"]["settled"]) == ("over", 0, True)
    assert state["match"]["rounds"] == [{"scores": (kept, 70 - kept), "winner": 1}]
    assert state["match"]["sold"] == [(35 - kept) // 10, 0]
    again = opened(played.saved())
    assert again.state()["match"] == state["match"]
    assert again.state()["resigned"] == 0
    played.request("undo", {})
    assert (played.state()["resigned"], played.state()["match"]["sold"]) == (None, [0, 0])
    played.request("undo", {})
    played.request("resign", {})
    assert refused(played, "redo").code == "request"  # of a game that is over
    played.request("undo", {})
    played.request("redo", {})
    played.request("resign", {})
    assert played.state()["match"] == state["match"]
    played.request("next_round", {})
    assert (played.state()["match"]["number"], played.state()["mover"], played.state()["turn"]) == (2, 0, "person")
    two = f"{Session().saved()}\n{Session('three-player').saved()}"
    assert refused(again, "load", text=two).games == 2
    again.request("load", {"text": two, "number": 2})
    assert again.state()["rules"] == "three-player"
