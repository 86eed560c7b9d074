"""The command line of evaluate.py, from settings to files."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest

import evaluate
from agents.config import read_yaml, validated
from agents.evaluation.results import read_report
from agents.evaluation.run import EvaluationSettings
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


def test_the_arena_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "greedy", "random", "--pairs", "20")
    assert (status, err) == (0, "")
    assert out.startswith("mancala-world, 20 pairs, openings of 4 random plies, seed 0\n")
    assert re.search(r"│ greedy +│ +\d+/\d+/\d+ │ +\d+\.\d ± \d+\.\d │ +[+-]\d+\.\d ± \d+\.\d │\n│ – random ", out)
    assert run(capsys, "greedy", "random", "--pairs", "20")[1] == out
    assert run(capsys, "greedy", "random", "--pairs", "20", "--seed", "1")[1] != out


def test_tables_fit_eighty_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "FILE_WIDTH", 80)
    names = ("minimax:depth=2,epsilon=0.000000001", "greedy:epsilon=0.25", "random")
    _, out, _ = run(capsys, *names, "--suite", "arena,regret", "--pairs", "4")
    lines = [line for line in out.splitlines() if line[:1] in ("│", "┃")]
    assert max(map(len, lines)) <= 80
    assert "…" not in out
    assert out.count("  epsilon=0.000000001 ") == 4  # its name is broken at the comma, in four rows


def test_everything_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--suite", "arena,regret", "--openings", "balanced", "--pairs", "10", "--time"]
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
    assert [rating.agent for rating in report.arena.ratings or []] == ["minimax:depth=2", "greedy", "rnd"]
    for pairing in report.arena.pairings:
        first, second = pairing.orders
        assert (first.score.mean + second.score.mean) / 2 == pytest.approx(pairing.score.mean)
        assert (first.margin.mean + second.margin.mean) / 2 == pytest.approx(pairing.margin.mean)
    assert report.regret
    assert report.regret.positions == len(load_suite(Core().rules).part("test"))
    regrets = {row.agent: row.overall.regret.mean for row in report.regret.agents}
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
    assert run(capsys, *names, "--output", tmp_path / "out") == whole
    assert played == [(1, 2)]
    arenas = [json.loads((tmp_path / name).read_text())["arena"] for name in ("whole.json", "out/report.json")]
    assert arenas[0] == arenas[1]


def test_stored_regret_is_not_measured_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["greedy", "--suite", "regret", "--part", "development", "--output", tmp_path]
    first = run(capsys, *arguments)
    assert first[0] == 0
    monkeypatch.setattr("agents.evaluation.run.seeded_regret", None)
    assert run(capsys, *arguments) == first
    status, _, err = run(capsys, *arguments, "--seed", "5")
    assert status == 2
    assert "made by other settings (seed): choose another folder, or delete it" in err


def test_three_players(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--rules", "three-player", "--openings", "balanced", "--pairs", "30", "--output", out]
    status, text, _ = run(capsys, "greedy", "random", *options)
    assert status == 0
    assert text.startswith("three-player, 30 openings in 3 seatings, openings-three-player.txt, seed 0\n")
    assert "its even share is 33.3 %" in text
    report = (out / "report.md").read_text()
    assert "33.3 % among equals" in report
    assert " Elo over moving last, moving second " in report
    assert {"scores.png", "elo.png"} <= {path.name for path in out.iterdir()}
    arena = read_report(out / "report.json").arena
    assert arena
    assert [rating.agent for rating in arena.ratings or []] == ["greedy", "random"]
    assert len(arena.orders) == 2
    one, among = arena.pairings
    assert (one.agent, one.opponent, among.agent, among.opponent) == ("greedy", "random", "random", "greedy")
    assert one.wins + one.draws + one.losses == 90
    assert one.score.mean > 1 / 3 > among.score.mean
    for pairing in arena.pairings:
        assert np.mean([order.score.mean for order in pairing.orders]) == pytest.approx(pairing.score.mean)
        assert len(pairing.orders) == 3


def test_the_command_line_overrides_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "x.yaml"
    config.write_text("agents: [greedy, random]\npairs: 7\nseed: 3\n")
    assert "7 pairs, openings of 4 random plies, seed 3" in run(capsys, "--config", config)[1]
    out = run(capsys, "--config", config, "--pairs", "3", "a=random", "b=random")[1]
    assert "3 pairs, openings of 4 random plies, seed 3" in out
    assert "greedy" not in out
    config.write_text("agents: [greedy, random]\npears: 7\n")
    assert "x.yaml: pears: unknown field; did you mean pairs? (got 7)" in run(capsys, "--config", config)[2]


def test_help_names_settings_and_players(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        evaluate.main(["--help"])
    text = capsys.readouterr().out
    for word in ("--suite", "--openings", "--output", "--save-games", "minimax:depth=", "LABEL=", "(default: 200)"):
        assert word in text
