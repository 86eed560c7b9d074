"""Test proofs against the bounds of plain minimax, and the command `solve`."""

import io
import itertools
import json
import math
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from oanquan_env import Core, Positions
from oanquan_env.cli import main
from oanquan_env.engine.notation import Move
from oanquan_env.errors import UnavailableError
from oanquan_env.proofs import proof_search
from oanquan_env.proofs.bounds import Bounds
from oanquan_env.proofs.proof_search import (
    FAILED,
    LIMITED,
    PROVED,
    UNPROVED,
    LimitReachedError,
    ProofTable,
    State,
    prove,
)
from oanquan_env.proofs.solver import BoundSearch, ProofState, Solver
from oanquan_env.search.search_state import INFINITY
from tests.helpers.boards import random_positions
from tests.helpers.plain_search import endless, plain_bounds, sides

SMALL = {
    "mancala-world fields=3 seeds=2": 10,
    "ludii fields=3 seeds=2": 10,
    "app fields=3 seeds=1": 11,
    "vietnamese fields=3 seeds=1": 10,
    "tonkin fields=3 seeds=2 mandarin_seeds=3": 13,
    "mancala-world fields=2 seeds=2": 12,
}
"""Rules of small boards, and the depth of plain minimax in plies; games on the last board hardly ever end."""


LAST_STONE = "0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0"
"""3A captures the last stone and ends the game: South, 5 points behind, gains 7 points on North and wins by 2."""


def interrupted(solver: Solver, deadline: float) -> Iterator[ProofState]:
    solver.progress = ProofState(lower=0, upper=None)
    yield solver.progress
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "patched", "status", "proved"),
    [
        (f"--position '{LAST_STONE}'", {}, 0, "the value is +7 for the mover; best line 3A"),
        ("--rules vietnamese --time 0.5", {}, 1, "nothing yet. Only finished games prove a bound"),
        ("", {"rounds": interrupted}, 1, "at least +0. Only finished games prove a bound"),
        ("--rules tonkin", {"best_line": Mock(side_effect=LimitReachedError)}, 0, "the value is +5 for the mover"),
    ],
)
def test_the_command_writes_and_prints_what_is_proved(
    arguments: str, patched: dict[str, Any], status: int, proved: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed, result = io.StringIO(), tmp_path / "result.json"
    monkeypatch.setattr(sys, "stdout", printed)
    for name, function in patched.items():
        monkeypatch.setattr(Solver, name, function)
    assert main(["solve", "--megabytes", "16", "--json", str(result), *shlex.split(arguments)]) == status
    assert f"\nproved: {proved}\n" in printed.getvalue()
    assert ("\nstopped\n" in printed.getvalue()) == (LAST_STONE not in arguments)
    if LAST_STONE in arguments:
        wanted = {"lower": 7, "upper": 7, "solved": True, "position": LAST_STONE, "line": ["3A"]}
        written = json.loads(result.read_text())
        assert wanted.items() <= written.items()
        assert written.keys() >= {"command", "commit", "versions"}


def worth(core: Core, position: Positions, line: tuple[str, ...]) -> int:
    """Return the margin that the mover gains from `position` if `line` is played, which must end the game."""
    game, mover = position.copy(), int(position.mover[0])
    for move in line:
        core.play(game, [Move.parse(move).action])
    assert game.over[0]
    won = core.standings(game)[0] - position.scores[0]
    return int(won[mover] - won[1 - mover])


@pytest.mark.parametrize(
    "rules", [pytest.param(rules, marks=pytest.mark.slow) if "fields=2" in rules else rules for rules in SMALL]
)
def test_bounds_are_as_good_as_plain_minimax_has_them(rules: str) -> None:
    core = endless(rules)
    count = 2 if "fields=2" in rules else 6  # proofs take long if play need not end
    positions = Positions.concatenate([core.start(), random_positions(core, count, seed=1)])
    solved = 0
    for row in range(len(positions)):
        position = positions[row : row + 1]
        lower, upper = plain_bounds(core, position, SMALL[rules])[-1]
        solver = Solver(core, position, megabytes=1)
        for found in itertools.islice(solver.rounds(), 3):
            bounds = [
                -math.inf if found.lower is None else found.lower,
                math.inf if found.upper is None else found.upper,
            ]
        assert lower <= bounds[0] <= bounds[1] <= upper
        if solver.progress.solved:
            solved += 1
            assert worth(core, position, solver.progress.line) == solver.progress.lower
    assert solved < len(positions) if "fields=2" in rules else solved > 0


@pytest.mark.parametrize("rules", list(SMALL)[:3])
@pytest.mark.parametrize("megabytes", [0.01, 1])
def test_what_is_proved_holds_by_the_plies_of_its_proof(rules: str, megabytes: float) -> None:
    core = endless(rules)
    positions = random_positions(core, 12, seed=2)
    checked = 0
    for row in range(len(positions)):
        root = sides(positions, row)
        plain = plain_bounds(core, positions[row : row + 1], SMALL[rules])
        table = ProofTable(core, megabytes)
        for bound, is_lower in itertools.product(range(-30, 31, 3), (True, False)):
            answer = table.prove(*root, bound, is_lower=is_lower, nodes=20_000)
            lower, upper = plain[-1]
            assert answer != PROVED or (bound <= upper if is_lower else bound >= lower)
            assert answer != FAILED or not (bound <= lower if is_lower else bound >= upper)
            plies = table.plies(*root, bound, is_lower=is_lower)
            if answer == PROVED and plies <= len(plain):
                lower, upper = plain[plies - 1]
                assert bound <= lower if is_lower else bound >= upper
                checked += 1
    assert checked > 12


@pytest.mark.parametrize("guess", [-60, -9, 60])
@pytest.mark.parametrize("most", [-9, -6, 60])
def test_any_guess_leads_to_the_bounds_and_no_question_is_asked_twice(
    guess: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in for `ProofTable.prove` proves lower bounds up to -9 and upper bounds from `most`, and no others."""
    questions = list[tuple[int, bool]]()

    def answer(own: int, other: int, bound: int, *, is_lower: bool, **_: object) -> int:
        questions.append((bound, is_lower))
        return PROVED if (bound <= -9 if is_lower else bound >= most) else FAILED

    monkeypatch.setattr(ProofTable, "prove", lambda table, *arguments, **options: answer(*arguments, **options))
    monkeypatch.setattr(ProofTable, "plies", lambda *_, **__: 1)
    bound_search = BoundSearch(ProofTable(Core("tonkin"), megabytes=1), *sides(Core("tonkin").start()), Bounds())
    bound_search.narrow(guess, 1000)
    assert (bound_search.bounds, bound_search.bounds.meet) == (Bounds(-9, most), most == -9)
    assert not bound_search.limited
    assert len(questions) == len(set(questions)) <= 36


def test_a_bound_beyond_the_value_fails_soon_though_play_may_lead_back() -> None:
    core, value = endless("app fields=3 seeds=1"), 24
    table, root = ProofTable(core, megabytes=4), sides(core.start())
    assert table.prove(*root, value + 1, is_lower=True, nodes=1 << 30) == FAILED
    assert table.prove(*root, value - 1, is_lower=False, nodes=1 << 30) == FAILED
    assert table.nodes < 100_000
    for is_lower in (True, False):  # earlier failures do not prevent a proof
        assert table.prove(*root, value, is_lower=is_lower, nodes=1 << 20) == PROVED


def test_a_proof_that_takes_too_many_plies_does_not_count() -> None:
    core = endless("app fields=3 seeds=1")
    for plies, upper in ((10, math.inf), (20, 24)):
        bound_search = BoundSearch(ProofTable(core, megabytes=1), *sides(core.start()), Bounds(), plies)
        bound_search.narrow(24, 1 << 20)
        assert bound_search.bounds == Bounds(24, upper)


def test_a_question_that_is_interrupted_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline may pass before the proof begins, or Ctrl-C may interrupt it."""
    core = Core()
    table, root = ProofTable(core, megabytes=1), sides(core.start())

    def late(state: State, *arguments: Any) -> int:
        while not state.memory.stop:
            time.sleep(0.001)
        return prove(state, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(proof_search, "prove", late)
        with pytest.raises(LimitReachedError):
            table.prove(*root, 20, is_lower=True, nodes=1 << 40, deadline=time.monotonic())
    assert table.nodes < 10 * core.rules.actions
    assert table.prove(*root, 20, is_lower=True, nodes=1000, deadline=math.inf) == LIMITED
    monkeypatch.setattr(proof_search, "wait", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        table.prove(*root, 20, is_lower=True, nodes=1 << 40, deadline=math.inf)


def test_a_question_goes_on_where_its_nodes_were_used_up() -> None:
    core = Core("tonkin")
    table, root = ProofTable(core, megabytes=16), sides(core.start())
    answers = [table.prove(*root, 5, is_lower=True, nodes=20_000) for _ in range(40)]
    assert (answers[0], answers[-1]) == (LIMITED, PROVED)
    nodes = table.nodes
    assert 20_000 * answers.index(PROVED) <= nodes < 21_000 * (answers.index(PROVED) + 1)
    assert table.prove(*root, 4, is_lower=True, nodes=0) == PROVED
    assert table.prove(*root, 6, is_lower=True, nodes=0) == LIMITED
    assert table.nodes == nodes


def test_a_batch_is_proved_as_one_position_after_the_other() -> None:
    core = Core(next(iter(SMALL)))
    positions = random_positions(core, 12, seed=2)
    count, nodes = len(positions), 2000
    tables = [ProofTable(core, megabytes=1) for _ in range(2)]
    answers = [tables[0].prove(*sides(positions, row), 0, is_lower=True, nodes=nodes) for row in range(count)]
    _, plies = tables[1].prove_each(positions, np.zeros(count, np.int32), np.full(count, INFINITY), nodes)
    assert [answer == PROVED for answer in answers] == (plies != UNPROVED).tolist()
    assert tables[0].nodes == tables[1].nodes
    assert 0 < answers.count(PROVED) < count


def test_finished_games_batches_rules_of_first_moves_and_bounds_beyond_all_values_are_refused() -> None:
    core = Core()
    over = core.setup([[1, 0, 0, 0, 0, 0] * 2], [[0, 0]], [[40, 28]])
    for positions in (over, core.start(2)):
        with pytest.raises(ValueError, match="one position of a running game"):
            Solver(core, positions, megabytes=1)
    with pytest.raises(UnavailableError, match="need first_move_captures_mandarin=True"):
        ProofTable(Core("first_move_captures_mandarin=False"), megabytes=1)
    table = ProofTable(core, megabytes=1)
    for bound in (INFINITY, -INFINITY):
        with pytest.raises(ValueError, match="must be within 16000 points"):
            table.prove(*sides(core.start()), bound, is_lower=True, nodes=10)
    (bound_search := BoundSearch(table, *sides(core.start()), Bounds())).narrow(10**6, 10)
    assert bound_search.bounds == Bounds()
