"""Test pairings, their openings, the keys of equivalent positions, and leagues: payoffs, equilibria and weights."""

import itertools
import shlex
from pathlib import Path

import numpy as np
import pytest

from agents.suites.make_openings import OpeningsRecipe, final_margins, make_openings
from oanquan_env import Board, Core, Positions, parse_records, rotate_seats
from oanquan_env.benchmark import league
from oanquan_env.benchmark.game_pairs import (
    by_order,
    pairing_result,
    play_paired_games,
    play_pairs,
    rng_for,
    score_interval,
)
from oanquan_env.benchmark.league import nash, payoffs, prioritised
from oanquan_env.benchmark.openings import load_openings, random_suite, read_openings
from oanquan_env.benchmark.statistics import score_estimate
from oanquan_env.benchmark.suites import openings_path
from oanquan_env.engine.symmetry import canonical_keys, first_of_each, key_hashes, key_number
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.players import as_policy
from oanquan_env.records.games import format_records
from oanquan_env.rollouts import random_openings
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.value_net import read_value_net
from tests.helpers.players import FirstMove, LastLegalMove, rng


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "tonkin max_plies=6"])
def test_a_pairing_is_the_games_played_one_by_one(rules: str) -> None:
    core = Core(rules)
    openings = random_openings(core, 5, 3, rng())
    before, finished = openings.copy(), list[int]()
    played = play_paired_games(core, FirstMove(core), LastLegalMove(core), openings, rng(), finished.append)
    assert openings.same(before).all()
    assert sum(finished) == 5 * core.rules.players
    for seat, k in itertools.product(range(core.rules.players), range(5)):
        board = Board.from_positions(core, openings, k)
        plies = len(board.history)
        while not board.outcome:
            board.push(board.legal_moves[0 if board.mover == seat else -1])
        scores, moves = np.array(board.outcome.scores), [move.action for move in board.history[plies:]]
        best = scores == scores.max()
        assert played.results.score[k, seat] == best[seat] / best.sum()
        assert played.results.margin[k, seat] == pytest.approx(scores[seat] - np.delete(scores, seat).mean())
        assert (played.results.plies[k, seat], played.moves[seat * 5 + k]) == (len(moves), moves)


def test_results_by_order_are_those_of_the_games_in_which_a_player_moved_then() -> None:
    core = Core("three-player")
    openings = Positions.concatenate(random_openings(core, 4, plies, rng()) for plies in (3, 4, 5))
    results = play_pairs(core, FirstMove(core), LastLegalMove(core), openings, rng())
    assert score_interval(results) == score_estimate(results.score.mean(axis=1))  # one sample per opening
    ordered = by_order(results.margin, openings)
    for k, mover in enumerate(openings.mover.tolist()):
        assert ordered[k].tolist() == np.roll(results.margin[k], -mover).tolist()
    found = pairing_result("a", "b", results, openings)
    assert [one.margin.mean for one in found.orders] == pytest.approx(ordered.mean(axis=0).tolist())
    assert (found.wins + found.draws + found.losses, found.pentanomial) == (36, None)


def test_openings_survive_a_file(tmp_path: Path) -> None:
    core = Core()
    openings = random_suite(core, 20, 5, rng())
    (tmp_path / "lines.txt").write_text(format_records(openings.records))
    read = load_openings(core, str(tmp_path / "lines.txt"), 12, 0, rng())
    assert read.positions.same(openings.positions[:12]).all()
    assert (read.name, read.records) == ("lines.txt", openings.records[:12])
    assert read.digest() != openings.digest()


@pytest.mark.parametrize(
    ("rules", "end", "times", "message"),
    [
        ("mancala-world", "*", 1, "2 openings are needed, but there are 1"),
        ("tonkin", "*", 2, "record 1 has the rules 'tonkin', not 'mancala-world'"),
        ("mancala-world", "1. 9A *", 2, "line 4, column 4: ply 1"),
        ("mancala-world", "1. 5A 3A\n22-46", 2, "record 1 is a finished game"),
    ],
)
def test_unusable_openings_are_refused(rules: str, end: str, times: int, message: str, tmp_path: Path) -> None:
    path, ended = tmp_path / "lines.txt", "22-46" in end
    result = '"22-46"]\n[Termination "stones_captured"]' if ended else '"*"]'
    path.write_text(f'[Rules "{rules}"]\n[Result {result}\n\n{end}\n\n' * times)
    with pytest.raises(FileError, match=message):
        load_openings(Core(), str(path), 2, 4, rng())


@pytest.mark.parametrize("rules", ["mancala-world", "tonkin", "four-player"])
def test_the_balanced_suite(rules: str) -> None:
    core = Core(rules)
    suite, two, some = read_openings(core, openings_path(core.rules)), core.rules.players == 2, slice(0, 2)
    assert len(suite) == len(first_of_each(canonical_keys(core, suite.positions))) >= (500 if two else 200)
    assert {record.position for record in suite.records} == {None}
    values = np.array([[float(points) for points in record.headers["Value"].split()] for record in suite.records])
    assert abs(values).max() <= (3 if two else 5)
    made = shlex.split(suite.records[0].headers["Made"])
    net = read_value_net("pretrained", rules) if "--net" in made else None
    search = MoveValues(core, int(made[made.index("--depth") + 1]), net)
    found = final_margins(search, suite.positions[some])
    assert found[:, : values.shape[1]] == pytest.approx(values[some], abs=8 if net else 0.01)  # by an earlier net
    if not two:
        assert set(suite.positions.ply.tolist()) <= set(range(4, 13))
        turned = final_margins(search, rotate_seats(suite.positions[some]))
        assert turned == pytest.approx(np.roll(found, 1, axis=1), abs=0.01)


@pytest.mark.parametrize(
    ("rules", "net", "within", "depth"),
    [("mancala-world", "pretrained", 2, 6), ("three-player", None, 8, 3)],
)
def test_a_made_suite_is_balanced_and_without_duplicates(rules: str, net: str | None, within: int, depth: int) -> None:
    recipe, core = OpeningsRecipe(rules=rules, count=12, within=within, depth=depth, net=net), Core(rules)
    records = make_openings(recipe)
    assert parse_records(format_records(records)) == records == make_openings(recipe)
    positions = Positions.concatenate(record.board().positions for record in records)
    assert len(records) == 12 == len(first_of_each(canonical_keys(core, positions)))
    search = MoveValues(core, depth, None if net is None else read_value_net(net, rules))
    assert abs(final_margins(search, positions)).max() <= within
    made = records[0].headers
    assert len(made["Value"].split()) == (1 if core.rules.players == 2 else core.rules.players)
    assert (f"--depth {depth}" in made["Made"], "--net pretrained" in made["Made"]) == (True, net is not None)


def test_keys_differ_for_boards_that_play_differently_and_hashes_tell_them_apart() -> None:
    core, even, other = Core(), [5, 5, 5, 5, 5, 0], [4, 5, 5, 5, 5, 1]
    seeds = [[*even, *even], [*other, *even], [*even, *other]]
    keys = canonical_keys(core, core.setup(seeds, [[1, 1]] * 3, [[0, 0]] * 3))
    assert len(first_of_each(keys)) == len({key_number(key) for key in keys}) == 3
    core = Core("first_move_captures_mandarin=False")
    keys = canonical_keys(core, core.setup(seeds[:1] * 4, [[1, 1]] * 4, [[0, 0]] * 4, [0, 1, 0, 1], [0, 1, 2, 3]))
    assert keys[0] == keys[1] != keys[2] == keys[3]
    many = rng().multinomial(50, np.full(12, 1 / 12), 10_000).repeat(2, axis=0)
    keys = canonical_keys(core, core.setup(many, np.ones((20_000, 2), int), np.zeros((20_000, 2), int)))
    assert 9_000 < len(np.unique(keys)) == len(np.unique(key_hashes(keys))) <= 10_000


def test_payoffs_are_the_scores_of_game_pairs_and_cached_pairings_are_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, path = Core(), tmp_path / "payoffs.json"
    players: dict[str, object] = {"first": FirstMove(core), "random": "random"}
    found = payoffs(players, pairs=10, seed=3, cache=path)
    openings = load_openings(core, "balanced", 10, 0, np.random.default_rng(3)).positions
    score = score_interval(play_pairs(core, FirstMove(core), as_policy("random"), openings, rng_for(3)))
    assert found.mean == pytest.approx(np.array([[0.5, score.mean], [1 - score.mean, 0.5]]))
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx((score.low, score.high))
    assert (found.low[1, 0], found.high[1, 0]) == pytest.approx((1 - score.high, 1 - score.low))
    assert f"{100 * score.mean:.0f} ({100 * score.low:.0f} to {100 * score.high:.0f})" in str(found)
    assert "10 openings of `openings-mancala-world.txt`, each in every seating, under `mancala-world`" in str(found)
    with monkeypatch.context() as patched:
        patched.setattr(league, "play_pairs", None)  # all pairings are in the cache
        assert (payoffs(players, pairs=10, seed=3, cache=path).mean == found.mean).all()
    with pytest.raises(ValueError, match=r"payoffs\.json was made with other rules, pairs or another seed"):
        payoffs(players, pairs=11, seed=3, cache=path)
    with pytest.raises(ValueError, match="games of FirstMove as 'first', not of greedy; use another name"):
        payoffs({**players, "first": "greedy"}, pairs=10, seed=3, cache=path)


def test_with_three_seats_a_player_meets_two_copies_of_the_other() -> None:
    found = payoffs({"random": "random", "greedy": "greedy"}, "three-player", pairs=20)
    assert found.mean.diagonal() == pytest.approx(1 / 3)
    assert found.mean[1, 0] > 1 / 3 > found.mean[0, 1]
    assert found.mean[1, 0] + found.mean[0, 1] != pytest.approx(1)


def test_an_equilibrium_is_found_and_cannot_be_beaten() -> None:
    cycle = np.array([[0.5, 1.0, 0.25], [0.0, 0.5, 1.0], [0.75, 0.0, 0.5]])  # gains 2 : 2 : 1 around the cycle
    assert nash(cycle) == pytest.approx(np.array([0.4, 0.2, 0.4]), abs=1e-3)
    assert nash([[0.5, 0.6], [0.4, 0.5]]) == pytest.approx([1.0, 0.0], abs=1e-3)
    upper = np.triu(np.random.default_rng(0).random((9, 9)), 1)
    shares = upper + np.tril(1 - upper.T, -1) + np.eye(9) / 2
    assert (shares @ nash(shares)).max() < 0.501
    with pytest.raises(ValueError, match="square matrix whose opposite entries sum to 1"):
        nash([[0.5, 0.6], [0.6, 0.5]])


def test_opponents_that_are_beaten_less_often_weigh_more() -> None:
    assert prioritised([1.0, 0.5, 0.0]).tolist() == [0.0, 0.2, 0.8]
    assert prioritised([1.0, 0.5, 0.0], power=1).tolist() == pytest.approx([0, 1 / 3, 2 / 3])
    assert prioritised([1.0, 1.0]).tolist() == [0.5, 0.5]
    for wrong in ([1.2, 0.5], [float("nan"), 0.5]):
        with pytest.raises(UsageError, match="shares of games from 0 to 1"):
            prioritised(wrong)


@pytest.mark.slow
def test_the_example_continues_a_league(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from examples.league import main

    small = [str(tmp_path), "--plies", "64", "--envs", "2", "--pairs", "2"]
    first = main([*small, "--generations", "1"])
    before = (tmp_path / "self-1.zip").read_bytes()
    found = main([*small, "--generations", "2", "--weights", "nash"])
    assert found.names == ["random", "greedy", "self-1", "self-2"]
    assert (found.mean[:3, :3] == first.mean).all()
    assert (tmp_path / "self-1.zip").read_bytes() == before
    assert (tmp_path / "payoffs.png").read_bytes().startswith(b"\x89PNG")
