"""Proofs beside plain minimax beyond whose horizon nothing, or anything, is won."""

import time
from typing import Any

import numpy as np
import pytest

from agents.search import proof
from agents.search.compiled import SearchRules
from agents.search.deepening import Limits, Search
from agents.search.memory import ENTRIES, NO_ACTION, Memory
from agents.search.proof import NO, OPEN_NO, OPEN_YES, YES, LimitReachedError, ProofTable, find, reaches
from agents.search.solver import Solver
from oanquan_env import Core, Positions
from oanquan_env.engine.notation import Move, parse_position
from tests.boards import random_positions
from tests.plain_search import endless, plain_bounds, sides

SMALL = {
    "mancala-world fields=3 seeds=2": 10,
    "ludii fields=3 seeds=2": 10,
    "app fields=3 seeds=1": 11,
    "vietnamese fields=3 seeds=1": 10,
    "tonkin fields=3 seeds=2 mandarin_seeds=3": 13,
    "mancala-world fields=2 seeds=2": 12,
}
"""Rules of small boards, and the plies to which plain minimax follows; on the last one play hardly ever ends."""


LAST_STONE = "0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0"
"""3A captures the last stone: seven points, and the game is over."""


def worth(core: Core, position: Positions, line: tuple[str, ...]) -> int:
    """Margin that a line to the end of the game wins the mover."""
    game, mover = position.copy(), int(position.mover[0])
    for move in line:
        core.play(game, [Move.parse(move).action])
    assert game.over[0]
    won = core.standings(game)[0] - position.scores[0]
    return int(won[mover] - won[1 - mover])


@pytest.mark.parametrize("rules", SMALL)
def test_bounds_are_as_good_as_plain_minimax_has_them_and_never_beyond_later_ones(rules: str) -> None:
    core = endless(rules)
    positions = Positions.concatenate([core.start(), random_positions(core, 10, seed=1)])
    solved = 0
    for row in range(len(positions)):
        position = positions[row : row + 1]
        plain = plain_bounds(core, position, SMALL[rules])
        solver = Solver(core, position, megabytes=1)
        solver.progress.seconds = 100.0  # of an earlier run
        for depth, progress in enumerate(solver.deepen()):
            lower = -np.inf if progress.lower is None else progress.lower
            upper = np.inf if progress.upper is None else progress.upper
            assert plain[depth][0] <= lower <= plain[-1][1]
            assert plain[-1][0] <= upper <= plain[depth][1]
            assert progress.depth == depth + 1
            if progress.depth == len(plain):
                break
        assert solver.progress.seconds >= 100
        assert solver.progress.solved >= (plain[-1][0] == plain[-1][1])
        if solver.progress.solved:
            solved += 1
            assert worth(core, position, solver.progress.line) == solver.progress.lower
    assert solved < len(positions) if "fields=2" in rules else solved > 0


@pytest.mark.parametrize("guess", [-60, -10, -9, -8, 0, 60])
def test_any_guess_leads_to_the_bounds_and_no_question_is_asked_twice(
    guess: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    value, goals = -9, list[int]()

    def answer(own: int, other: int, goal: int, depth: int, **_: object) -> int:
        goals.append(goal)
        assert len(goals) == len(set(goals)) < 200
        return YES if value >= goal else NO

    core = Core("tonkin")
    solver = Solver(core, core.start(), megabytes=1)
    monkeypatch.setattr(solver.table, "ask", answer)
    for side, bounds in ((1, (value, None)), (-1, (value, value))):
        goals.clear()
        solver._improve(side, guess, 1, np.inf)
        assert (solver.progress.lower, solver.progress.upper) == bounds
        assert len(goals) <= 16 or side * guess < side * value
    solver.progress.upper = None
    goals.clear()
    solver._improve(1, guess, 2, np.inf)
    assert goals == [value + 1]


@pytest.mark.parametrize("optimistic", [False, True])
def test_an_answer_says_whether_it_is_proved(optimistic: bool) -> None:
    core = endless("mancala-world fields=3 seeds=2")
    positions = random_positions(core, 12, seed=2)
    told = set()
    for row in range(len(positions)):
        position = positions[row : row + 1]
        table = ProofTable(core, megabytes=1)
        plain = plain_bounds(core, position, 10)
        later = plain[-1]
        for depth in (1, 4, 5, 7):
            lower, upper = plain[depth - 1]
            for goal in range(-30, 31, 3):
                answer = table.ask(*sides(position), goal, depth, optimistic=optimistic)
                told.add(answer)
                if not optimistic:
                    assert answer == YES or (answer in (NO, OPEN_NO) and goal > lower)
                else:
                    assert answer == NO or (answer in (YES, OPEN_YES) and goal <= upper)
                assert answer != YES or goal <= later[1]
                assert answer != NO or goal > later[0]
    assert told >= ({YES, OPEN_NO} if not optimistic else {NO, OPEN_YES})


def test_a_finished_game_and_a_batch_are_refused() -> None:
    core = Core()
    over = core.setup([[1, 0, 0, 0, 0, 0] * 2], [[0, 0]], [[40, 28]])
    for positions in (over, core.start(2)):
        with pytest.raises(ValueError, match="one position of a running game"):
            Solver(core, positions, megabytes=1)


def test_a_deadline_interrupts_in_the_middle_of_a_depth() -> None:
    core = Core()
    Search(core, threads=1).best(core.start(), Limits(depth=2))  # compiled before the clock runs
    solver = Solver(core, core.start(), megabytes=16)
    with pytest.raises(LimitReachedError):
        for _ in solver.deepen(time.monotonic() + 2.0):
            pass
    interrupted = solver.progress.depth
    assert interrupted < 24  # where the proof ends, after a quarter of a minute
    assert next(iter(solver.deepen(time.monotonic() + 60.0))).depth == interrupted + 1


def test_a_question_that_is_interrupted_before_it_is_begun_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    core = Core()
    table, root = ProofTable(core, megabytes=1), sides(core.start())

    def late(rules: SearchRules, memory: Memory, *arguments: Any) -> int:
        while not memory.stop:
            time.sleep(0.001)
        return reaches(rules, memory, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(proof, "reaches", late)
        with pytest.raises(LimitReachedError):
            table.ask(*root, 20, 8, optimistic=False, deadline=time.monotonic())
    assert table.nodes == core.rules.actions  # the root's moves
    assert table.ask(*root, 20, 8, optimistic=False, deadline=float("inf")) == OPEN_NO


def test_a_ctrl_c_ends_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    core = Core()
    table = ProofTable(core, megabytes=1)
    monkeypatch.setattr(proof, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        table.ask(*sides(core.start()), 20, 100, optimistic=False, deadline=float("inf"))


def test_nodes_are_allowed_for_all_questions_together() -> None:
    core = Core()
    table, root = ProofTable(core, megabytes=1), sides(core.start())
    table.allow(1000)
    assert table.ask(*root, 20, 3, optimistic=False) == OPEN_NO
    assert 10 < table.nodes < 1000
    with pytest.raises(LimitReachedError):
        table.ask(*root, 20, 30, optimistic=False)
    assert 1000 <= table.nodes < 1000 + core.rules.actions
    with pytest.raises(LimitReachedError):
        table.ask(*root, 20, 31, optimistic=False)
    table.allow(1 << 40)
    assert table.nodes == 0
    assert table.ask(*root, 20, 7, optimistic=False) == OPEN_NO


def test_the_move_of_a_proof_is_remembered() -> None:
    core = Core()
    position = parse_position(core, LAST_STONE)
    table, root = ProofTable(core, megabytes=1), sides(position)
    assert table.action(*root) == NO_ACTION
    assert table.ask(*root, 7, 1, optimistic=False) == YES
    assert str(Move.from_action(table.action(*root))) == "3A"


def test_every_position_in_a_table_is_found_again() -> None:
    core = Core()
    table = ProofTable(core, megabytes=0.02)
    for depth in (3, 4, 5):
        assert table.ask(*sides(core.start()), 20, depth, optimistic=False) == OPEN_NO
    places, entries = table.entries()
    found = [find(table._memory, table._table, own, other) for own, other in entries[:, :2].tolist()]
    assert [ENTRIES * bucket + place for bucket, place in found] == places.tolist()
    assert (places % ENTRIES).any()  # some share a bucket
