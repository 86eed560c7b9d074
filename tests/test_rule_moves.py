"""The rules one by one (docs/RULES.md sections 2 to 4): a position, a move, the position after it.

The lesson positions are small; their points need not make a game's total. South's row is written first, `*` is a stone.
"""

import re
from typing import NamedTuple

import pytest

from oanquan_env import Core, Positions, RunawayGameError, Termination
from oanquan_env.engine.notation import Move, format_position, parse_position


class Result(NamedTuple):
    after: str
    ended: Termination
    standings: list[int]


def play(position: str, move: str, rules: str = "mancala-world") -> Result:
    core = Core(rules)
    positions = parse_position(core, position, checked=False)
    core.play(positions, [Move.parse(move).action])
    return Result(
        format_position(core, positions),
        Termination(positions.ended[0]),
        core.standings(positions)[0].tolist(),
    )


MOVES = """
2.1 sowing passes through mandarin squares
  0,0,0,0,3,0*/0,0,0,0,0,0* 0,0 0 0  5A -> 0,0,0,0,0,1*/1,1,0,0,0,0* 0,0 1 1
2.1 sowing clockwise walks the ring backwards
  2,0,0,0,0,1*/0,0,0,0,1,0* 0,0 0 0  1C -> 0,0,0,0,0,1*/0,0,0,0,2,1* 0,0 1 1
2.1 sowing does not skip the origin, and relays what it refilled
  14,0,0,0,0,0*/5,0,0,0,0,0* 0,0 0 0  1A -> 1,2,2,0,2,1*/6,1,1,1,1,1* 0,0 1 1
2.1 up to 255 seeds are sown from one field
  0,255,0,0,0,0*/0,0,0,0,0,0* 0,0 0 0  2A -> 21,21,22,22,22,21*/21,21,21,21,21,21* 0,0 1 1
2.2 a relay lifts the field after the last seed
  2,0,0,1,0,0*/1,0,0,0,0,0* 0,0 0 0  1A -> 0,1,1,0,1,0*/1,0,0,0,0,0* 0,0 1 1
2.2 a mandarin square with something on it ends the turn
  0,0,0,1,0,0*/1,0,0,0,0,0* 0,0 0 0  4A -> 0,0,0,0,1,0*/1,0,0,0,0,0* 0,0 1 1
  0,0,0,1,0,2/1,0,0,0,0,0* 0,0 0 0  4A -> 0,0,0,0,1,2/1,0,0,0,0,0* 0,0 1 1
2.2 take_one lifts a seed of the mandarin square and goes on
  tonkin: 0,0,0,1,0,4/1,0,3,0,0,10 0,0 0 0  4A -> 0,0,0,0,1,3/2,0,0,0,0,10 3,0 1 1
2.2 take_one cannot lift a stone
  mandarin_ahead=take_one: 0,0,0,1,0,0*/1,0,3,0,0,0* 0,0 0 0  4A -> 0,0,0,0,1,0*/1,0,3,0,0,0* 0,0 1 1
2.2 an empty mandarin square ends the turn, and is a gap by the Vietnamese rules
  0,0,0,1,0,0/5,0,0,0,0,0* 0,0 0 0  4A -> 0,0,0,0,1,0/5,0,0,0,0,0* 0,0 1 1
  vietnamese: 0,0,0,1,0,0/5,0,0,0,1,0* 0,0 0 0  4A -> 0,0,0,0,1,0/0,0,0,0,1,0* 5,0 1 1
2.3 a capture over a gap
  1,0,0,4,1,0*/1,0,0,0,0,0* 0,0 0 0  1A -> 0,1,0,0,1,0*/1,0,0,0,0,0* 4,0 1 1
2.3 two empty squares end the turn
  1,0,0,0,2,0*/1,0,0,0,0,0* 0,0 0 0  1A -> 0,1,0,0,2,0*/1,0,0,0,0,0* 0,0 1 1
2.3 the capture of a mandarin square takes stone and seeds
  0,0,1,0,0,3*/1,0,0,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,0/1,0,0,0,0,0* 13,0 1 1
2.3 a chain of captures goes on over the next gap, a single capture does not
  1,0,0,4,0,3*/2,0,5,0,0,0* 0,0 0 0  1A -> 0,1,0,0,0,0/2,0,5,0,0,0* 17,0 1 1
  0,0,1,0,0,3*/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,0/0,0,1,0,0,0* 15,0 1 1
  app: 1,0,0,4,0,3*/2,0,5,0,0,0* 0,0 0 0  1A -> 0,1,0,0,0,3*/2,0,5,0,0,0* 4,0 1 1
2.3 a chain ends before an empty mandarin square, and passes it by the Vietnamese rules
  0,1,0,0,4,0/2,0,5,0,1,1* 0,0 0 0  2A -> 0,0,1,0,0,0/2,0,5,0,1,1* 4,0 1 1
  vietnamese: 0,1,0,0,4,0/2,0,5,1,1,1* 0,0 0 0  2A -> 0,0,1,0,0,0/0,0,0,1,1,1* 11,0 1 1
2.4 an unripe mandarin is safe, a ripe one is captured, and seeds without a stone are always ripe
  vietnamese quan_non=5: 0,0,1,0,0,4*/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,4*/0,2,1,0,0,0* 0,0 1 1
  vietnamese quan_non=5: 0,0,1,0,0,5*/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,0/0,0,1,0,0,0* 17,0 1 1
  vietnamese quan_non=5: 0,0,1,0,0,2/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,0/0,0,1,0,0,0* 4,0 1 1
2.4 where mandarin seeds cannot be captured, a stone alone is taken, and seeds alone never
  mandarin_seeds_capturable=False: 0,0,1,0,0,4*/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,4/0,0,1,0,0,0* 12,0 1 1
  mandarin_seeds_capturable=False: 0,0,1,0,0,4/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,4/0,2,1,0,0,0* 0,0 1 1
3 a refill comes out of the captures, on credit below zero
  0,0,0,1,1,0*/0,0,0,0,0,3* 10,7 0 0  4A -> 0,0,0,0,2,0*/1,1,1,1,1,3* 10,2 1 1
  0,0,0,1,1,0*/0,0,0,0,0,3* 10,3 0 0  4A -> 0,0,0,0,2,0*/1,1,1,1,1,3* 10,-2 1 1
3 only the next mover refills, by the text of Ludii both at once
  0,0,0,0,1,0*/0,0,0,1,0,0* 10,7 0 0  5A -> 0,0,0,0,0,1*/0,0,0,1,0,0* 10,7 1 1
  ludii: 0,0,0,0,1,0*/0,0,0,1,0,0* 10,7 0 0  5A -> 1,1,1,1,1,1*/0,0,0,1,0,0* 5,7 1 1
  ludii: 0,0,0,0,1,0*/0,0,0,0,0,0* 10,7 0 0  5A -> 1,1,1,1,1,1*/1,1,1,1,1,0* 5,2 1 1
"""
CASES = {block.splitlines()[0]: block.splitlines()[1:] for block in re.split(r"\n(?=\d)", MOVES.rstrip()) if block}


@pytest.mark.parametrize("promise", CASES)
def test_a_move_of(promise: str) -> None:
    for line in CASES[promise]:
        rules, position, move, after = re.fullmatch(r"  (?:(.+): )?(.+)  (\S+) -> (.+)", line).groups()  # type: ignore[union-attr]
        assert play(position, move, rules or "mancala-world").after == after


def test_forfeit_ends_the_game_of_a_player_short_of_points() -> None:
    starved, rules = "0,0,0,1,1,0*/0,0,0,0,0,3* 10,{} 0 0", "mancala-world refill=forfeit"
    short, enough = play(starved.format(4), "4A", rules), play(starved.format(5), "4A", rules)
    assert (short.ended, short.after) == (Termination.FORFEIT, "0,0,0,0,2,0*/0,0,0,0,0,3* 10,4 1 1")
    assert short.standings == [12, 4]  # the stones go to nobody
    assert (enough.ended, enough.after) == (Termination.RUNNING, "0,0,0,0,2,0*/1,1,1,1,1,3* 10,0 1 1")


LAST_STONE = "2,0,1,0,0,3*/0,2,1,0,0,{} 0,10 0 0"


def test_the_game_ends_with_the_last_stone_and_leftovers_go_to_their_owners() -> None:
    result = play(LAST_STONE.format(2), "3A")
    assert (result.ended, result.after) == (Termination.STONES_CAPTURED, "2,0,0,1,0,0/0,0,1,0,0,2 15,10 1 1")
    assert result.standings == [15 + 3, 10 + 1]


def test_the_game_goes_on_until_the_mandarin_squares_are_empty() -> None:
    rules = "mancala-world end=squares_empty"
    assert play(LAST_STONE.format(2), "3A", rules).ended == Termination.RUNNING
    assert play(LAST_STONE.format(0), "3A", rules).ended == Termination.SQUARES_EMPTY


def test_leftovers_are_split_evenly_and_the_odd_seed_goes_to_nobody() -> None:
    result = play("2,0,1,0,0,3*/0,2,2,0,0,2 0,10 0 0", "3A", "mancala-world leftovers=split")
    assert result.standings == [15 + 2, 10 + 2]


def test_mandarin_leftovers_are_split_evenly() -> None:
    result = play(LAST_STONE.format(3), "3A", "mancala-world mandarin_leftovers=split")
    assert result.standings == [15 + 3 + 1, 10 + 1 + 1]


def test_the_ply_limit_truncates_without_refill_and_mandarin_squares_count_for_nobody() -> None:
    rules = "mancala-world max_plies=8 mandarin_leftovers=split"
    result = play("0,0,0,1,1,3*/0,0,0,0,0,3* 10,3 0 7", "4A", rules)
    assert (result.ended, result.after) == (Termination.MAX_PLIES, "0,0,0,0,2,3*/0,0,0,0,0,3* 10,3 1 8")
    assert result.standings == [12, 3]


def test_a_game_that_ends_at_the_ply_limit_is_terminated() -> None:
    result = play("2,0,1,0,0,3*/0,2,1,0,0,2 0,10 0 7", "3A", "mancala-world max_plies=8")
    assert result.ended == Termination.STONES_CAPTURED


@pytest.mark.parametrize(("first", "second"), [("5A", "3A"), ("1C", "3C")])
def test_the_puzzle_of_mancala_world(first: str, second: str) -> None:
    core = Core()
    positions = core.start()
    assert core.play(positions, [Move.parse(first).action]).captured[0] == 11
    assert core.play(positions, [Move.parse(second).action]).captured[0] == 21
    assert positions.terminated[0]
    assert core.standings(positions)[0].tolist() == [22, 46]
    assert core.seeds(positions)[0, [5, 11]].sum() == 2


def test_the_puzzle_has_no_other_first_move_and_other_rules_play_on() -> None:
    core = Core()
    lost_at_once = set()
    first = core.expand(core.start())
    second = core.expand(first.positions)
    for row in second.positions.over.nonzero()[0]:
        lost_at_once.add((str(Move.from_action(int(first.actions[second.rows[row]]))), int(second.actions[row])))
    assert {move for move, _ in lost_at_once} == {"5A", "1C"}
    until_empty = Core("mancala-world end=squares_empty")
    positions = until_empty.start()
    for move in ("5A", "3A"):
        until_empty.play(positions, [Move.parse(move).action])
    assert not positions.over[0]


def test_the_lap_limit_names_the_row_and_leaves_the_batch_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    core = Core()
    quiet = parse_position(core, "0,0,0,1,0,0*/1,0,0,0,0,0* 0,0 0 0", checked=False)
    relay = parse_position(core, "1,0,0,1,0,0*/1,0,0,2,0,0* 0,0 1 0", checked=False)
    positions = Positions.concatenate([quiet, relay, quiet])
    before = positions.copy()
    monkeypatch.setattr("oanquan_env.engine.sowing.LAP_LIMIT", 1)
    with pytest.raises(RunawayGameError, match=r"more than 1 laps: row 1, action 6, .*mover 1"):
        core.play(positions, [6, 6, 6])
    assert positions.same(before).all()


def test_debts_beyond_a_byte_are_refused_and_leave_the_batch_as_it_was() -> None:
    core = Core()
    most = parse_position(core, "1,0,0,0,0,249*/0,0,0,0,0,0* 0,0 0 0", checked=False)
    twice = Positions.concatenate([most, most])
    assert core.singles
    assert core.singles.play(most.copy(), 0, checked=True)
    for accepted in (most, twice):
        core.play(accepted, [0] * len(accepted))
        assert set(core.seeds(accepted).sum(axis=1)) == {255}
    positions = parse_position(core, "1,0,0,0,0,250*/0,0,0,0,0,0* 0,0 0 0", checked=False)
    before = positions.copy()
    with pytest.raises(RunawayGameError, match="bring 256 seeds into play, more than 255: row 0"):
        core.play(positions, [0])
    assert positions.same(before).all()
