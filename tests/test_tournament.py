"""Tournaments and mixed tables: they resume, refuse results of other settings, and keep games that replay."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from rich.progress import Progress

from agents.evaluation.results import TablesResult, origin
from agents.evaluation.run import EvaluationRun, EvaluationSettings
from agents.evaluation.tables import Tables, outcomes
from agents.evaluation.tournament import Entrant, TimedPolicy, Tournament, make_entrants, replay
from agents.players.fingerprint import fingerprint
from agents.reports.report import tables_in_words
from oanquan_env import Core, Rules, parse_records
from oanquan_env.benchmark.openings import random_suite
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.players import RandomPolicy
from oanquan_env.records.games import format_records
from tests.players import FirstMove, LastMove, rng


def tournament(folder: Path | None, names: list[str], pairs: int = 6, seed: int = 0, rules: str = "") -> Tournament:
    core = Core(rules or "mancala-world")
    openings = random_suite(core, pairs, 4, rng(seed))
    return Tournament(core, make_entrants(names, core.rules), openings, seed, folder)


def test_another_player_leaves_the_finished_pairings_as_they_are(tmp_path: Path) -> None:
    first = list(tournament(tmp_path, ["random", "greedy"]).play())
    more = list(tournament(tmp_path, ["random", "again=greedy", "greedy"]).play())
    again = next(one for one in more if (one.a, one.b) == (0, 2))
    assert all((one == other).all() for one, other in zip(first[0].results, again.results, strict=True))


def test_results_of_other_settings_are_refused(tmp_path: Path) -> None:
    list(tournament(tmp_path, ["random", "greedy"]).play())
    with pytest.raises(FileError, match=r"made by other settings \(seed, openings\): choose another folder"):
        list(tournament(tmp_path, ["random", "greedy"], seed=1).play())
    with pytest.raises(FileError, match=r"made by other settings \(agents\)"):
        list(tournament(tmp_path, ["random", "greedy=random"]).play())


def test_a_pairing_file_without_results_is_named(tmp_path: Path) -> None:
    played = tournament(tmp_path, ["random", "greedy"])
    list(played.play())
    path = next((tmp_path / "parts" / "pairings").iterdir())
    data = json.loads(path.read_text())
    del data["content"]["margin"]
    path.write_text(json.dumps(data))
    with pytest.raises(FileError, match=r"not a finished part of an evaluation: damaged: "):
        list(played.play())


@pytest.mark.parametrize("rules", ["mancala-world", "three-player"])
def test_saved_games_replay_to_the_results(rules: str) -> None:
    played = tournament(None, ["random", "greedy"], rules=rules)
    pairing = next(iter(played.play()))
    records = played.records(pairing)
    assert parse_records(format_records(records)) == records
    players = played.core.rules.players
    assert len(records) == 6 * players
    for number, record in enumerate(records):
        seat, k = divmod(number, 6)
        labels = [record.headers[name] for name in list(record.headers)[:players]]
        assert labels == ["random" if player == seat else "greedy" for player in range(players)]
        points = [int(point) for point in re.findall(r"(?<!\d)-?\d+", record.result)]
        others = [point for player, point in enumerate(points) if player != seat]
        assert points[seat] - np.mean(others) == pytest.approx(pairing.results.margin[k, seat])
    finals = replay(played.core, played.openings.positions, pairing.games)
    assert finals.over.all()


def test_a_retrained_agent_has_another_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("plies: 1")
    before = fingerprint(f"ppo:{tmp_path},temperature=1", Rules())
    (tmp_path / "agent.yaml").write_text("plies: 2")
    assert before != fingerprint(f"ppo:{tmp_path},temperature=1", Rules()) != ""
    files = tmp_path / "lr=1e-3"
    files.mkdir()
    for content in (b"one", b"two"):
        (files / "value.npz").write_bytes(content)
        found = {fingerprint(name, Rules()) for name in (f"maxn:depth=2,net={files}", f"maxn:depth=1,net={files}")}
        assert before not in found
        assert len(found) == 1
        before = found.pop()


def test_another_version_of_play_has_other_fingerprints(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["greedy", "minimax:depth=6", "ppo:pretrained"]
    before = [fingerprint(name, Rules()) for name in names]
    monkeypatch.setattr("agents.players.fingerprint.PLAY_VERSION", 77)
    assert all(fingerprint(name, Rules()) != old for name, old in zip(names, before, strict=True))


def test_parts_kept_from_another_commit_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = EvaluationSettings(agents=["greedy", "random"], pairs=3, suites=["arena", "regret"])
    reports = []
    for number in ("one", "one", "two"):
        monkeypatch.setattr("agents.evaluation.result_cache.commit", lambda number=number: number)
        with Progress(disable=True) as progress:
            reports.append(EvaluationRun(settings, tmp_path).run("test", progress))
    assert [report.kept_from for report in reports] == [[], [], ["one"]]
    assert "at commit `two` (parts of it at `one`)" in origin(reports[-1])


def test_the_stopwatch_counts_moves() -> None:
    core = Core()
    timed = TimedPolicy(RandomPolicy(core))
    timed.choose(core.start(9), rng())
    assert (timed.moves, timed.seconds) == (0, 0)  # the first choice may load and compile
    timed.choose(core.start(7), rng())
    timed.choose(core.start(5), rng())
    assert timed.moves == 12
    assert timed.seconds > 0


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
