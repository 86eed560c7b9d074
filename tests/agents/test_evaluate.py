"""Test evaluate.py from its settings to its files, and tournaments that resume, save games or have three players."""

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import evaluate
from agents.config import folded, read_yaml, validated
from agents.evaluation.evaluation_run import PARTS, EvaluationRunSettings, FinishedParts, make_entrants
from agents.reports.tournaments import read_report
from oanquan_env import Core, Rules, parse_records, read_records
from oanquan_env.benchmark.evaluation import games_measured, rated
from oanquan_env.benchmark.openings import random_suite
from oanquan_env.benchmark.rule_pairs import load_rule_pairs
from oanquan_env.benchmark.suites import load_suite, regret_path, write_suite
from oanquan_env.benchmark.tournament import NullStore, Pairing, Tournament
from oanquan_env.records.games import format_records
from tests import ROOT
from tests.helpers import Capture, Patch
from tests.helpers.players import rng, tick

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: Capture) -> Run:
    """Return a function that runs evaluate.py and returns its exit status, standard output and standard error."""

    def measured(*arguments: object) -> tuple[int, str, str]:
        status = evaluate.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return measured


def measured_once(run: Run, *arguments: object) -> tuple[str, str]:
    """Run evaluate.py twice; return the first output in one line, and what the second run took from the first."""
    results = [run(*arguments) for _ in range(2)]
    assert [(status, err) for status, _, err in results] == [(0, "")] * 2
    first, again = (" ".join(out.split()) for _, out, _ in results)
    begin, found, end = re.split(r" Reused from earlier sessions, measured [^.]* UTC: (.*?)\.(?= |$)", again)
    assert begin + end == first
    return first, found


def test_games_from_balanced_openings_are_the_default(run: Run) -> None:
    duel = ["greedy", "random", "--pairs", "20"]
    status, out, err = run(*duel)
    assert (status, err) == (0, "")
    assert "20 openings of openings-mancala-world.txt, each in every seating" in out
    assert re.search(r"\n greedy +random +\d+/\d+/\d+ +\d+\.\d \(\d+\.\d\.\.\d+\.\d\) +[+-]\d+\.\d \(", out)
    assert "Elo, greedy = 0 (95%)" in out
    assert run(*duel)[1] == out != run(*duel, "--seed", "1")[1]
    assert "4 openings of random play" in run(*duel[:3], "4", "--rules", "tonkin seeds=3")[1]  # has no suite


def test_worst_cases_are_searched_once_and_kept(run: Run, tmp_path: Path, monkeypatch: Patch) -> None:
    tick(monkeypatch, 0.001)
    options = ["--suite", "exploit", "--minutes", "0.01", "--rules", "tonkin", "--output", tmp_path]
    out, reused = measured_once(run, "greedy", "book:greedy", *options)
    assert "gives up as South, as North, points" in out
    assert " book:greedy 0, 0" in out
    assert reused == "best responses greedy; best responses book:greedy"
    report = read_report(tmp_path / "report.json")
    assert [[best["seat"] for best in one.exploited or ()] for one in report.players] == [["south", "north"]] * 2
    assert "two players" in run("greedy", "--suite", "exploit", "--rules", "three-player")[2]


def test_rule_pairs_are_asked_about_once_and_kept(run: Run, tmp_path: Path, monkeypatch: Patch) -> None:
    """A search follows the rules, whatever --rules says."""
    small = [pairs for pairs in load_rule_pairs() if pairs.given.core.rules.fields == 3 and len(pairs) > 1]
    few = [pairs.take(np.arange(2)) for pairs in small[:3]]
    monkeypatch.setattr("agents.evaluation.evaluation_run.load_rule_pairs", lambda: few)
    options = ["--suite", "pairs", "--rules", "tonkin", "--output", tmp_path]
    out, reused = measured_once(run, "random", "search=minimax:nodes=2000", *options)
    assert "A player follows its rules if its move is best under the given rules" in out
    assert reused == "rule pairs random; rule pairs search"
    following = read_report(tmp_path / "report.json").player("search").following
    assert following.positions == 6
    assert following.follows.mean > 0.6 > following.random_follows > 0.1
    assert set(following.groups) == {pairs.field for pairs in few} | {"proved"}


def test_regret_is_measured_once_and_kept(run: Run, tmp_path: Path, monkeypatch: Patch) -> None:
    arguments = ["greedy", "--suite", "regret", "--part", "development", "--output", tmp_path]
    assert measured_once(run, *arguments)[1] == "regret greedy"
    monkeypatch.setattr("oanquan_env.benchmark.tournament.regret", None)
    assert run(*arguments)[0] == 0
    with pytest.raises(TypeError, match="not callable"):  # no results are stored for another seed
        run(*arguments, "--seed", "5")


@pytest.mark.slow
def test_everything_at_once(run: Run, tmp_path: Path) -> None:
    options = ["--suite", "arena,regret", "--pairs", "10", "--time"]
    files = ["--output", tmp_path / "out", "--json", tmp_path / "out.json", "--save-games", tmp_path / "games.txt"]
    deep = "minimax:depth=2,epsilon=0.000000001"
    status, out, err = run("greedy", "rnd=random", deep, *options, *files)
    assert (status, err) == (0, "")
    assert all(part in out for part in ("openings-mancala-world.txt", "Elo, greedy = 0", "ms a move"))
    report = read_report(tmp_path / "out.json")
    assert report == read_report(tmp_path / "out" / "report.json")
    assert [one.label for one in report.ranked()] == [deep, "greedy", "rnd"]
    assert all(one.ms_per_move for one in report.players)
    assert [pairing.wins + pairing.draws + pairing.losses for pairing in report.pairings] == [20] * 3
    suite = load_suite(Core().rules).part("test")
    assert (report.suite.positions, report.suite.digest) == (len(suite), suite.digest())
    regrets = {one.label: one.regret.mean for one in report.players if one.regret}
    assert regrets[deep] < regrets["greedy"] < regrets["rnd"]
    records = read_records(tmp_path / "games.txt")
    assert (len(records), records[0].headers) == (60, {"South": "greedy", "North": "rnd", "Opening": "1"})
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {".lock", "report.json", "report.md", "scores.png", "parts"}


def test_regret_is_measured_over_a_suite_of_ones_own(run: Run, tmp_path: Path) -> None:
    own, out = load_suite("tonkin").take(np.arange(0, 2400, 40)), tmp_path / "out.json"
    write_suite(tmp_path / "own.json", own)
    options = ["greedy", "--regret-suite", tmp_path / "own.json", "--suite", "regret", "--part", "all", "--json", out]
    assert run(*options, "--rules", "tonkin")[0] == 0
    suite = read_report(out).suite
    assert (suite.name, suite.digest) == ("own", own.digest())
    assert "the regret suite 'own' is for the rules 'tonkin', not 'mancala-world'" in run(*options)[2]
    assert "--regret-suite needs --suite regret, which measures regret" in run(*options[:3])[2]


def test_names_are_whole_at_80_columns(run: Run, monkeypatch: Patch) -> None:
    monkeypatch.setattr(evaluate, "FILE_WIDTH", 80)
    out = run("minimax:depth=1", "minimax:depth=2", "--pairs", "2", "--suite", "arena,regret")[1]
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    assert "".join(re.findall(r"(?m)^ ?(minimax:dep|th=\d)", out)).count("minimax:depth=2") >= 1


def test_an_interrupted_evaluation_goes_on(run: Run, tmp_path: Path, interrupt: Any) -> None:
    names = ["greedy", "random", "again=random", "--pairs", "5"]
    whole, folder = run(*names, "--json", tmp_path / "whole.json"), tmp_path / "out"
    played = interrupt(Tournament, "play_one", at=3)
    message = f"evaluate.py: interrupted; the same command continues in {folder}\n"
    assert run(*names, "--output", folder)[::2] == (130, message)
    assert not (folder / "report.json").exists()
    again = run(*names, "--output", folder)
    assert again[1].partition("\nGames")[2] == whole[1].partition("\nGames")[2] != ""
    assert [pair[1:3] for pair in played[3:]] == [(1, 2)]
    one, other = (read_report(path) for path in (tmp_path / "whole.json", folder / "report.json"))
    assert (one.players, one.pairings) == (other.players, other.pairings)


def test_the_command_line_overrides_the_file(run: Run, capsys: Capture, tmp_path: Path) -> None:
    config = tmp_path / "x.yaml"
    config.write_text("players: [greedy, random]\npairs: 7\nseed: 3\n")
    assert "7 openings of openings-mancala-world.txt" in run("--config", config)[1]
    out = run("--config", config, "--pairs", "3", "a=random", "b=random")[1]
    assert "3 openings of openings-mancala-world.txt" in out
    assert "seed 3" in out
    assert "greedy" not in out
    config.write_text("players: [greedy, random]\npears: 7\n")
    assert "x.yaml: pears: unknown field; did you mean pairs? (got 7)" in run("--config", config)[2]
    with pytest.raises(SystemExit):
        run("--help")
    text = capsys.readouterr().out
    for word in ("--suite", "--openings", "--output", "--save-games", "minimax:depth=", "LABEL=", "(default: 200)"):
        assert word in text


def tournament(folder: Path | None, names: list[str], pairs: int = 6, seed: int = 0, rules: str = "") -> Tournament:
    core = Core(rules or "mancala-world")
    openings = random_suite(core, pairs, 4, rng(seed))
    kept = FinishedParts(folder / PARTS) if folder else NullStore()
    return Tournament(core, make_entrants(names, core.rules), openings, seed, kept)


def play(whole: Tournament) -> list[Pairing]:
    return whole.play(whole.every_pairing())


@pytest.mark.slow
def test_finished_pairings_are_kept_by_players_settings_and_version(
    tmp_path: Path, monkeypatch: Patch, interrupt: Any
) -> None:
    calls = interrupt(Tournament, "play_one")

    def played(names: list[str], **settings: int) -> int:
        """Play a tournament; return the number of pairings without a stored result, which had to be played."""
        calls.clear()
        play(tournament(tmp_path, names, **settings))
        return len(calls)

    assert [played(["random", "greedy"]) for _ in range(2)] == [1, 0]
    assert played(["random", "greedy", "again=greedy"]) == 2
    assert played(["random", "greedy"], seed=1) == played(["random", "greedy=maxn:depth=1"]) == 1
    monkeypatch.setattr("oanquan_env.__version__", "99")
    assert [played(["random", "greedy"]) for _ in range(2)] == [1, 0]


def test_saved_games_replay_to_the_results() -> None:
    played = tournament(None, ["random", "greedy"])
    (pairing,) = play(played)
    records = played.records(pairing)
    assert parse_records(format_records(records)) == records
    assert len(records) == 2 * 6
    for number, record in enumerate(records):
        seat, k = divmod(number, 6)
        assert [*record.headers.values()][:2] == (["greedy", "random"] if seat else ["random", "greedy"])
        points = [int(point) for point in re.findall(r"(?<!\d)-?\d+", record.result)]
        assert points[seat] - points[1 - seat] == pytest.approx(pairing.results.margin[k, seat])


@pytest.mark.slow
def test_one_player_among_copies_of_another_is_counted_over_all_seats_and_others() -> None:
    played = tournament(None, ["random", "greedy", "maxn:depth=1"], pairs=8, rules="three-player")
    pairings = play(played)
    found = rated(games_measured(played, pairings), played, pairings)
    assert [(one.agent, one.opponent[:6]) for one in found.pairings][:2] == [("random", "greedy"), ("random", "maxn:d")]
    assert (found.anchor, found.first) == (None, None)
    assert found.ranked()[-1].label == "random"
    for share in found.players:
        rows = []
        for pairing in (one for one in pairings if played.entrants[one.a].label == share.label):
            for number, record in enumerate(played.records(pairing)):
                seat, scores = number // 8, np.array(record.board().outcome.scores)
                best = scores == scores.max()
                rows.append((best[seat] / best.sum(), scores[seat] - np.delete(scores, seat).mean()))
        assert len(rows) == 2 * 8 * 3
        assert (share.score.mean, share.margin.mean) == pytest.approx(np.mean(rows, axis=0))
        assert share.score.low < share.score.mean < share.score.high


def test_help_and_tables_fit_a_narrow_terminal(monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = folded(f"{evaluate.__doc__}").splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line.startswith(" ") for line in lines)  # tyro joins other lines
    heads = "agent|opponent|won/drawn/lost|score, % (95 %)|margin, points (95 %)|Elo against the opponent (95 %)"
    cells = "ppo:runs/quick|minimax:depth=1|331/16/53|84.8 (81.0 to 87.9)|+16.1 (+14.4 to +17.7)|+298 (+252 to +345)"
    console = Console(width=80, record=True)
    console.print(evaluate.Page(evaluate.narrow(f"|{heads}|\n|{'---|' * 6}\n|{cells}|\n\na (b to c)")))
    shown = console.export_text()
    for whole in ("(95%)", "(81.0..87.9)", "(+14.4..+17.7)", "(+252..+345)", "a (b to c)"):
        assert whole in shown


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("evaluate*.yaml")), ids=lambda path: path.stem)
def test_committed_evaluations_load(path: Path) -> None:
    settings = validated(EvaluationRunSettings, read_yaml(path), str(path))
    assert settings == validated(EvaluationRunSettings, dataclasses.asdict(settings), "again")
    assert any("pretrained" in player for player in settings.players)
    assert "regret" not in settings.suites or regret_path(Rules.parse(settings.rules)).exists()
