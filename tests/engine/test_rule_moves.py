"""Test sections 2 to 4 of docs/RULES.md by example: a position, a move, the next position, and how the game ended.

The positions are small; their points need not add up to a game's total. South's row comes first, and `*` is a stone.
`tests/text/sentences.txt` has moves for every value of every rule.
"""

import re

import pytest

from oanquan_env import Core, Termination
from oanquan_env.engine.notation import Move, format_position, parse_position

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
2.2 an empty mandarin square ends the turn, and is a gap by the Vietnamese rules
  0,0,0,1,0,0/5,0,0,0,0,0* 0,0 0 0  4A -> 0,0,0,0,1,0/5,0,0,0,0,0* 0,0 1 1
  vietnamese: 0,0,0,1,0,0/5,0,0,0,1,0* 0,0 0 0  4A -> 0,0,0,0,1,0/0,0,0,0,1,0* 5,0 1 1
2.3 a capture over a gap
  1,0,0,4,1,0*/1,0,0,0,0,0* 0,0 0 0  1A -> 0,1,0,0,1,0*/1,0,0,0,0,0* 4,0 1 1
2.3 two empty squares end the turn
  1,0,0,0,2,0*/1,0,0,0,0,0* 0,0 0 0  1A -> 0,1,0,0,2,0*/1,0,0,0,0,0* 0,0 1 1
2.3 the capture of a mandarin square takes stone and seeds
  0,0,1,0,0,3*/1,0,0,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,0/1,0,0,0,0,0* 13,0 1 1
2.3 a chain of captures goes on over the next gap
  1,0,0,4,0,3*/2,0,5,0,0,0* 0,0 0 0  1A -> 0,1,0,0,0,0/2,0,5,0,0,0* 17,0 1 1
  0,0,1,0,0,3*/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,0/0,0,1,0,0,0* 15,0 1 1
2.3 a chain ends before an empty mandarin square, and passes it by the Vietnamese rules
  0,1,0,0,4,0/2,0,5,0,1,1* 0,0 0 0  2A -> 0,0,1,0,0,0/2,0,5,0,1,1* 4,0 1 1
  vietnamese: 0,1,0,0,4,0/2,0,5,1,1,1* 0,0 0 0  2A -> 0,0,1,0,0,0/0,0,0,1,1,1* 11,0 1 1
2.4 a ripe mandarin is captured, and seeds without a stone are always ripe
  vietnamese quan_non=5: 0,0,1,0,0,5*/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,0/0,0,1,0,0,0* 17,0 1 1
  vietnamese quan_non=5: 0,0,1,0,0,2/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,0/0,0,1,0,0,0* 4,0 1 1
2.4 a first move captures no stone and ends before it, but seeds without a stone
  first_move_captures_mandarin=False: 0,0,1,0,0,4*/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,4*/0,2,1,0,0,0* 0,0 1 1
  first_move_captures_mandarin=False: 1,0,0,4,0,3*/2,0,5,0,0,0* 0,0 0 0  1A -> 0,1,0,0,0,3*/2,0,5,0,0,0* 4,0 1 1
  first_move_captures_mandarin=False: 0,0,1,0,0,2/0,2,1,0,0,0* 0,0 0 0  3A -> 0,0,0,1,0,0/0,0,1,0,0,0* 4,0 1 1
3 a refill comes out of the captures, on credit below zero
  0,0,0,1,1,0*/0,0,0,0,0,3* 10,7 0 0  4A -> 0,0,0,0,2,0*/1,1,1,1,1,3* 10,2 1 1
  0,0,0,1,1,0*/0,0,0,0,0,3* 10,3 0 0  4A -> 0,0,0,0,2,0*/1,1,1,1,1,3* 10,-2 1 1
3 only the next mover refills, by the text of Ludii both at once
  0,0,0,0,1,0*/0,0,0,1,0,0* 10,7 0 0  5A -> 0,0,0,0,0,1*/0,0,0,1,0,0* 10,7 1 1
  ludii: 0,0,0,0,1,0*/0,0,0,0,0,0* 10,7 0 0  5A -> 1,1,1,1,1,1*/1,1,1,1,1,0* 5,2 1 1
4 the game ends with the last stone, or when the mandarin squares are empty; leftovers go to their owners
  2,0,1,0,0,3*/0,2,1,0,0,2 0,10 0 0  3A -> 2,0,0,1,0,0/0,0,1,0,0,2 15,10 1 1  stones_captured 18-11
  end=squares_empty: 2,0,1,0,0,3*/0,2,1,0,0,2 0,10 0 0  3A -> 2,0,0,1,0,0/0,0,1,0,0,2 15,10 1 1
  end=squares_empty: 2,0,1,0,0,3*/0,2,1,0,0,0 0,10 0 0  3A -> 2,0,0,1,0,0/0,0,1,0,0,0 15,10 1 1  squares_empty 18-11
4 the ply limit truncates without refill, and mandarin squares count for nobody
  max_plies=8 fields=2 mandarin_leftovers=split: 1,1,3*/0,0,3* 10,3 0 7  1A -> 0,2,3*/0,0,3* 10,3 1 8  max_plies 12-3
4 a game that ends at the ply limit is terminated
  max_plies=8: 2,0,1,0,0,3*/0,2,1,0,0,2 0,10 0 7  3A -> 2,0,0,1,0,0/0,0,1,0,0,2 15,10 1 8  stones_captured 18-11
"""
CASES = {block.splitlines()[0]: block.splitlines()[1:] for block in re.split(r"\n(?=\d)", MOVES.rstrip()) if block}


@pytest.mark.parametrize("promise", CASES)
def test_a_move_of(promise: str) -> None:
    for line in CASES[promise]:
        found = re.fullmatch(r"  (?:(.+): )?(.+?)  (\S+) -> (.+?)(?:  (\S+) (\S+))?", line)
        assert found
        rules, position, move, after, ended, points = found.groups()
        core = Core(rules or "mancala-world")
        positions = parse_position(core, position, checked=False)
        core.play(positions, [Move.parse(move).action])
        assert format_position(core, positions) == after
        assert str(Termination(positions.ended[0])) == (ended or "running")
        assert not ended or core.standings(positions)[0].tolist() == [int(one) for one in points.split("-")]


def test_the_puzzle_of_mancala_world_has_two_first_moves() -> None:
    core = Core()
    first = core.expand(core.start())
    second = core.expand(first.positions)
    lost_at_once = first.actions[second.rows[second.positions.over]]
    assert {str(Move.from_action(action)) for action in lost_at_once.tolist()} == {"5A", "1C"}
