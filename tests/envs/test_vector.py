"""Test the native vector environment row by row against Gymnasium's vector of single environments."""

import copy
import re
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from oanquan_env import Core, IllegalActionError, Rules, sample_actions
from oanquan_env.board import shared_core
from oanquan_env.envs import TERMINATIONS
from oanquan_env.envs.arguments import RuleSets
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.observation import OBSERVATIONS, Encoder
from oanquan_env.rewards import REWARDS, ply_rewards
from tests import ROOT
from tests.helpers import strategies
from tests.helpers.players import FirstMove, random_legal, refusing

THREE_PLIES = "quan_non=20 max_plies=3"  # nothing is captured so early, so every game has three plies

opponents = st.sampled_from([None, "random", "greedy", "first"])


def compare_with_single(rules: RuleSets, mode: AutoresetMode, *, n: int, steps: int, seed: int, **settings: Any) -> int:
    """Step both vector environments with the same, rarely illegal, actions; return the number of games that ended."""
    single = SyncVectorEnv([lambda: OAnQuanEnv(rules, **settings)] * n, autoreset_mode=mode)
    native = OAnQuanVectorEnv(n, rules, autoreset_mode=mode, **settings)
    for space in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(native, space) == getattr(single, space)
    try:
        started = native.reset(seed=seed)
    except ValueError:  # the opponent ends every game of a row before the agent's first move
        with pytest.raises(ValueError, match="before the agent's first move"):
            single.reset(seed=seed)
        return 0
    assert data_equivalence(started, single.reset(seed=seed), exact=True)
    rng, ends = np.random.default_rng(seed), 0
    for _ in range(steps):
        any_action = rng.integers(native.single_action_space.n, size=n)
        actions = np.where(rng.random(n) < 0.02, any_action, random_legal(native.action_masks(), rng))
        stepped, expected = native.step(actions), single.step(actions)
        for info in (expected[4], expected[4].get("final_info", {})):
            if "termination" in info:  # strings, where a batch has codes
                codes = [TERMINATIONS.index(text or "running") for text in info["termination"]]
                info["termination"] = np.array(codes, dtype=np.int64)
        assert data_equivalence(stepped, expected, exact=True)
        assert (native.action_masks() == stepped[4]["action_mask"]).all()
        assert native.seats.tolist() == list(single.get_attr("seat"))
        over = stepped[2] | stepped[3]
        assert (native.action_masks().any(axis=1) | (over & (mode != AutoresetMode.SAME_STEP))).all()
        ends += int(over.sum())
        if mode == AutoresetMode.DISABLED and over.any():
            resets = [games.reset(options={"reset_mask": over.copy()}) for games in (native, single)]
            assert data_equivalence(*resets, exact=True)
    return ends


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("preset", ["mancala-world", "tonkin", strategies.FOUR_PLAYER])
def test_rows_are_single_environments(preset: str, mode: AutoresetMode) -> None:
    rules, reward = Rules.parse(preset).replace(max_plies=40), REWARDS[len(preset) % 3]
    assert compare_with_single(rules, mode, n=6, steps=60, seed=0, opponent=None, reward=reward, opening_plies=5) > 5
    for opponent in ("random", "greedy", FirstMove(shared_core(rules))):
        settings = {"opponent": opponent, "reward": reward, "opening_plies": 3}
        assert compare_with_single(rules, mode, n=4, steps=40, seed=7, **settings) > 3
    for observation in ("planes", "moves"):
        settings = {"opponent": "greedy", "opening_plies": 3, "observation": observation}
        assert compare_with_single(rules, mode, n=4, steps=20, seed=7, **settings) > 0


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_every_seat_s_rewards_and_the_seats_to_move_are_returned_on_request(mode: AutoresetMode) -> None:
    settings: Any = {"rules": "three-player max_plies=20", "opponent": None, "reward": "margin", "autoreset_mode": mode}
    games, plain = OAnQuanVectorEnv(8, every_seat=True, **settings), OAnQuanVectorEnv(8, **settings)
    info, core, rng, ends = games.reset(seed=0)[1], games._games.core, default_rng(0), 0
    assert not {"mover", "rewards"} & plain.reset(seed=0)[1].keys()
    assert info["mover"].tolist() == [0] * 8
    for _ in range(50):
        before, over = games.positions, ~info["action_mask"].any(axis=1)
        actions = sample_actions(info["action_mask"], rng)
        _, rewards, terminated, truncated, info = games.step(actions)
        after = before.copy()
        core.play(after, actions[~over], rows=(~over).nonzero()[0])
        earned = ply_rewards("margin", core, before.scores, after) * ~over[:, None]
        assert info["rewards"] == pytest.approx(earned)
        assert (info["mover"] == games.positions.mover).all()
        assert (info["rewards"][np.arange(8), before.mover] == rewards).all()
        ends += int((terminated | truncated).sum())
    assert ends > 8


def test_sampled_actions_are_legal_and_each_legal_action_is_as_likely() -> None:
    masks = np.zeros((60_000, 10), np.int8)
    masks[:, [1, 4, 9]] = 1
    counts = np.bincount(sample_actions(masks, default_rng(0)), minlength=10)
    assert counts.nonzero()[0].tolist() == [1, 4, 9]
    assert counts[[1, 4, 9]] == pytest.approx(20_000, rel=0.03)
    assert sample_actions(masks[0] * 0, default_rng(0)) == 0


@pytest.mark.skipif(not Core().compiled, reason="runs the loops as plain Python")
def test_actions_of_any_layout_are_played_and_compile_nothing_more() -> None:
    wanted, compiled = Core().start(4), set[int]()
    Core().play(wanted, [2, 0, 4, 8])
    for actions in (np.array([2, 0, 4, 8]), np.array([2, 9, 0, 9, 4, 9, 8])[::2], [2, 0, 4, 8], np.uint8([2, 0, 4, 8])):
        for render_mode in (None, "ansi"):
            games = OAnQuanVectorEnv(4, opponent=None, render_mode=render_mode)
            games.reset()
            if isinstance(actions, np.ndarray):
                actions.flags.writeable = False
            games.step(actions)
            compiled.add(len(games._games._loops.step.signatures))
            assert games.positions.same(wanted).all()
    assert len(compiled) == 1


@pytest.mark.parametrize("opponent", [None, "greedy"])
def test_all_observations_are_of_the_same_games(opponent: str | None) -> None:
    settings: Any = {"opponent": opponent, "threads": 2, "autoreset_mode": "SameStep"}
    games = {name: OAnQuanVectorEnv(2000, observation=name, **settings) for name in OBSERVATIONS}
    encoders, rng, actions = {name: Encoder(Core(), name) for name in OBSERVATIONS}, np.random.default_rng(0), None
    for step in range(8):
        for name, env in games.items():
            seen = env.reset(seed=1)[0] if actions is None else env.step(actions)[0]
            viewer = None if opponent is None else env.seats
            assert (seen == encoders[name].encode(env.positions, viewer)).all(), (step, name)
            assert env.observation_space.contains(seen)
        actions = random_legal(env.action_masks(), rng)


@settings(max_examples=15)
@given(strategies.usual_size, st.sampled_from(AutoresetMode), opponents, st.integers(0, 8), strategies.seeds)
def test_rows_are_single_environments_for_any_rules(
    rules: Rules, mode: AutoresetMode, opponent: Any, plies: int, seed: int
) -> None:
    opponent = FirstMove(shared_core(rules)) if opponent == "first" else opponent
    settings = {"opponent": opponent, "reward": "margin", "opening_plies": min(plies, rules.max_plies)}
    with refusing():  # also during play, when a game restarts
        compare_with_single(rules, mode, n=3, steps=25, seed=seed, **settings)


def test_rules_by_which_no_game_lets_the_agent_move_are_refused() -> None:
    message = "ended 100 of 100 games of 'mancala-world max_plies=1' before the agent's first move: choose another seat"
    for make in (OAnQuanEnv, lambda *args, **settings: OAnQuanVectorEnv(3, *args, **settings)):
        with pytest.raises(ValueError, match=message):
            make("max_plies=1", seat=1).reset()
        make("max_plies=1", seat="random").reset()
    with pytest.raises(ValueError, match="ended 100 of 100 games"):  # South makes the last ply
        OAnQuanEnv("max_plies=8", seat=1).reset(options={"position": "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 7"})


def test_the_page_lists_the_codes_of_terminations_and_the_entries_of_info() -> None:
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    assert f"| code | {' | '.join(map(str, range(len(TERMINATIONS))))} |" in page
    assert f"| string | {' | '.join(f'`{name}`' for name in TERMINATIONS)} |" in page
    table = page.partition("| entry |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", table, re.M)
    rules = ["max_plies=1", "max_plies=2"]
    single = OAnQuanEnv(rules, seat=0)
    batch = OAnQuanVectorEnv(3, rules, seat=0, autoreset_mode="SameStep", every_seat=True)
    ended = single.reset()[1] and single.step(int(single.action_masks().argmax()))[4]
    infos = batch.reset()[1] and batch.step(batch.action_masks().argmax(axis=1))[4]
    shapes = {(10,): "(A,) ", (2,): "(P,) ", (3,): "(N,) ", (3, 10): "(N, A) ", (3, 2): "(N, P) "}

    def form(entry: object) -> str:
        return shapes[entry.shape] + str(entry.dtype) if isinstance(entry, np.ndarray) else type(entry).__name__

    entries = infos["final_info"] | {name: infos[name] for name in ("rewards", "final_obs", "final_info")}
    batch_forms = {name: form(entry) for name, entry in entries.items() if not name.startswith("_")}
    assert {name: text for name, text, _ in rows if text != "–"} == {name: form(entry) for name, entry in ended.items()}
    assert {name: text.removesuffix(", a code") for name, _, text in rows} == batch_forms


def seeded_run(games: OAnQuanVectorEnv, seed: Any) -> list[Any]:
    returned, rng = [games.reset(seed=seed)], np.random.default_rng(0)
    return [*returned, *(games.step(random_legal(games.action_masks(), rng)) for _ in range(30))]


def test_a_seed_for_all_or_for_each_game_is_a_run() -> None:
    games = OAnQuanVectorEnv(64, "three-player max_plies=30", opponent="random")
    seeds = (1, 2, 2**32, 0, 2**64 - 1, None, list(range(0, 128, 2)))  # with None, the generators continue
    runs, again = ([seeded_run(one, seed) for seed in seeds] for one in (games, copy.deepcopy(games)))
    same = [[data_equivalence(one, other, exact=True) for other in again] for one in runs]
    assert same == np.eye(len(runs), dtype=bool).tolist()
    assert data_equivalence(seeded_run(games, list(range(5, 69))), seeded_run(games, np.array(5)), exact=True)
    for wrong in ([1, 2], [-1] * 64, [None] * 64, ["1"] * 64, -1, 1.5, True, 2**64, np.array(1.5), b"1" * 64):
        with pytest.raises(ValueError, match="seed must be "):
            games.reset(seed=wrong)  # type: ignore[arg-type]


def test_what_it_refuses() -> None:
    games = OAnQuanVectorEnv(2, opponent=None)
    with pytest.raises(ResetNeeded, match="the games have not begun"):
        games.step(np.array([0, 0]))
    games.reset()
    with pytest.raises(IllegalActionError, match=r"action 10 in row 1 is outside 0 \.\. 9"):
        games.step(np.array([0, 10]))
    with pytest.raises(IllegalActionError, match="actions must be an array of 2 integers"):
        games.step(np.array([0, 0, 0]))
    for value in (0, -1, 2.0, True, "3", 10**12):
        with pytest.raises(ValueError, match="num_envs must be a whole number from 1 to 10,000,000; got"):
            OAnQuanVectorEnv(value, opponent=None)  # type: ignore[arg-type]


def test_returned_arrays_are_the_caller_s_own() -> None:
    games, twin = OAnQuanVectorEnv(3, opponent=None), OAnQuanVectorEnv(3, opponent=None)
    for spoilt in (games.reset(), games.step(np.array([0, 1, 2]))):
        for array in (*spoilt[:-1], spoilt[-1]["action_mask"], games.action_masks(), games.seats):
            array[:] = 0
    twin.reset()
    twin.step(np.array([0, 1, 2]))
    actions = first_legal(twin)
    assert data_equivalence(games.step(actions), twin.step(actions), exact=True)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_later_steps_change_no_array_that_was_returned(mode: AutoresetMode) -> None:
    """A list of what `step` returns is a rollout, without copies."""
    games, rng = OAnQuanVectorEnv(4, THREE_PLIES, opponent=None, autoreset_mode=mode), np.random.default_rng(0)
    returned: list[Any] = [games.reset(seed=0)]
    copied = copy.deepcopy(returned)
    for _ in range(10):
        returned.append(games.step(random_legal(games.action_masks(), rng)))
        copied.append(copy.deepcopy(returned[-1]))
        over = returned[-1][2] | returned[-1][3]
        if mode == AutoresetMode.DISABLED and over.any():
            games.reset(options={"reset_mask": over})
    assert data_equivalence(returned, copied, exact=True)
    assert len({observations.tobytes() for observations, *_ in returned}) > 5


def test_games_begin_after_0_to_opening_plies_random_plies() -> None:
    games, rng = OAnQuanVectorEnv(3000, opponent=None, opening_plies=3), np.random.default_rng(0)
    games.reset(seed=0)
    begun = [games.positions.ply.copy()]
    for _ in range(60):
        before = games.positions.ply.copy()
        games.step(random_legal(games.action_masks(), rng))
        begun.append(games.positions.ply[games.positions.ply < before])
    for plies in (begun[0], np.concatenate(begun[1:])):
        assert np.bincount(plies) / len(plies) == pytest.approx([0.25] * 4, abs=0.04)


def first_legal(games: OAnQuanVectorEnv) -> Any:
    return games.action_masks().argmax(axis=1)


@pytest.fixture
def disabled() -> OAnQuanVectorEnv:
    games = OAnQuanVectorEnv(3, THREE_PLIES, opponent=None, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded, match="call reset\\(\\) without a reset_mask first"):
        games.reset(options={"reset_mask": np.array([True, False, False])})
    games.reset()
    return games


def test_positions_go_to_all_rows_or_to_those_of_the_mask(disabled: OAnQuanVectorEnv) -> None:
    core, some = Core(THREE_PLIES), [True, False, True]
    starts = core.expand(core.start()).positions[:3]
    options = {"reset_mask": np.array(some), "position": starts}
    disabled.reset(options=options)
    assert list(options) == ["reset_mask", "position"]  # the caller's dict is unchanged
    assert disabled.positions.same(starts).tolist() == some
    disabled.reset(options={"position": starts})
    assert disabled.positions.same(starts).all()
    disabled.reset(options={"position": "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 1 1"})
    assert disabled.positions.ply.tolist() == [1, 1, 1]


def test_a_step_of_games_that_are_over_is_refused_until_they_are_reset(disabled: OAnQuanVectorEnv) -> None:
    for _ in range(2):
        disabled.step(first_legal(disabled))
    disabled.reset(options={"reset_mask": np.array([True, False, False])})
    disabled.step(first_legal(disabled))
    with pytest.raises(ResetNeeded, match=r"games \[1, 2\] are over: call reset"):
        disabled.step(first_legal(disabled))
    disabled.reset(options={"reset_mask": np.array([False, True, True])})
    disabled.step(first_legal(disabled))


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        ([True, False, False], TypeError, "must be an array of bool"),
        (np.array([1, 0, 0]), TypeError, "must be an array of bool"),
        (np.array([True]), ValueError, r"must have shape \(3,\) and a True entry; got shape \(1,\)"),
        (np.zeros(3, dtype=bool), ValueError, "0 True"),
    ],
)
def test_invalid_masks_are_refused(disabled: OAnQuanVectorEnv, mask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        disabled.reset(options={"reset_mask": mask})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", [AutoresetMode.DISABLED, AutoresetMode.SAME_STEP])
def test_torchrl_wraps_it(mode: AutoresetMode) -> None:
    wrapper: Any = pytest.importorskip("torchrl.envs").GymWrapper
    settings: Any = {"opponent": "greedy", "seat": 0, "autoreset_mode": mode}  # nothing is drawn
    games, steps = OAnQuanVectorEnv(4, THREE_PLIES, **settings), 12
    wrapped = wrapper(OAnQuanVectorEnv(4, THREE_PLIES, **settings), categorical_action_encoding=True)
    played = wrapped.rollout(steps, break_when_any_done=False)
    seen, _ = games.reset()
    for step in range(steps):
        assert (played["observation"][:, step].numpy() == seen).all()
        seen, rewards, terminated, truncated, info = games.step(played["action"][:, step].numpy())
        ended, after = terminated | truncated, seen.copy()
        if mode == AutoresetMode.SAME_STEP and ended.any():
            after[ended] = np.stack(info["final_obs"][ended].tolist())
        assert (played["next", "observation"][:, step].numpy() == after).all()
        for name, column in (("reward", rewards), ("terminated", terminated), ("done", ended)):
            assert np.allclose(played["next", name][:, step, 0].numpy(), column)
        if mode == AutoresetMode.DISABLED and ended.any():
            seen, _ = games.reset(options={"reset_mask": ended})
    assert played["next", "done"].sum() > 4
