"""Matches and records of the page's games: saved, opened, resigned."""

import numpy as np
import pytest

from oanquan_env import parse_records
from oanquan_env.play.session import Session
from oanquan_env.records.matches import replay_match
from tests.sessions import line, opened, play, refused

pytestmark = pytest.mark.usefixtures("own_players")


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
    again = opened(text)
    assert again.state()["match"] == state["match"]
    assert again.state()["outcome"] == state["outcome"]


def test_a_match_is_saved_in_the_middle_of_a_round() -> None:
    played = match_between("greedy", "random", 5)
    play_round(played)
    played.request("next_round", {})
    for _ in range(3):
        played.answer()
    again = opened(played.saved())
    assert again.state()["match"] == played.state()["match"]
    assert again.state()["position"] == played.state()["position"]
    broken = played.saved().replace('[Round "2"]', '[Round "3"]')
    error = refused(again, "load", text=broken)
    assert error.code == "record"
    assert "round 2: Round is '3'" in str(error)
    among_games = f"{Session().saved()}\n{parse_records(played.saved())[1]}"
    assert "fields are sold" in str(refused(again, "load", text=among_games, number=2))


def test_the_last_move_of_a_round_can_be_taken_back_before_the_next_one() -> None:
    played = Session()
    played.request("new", {"match": "fields_to_lose=1"})
    play(played, "5A", "3A")
    state = played.state()
    assert (state["outcome"]["scores"], state["match"]["sold"], state["match"]["over"]) == ([22, 46], [1, 0], True)
    played.request("undo", {})
    assert (played.state()["match"]["sold"], played.state()["match"]["over"]) == ([0, 0], False)


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
    played.request("resign", {})
    played.request("next_round", {})
    assert (played.state()["match"]["number"], played.state()["mover"], played.state()["turn"]) == (2, 0, "person")
    again.request("load", {"text": played.saved()})
    assert again.state()["match"] == played.state()["match"]


def test_a_resignation_is_saved_with_the_game() -> None:
    played = Session()
    play(played, "2C")
    played.request("resign", {})
    again = opened(played.saved())
    assert (line(again), again.state()["resigned"]) == (["2C"], 1)


def test_a_game_is_saved_and_opened() -> None:
    played = Session(names=("human", "greedy"), rng=np.random.default_rng(0))
    play(played, "2C")
    played.answer()
    again = opened(played.saved())
    assert line(again) == line(played)
    two = f"{played.saved()}\n{Session('three-player').saved()}"
    assert refused(again, "load", text=two).games == 2
    again.request("load", {"text": two, "number": 2})
    assert again.state()["rules"] == "three-player"
    assert refused(again, "load", text=two, number=3).code == "record"
