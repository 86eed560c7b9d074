"""Pairings: seats, scores, margins, moves; the openings they begin from, and keys of positions that play alike."""

import shlex
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation import openings
from agents.evaluation.openings import OpeningsRecipe, final_margins, make_suite
from oanquan_env import Board, Core, Positions, parse_records, rotate_seats
from oanquan_env.benchmark.estimates import score_estimate
from oanquan_env.benchmark.openings import load_openings, random_suite, read_openings
from oanquan_env.benchmark.pairs import (
    PairResults,
    by_order,
    pairing_result,
    play_paired_games,
    play_pairs,
    score_interval,
)
from oanquan_env.benchmark.suites import openings_path
from oanquan_env.engine.keys import canonical_keys, first_of_each, key_hashes, key_number
from oanquan_env.files import FileError
from oanquan_env.playing import random_openings
from oanquan_env.records.games import format_records
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.value_net import read_value_net
from tests.players import FirstMove, LastMove, rng
from tests.strategies import TWO_PLAYER_PRESETS


@pytest.fixture(scope="module")
def core() -> Core:
    return Core()


def by_hand(rules: str, text: str, seats: list[type[FirstMove]]) -> Board:
    """One game, move by move on a board."""
    board = Board.parse(text, rules)
    while not board.outcome:
        player = seats[board.mover](board.core)
        board.push(board.legal_moves[0 if type(player) is FirstMove else -1])
    return board


@pytest.mark.parametrize(
    "rules", ["mancala-world", "vietnamese refill=forfeit", "three-player", "four-player", "tonkin max_plies=6"]
)
def test_a_pairing_is_the_games_played_one_by_one(rules: str) -> None:
    core = Core(rules)
    openings = random_openings(core, 5, 3, rng())
    before, heard = openings.copy(), list[int]()
    played = play_paired_games(core, FirstMove(core), LastMove(core), openings, rng(), heard.append)
    assert openings.same(before).all()
    assert sum(heard) == 5 * core.rules.players
    for seat in range(core.rules.players):
        seats = [FirstMove if player == seat else LastMove for player in range(core.rules.players)]
        for k in range(5):
            board = by_hand(rules, Board.from_positions(core, openings, k).text(), seats)
            scores = board.outcome.scores if board.outcome else ()
            others = [score for player, score in enumerate(scores) if player != seat]
            winners = [player for player, score in enumerate(scores) if score == max(scores)]
            assert played.results.score[k, seat] == (1 / len(winners) if seat in winners else 0)
            assert played.results.margin[k, seat] == pytest.approx(scores[seat] - np.mean(others))
            assert played.results.plies[k, seat] == len(board.history)
            assert played.moves[seat * 5 + k] == [move.action for move in board.history]


def test_the_interval_of_a_score_is_over_openings() -> None:
    score = np.array([[1, 0], [0, 1], [1, 1], [0.5, 0.5]])
    found = score_interval(PairResults(score, np.zeros((4, 2)), np.zeros((4, 2))))
    assert found == score_estimate(np.array([0.5, 0.5, 1, 0.5]))


def test_results_by_order_are_those_of_the_games_in_which_a_player_moved_then() -> None:
    core = Core("three-player")
    openings = Positions.concatenate(random_openings(core, 4, plies, rng()) for plies in (3, 4, 5))
    results = play_pairs(core, FirstMove(core), LastMove(core), openings, rng())
    ordered = by_order(results.margin, openings)
    for k, mover in enumerate(openings.mover.tolist()):
        assert ordered[k].tolist() == [results.margin[k, (mover + order) % 3] for order in range(3)]
    found = pairing_result("a", "b", results, openings)
    assert [one.margin.mean for one in found.orders] == pytest.approx(ordered.mean(axis=0).tolist())
    assert (found.wins + found.draws + found.losses, found.pentanomial) == (36, None)


def test_openings_survive_a_file(core: Core, tmp_path: Path) -> None:
    openings = random_suite(core, 20, 5, rng())
    (tmp_path / "lines.txt").write_text(format_records(openings.records))
    read = load_openings(core, str(tmp_path / "lines.txt"), 12, 0, rng())
    assert read.positions.same(openings.positions[:12]).all()
    assert (read.name, read.records) == ("lines.txt", openings.records[:12])
    assert read.digest() != openings.digest()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it holds 0 openings; 2 are needed"),
        ('[Rules "mancala-world"]\n[Result "*"]\n\n*\n', "it holds 1 openings; 2 are needed"),
        ('[Rules "tonkin"]\n[Result "*"]\n\n*\n' * 2, "record 1 is of the rules 'tonkin', not of 'mancala-world'"),
        ('[Rules "mancala-world"]\n[Result "*"]\n\n1. 9A *\n' * 2, "line 4, column 4: ply 1"),
        (
            '[Rules "mancala-world"]\n[Result "22-46"]\n[Termination "stones_captured"]\n\n1. 5A 3A\n22-46\n' * 2,
            "record 1 is a finished game",
        ),
    ],
)
def test_unusable_openings_are_refused(core: Core, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "lines.txt"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        load_openings(core, str(path), 2, 4, rng())


@pytest.mark.parametrize("rules", TWO_PLAYER_PRESETS)
def test_the_balanced_suite(rules: str) -> None:
    core = Core(rules)
    openings = read_openings(core, openings_path(core.rules))
    assert len(openings) >= 500
    assert len(first_of_each(canonical_keys(core, openings.positions))) == len(openings)
    assert {record.position for record in openings.records} == {None}
    assert set(openings.positions.ply.tolist()) == {4, 5, 6, 7, 8}
    values = np.array([int(record.headers["Value"]) for record in openings.records])
    assert abs(values).max() <= 3
    some = slice(0, 2)
    made = shlex.split(openings.records[0].headers["Made"])
    depth = int(made[made.index("--depth") + 1])
    net = read_value_net("pretrained", rules) if "--net" in made else None
    found = final_margins(MoveValues(core, depth, net), openings.positions[some])[:, 0]
    assert (abs(found - values[some]) <= (8 if net else 0)).all()  # their net was an earlier one


@pytest.mark.parametrize(
    ("rules", "net", "within", "depth"),
    [("mancala-world seeds=2", None, 2, 8), ("mancala-world", "pretrained", 2, 8), ("three-player", None, 8, 3)],
)
def test_a_made_suite_is_balanced_and_without_duplicates(rules: str, net: str | None, within: int, depth: int) -> None:
    recipe = OpeningsRecipe(rules=rules, count=12, within=within, depth=depth, net=net)
    records = make_suite(recipe)
    assert parse_records(format_records(records)) == records == make_suite(recipe)
    core = Core(recipe.rules)
    positions = Positions.concatenate(record.board().positions for record in records)
    assert len(records) == 12 == len(first_of_each(canonical_keys(core, positions)))
    held = None if net is None else read_value_net(net, rules)
    assert abs(final_margins(MoveValues(core, depth, held), positions)).max() <= within
    assert len(records[0].headers["Value"].split()) == (1 if core.rules.players == 2 else core.rules.players)
    assert f"--depth {depth}" in records[0].headers["Made"]
    assert ("--net pretrained" in records[0].headers["Made"]) == (net is not None)


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_openings_for_more_players_are_even_for_each(rules: str) -> None:
    core = Core(rules)
    suite = read_openings(core, openings_path(core.rules))
    assert len(suite) == 200 == len(first_of_each(canonical_keys(core, suite.positions)))
    values = np.array([[float(points) for points in record.headers["Value"].split()] for record in suite.records])
    assert abs(values).max() <= 5
    some = slice(0, 5)
    assert final_margins(MoveValues(core, 5), suite.positions[some]) == pytest.approx(values[some], abs=0.01)
    turned = rotate_seats(suite.positions[some])
    assert final_margins(MoveValues(core, 5), turned) == pytest.approx(np.roll(values[some], 1, axis=1), abs=0.01)


def test_a_suite_of_more_lines_than_there_are_is_given_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(openings, "MAX_FAILED_LINES", 500)
    arguments = ["--count", "12", "--shortest", "1", "--longest", "1", "--within", "70", "--depth", "2"]
    assert openings.main(arguments) == 2  # of ten first moves each has a mirror image
    assert "only 5 of 12 lines of 1 to 1 plies were found within 70 points of a draw" in capsys.readouterr().err


def test_final_margins_count_the_scores_so_far() -> None:
    core = Core("mancala-world fields=2 seeds=1")
    board = Board.parse("0,1,0*/0,1,0 12,0 0 4", core.rules)  # 2A captures nothing and leaves the stone; see below
    margins = final_margins(MoveValues(core, 6), board.positions)[0]
    swapped = final_margins(MoveValues(core, 6), rotate_seats(board.positions))[0]
    assert margins[0] == -margins[1] == -swapped[0]
    board_ahead = Board.parse("0,1,0*/0,1,0 6,6 0 4", core.rules)
    assert margins[0] - final_margins(MoveValues(core, 6), board_ahead.positions)[0, 0] == 12


def test_keys_differ_for_boards_that_play_differently(core: Core) -> None:
    even, other = [5, 5, 5, 5, 5, 0], [4, 5, 5, 5, 5, 1]
    seeds = [[*even, *even], [*other, *even], [*even, *other]]
    keys = canonical_keys(core, core.setup(seeds, [[1, 1]] * 3, [[0, 0]] * 3))
    assert len(first_of_each(keys)) == 3
    assert len({key_number(key) for key in keys}) == 3


def test_hashes_tell_keys_apart(core: Core) -> None:
    seeds = np.random.default_rng(0).multinomial(50, np.full(12, 1 / 12), 10_000).repeat(2, axis=0)
    keys = canonical_keys(core, core.setup(seeds, np.ones((20_000, 2), int), np.zeros((20_000, 2), int)))
    different = len(np.unique(keys))
    assert 9_000 < different <= 10_000
    assert len(np.unique(key_hashes(keys))) == different
