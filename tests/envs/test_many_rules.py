"""Test environments with a list of rule sets: each game is one of a single rule set, and says which."""

import pickle
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.test import api_test

from oanquan_env import Board, Core, Move, Rules, env, raw_env, render, rule_sets
from oanquan_env.array_types import Mask
from oanquan_env.board import shared_core
from oanquan_env.engine.compiled import rule_table
from oanquan_env.engine.rules import RANGES
from oanquan_env.envs import TERMINATIONS
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.observation import OBSERVATIONS, Encoder, Observation
from tests.envs.test_vector import compare_with_single
from tests.helpers.players import FirstMove, random_legal
from tests.helpers.referee import TRUNCATIONS, Referee

pytestmark = pytest.mark.filterwarnings("ignore:.*[Oo]bservation.*:UserWarning")

SETS = [*rule_sets.sample(9, 0, fields=5), Rules(max_plies=7), Rules(refill="forfeit", quan_non=9)]


@pytest.mark.parametrize("name", sorted(RANGES.keys() - {"players", "fields"}))
def test_the_record_of_a_rule_set_holds_the_largest_numbers(name: str) -> None:
    smallest = Rules().replace(seeds=1, mandarin_seeds=0)
    most = 25 if name == "seeds" else 122 if name == "mandarin_seeds" else RANGES[name][1]  # at most 255 seeds in all
    largest = smallest.replace(**{name: most})
    (record,) = rule_table([largest], rule_sets.vector(largest)[None])
    assert record[name] == most


def last_legal(observations: Observation, masks: Mask) -> npt.ArrayLike:
    """Choose the last legal action; check that the observations end with the rules."""
    assert observations.dtype == np.float32
    known = {rule_sets.vector(rules).tobytes() for rules in SETS}
    assert all(row[-rule_sets.LENGTH :].tobytes() in known for row in observations)
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def last_of_planes(observations: Observation, masks: Mask) -> npt.ArrayLike:
    return last_legal(observations, masks)


setattr(last_of_planes, "observation", "planes")  # noqa: B010


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_mixed_batches_agree_with_the_referee(observation: str) -> None:
    """Each row plays what the referee plays under the row's rules, and shows what their encoder shows."""
    n, rng = 60 if observation == "counts" else 40, np.random.default_rng(0)
    games = OAnQuanVectorEnv(n, SETS, opponent=None, observation=observation, reward="margin", threads=2)
    seen, info = games.reset(seed=1)
    drawn, ends = info["rules"].copy(), 0
    assert set(drawn.tolist()) == set(range(len(SETS)))
    referees = [Referee(SETS[index]) for index in drawn]
    encoders = [Encoder(shared_core(rules), observation) for rules in SETS]
    for _ in range(60):
        assert games.observation_space.contains(seen)
        positions = games.positions
        for row, referee in enumerate(referees):
            core, here = encoders[drawn[row]].core, positions[row : row + 1]
            assert core.seeds(here)[0].tolist() == referee.seeds
            assert core.stones(here)[0].tolist() == referee.stones
            assert (here.scores[0].tolist(), here.ply[0]) == (referee.scores, referee.ply)
            assert info["action_mask"][row].nonzero()[0].tolist() == sorted(referee.legal_actions())
            expected = encoders[drawn[row]].encode(here)[0]
            assert (seen[row, : -rule_sets.LENGTH] == expected.astype(np.float32)).all()
            assert (seen[row, games.encoder.layout["rules"]] == rule_sets.vector(SETS[drawn[row]])).all()
        over = np.array([referee.ended is not None for referee in referees])
        actions = random_legal(games.action_masks(), rng)
        before = [referee.final_scores() if referee.ended else referee.scores.copy() for referee in referees]
        seen, rewards, terminated, truncated, info = games.step(actions)
        assert (info["rules"][~over] == drawn[~over]).all()
        for row, referee in enumerate(referees):
            if over[row]:
                drawn[row] = info["rules"][row]
                referees[row] = Referee(SETS[drawn[row]])
                continue
            mover = referee.mover
            referee.play(int(actions[row]))
            assert truncated[row] == (referee.ended in TRUNCATIONS)
            assert terminated[row] == (referee.ended is not None and not truncated[row])
            points = referee.final_scores() if referee.ended else referee.scores
            won = np.subtract(points, before[row])
            assert rewards[row] == pytest.approx((won[mover] - won[1 - mover]) / SETS[drawn[row]].total)
            if referee.ended:
                ends += 1
                assert TERMINATIONS[info["termination"][row]] == referee.ended
                assert info["standings"][row].tolist() == referee.final_scores()
    assert ends > n


POOL = ["random", last_of_planes, "greedy", last_legal]


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(
    "opponent", [None, "random", "greedy", last_legal, POOL], ids=["none", "random", "greedy", "function", "pool"]
)
def test_rows_are_single_environments(mode: AutoresetMode, opponent: Any) -> None:
    settings: Any = {"opponent": opponent, "opening_plies": 2, "reward": "mixed"}
    assert compare_with_single(SETS, mode, n=8, steps=40, seed=2, **settings) > 3


@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_a_game_under_chosen_rules_is_the_game_under_these_rules_alone(opponent: str) -> None:
    settings: Any = {"opponent": opponent, "opening_plies": 3, "reward": "margin", "autoreset_mode": "Disabled"}
    chosen = np.arange(2 * len(SETS)) % len(SETS)
    many = OAnQuanVectorEnv(len(chosen), SETS, **settings)
    seen, info = many.reset(seed=3, options={"rules": chosen})
    assert (info["rules"] == chosen).all()
    alone = [OAnQuanVectorEnv(1, SETS[index], **settings) for index in chosen]
    for row, one in enumerate(alone):
        assert (one.reset(seed=3 + row)[0] == seen[row, : -rule_sets.LENGTH]).all()
    while not many._games.over.any():
        actions = many.action_masks().argmax(axis=1)
        seen, *results, info = many.step(actions)
        for row, one in enumerate(alone):
            observation, *expected, _ = one.step(actions[row : row + 1])
            assert (observation == seen[row, : -rule_sets.LENGTH]).all()
            assert [result[row] for result in results] == [result[0] for result in expected]


def test_without_numba_the_games_are_the_same(request: pytest.FixtureRequest) -> None:
    settings: Any = {"opponent": POOL, "observation": "moves", "opening_plies": 2}
    fast = OAnQuanVectorEnv(6, SETS, **settings)
    request.getfixturevalue("in_plain_python")
    plain = OAnQuanVectorEnv(6, SETS, **settings)
    assert (fast._games.core.compiled, plain._games.core.compiled) == (True, False)
    assert (fast.reset(seed=0)[0] == plain.reset(seed=0)[0]).all()
    for _ in range(12):
        actions = fast.action_masks().argmax(axis=1)
        for mine, theirs in zip(fast.step(actions)[:4], plain.step(actions)[:4], strict=True):
            assert (mine == theirs).all()


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_partial_resets_draw_new_rules_only_where_they_restart(observation: str) -> None:
    games, mask = OAnQuanVectorEnv(40, SETS, observation=observation), np.arange(40) < 20
    seen, info = games.reset(seed=5)
    again, fresh = games.reset(options={"reset_mask": mask})
    assert (again[20:] == seen[20:]).all()
    assert (games._games.rules[20:] == info["rules"][20:]).all()
    assert (fresh["rules"][20:] == 0).all()
    assert (fresh["_rules"] == mask).all()
    assert (fresh["rules"][:20] != info["rules"][:20]).any()
    restarted, fresh = games.reset(options={"reset_mask": mask, "rules": 4})
    assert (fresh["rules"] == 4 * mask).all()
    assert (restarted[:20, -rule_sets.LENGTH :] == rule_sets.vector(SETS[4])).all()


def test_in_the_same_step_the_final_info_has_the_rules_of_the_finished_game() -> None:
    games, changed = OAnQuanVectorEnv(30, SETS, opponent=None, autoreset_mode="SameStep"), 0
    _, info = games.reset(seed=0)
    for _ in range(40):
        before = info["rules"]
        *_, info = games.step(games.action_masks().argmax(axis=1))
        for row in info.get("_final_info", np.zeros(30)).nonzero()[0]:
            assert info["final_info"]["rules"][row] == before[row]
            assert (info["final_obs"][row][-rule_sets.LENGTH :] == rule_sets.vector(SETS[before[row]])).all()
            changed += info["rules"][row] != before[row]
    assert changed > 5


def test_a_position_needs_its_rules() -> None:
    rules = Rules(stone_value=5), Rules()
    board = Board(rules[1])
    board.push("5A")
    single, batch = OAnQuanEnv(rules, opponent=None), OAnQuanVectorEnv(2, rules, opponent=None)
    assert single.reset(options={"position": board, "rules": 1})[1]["rules"] == 1
    assert single._games.positions.same(board.positions).all()
    both = board.positions[np.array([0, 0])]
    both.ply[1] = 3
    batch.reset(options={"position": both, "rules": 1})
    assert batch.positions.same(both).all()
    for game in (single, batch, raw_env(rules)):
        with pytest.raises(ValueError, match="'position' needs the option 'rules'"):
            game.reset(options={"position": board})
    with pytest.raises(ValueError, match=r"is not a position of 'mancala-world stone_value=5'.* points"):
        batch.reset(options={"position": both, "rules": [1, 0]})
    for wrong in (2, -1, 0.0, True, [0, 1, 0], "tonkin"):
        with pytest.raises(ValueError, match=r"'rules' must be an index 0 \.\. 1 \(or 2, one for each\); got"):
            batch.reset(options={"rules": wrong})
    with pytest.raises(ValueError, match="needs an environment that was made with a list"):
        OAnQuanEnv().reset(options={"rules": 0})


def test_bounds_cover_the_list() -> None:
    lists = [Rules(max_plies=300, stone_value=3), Rules(seeds=9, stone_value=40)]
    for observation in OBSERVATIONS:
        encoder = OAnQuanVectorEnv(1, lists, observation=observation).encoder
        alone = [Encoder(Core(rules), observation) for rules in lists]
        low, high = ([getattr(one, side) for one in alone] for side in ("low", "high"))
        assert (encoder.low[: -rule_sets.LENGTH] == np.min(low, axis=0)).all()
        assert (encoder.high[: -rule_sets.LENGTH] == np.max(high, axis=0)).all()
        vectors = [rule_sets.vector(rules) for rules in lists]
        assert (encoder.low[encoder.layout["rules"]] == np.min(vectors, axis=0)).all()
        assert (encoder.high[encoder.layout["rules"]] == np.max(vectors, axis=0)).all()


def test_invisible_rules_are_zero() -> None:
    for rules_visible in (True, False):
        games = OAnQuanVectorEnv(8, SETS, rules_visible=rules_visible)
        seen, info = games.reset(seed=0)
        assert seen[:, -rule_sets.LENGTH :].any() == rules_visible
        assert games.observation_space.contains(seen)
        assert len(set(info["rules"].tolist())) > 3


def test_a_list_of_one_takes_no_draw() -> None:
    seen = OAnQuanEnv([SETS[0]], opening_plies=5).reset(seed=1)[0]
    assert seen[: -rule_sets.LENGTH].tolist() == OAnQuanEnv(SETS[0], opening_plies=5).reset(seed=1)[0].tolist()


def test_a_game_that_the_opponent_ends_too_early_begins_again_under_the_same_rules() -> None:
    """With one ply, games begin again until the agent moves first; the rules remain those of the first draw."""
    sets = [Rules(max_plies=1, seeds=seeds) for seeds in range(2, 12)]
    games = [
        OAnQuanVectorEnv(60, sets, opponent=opponent) for opponent in ("greedy", lambda _, masks: masks.argmax(axis=1))
    ]
    mine, theirs = (game.reset(seed=0)[1]["rules"].tolist() for game in games)
    assert mine == theirs
    with pytest.raises(ValueError, match="100 of 100 games of 'mancala-world seeds=3 max_plies=1' before the agent's"):
        OAnQuanVectorEnv(2, sets, seat=1).reset(options={"rules": 1})


def test_pickles_hold_rules_and_no_cores() -> None:
    sets = rule_sets.sample(300, 0, fields=5)
    games = OAnQuanVectorEnv(5, sets, opponent="greedy")
    games.reset(seed=0)
    stored = pickle.dumps(games)
    assert len(stored) < 300_000
    twin = pickle.loads(stored)
    for _ in range(30):
        actions = games.action_masks().argmax(axis=1)
        for mine, theirs in zip(games.step(actions)[:4], twin.step(actions)[:4], strict=True):
            assert (mine == theirs).all()


def test_the_gymnasium_environment_passes_the_checker_and_shows_its_rules() -> None:
    check_env(gymnasium.make("OAnQuan-v0", rules=SETS).unwrapped)
    game, seen = OAnQuanEnv(SETS, render_mode="ansi", opponent="greedy"), set()
    for seed in range(12):
        _, info = game.reset(seed=seed)
        game.step(int(info["action_mask"].argmax()))
        assert game.board.rules == SETS[info["rules"]]
        assert game.board.positions.same(game.positions).all()
        seen.add(info["rules"])
    assert len(seen) > 5


def test_pictures_show_each_game_by_its_own_rules() -> None:
    """The rules differ in stones and in who gets the leftovers, and each row plays several games."""
    names = ("mancala-world max_plies=2", "tonkin max_plies=2", "app leftovers=split max_plies=3")
    games = OAnQuanVectorEnv(3, names, opponent=None, render_mode="rgb_array")
    boards: dict[int, Board] = {}
    drawn, info = set(), games.reset(seed=0)[1]
    for _ in range(10):
        pictures = games.render()
        assert pictures is not None
        for row, picture in enumerate(pictures):
            board = boards.setdefault(row, Board(names[info["rules"][row]]))
            assert (picture == render.rgb(board, last=board.last_mark)).all()
            drawn.add((board.rules, board.ply))
        actions = games.action_masks().argmax(axis=1)
        info = games.step(actions)[4]
        for row, board in list(boards.items()):
            if board.outcome is None:
                board.push(Move.from_action(int(actions[row])))
            else:
                del boards[row]  # this step began another game
    assert len(drawn) == 3 + 3 + 4


def test_the_pettingzoo_environment_plays_a_list() -> None:
    api_test(env(SETS), num_cycles=30)
    game = raw_env(SETS, opening_plies=2)
    for seed in range(10):
        game.reset(seed=seed)
        index = game.infos["player_0"]["rules"]
        assert game.core.rules == game.board.rules == SETS[index]
        for agent in game.agent_iter():
            observation, _, terminated, truncated, info = game.last()
            assert observation is not None
            assert game.observation_space(agent).contains(observation)
            assert (observation["observation"][-rule_sets.LENGTH :] == rule_sets.vector(SETS[index])).all()
            assert info["rules"] == index
            over = terminated or truncated
            game.step(None if over else int(observation["action_mask"].argmax()))
    game.reset(options={"rules": 2})
    assert game.core.rules == SETS[2]


def test_what_a_list_cannot_do_is_refused() -> None:
    for sets, message in (
        ([], "got an empty list"),
        (
            ["mancala-world", "ludii", "app fields=3"],
            "'mancala-world' has 2 players with 5 .* 'app fields=3' has 2 .* 3",
        ),
        (["ludii", "three-player"], "'ludii' has 2 players with 5 fields each, 'three-player' has 3 with 5"),
    ):
        with pytest.raises(ValueError, match=message):
            OAnQuanEnv(sets)
    for player, name in (("minimax:depth=2", "'minimax:depth=2'"), (FirstMove(Core()), "a FirstMove"), (3, "a int")):
        with pytest.raises(ValueError, match=f"random, greedy or a function of observations and masks; {name} plays"):
            OAnQuanEnv(SETS, opponent=["greedy", player])
    with pytest.raises(ValueError, match="a match needs one rule set; got a list"):
        raw_env(SETS, match=True)
    with pytest.raises(ValueError, match="opening_plies must be a whole number from 0 to 7"):
        OAnQuanEnv(SETS, opening_plies=8)
