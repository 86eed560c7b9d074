"""One position, a batch by NumPy and a batch compiled: the same moves, masks, observations, gains, errors."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from oanquan_env import Core, IllegalActionError, Positions, Rules, RunawayGameError
from oanquan_env.engine import compiled
from oanquan_env.engine.notation import parse_position
from oanquan_env.errors import MissingExtraError
from oanquan_env.observation import Encoder
from oanquan_env.players import RandomPolicy, best_actions, move_gains
from oanquan_env.players.basic import gains_of_one
from tests import strategies
from tests.boards import random_positions
from tests.strategies import PRESET_NAMES


def assert_plays_alike(rules: Rules, seed: int) -> None:
    """Every legal move of positions of every phase, alone and in a batch, on to the finished games."""
    core, by_numpy, rng = Core(rules, compiled=True), Core(rules, compiled=False), np.random.default_rng(seed)
    encoder = Encoder(core)
    positions = random_positions(core, 12, seed)
    positions = Positions.concatenate([positions, positions[:1]])  # always more than one
    while True:
        mask, gains, seen = core.legal_mask(positions), move_gains(core, positions), encoder.encode(positions)
        assert (by_numpy.legal_mask(positions) == mask).all()
        assert (by_numpy.standings(positions) == core.standings(positions)).all()
        expanded, expected = core.expand(positions), by_numpy.expand(positions)
        assert expanded.positions.same(expected.positions).all()
        for mine, theirs in zip(expanded.positions.arrays(), expected.positions.arrays(), strict=True):
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert (expanded.rows == expected.rows).all()
        assert (expanded.actions == expected.actions).all()
        for viewer in range(rules.players):
            together, alone = (encoder.encode(some, viewer) for some in (positions, positions[:1]))
            assert (alone.dtype, alone[0].tolist()) == (together.dtype, together[0].tolist())
        for row, one in enumerate(positions[row : row + 1] for row in range(len(positions))):
            assert (core.legal_mask(one)[0] == mask[row]).all()
            assert (move_gains(core, one)[0] == gains[row]).all()
            assert (encoder.encode(one)[0] == encoder.encode(one, one.mover)[0]).all()
            assert (encoder.encode(one)[0] == seen[row]).all()
            assert gains_of_one(core, one) == {action: gains[row, action] for action in mask[row].nonzero()[0].tolist()}
        if positions.over.all():
            return
        going = (~positions.over).nonzero()[0]
        rows, actions = mask[going].nonzero()
        assert (np.stack([going[rows], actions]) == np.stack([expanded.rows, expanded.actions])).all()
        children = positions[going[rows]]
        played = core.play(children, actions)  # checked, which `expand` is not
        assert expanded.positions.same(children).all()
        for child, (row, action) in enumerate(zip(going[rows], actions, strict=True)):
            one = positions[row : row + 1]
            single = core.play(one, [action])
            assert one.same(children[child : child + 1]).all()
            assert (single.captured.tolist(), single.laps.tolist()) == ([played.captured[child]], [played.laps[child]])
        chosen = RandomPolicy(core).choose(positions[going], rng)
        twin = positions.copy()
        effects = [one.play(batch, chosen, rows=going) for one, batch in ((core, positions), (by_numpy, twin))]
        assert positions.same(twin).all()
        assert (np.array(effects[0]) == np.array(effects[1])).all()
        if len(going) == 1:
            return


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_a_single_game_plays_as_in_a_batch_in_all_presets(preset: str) -> None:
    assert_plays_alike(Rules.parse(preset), seed=1)


test_a_single_game_plays_as_in_a_batch_under_random_rules = settings(max_examples=25)(
    given(strategies.rules(), strategies.seeds)(assert_plays_alike)
)


@given(strategies.seeds)
def test_one_row_is_decided_with_the_draws_of_a_batch(seed: int) -> None:
    """The draws of a batch's first row are those of the row alone."""
    rng = np.random.default_rng(seed)
    values, mask = rng.integers(-2, 3, (2, 10)).astype(np.float64), rng.random((2, 10)) < rng.choice([0, 0.2, 0.8])
    values[0, rng.integers(10)] = -np.inf
    together = best_actions(values, mask, np.random.default_rng(seed))
    alone = best_actions(values[:1], mask[:1], np.random.default_rng(seed))
    assert (alone.dtype, alone.tolist()) == (together.dtype, together[:1].tolist())


def refuse_alike(core: Core, position: Positions, action: int, error: type[Exception]) -> None:
    """The same error for the position alone and in batches of both kinds; it stays as it was."""
    alone = position.copy()
    with pytest.raises(error) as single:
        core.play(alone, [action])
    assert alone.same(position).all()
    quiet = core.start()  # one seed, sown before a mandarin square
    quiet.squares[:] = 0
    quiet.squares[:, [3, 7, 8, 15]] = 1
    for twin in (core, Core(core.rules, compiled=False)):
        together = Positions.concatenate([quiet, position, position, quiet])
        before = together.copy()
        for actions, rows in (([6, action, action, 6], None), ([6, action, 6], np.array([0, 1, 3]))):
            with pytest.raises(error) as batch:
                twin.play(together, actions, rows=rows)
            assert str(single.value).replace("row 0", "row 1") == str(batch.value)
            assert together.same(before).all()
    if error is RunawayGameError:
        with pytest.raises(error):
            move_gains(core, position)


@pytest.mark.parametrize(
    ("rules", "text", "action", "error"),
    [
        *(
            ("tonkin", "5,5,0,5,5,10/5,5,5,5,5,10 0,0 0 0", action, IllegalActionError)
            for action in (-1, 1, 4, 10, 2**40)
        ),
        ("mancala-world", "1,0,0,0,0,250*/0,0,0,0,0,0* 0,0 0 0", 0, RunawayGameError),  # North's refill
        ("ludii", "0,0,0,0,1,252*/1,0,0,0,0,0* 0,0 0 0", 8, RunawayGameError),  # South's own, at once
    ],
)
def test_a_move_is_refused_in_the_same_words(rules: str, text: str, action: int, error: type[Exception]) -> None:
    core = Core(rules)
    refuse_alike(core, parse_position(core, text, checked=False), action, error)


def test_an_endless_relay_is_refused_in_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    core = Core(compiled=False)  # compiled code keeps the limit that it knows
    relay = parse_position(core, "1,0,0,1,0,0*/1,0,0,2,0,0* 0,0 1 0", checked=False)
    monkeypatch.setattr("oanquan_env.engine.sowing.LAP_LIMIT", 1)
    monkeypatch.setattr("oanquan_env.engine.move.LAP_LIMIT", 1)
    refuse_alike(core, relay, 6, RunawayGameError)


@pytest.mark.parametrize("preset", ["mancala-world", "three-player"])
def test_masks_and_observations_of_one_position_are_fresh(preset: str) -> None:
    core = Core(preset)
    encoder, positions = Encoder(core), core.start(1)
    for look in (lambda: core.legal_mask(positions), lambda: encoder.encode(positions)):
        first = look()
        kept = first.copy()
        first[:] = 0
        assert (look() == kept).all()
    seen = encoder.encode(positions)
    core.play(positions, [0])
    assert (seen == kept).all()


def test_a_core_says_whether_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Core().compiled
    assert not Core(compiled=False).compiled
    monkeypatch.setenv("OANQUAN_COMPILED", "0")
    assert not Core().compiled
    assert Core(compiled=True).compiled
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'oanquan\[fast\]'"):
        Core(compiled=True)


def test_kept_code_is_not_used_after_any_source_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "oanquan_env" / "engine" / "compiled.py"))
    engine, render = (tmp_path / "oanquan_env" / folder / "one.py" for folder in ("engine", "render"))
    digests = []
    for source, text in ((engine, "1"), (render, "2"), (engine, "2"), (engine, "1")):
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
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


def test_by_the_variable_games_side_by_side_are_numpy_s() -> None:
    script = "import sys, gymnasium, numpy, oanquan_env; games = gymnasium.make_vec('OAnQuan-v0', num_envs=2);"
    script += "games.reset(); games.step(numpy.array([0, 0])); print('numba' in sys.modules)"
    for value, loaded in (("0", "False"), ("1", "True")):
        run = subprocess.run(
            [sys.executable, "-c", script], env=os.environ | {"OANQUAN_COMPILED": value}, capture_output=True, text=True
        )
        assert run.stdout.strip() == loaded, run.stderr
