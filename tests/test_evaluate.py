"""The command line of evaluate.py, from settings to files."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

import evaluate
from agents.config import read_yaml, validated
from agents.evaluation.evaluation import EvaluationSettings
from agents.evaluation.results import read_report
from agents.evaluation.tournament import Tournament
from oanquan_env import Core, Rules, read_records
from oanquan_env.benchmark.suites import load_suite, regret_path

ROOT = Path(__file__).parent.parent


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command."""
    status = evaluate.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("evaluate*.yaml")), ids=lambda path: path.stem)
def test_committed_evaluations_load(path: Path) -> None:
    settings = validated(EvaluationSettings, read_yaml(path), str(path))
    assert settings == validated(EvaluationSettings, dataclasses.asdict(settings), "again")
    assert any("pretrained" in agent for agent in settings.agents)
    assert "regret" not in settings.suites or regret_path(Rules.parse(settings.rules)).exists()


def test_games_from_balanced_openings_are_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "greedy", "random", "--pairs", "20")
    assert (status, err) == (0, "")
    assert "20 openings of openings-mancala-world.txt, each played in every seating" in out
    assert re.search(r"\n greedy +random +\d+/\d+/\d+ +\d+\.\d \(\d+\.\d to \d+\.\d\) +[+-]\d+\.\d \(", out)
    assert "Elo, greedy = 0 (95 %)" in out
    assert run(capsys, "greedy", "random", "--pairs", "20")[1] == out
    assert run(capsys, "greedy", "random", "--pairs", "20", "--seed", "1")[1] != out
    bare = run(capsys, "greedy", "random", "--pairs", "4", "--rules", "tonkin seeds=3")[1]  # without such a suite
    assert "4 openings of random play" in bare


def test_long_names_are_whole(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "minimax:depth=2,epsilon=0.000000001", "greedy:epsilon=0.25", "random", "--pairs", "4")
    assert "…" not in out
    assert out.count("epsilon=0.000000001") >= 4  # in the command, the rating and two pairings


def test_everything_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--suite", "arena,regret", "--pairs", "10", "--time"]
    files = ["--output", tmp_path / "out", "--json", tmp_path / "out.json", "--save-games", tmp_path / "games.txt"]
    status, out, err = run(capsys, "greedy", "rnd=random", "minimax:depth=2", *options, *files)
    assert (status, err) == (0, "")
    assert "openings-mancala-world.txt" in out
    assert "Elo, greedy = 0" in out
    assert "ms a move" in out
    report = read_report(tmp_path / "out.json")
    assert report == read_report(tmp_path / "out" / "report.json")
    assert [agent.label for agent in report.agents] == ["greedy", "rnd", "minimax:depth=2"]
    assert all(agent.ms_per_move for agent in report.agents)
    assert report.arena
    assert [pairing.wins + pairing.draws + pairing.losses for pairing in report.arena.pairings] == [20] * 3
    assert [rating.agent for rating in report.arena.ratings] == ["minimax:depth=2", "greedy", "rnd"]
    for pairing in report.arena.pairings:
        first, second = pairing.orders
        assert (first.score.mean + second.score.mean) / 2 == pytest.approx(pairing.score.mean)
        assert (first.margin.mean + second.margin.mean) / 2 == pytest.approx(pairing.margin.mean)
    assert report.regret
    assert report.regret.positions == len(load_suite(Core().rules).part("test"))
    regrets = {label: found.mean for label, found in report.regret.agents.items()}
    assert regrets["minimax:depth=2"] < regrets["greedy"] < regrets["rnd"]
    records = read_records(tmp_path / "games.txt")
    assert len(records) == 60
    assert records[0].headers == {"South": "greedy", "North": "rnd", "Opening": "1"}
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {".lock", "report.json", "report.md", "elo.png", "scores.png", "regret.png", "parts"}


def test_an_interrupted_evaluation_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["greedy", "random", "again=random", "--pairs", "5"]
    whole = run(capsys, *names, "--json", tmp_path / "whole.json")
    play, played = Tournament.play_one, []

    def interrupted(self: Tournament, a: int, b: int, progress: object = None) -> object:
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append((a, b))
        return play(self, a, b, None)

    monkeypatch.setattr(Tournament, "play_one", interrupted)
    status, _, err = run(capsys, *names, "--output", tmp_path / "out")
    assert status == 130
    assert err == f"evaluate.py: interrupted; the same command continues in {tmp_path / 'out'}\n"
    assert not (tmp_path / "out" / "report.json").exists()
    played.clear()
    again = run(capsys, *names, "--output", tmp_path / "out")
    assert [part.partition("## Games")[2] for part in again[1:]] == [
        part.partition("## Games")[2] for part in whole[1:]
    ]
    assert played == [(1, 2)]
    arenas = [json.loads((tmp_path / name).read_text())["arena"] for name in ("whole.json", "out/report.json")]
    assert arenas[0] == arenas[1]


def test_stored_regret_is_not_measured_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["greedy", "--suite", "regret", "--part", "development", "--output", tmp_path]
    first = run(capsys, *arguments)
    assert first[0] == 0
    monkeypatch.setattr("agents.evaluation.evaluation.seeded_regret", None)
    assert run(capsys, *arguments) == first
    with pytest.raises(TypeError, match="not callable"):  # of another seed none is kept
        run(capsys, *arguments, "--seed", "5")


def test_three_players(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--rules", "three-player", "--openings", "balanced", "--pairs", "30", "--output", out]
    status, text, _ = run(capsys, "greedy", "random", *options)
    assert status == 0
    assert "30 openings of openings-three-player.txt, each played in every seating" in text
    report = (out / "report.md").read_text()
    assert "one agent among 2 copies of another, the mean over all others; the fair share is 33.3 %" in report
    assert "| agent | among | won/shared/lost |" in report
    assert "Elo" not in report
    assert {"scores.png"} == {path.name for path in out.glob("*.png")}
    arena = read_report(out / "report.json").arena
    assert arena
    assert [share.agent for share in arena.shares] == ["greedy", "random"]
    one, among = arena.pairings
    assert (one.agent, one.opponent, among.agent, among.opponent) == ("greedy", "random", "random", "greedy")
    assert one.wins + one.draws + one.losses == 90
    assert one.score.mean > 1 / 3 > among.score.mean


def test_the_command_line_overrides_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "x.yaml"
    config.write_text("agents: [greedy, random]\npairs: 7\nseed: 3\n")
    assert "7 openings of openings-mancala-world.txt" in run(capsys, "--config", config)[1]
    out = run(capsys, "--config", config, "--pairs", "3", "a=random", "b=random")[1]
    assert "3 openings of openings-mancala-world.txt" in out
    assert "seed 3" in out
    assert "greedy" not in out
    config.write_text("agents: [greedy, random]\npears: 7\n")
    assert "x.yaml: pears: unknown field; did you mean pairs? (got 7)" in run(capsys, "--config", config)[2]


def test_help_names_settings_and_players(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        evaluate.main(["--help"])
    text = capsys.readouterr().out
    for word in ("--suite", "--openings", "--output", "--save-games", "minimax:depth=", "LABEL=", "(default: 200)"):
        assert word in text
