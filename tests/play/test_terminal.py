"""Test the game in a terminal: hints, commands, seats and both languages."""

import io
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Rules
from oanquan_env.cli import main
from oanquan_env.engine.notation import WORDS as STORY
from oanquan_env.engine.positions import Positions
from oanquan_env.play.levels import LEVELS, Level
from oanquan_env.play.terminal import WORDS, rules_title, seat_names
from oanquan_env.players import make
from oanquan_env.search.limits import Limits
from oanquan_env.text import rules_in_words
from tests.helpers.browsers import WEB
from tests.helpers.node import run_script

Play = Callable[..., str]
BOTH = ("--opponent", "human", "--rules", "mancala-world")
QUICK = Level(("minimax:nodes=2000,net=pretrained",))  # hints need no second
THREE = "0,0,2,0,0,1*/1,0,3,0,0,0/0,1,0,0,0,0 25,30,32 0 30"
LESSON = "0,0,0,0,1,0*/0,0,0,0,1,0 58,0 0 30"


@pytest.fixture
def play(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Play:
    """Return a function that types lines into a game, between two people by default, and returns the output."""
    monkeypatch.setenv("LC_ALL", "C")

    def typed(lines: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        assert main(["play", *(arguments or BOTH)]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return typed


def test_a_game_of_two_persons(play: Play) -> None:
    printed = play("help\nrules\nstory\nhello\n3\n9C\n4A\nundo\nundo\n5A\nstory\nmoves\n\n3a\n1A\n")
    words = [
        "quit   leave",
        "No move has been played yet.",
        rules_in_words("mancala-world"),
        "I don’t understand 'hello'. Type a move (1A, 1C, 2A, ",
        "Which way? Type 3A or 3C:",
        "South cannot play 9C, only 1A,",
        "South plays 5A.\nPick up 5 seeds",
        "You can play 1A, 1C,",
        "South played 5A (+11). North to move.\n",
        "North played 3A (+21). North wins.\n",
        "North gets 25 points for seeds left on the board.\nNobody gets 2 seeds.\n",
    ]
    assert [word for word in words if word not in printed] == []
    assert printed.endswith("Final points: South 22, North 46.\nPlay again? (y/n) ")  # 1A is no yes
    assert printed.count("South to move.\n") == 2  # at the start, and after the undo that took back 4A
    again = play("5A\n3a\nYes\n5A\n")
    assert again.count("South > ") == 2  # both games begin with South


def test_a_hint_says_what_each_move_is_worth(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEVELS, "perfect", Level(("maxn:depth=2",)))
    printed = play("hint\n", "--rules", "three-player", "--position", THREE)
    assert re.search(
        r"Try 3[AC]\. Final lead over the others’ average after each move .*\n3[AC] [+-]\d+  3[AC] [+-]\d+\n", printed
    )
    monkeypatch.setitem(LEVELS, "perfect", QUICK)
    printed = play("hint\n")
    assert re.search(r"Try (2C|4A)\. Final lead after each move if .*\(searched (\d+) moves ahead\):\n", printed)
    worth = dict(re.findall(r"(\d[AC]) ([+-]?\d+)", printed))
    assert sorted(worth) == [f"{field}{letter}" for field in range(1, 6) for letter in "AC"]
    assert [*worth.values()] == sorted(worth.values(), key=int, reverse=True)  # the best first
    assert int(worth["5A"]) == int(worth["1C"]) == min(map(int, worth.values())) == -24  # they lose the game
    custom = ("--rules", "vietnamese stone_value=5", "--opponent", "hard")
    assert re.search(r"\(searched \d+ moves ahead with the net for any rules\)", play("hint\n", *custom))
    assert "nước, bằng mạng nơ-ron cho mọi luật)" in play("hint\n", *custom, "--language", "vi")


def test_a_person_plays_from_another_seat_and_position(play: Play) -> None:
    at_north = play("quit\n1A\n", "--seat", "north", "--opponent", "random", "--seed", "4")
    assert re.search(r"Your opponent is thinking… \d[AC]\n", at_north)
    undone = play("moves\n1A\nundo\nmoves\n", "--seat", "north", "--opponent", "random", "--seed", "4")
    assert len(set(re.findall("You can play .*", undone))) == 1  # the opponent's first move stays
    assert at_north.endswith("You > ")
    assert play("q\n", "--seat", "2", "--opponent", "random", "--seed", "4") == at_north
    assert "You can play 5A, 5C.\n" in play("moves\n", "--position", LESSON)


def test_the_time_of_a_search_begins_when_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    player, received = make("minimax:ms=20", Rules()), list[Limits]()
    search = player.search.best_moves

    def recorded(positions: Positions, limits: Limits, **options: bool) -> Any:
        received.append(limits)
        return search(positions, limits, **options)

    monkeypatch.setattr(player.search, "best_moves", recorded)
    for _ in range(2):
        player.analyse(Board())
    player.choose(Board().positions, np.random.default_rng(0))
    assert received == [Limits(depth=1), *[Limits(milliseconds=20)] * 3]


def test_the_terminal_speaks_vietnamese_alone(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEVELS, "perfect", QUICK)
    typed = "tro giup\n?\nluat\n3\na 3\nkể\n9Z\n9C\n1A\ngợi ý\nĐI LẠI\ndilai\nnuoc\nq\nthoát\n"
    printed = play(typed, *BOTH, "--language", "vi")
    assert printed.count("Gõ có dấu hay không dấu đều được") == 2
    assert printed.endswith("3C, 4A, 4C, 5A, 5C.\nBên dưới > ")  # q ends the game, after both moves were taken back
    for words in (
        "Không hiểu '9Z'. Hãy gõ một nước (1A, 1C,",
        "▶ Bên trên 0",
        "Bên dưới vừa đi 3A (+6). Đến lượt bên trên.",
        "Bên dưới đi 3A.\nBốc 5 dân ở ô 3",
    ):
        assert words in printed
    printed += play("luat\n5A\ngoi y", "--opponent", "easy", "--language", "vi", "--position", LESSON)
    assert "Bên dưới: bạn. Bên trên: Tí.\n" in printed  # before the rules, which speak of these seats
    texts = ([*WORDS[language].values(), *STORY[language].values()] for language in ("en", "vi"))
    english, vietnamese = (set(re.findall(r"[^\W\d_]+", " ".join(map(str, text)))) for text in texts)
    only_english = english - vietnamese - {"vietnamese"}
    assert set(re.findall(r"[^\W\d_]+", printed)) & only_english == set()
    monkeypatch.setenv("LC_ALL", "vi_VN.UTF-8")
    assert "Bạn, Bống · mới tập. Luật: Như ở quê.\n" in play("", "--seed", "1")  # as on the page
    monkeypatch.setenv("LC_ALL", "C")
    printed = play("1A\n", "--opponent", "easy", "--seed", "1")
    assert "You, Tí · easy. Rules: Traditional (village rules).\n" in printed
    assert "Tí is thinking… " in printed


@pytest.mark.parametrize("players", [3, 4])
def test_names_of_many_players_cover_no_square(play: Play, players: int) -> None:
    rules = {3: "three-player", 4: "four-player"}[players]
    printed = play("", "--rules", rules, "--opponent", "easy", "--language", "vi")
    assert printed.count("[  5 ]") == 5 * players
    assert "Tí bên phải · dễ" in printed
    assert all(f" {name} 0" in printed for name in ("▶ Bạn", "Bên phải", "Bên trái"))


def test_rules_have_the_names_of_the_page() -> None:
    script = "console.log(JSON.stringify((await import(process.argv[1])).WORDS))"
    page = json.loads(run_script(script, (WEB / "words/words.js").as_uri(), stdin=""))
    for language in WORDS:
        assert WORDS[language]["presets"] == page[language]["presets"]
    assert rules_title(Rules.parse("tonkin seeds=6"), "en") == "Old Tonkin rules (1944) seeds=6"


def test_seats_have_the_names_of_the_page() -> None:
    assert seat_names(["easy", "human"], "vi") == ["Tí", "bạn"]
    assert seat_names(["human", "hard", "greedy"], "vi") == ["bạn", "Lan bên phải", "máy bên trái"]
    assert seat_names(["human", "human"], "vi") == ["bên dưới", "bên trên"]
    assert seat_names(["human", "easy", "easy"], "en") == ["you", "East", "West"]
    assert seat_names(["random", "human"], "en") == ["your opponent", "you"]
