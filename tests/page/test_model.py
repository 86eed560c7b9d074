"""Test that the page's sessions give the same positions, moves, matches and records as the library."""

import json
import random
from dataclasses import replace

import pytest

from oanquan_env import Board, Rules, parse_records
from oanquan_env.match.match import Match
from oanquan_env.records.match_records import match_records
from tests.helpers.browsers import WEB
from tests.helpers.node import CALLS, run_node, run_script
from tests.helpers.page_sessions import PLAYED, Json, Reference, Script, move_json, requests
from tests.helpers.strategies import PRESET_NAMES

VARIANTS = (
    "tonkin fields=3 seeds=3 quan_non=2",
    "vietnamese refill=forfeit refill_when=at_once mandarin_leftovers=split",
    "app mandarin_seeds=2 seeds=2 mandarin_seeds_capturable=False sowing=clockwise",
    "three-player fields=2 leftovers=split max_plies=9",
    "four-player fields=4 seeds=2 end=squares_empty refill=forfeit empty_mandarin=gap",
)


LOT = """
const { drawLots } = await import(process.argv[1]);
const random = (numbers) => () => numbers.shift() / 3;
console.log(JSON.stringify([drawLots(2, random([0, 0, 1, 0])), drawLots(3, random([0, 1, 2, 2, 0, 0, 1, 0]))]));
"""


def test_the_winner_of_rock_paper_scissors_begins() -> None:
    """Check that a tie and a round with all three hands are repeated, and that losers drop out."""
    two, three = json.loads(run_script(LOT, (WEB / "model/lot.js").as_uri(), stdin=""))
    assert two == {"hands": [1, 0], "starter": 0}  # paper beats rock
    assert three == {"hands": [None, 1, 0], "starter": 1}  # scissors lost to both rocks


def played(scripts: list[Script]) -> list[list[Json]]:
    """Run each script's requests in a session of the page; return the answers {refused, state, seats} by script."""
    answers: list[list[Json]] = json.loads(run_node(CALLS / "model.mjs", stdin=json.dumps(scripts)))
    return answers


@pytest.mark.parametrize("match", [None, "match_measure=lack"])
def test_sessions_are_those_of_the_library(match: str | None) -> None:
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
                move = moves[str(found["line"][-1])]
                wanted_move = move_json(trace, answer["seats"])
                assert {name: move[name] for name in move if name not in ("under", "over")} == wanted_move, request
                compared += 1
    assert compared > 200


def comparable(state: Json) -> Json:
    """Return the part of the page's state that `Reference.state` also contains."""
    own = ("version", "game", "moves", "link", "friend", "played", "opponent")
    found = {name: value for name, value in state.items() if name not in own}
    if found["match"]:
        found["match"] = {**found["match"], "codes": found["match"]["owners"]["codes"]}
        del found["match"]["owners"]
    return found


def test_two_friends_play_a_match_by_links() -> None:
    """Each device opens the link of the other, and the person on the device is then the player to move."""
    rules = "tonkin max_plies=4"
    moves = [[], ["1A"], ["1A", "2A"], ["1A", "2A", "3A"], ["1A", "2A", "3A", "4A"]]
    link, seats = "", ["human", "friend"]
    for ply, played_before in enumerate(moves[:-1]):
        asked = {"rules": rules, "seats": seats, "match": ""}
        script: Script = [("read", {"link": link}) if link else ("new", asked)]
        script += [("move", {"move": moves[-1][ply], "ply": ply}), ("undo", {}), ("redo", {}), ("reopen", {})]
        [answers] = played([script])
        begun, moved, undone, _, reopened = (answer["state"] for answer in answers)
        assert [begun["moves"][str(serial)]["move"] for serial in begun["line"]] == played_before
        assert [seat["person"] for seat in begun["seats"]] == [ply % 2 == 0, ply % 2 == 1]
        assert (begun["turn"], begun["friend"]["due"], begun["can_undo"]) == ("person", False, False)
        assert (moved["turn"], moved["friend"]["due"]) == ("over" if ply == 3 else "friend", True)
        assert undone["friend"]["link"] == begun["friend"]["link"]  # a move can be undone until the friend replies
        assert reopened["friend"] == moved["friend"]
        link = moved["friend"]["link"]
    [answers] = played([[("read", {"link": link}), ("next_round", {}), ("rematch", {})]])
    end, following, rematch = (answer["state"] for answer in answers)
    assert (end["turn"], end["friend"]["due"]) == ("over", False)
    assert following["friend"]["id"] == end["friend"]["id"] != rematch["friend"]["id"]
    assert following["match"]["number"] == 2


def test_a_friend_learns_of_a_resignation() -> None:
    script: Script = [("new", {"seats": ["human", "friend"]}), ("resign", {})]
    [[_, gave_up]] = played([script])
    sent = gave_up["state"]["friend"]
    assert sent["due"]
    [[opened]] = played([[("read", {"link": sent["link"]})]])
    assert (opened["state"]["turn"], opened["state"]["resigned"]) == ("over", 0)
    assert [seat["name"] for seat in opened["state"]["seats"]] == ["friend", "human"]


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
    assert (puzzle["puzzle"]["name"], puzzle["turn"], puzzle["opponent"]) == ("refute", "person", PLAYED)
    assert (solved["turn"], solved["legal"], solved["puzzle"]["answer"]["right"]) == ("solved", [], True)
    assert solved["moves"]["1"]["lines"]["vi"][0] == "Bạn đi 3A."
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


def test_an_own_puzzle_leaves_the_game_where_it_was() -> None:
    position = "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0"
    own: Json = {"rules": "mancala-world", "puzzle": {"position": position, "line": ["3A 2C"], "name": "own"}}
    script: Script = [("new", {"moves": "5A3A", "seats": ["human", PLAYED]}), ("puzzle", own)]
    script += [("move", {"move": "2C", "ply": 0}), ("reopen", {}), ("undo", {})]
    script += [("move", {"move": "5A", "ply": 0}), ("resume", {})]
    [answers] = played([script])
    game, puzzle, right, reopened, _, wrong, end = (one["state"] for one in answers)
    assert (puzzle["puzzle"]["name"], puzzle["puzzle"]["answer"]) == ("own", None)
    assert right["puzzle"]["answer"] == {"move": "2C", "right": True, "line": ["3A 2C"]}
    assert (reopened["puzzle"]["level"], reopened["puzzle"]["answer"]) == ("own", None)
    assert wrong["puzzle"]["answer"]["right"] is False
    assert (end["position"], end["can_resume"], end["puzzle"]) == (game["position"], False, None)


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
    assert [puzzles[number]["revealed"] for number in (16, 21)] == [False, True]
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


OPENED = """\
[Rules "vietnamese"]
[Date "2025"]
[Result "*"]
[Termination "abandoned"]

{begin}
1. 3A {good}
{so far} 1A {bad}
*
"""


def test_an_opened_record_keeps_its_comments_and_names_only_those_who_play_on() -> None:
    """Check the record, the link and the session restored from its snapshot."""
    (record,) = parse_records(OPENED)
    seats = {"seats": ["human", PLAYED]}
    begin, load = ("new", {"rules": "vietnamese", **seats}), ("load", {"text": OPENED})
    script = [begin, load, ("reopen", {}), ("undo", {}), ("move", {"move": "3A", "ply": 0}), ("answer", {"move": "2A"})]
    script += [("reopen", {}), ("link", {}), load, ("resign", {}), ("reopen", {}), ("undo", {})]
    [answers] = played([script])
    states = [answer["state"] for answer in answers]
    found = [parse_records(state["record"])[0] for state in states]
    assert [str(one) for one in found[1:3]] == [str(record)] * 2
    assert [state["link"] for state in states[1:3]] == ["rules=vietnamese&moves=3A1A"] * 2
    taken, again, answered, reopened = found[3:7]
    assert (dict(taken.headers), dict(taken.comments)) == ({"Date": "2025"}, {0: "begin"})
    assert dict(again.headers) == {"Date": "2025", "South": "human"}
    assert dict(again.comments) == {0: "begin", 1: "good so far"}  # the same move again
    assert dict(answered.headers) == {"Date": "2025", "South": "human", "North": PLAYED}
    assert (answered.comments, str(reopened)) == (again.comments, str(answered))
    assert states[6]["link"] == f"rules=vietnamese&moves=3A2A&north={PLAYED}"
    assert dict(found[7].headers) == {"South": "human", "North": PLAYED}
    resigned, after, back = found[9:]
    assert dict(resigned.comments) == {0: "begin", 1: "good so far", 2: "bad South resigns"}
    assert (resigned.termination, str(after)) == ("resigned", str(resigned))
    assert (back.termination, back.comments) == ("", record.comments)
    assert answers[6]["state"]["played"] == ["human", PLAYED]


def test_an_opened_match_keeps_the_comments_and_the_players_of_its_rounds() -> None:
    match = Match("tonkin", "max_rounds=3")
    while not match.rounds:
        match.step(int(match.legal_mask().nonzero()[0][0]))
    (first,) = match_records(match)
    first = replace(first, comments={1: "a\nb", 0: "begin"})
    script: Script = [("new", {"rules": "tonkin", "seats": ["human", PLAYED]}), ("load", {"text": str(first)})]
    script += [("next_round", {}), ("reopen", {})]
    [answers] = played([script])
    before, begun, again = (parse_records(answer["state"]["record"]) for answer in answers[1:])
    assert (before, begun[0], begun) == ([first], first, again)
    assert {name for record in begun for name in record.headers} == {"Match", "Round"} | (
        set(begun[1].headers) & {"Sold", "Pawned"}
    )


def test_a_match_cannot_begin_from_a_position() -> None:
    asked: list[Json] = [{"match": "", "position": text} for text in ("hello", Board().text())]
    [answers] = played([[("new", {"rules": "tonkin"}), *(("new", each) for each in asked)]])
    refused = [answer["refused"] for answer in answers[1:]]
    assert [each["detail"]["en"] for each in refused] == ["a match begins from the initial position"] * 2
    assert answers[-1]["state"]["rules"] == "tonkin"


def test_what_the_seats_are_called() -> None:
    seats = {
        ("human", "human"): ["bên dưới", "bên trên"],
        (PLAYED, PLAYED): ["bên dưới", "bên trên"],
        ("human", PLAYED): ["bạn", "máy"],
        (PLAYED, "human"): ["máy", "bạn"],
        (PLAYED, "human", PLAYED): ["máy bên trái", "bạn", "máy bên phải"],
        ("human", "human", PLAYED): ["bên dưới", "bên phải", "bên trái"],
        (PLAYED, PLAYED, PLAYED, "human"): ["máy bên phải", "máy bên trên", "máy bên trái", "bạn"],
        ("human", "easy"): ["bạn", "Tí"],
        ("friend", "human"): ["người bạn", "bạn"],
        ("hard", "human", "easy"): ["Lan bên trái", "bạn", "Tí bên phải"],
    }
    presets = {2: "tonkin", 3: "three-player", 4: "four-player"}
    answers = played([[("new", {"rules": presets[len(names)], "seats": names})] for names in seats])
    assert [answer["seats"]["vi"] for [answer] in answers] == list(seats.values())
    english = [["South", "North"], ["South", "North"], ["you", "your opponent"], ["your opponent", "you"]]
    english += [["West", "you", "East"], ["South", "East", "West"], ["East", "North", "West", "you"]]
    english += [["you", "Tí"], ["your friend", "you"], ["West", "you", "East"]]
    assert [answer["seats"]["en"] for [answer] in answers] == english


def test_lessons_and_hints() -> None:
    asked = [{}, {"moves": 1}, {"moves": 1}, {"moves": 0}, {"moves": 3}, {"moves": 1.5}]
    [answers] = played([[("new", {"moves": "3A1C"}), ("lessons", {}), *(("hint", moves) for moves in asked)]])
    assert [bool(lesson["move"]) for lesson in answers[1]["lessons"]] == [False] + [True] * 6
    assert [bool(lesson["outcome"]) for lesson in answers[1]["lessons"]] == [False] * 6 + [True]
    for lesson in answers[1]["lessons"]:
        stones = sum(lesson["start"]["stones"]) + sum(lesson["won"])
        assert stones == 2  # on the board or captured
        if lesson["move"]:
            start, move = lesson["start"], lesson["move"]
            board = Board.setup(start["seeds"], start["stones"], start["scores"], rules="vietnamese")
            board.push(move["move"])
            assert board.last_trace is not None
            wanted = move_json(board.last_trace, {"en": ["you", "your opponent"], "vi": ["bạn", "đối thủ"]})
            assert {name: move[name] for name in move if name not in ("under", "over")} == wanted
    now, first, _, none, *refused = answers[2:]
    board = Board()
    board.push("3A")
    assert (first["hint"]["serial"], first["hint"]["ply"], first["hint"]["best"]) == (1, 1, board.text())
    assert (now["hint"]["serial"], now["hint"]["options"]) == (2, {"proved": True})
    assert (none["hint"]["serial"], none["hint"]["options"]) == (0, {"proved": True})  # as for a hint
    assert [answer["refused"]["code"] for answer in refused] == ["request", "request"]
