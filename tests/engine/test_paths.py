"""Test that single positions, batches in NumPy and compiled batches give the same results and the same errors."""

import gc
import itertools
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings

from oanquan_env import Core, IllegalActionError, Positions, Rules, Termination
from oanquan_env.engine import compiled, loops
from oanquan_env.engine.notation import SEAT_NAMES, parse_position
from oanquan_env.engine.step import OTHERS
from oanquan_env.observation import Encoder
from oanquan_env.players import RandomPolicy, move_gains
from tests.helpers import strategies
from tests.helpers.boards import random_positions
from tests.helpers.strategies import PRESET_NAMES

PACKAGE = Path(compiled.__file__).parents[1]
ROOMS = {"engine"} | {path.parent.name for path in PACKAGE.rglob("*.py") if "\n@compiled" in path.read_text()}
"""The folders of functions that Numba compiles: the engine's loops, and modules that use the decorator `compiled`."""


def computed(core: Core, positions: Positions) -> list[np.ndarray]:
    """Return what a core computes for N positions and for their M legal moves, in arrays of N or M rows."""
    encoder, (children, rows, actions) = Encoder(core), core.expand(positions)
    moved = positions[rows]
    played = core.play(moved, actions)  # checks the actions, unlike `expand`
    assert moved.same(children).all()
    observations = [encoder.encode(positions, viewer) for viewer in (None, *range(core.rules.players))]
    of_positions = core.legal_mask(positions), core.standings(positions), move_gains(core, positions)
    return [*of_positions, *observations, *children.arrays(), actions, *played]


def assert_plays_alike(rules: Rules, seed: int) -> None:
    """Check that random games are the same in a compiled batch, in a NumPy batch, and one by one."""
    core, by_numpy, rng = Core(rules, compiled=True), Core(rules, compiled=False), np.random.default_rng(seed)
    positions = random_positions(core, 12, seed)
    while (going := (~positions.over).nonzero()[0]).size:
        each = zip(*(computed(core, positions[row : row + 1]) for row in range(len(positions))), strict=True)
        for mine, theirs, alone in zip(
            computed(core, positions), computed(by_numpy, positions), map(np.concatenate, each), strict=True
        ):
            assert (mine.dtype, mine.tolist()) == (theirs.dtype, theirs.tolist()) == (alone.dtype, alone.tolist())
        assert (core.expand(positions).rows == by_numpy.expand(positions).rows).all()
        actions, twin = RandomPolicy(core).choose(positions[going], rng), positions.copy()
        effects = [one.play(batch, actions, rows=going) for one, batch in ((core, positions), (by_numpy, twin))]
        assert positions.same(twin).all()
        assert (np.array(effects[0]) == np.array(effects[1])).all()


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_a_single_game_plays_as_in_a_batch_in_all_presets(preset: str) -> None:
    assert_plays_alike(Rules.parse(preset), seed=1)


test_a_single_game_plays_as_in_a_batch_under_random_rules = settings(max_examples=12)(
    given(strategies.two_sizes, strategies.seeds)(assert_plays_alike)
)


@pytest.mark.parametrize("action", [-1, 1, 4, 10, 2**40])
def test_an_illegal_action_is_refused_by_row_and_changes_nothing(action: int) -> None:
    for core in (Core("tonkin"), Core("tonkin", compiled=False)):
        position = parse_position(core, "5,5,0,5,5,10/5,5,5,5,5,10 5,0 0 0")
        together = Positions.concatenate([core.start(), position, position, core.start()])
        before = together.copy()
        for actions, rows in (([6, action, action, 6], None), ([6, action, 6], np.array([0, 1, 3]))):
            with pytest.raises(IllegalActionError, match=rf"illegal action {action} in row 1; legal: \[0, 2, 6, 8\]"):
                core.play(together, actions, rows=rows)
            assert together.same(before).all()


@pytest.mark.parametrize(
    ("rules", "text", "action"),
    [
        ("mancala-world", "1,0,0,0,0,250*/0,0,0,0,0,0* 0,0 0 0", 0),  # North's refill
        ("ludii", "0,0,0,0,1,252*/1,0,0,0,0,0* 0,0 0 0", 8),  # South's own refill, at once
    ],
)
def test_a_move_without_an_end_ends_the_game_on_the_board_before_it(rules: str, text: str, action: int) -> None:
    for core in (Core(rules, compiled=False), Core(rules)):
        position = parse_position(core, text, checked=False)
        quiet = parse_position(core, "1,0,0,1,1,0*/1,1,0,0,0,0* 0,0 0 0", checked=False)
        together = Positions.concatenate([quiet, position, quiet])
        core.play(together, [6, action, 6])
        assert together.ended.tolist() == [Termination.RUNNING, Termination.TOO_MANY_SEEDS, Termination.RUNNING]
        stopped, at_the_limit = together[1:2], together[1:2]
        assert (stopped.squares.tolist(), stopped.scores.tolist()) == (position.squares.tolist(), [[0, 0]])
        assert (stopped.truncated[0], stopped.mover[0], stopped.ply[0]) == (True, 1, 1)
        at_the_limit.ended[:] = Termination.MAX_PLIES
        assert (core.standings(stopped) == core.standings(at_the_limit)).all()


def test_a_core_says_whether_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Core().compiled
    assert not Core(compiled=False).compiled
    monkeypatch.setenv("OANQUAN_COMPILED", "0")
    assert not Core().compiled
    assert Core(compiled=True).compiled


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_kept_code_is_not_used_after_any_source_changed(
    room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "oanquan_env" / "engine" / "compiled.py"))
    source, render = (tmp_path / "oanquan_env" / folder / "one.py" for folder in (room, "render"))
    digests = []
    for file, text in ((source, "1"), (render, "2"), (source, "2"), (source, "1")):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        digests.append(compiled._digest.__wrapped__())
    assert digests[0] == digests[1] == digests[3] != digests[2]


def test_kept_code_is_not_used_after_its_own_file_changed(tmp_path: Path) -> None:
    source, stamps = tmp_path / "outside.py", []
    for text in ("1", "2", "1"):
        source.write_text(f"def number():\n    return {text}\n")
        compiled._digest_of.cache_clear()
        number = runpy.run_path(str(source))["number"]
        stamps.append(compiled._Cache(number)._cache_file._source_stamp)
    assert stamps[0] == stamps[2] != stamps[1]


def test_a_damaged_file_of_kept_code_counts_as_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    source = tmp_path / "damaged.py"
    source.write_text("def double(number):\n    return 2 * number\n")

    def doubled() -> int:
        double = compiled.compiled(runpy.run_path(str(source))["double"])
        return double(21)

    assert doubled() == 42
    for ending in ("nbi", "nbc"):
        for damage in (b"", b"\x80\x05", None):
            kept = next(tmp_path.rglob(f"*.{ending}"))
            content = kept.read_bytes()
            kept.write_bytes(content[: len(content) // 2] if damage is None else damage)
            assert doubled() == 42


def test_two_programs_that_compile_at_once_do_not_mix_their_code(tmp_path: Path) -> None:
    first, second, reader = (compiled._CacheFile(str(tmp_path), "double", "stamp") for _ in range(3))
    save_index = first._save_index

    def save_index_as_the_other_saves(overloads: dict[str, str]) -> None:
        save_index(overloads)
        tmp_path.joinpath(first._index_name).unlink()  # as if `second` had read the index before this
        second.save("of integers", 2)

    first._save_index = save_index_as_the_other_saves
    first.save("of floats", 1)
    assert reader.load("of integers") == 2
    assert reader.load("of floats") in (1, None)


def test_code_of_a_record_type_has_one_name_in_every_program_and_no_other_type_has_it() -> None:
    """Numba's own names number the types; with them, code that two programs kept was mixed up in a third."""
    numbers, names = [], []
    for fields in ("ab", "ba", "ab"):
        kind = numba.from_dtype(compiled.record(type("Pair", (), {"__annotations__": dict.fromkeys(fields, int)})))
        numbers.append(kind._code)
        names.append(kind.mangling_args)
        del kind
        gc.collect()
    assert len(set(numbers)) == 3
    assert names[0] == names[2] != names[1]


MEETS = """
import sys
from oanquan_env.engine.compiled import compiled, record, zeros

KINDS = {order: record(type("Pair", (), {"__annotations__": dict.fromkeys(order, int)})) for order in ("ab", "ba")}

@compiled
def inner(pair, count):
    total = 0
    for number in range(count):
        total += pair.a if number % 3 == total % 2 else number
    return total

@compiled
def outer(pair, count):
    return inner(pair, count) if count > 2 else inner(pair, count + 3)

for order in sys.argv[1:]:
    pairs = zeros(KINDS[order], 1)
    pairs["a"], pairs["b"] = 100, 1_000_000
    print(outer(pairs[0], 9))
"""
"""A program that calls `outer` for each argument, `ab` or `ba`, with a record whose fields are in that order."""


@pytest.mark.slow
def test_code_that_two_programs_kept_for_two_types_is_not_mixed_in_a_third(tmp_path: Path) -> None:
    """With Numba's own symbol names, the code of both types had one name, so the third run mixed them up."""
    program = tmp_path / "meets.py"
    program.write_text(MEETS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    printed = [
        subprocess.run([sys.executable, program, *orders], env=environment, capture_output=True, text=True, check=True)
        for orders in (["ab"], ["ba"], ["ab", "ba"])
    ]
    first, second, both = (run.stdout.split() for run in printed)
    assert first == second
    assert both == first * 2
    assert "compiling" not in printed[2].stderr


def test_each_case_of_the_loops_has_a_name_of_its_own_in_the_cache() -> None:
    made = {loop for players in SEAT_NAMES for loop in loops.loops(players, True)}
    for case in itertools.product(SEAT_NAMES, range(OTHERS + 1), (False, True)):
        made |= {*loops.step_loops(*case, True)}  # all kinds of opponents share some
    names = {getattr(loop, "py_func", loop).__qualname__ for loop in made}  # without Numba, it is the function
    assert len(names) == len(made)


@pytest.mark.slow
def test_code_that_two_programs_cached_for_different_numbers_of_players_can_be_used_together(tmp_path: Path) -> None:
    """With one name for the loops of all numbers of players, Numba could give their cached code the same symbols."""
    program = "import sys; from oanquan_env import Core; [Core(r).standings(Core(r).start(4)) for r in sys.argv[1:]]"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for rules in (["mancala-world"], ["mancala-world", "three-player"], ["mancala-world", "three-player"]):
        subprocess.run([sys.executable, "-c", program, *rules], env=environment, capture_output=True, check=True)
