"""Test the vector environment with stable-baselines3's interface against the one with Gymnasium's."""

import io
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

pytest.importorskip("stable_baselines3")

from sb3_contrib import MaskablePPO, RecurrentPPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecNormalize

from oanquan_env import Board, Core, IllegalActionError, rule_sets
from oanquan_env.envs.vector import DRAWN_GAMES, OAnQuanVectorEnv
from oanquan_env.observation import Encoder
from oanquan_env.players import as_policy
from oanquan_env.sb3 import HYPERPARAMETERS, OAnQuanVecEnv
from tests.helpers.boards import random_positions
from tests.helpers.players import random_legal, rng

COUNTS: dict[str, Any] = {"reward": "outcome", "observation": "counts", "opening_plies": 0}
"""The defaults of `OAnQuanVectorEnv`."""
SMALL: dict[str, Any] = {"n_steps": 4, "batch_size": 16, "n_epochs": 1, "device": "cpu"}


def test_it_is_the_vector_environment_with_monitor_entries() -> None:
    games = OAnQuanVecEnv(6, **COUNTS, seed=5)
    plain = OAnQuanVectorEnv(6, autoreset_mode=AutoresetMode.SAME_STEP)
    (expected, _), rng, earned, ended = plain.reset(seed=5), np.random.default_rng(0), np.zeros(6), 0
    assert (games.reset() == expected).all()
    for _ in range(120):
        actions = random_legal(games.action_masks(), rng)
        seen, rewards, done, infos = games.step(actions)
        expected, wanted, terminated, truncated, info = plain.step(actions)
        earned += wanted
        assert (seen == expected).all()
        assert rewards == pytest.approx(wanted)
        assert (done == (terminated | truncated)).all()
        for row in done.nonzero()[0]:
            assert (infos[row]["terminal_observation"] == info["final_obs"][row]).all()
            assert infos[row]["episode"]["r"] == pytest.approx(earned[row])
            for name in ("termination", "standings", "seat", "illegal_action", "opponent"):
                assert np.array_equal(infos[row][name], info["final_info"][name][row])
            earned[row], ended = 0, ended + 1
    assert ended > 20
    games.close()
    with pytest.raises(ResetNeeded):
        games.step(actions)


def test_games_share_one_object() -> None:
    games = OAnQuanVecEnv(6)
    games.reset()
    for indices in (None, range(6)):
        assert games.env_method("action_masks", indices=indices)[0].shape == (6, 10)
    assert games.get_attr("render_mode", [0, 5]) == [None, None]
    for refused in (lambda: games.set_attr("seed", 1), lambda: games.env_method("action_masks", indices=[1])):
        with pytest.raises(NotImplementedError, match="share one object"):
            refused()
    with pytest.raises(IndexError):
        games.get_attr("render_mode", 6)


OPENINGS: dict[str, Any] = {**COUNTS, "opponent": "random", "opening_plies": 6}


def test_seeds_take_effect_at_the_next_reset() -> None:
    games, plain = OAnQuanVecEnv(4, **OPENINGS, seed=1), OAnQuanVectorEnv(4, **OPENINGS)
    assert (games.reset() == plain.reset(seed=1)[0]).all()
    before = games.games.positions
    assert games.seed(2) == [2, 3, 4, 5]
    assert games.games.positions.same(before).all()
    for seed in (2, None, None):  # a seed is used once
        assert (games.reset() == plain.reset(seed=seed)[0]).all()
    for seed in (1, 2):  # SB3 seeds the environment when it makes a model, so this seed replaces the first
        model = MaskablePPO("MlpPolicy", VecNormalize(OAnQuanVecEnv(4, **OPENINGS, seed=9)), **SMALL, seed=seed)
        model.learn(0)
        normalized: Any = model.get_env()
        assert (normalized.get_original_obs() == plain.reset(seed=seed)[0]).all()
    one, other = (OAnQuanVecEnv(64, **OPENINGS).reset() for _ in "12")
    assert not np.array_equal(one, other)
    assert len({*games.seed(None), *games.seed(None)}) > 4
    for wrong in (-1, 1.5, True, "1", 2**64 - 3):
        with pytest.raises(ValueError, match="seed must be a whole number from 0 to 18,446,744,073,709,551,612; got"):
            games.seed(wrong)  # type: ignore[arg-type]


def test_options_take_effect_at_the_next_reset() -> None:
    games, core = OAnQuanVecEnv(3, opponent="random", seat=0, opening_plies=0), Core()
    positions = random_positions(core, 40, seed=0)
    south = positions[(positions.mover == 0).nonzero()[0][:3]]
    for options, expected in (
        ({"position": Board.from_positions(core, south[:1])}, south[np.zeros(3, int)]),
        ({"position": south}, south),
        ([{"position": south[row : row + 1]} for row in range(3)], south),
        ([{}, {}, {}], core.start(3)),
        (None, core.start(3)),
    ):
        games.set_options(options)
        games.reset()
        assert games.games.positions.same(expected).all()
        games.reset()  # options are used once
        assert games.games.positions.same(core.start(3)).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ([{}, {}], ValueError, "must be 3 dicts, one for each game, .*; got 2, of which 0 have a position"),
        ([{}, {}, {"position": ""}], ValueError, "all with a position or all without; got 3, of which 1 have"),
        ([{"rules": 1}, {}, {}], ValueError, "all with a rules or all without; got 3, of which 1 have a rules"),
        ({"reset_mask": np.ones(3, bool)}, ValueError, "unknown option of reset 'reset_mask'"),
        ({"position": Board("vietnamese")}, ValueError, "has the rules 'vietnamese', not"),
        (["position"] * 3, TypeError, "options must be a dict or None; got str"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        OAnQuanVecEnv(3).set_options(options)


def test_games_are_drawn() -> None:
    n, settings = DRAWN_GAMES + 1, {"opponent": "random", "seat": 0, "render_mode": "rgb_array"}
    games, plain = OAnQuanVecEnv(n, **COUNTS, **settings), OAnQuanVectorEnv(n, **settings)  # type: ignore[arg-type]
    games.reset(), plain.reset()
    pictures: Any = plain.render()
    assert np.array_equal(games.get_images(), pictures[:DRAWN_GAMES])
    tiles, (height, width, _) = games.render(), pictures[0].shape
    assert tiles is not None
    assert np.array_equal(tiles[:height, :width], pictures[0])
    assert (games.metadata["render_fps"], games.get_attr("render_mode")) == (1, ["rgb_array"] * n)
    for mode in ("ansi", "human", "svg"):
        with pytest.raises(ValueError, match=f"render_mode must be rgb_array or None; got '{mode}'"):
            OAnQuanVecEnv(n, render_mode=mode)


def test_actions_are_whole_numbers_and_the_self_play_view_is_refused_with_a_remedy() -> None:
    games = OAnQuanVecEnv(3)
    games.reset()
    for actions in (np.full(3, 0.7), np.zeros(3), np.ones(3, bool), np.array(["0"] * 3), [[0]] * 3):
        with pytest.raises(IllegalActionError, match="actions must be an array of 3 integers, got"):
            games.step(actions)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="opponent cannot be set to None"):
        games.set_opponent(None)
    with pytest.raises(ValueError, match=r"opponent must be a player: .*wrong sign.* set copies of the model"):
        OAnQuanVecEnv(4, opponent=None)


def test_sb3_s_evaluation_reports_the_rewards_of_the_game() -> None:
    games = VecNormalize(OAnQuanVecEnv(4, opponent="random", reward="outcome"))
    model = MaskablePPO("MlpPolicy", games, **SMALL, seed=0).learn(16)
    rewards, lengths = evaluate_policy(model, games, 20, return_episode_rewards=True)  # type: ignore[arg-type]
    assert {*rewards} <= {-1.0, 0.0, 1.0}
    assert len(rewards) == len(lengths) == 20


@pytest.mark.parametrize("observation", ["counts", "planes"])
def test_a_model_s_observations_are_normalised_as_in_training(observation: str) -> None:
    games = VecNormalize(OAnQuanVecEnv(4, opponent="random", observation=observation))
    model = MaskablePPO("MlpPolicy", games, **SMALL, seed=0).learn(64)
    core = Core()
    positions = random_positions(core, 200, seed=0)
    raw, masks = Encoder(core, observation).encode(positions), core.legal_mask(positions)
    best, wrong = (model.predict(it, None, None, True, masks)[0] for it in (games.normalize_obs(raw), raw))
    assert (best != wrong).mean() > 0.1
    loaded = reloaded(model)
    for player in (as_policy(model), as_policy(reloaded(model, games)), as_policy(loaded, normalize=games)):
        assert (player.choose(positions, rng()) == best).all()
    for call, message in (
        (lambda: as_policy(loaded), r"trained on changed observations; .* as_policy\(model, normalize=…\)"),
        (lambda: OAnQuanVecEnv(4, opponent=[loaded]), "trained on changed observations"),
        (lambda: as_policy(loaded, normalize="greedy"), "normalize must be the model's VecNormalize, .*; got str"),
        (lambda: as_policy(loaded, normalize=MOVES), r"got VecNormalize for shape \(229,\)$"),
        (lambda: as_policy("greedy", normalize=games), "normalize needs a model of stable-baselines3; got str"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


MOVES = VecNormalize(OAnQuanVecEnv(1, observation="moves"))


def reloaded(model: MaskablePPO, env: Any = None) -> MaskablePPO:
    """Save a model and load it again, in a given environment or without one."""
    model.save(file := io.BytesIO())
    return MaskablePPO.load(file, env=env, device="cpu")


def test_a_model_whose_rewards_are_normalised_needs_nothing() -> None:
    games = VecNormalize(OAnQuanVecEnv(4, opponent="random"), norm_obs=False)
    model, positions = MaskablePPO("MlpPolicy", games, **SMALL, seed=0).learn(16), random_positions(Core(), 50, seed=0)
    chosen = [as_policy(one).choose(positions, rng()) for one in (model, reloaded(model))]
    assert (chosen[0] == chosen[1]).all()


def test_a_model_with_a_memory_is_refused() -> None:
    model = RecurrentPPO("MlpLstmPolicy", OAnQuanVecEnv(2), n_steps=4, batch_size=4, device="cpu")
    with pytest.raises(ValueError, match=r"this RecurrentPPO remembers earlier observations, .* without memory"):
        as_policy(model)


def test_maskable_ppo_learns_with_the_documented_hyperparameters_and_takes_another_opponent() -> None:
    games = OAnQuanVecEnv(8, opponent="random")
    model = MaskablePPO("MlpPolicy", games, **HYPERPARAMETERS, seed=0)
    model.learn(512)
    games.set_opponent(["greedy", "random"])
    games.set_opponent_weights([1, 3])
    model.learn(512)
    assert len(model.ep_info_buffer or ()) > 5
    assert games.observation_space.shape == (12 * 17 + 2 * 2 + 1,)
    core = Core()
    player = as_policy(model, core)  # it gets the observation that it was trained on
    assert core.legal_mask(core.start())[0, player.choose(core.start(), np.random.default_rng(0))[0]]


def test_a_list_of_rules_is_chosen_by_options_and_named_in_the_infos(in_plain_python: None) -> None:
    rules, board = ["mancala-world", "ludii", "app"], Board("app")
    games = OAnQuanVecEnv(3, rules=rules, opponent="random", seat=0)
    for options, expected in (
        ({"rules": 2}, [2, 2, 2]),
        ([{"rules": 1}, {"rules": 0}, {"rules": 2}], [1, 0, 2]),
        ([{"rules": 2, "position": board}] * 3, [2, 2, 2]),
    ):
        games.set_options(options)
        vectors = games.reset()[:, games.games.encoder.layout["rules"]]
        assert [row.tolist() for row in vectors] == [rule_sets.vector(rules[index]).tolist() for index in expected]
    with pytest.raises(ValueError, match="needs the option 'rules'"):
        games.set_options([{"position": board}] * 3)
    done = np.zeros(3, bool)
    while not done.any():
        *_, done, infos = games.step(games.action_masks().argmax(axis=1))
    assert infos[done.argmax()]["rules"] == 2
