"""Mixed tables: every multiset in every order, seats and places, null runs, and tables that resume."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from rich.progress import Progress

from agents.evaluation.results import TablesResult
from agents.evaluation.run import EvaluationRun, EvaluationSettings
from agents.evaluation.tables import Tables, outcomes
from agents.evaluation.tournament import Entrant, make_entrants
from agents.reports.report import tables_in_words
from oanquan_env import Core
from oanquan_env.benchmark.openings import random_suite
from oanquan_env.errors import UsageError
from tests.players import FirstMove, LastMove, rng

NAMES = ["random", "greedy", "again=greedy"]


def made(folder: Path | None = None, rules: str = "three-player", names: list[str] = NAMES, pairs: int = 4) -> Tables:
    core = Core(rules)
    return Tables(core, make_entrants(names, core.rules), random_suite(core, pairs, 4, rng()), 0, folder)


def test_equal_points_share_the_win_and_the_mean_of_their_places() -> None:
    shares, margins, places = outcomes(np.array([[[10, 4, 1], [7, 7, 1], [5, 5, 5], [9, 3, 3]]]))
    assert shares[0].tolist() == [[1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3, [1, 0, 0]]
    assert margins[0].tolist() == [[7.5, -1.5, -6], [3, 3, -6], [0, 0, 0], [6, -3, -3]]
    assert places[0].tolist() == [[1, 2, 3], [1.5, 1.5, 3], [2, 2, 2], [1, 2.5, 2.5]]


@pytest.mark.parametrize(("rules", "multisets"), [("three-player", 10), ("four-player", 15)])
def test_every_multiset_is_played_in_every_order(rules: str, multisets: int) -> None:
    tables = made(rules=rules, pairs=2)
    heard: list[int] = []
    played = list(tables.play(heard.append))
    orders = np.concatenate([orders for orders, _ in played])
    assert len(played) == multisets
    assert len(np.unique(orders, axis=0)) == len(orders) == 3**tables.core.rules.players
    assert sum(heard) == tables.games == 2 * len(orders)
    for orders, points in played:
        assert points.shape == (2, *orders.shape)


def test_points_belong_to_who_moves_first_second_and_third() -> None:
    """Against games played by hand, from openings in which each seat moves."""
    tables = made(pairs=6)
    core, openings = tables.core, tables.openings.positions
    tables.entrants = [Entrant("first", "first", FirstMove(core), ""), Entrant("last", "last", LastMove(core), "")]
    assert set(openings.mover.tolist()) == {1}  # four plies after the start
    openings.mover[:2], openings.mover[2:4] = 0, 2
    for orders, points in tables.play(lambda _: None):
        for k, game in itertools.product(range(6), range(len(orders))):
            position, choosers = openings[k : k + 1], orders[game]
            mover = int(position.mover[0])
            while not position.over[0]:
                legal = core.legal_mask(position)[0].nonzero()[0]
                last = choosers[(position.mover[0] - mover) % 3] == 1
                core.play(position, legal[-1:] if last else legal[:1])
            by_place = np.roll(core.standings(position)[0], -mover)
            assert points[k, game].tolist() == by_place.tolist()


def test_one_player_under_two_names_shows_no_difference_beyond_its_interval() -> None:
    result = made(names=["greedy", "again=greedy", "random"], pairs=20).result(lambda _: None)
    scores = {row.agent: row for row in result.rows}
    assert scores["greedy"].margin.low < scores["again"].margin.high
    assert scores["again"].margin.low < scores["greedy"].margin.high
    assert scores["random"].score.high < scores["greedy"].score.low
    assert scores["random"].place.low > 2 > scores["greedy"].place.high
    for row in result.rows:
        assert sum(score.mean for score in row.alone) == pytest.approx(1)


def test_interrupted_tables_go_on_where_they_were(tmp_path: Path) -> None:
    whole = made().result(lambda _: None)
    playing = made(tmp_path).play(lambda _: None)
    for _ in range(3):
        next(playing)
    files = sorted((tmp_path / "parts" / "tables").iterdir())
    written = [file.stat().st_mtime_ns for file in files]
    assert len(files) == 3
    assert made(tmp_path).result(lambda _: None) == whole
    assert [file.stat().st_mtime_ns for file in files] == written


def test_an_evaluation_reports_its_tables() -> None:
    settings = EvaluationSettings(NAMES, ["tables"], rules="three-player", pairs=2)
    report = EvaluationRun(settings).run("tests", Progress(disable=True))
    assert isinstance(report.tables, TablesResult)
    explained, numbers = tables_in_words(report.tables)
    assert "54 games" in explained
    assert all(f"`{row.agent}`" in numbers for row in report.tables.rows)
    with pytest.raises(UsageError, match="mixed tables need rules for three or four players"):
        EvaluationRun(EvaluationSettings(NAMES, ["tables"], pairs=2))
