"""Test reports in JSON, Markdown and pictures, and the tables and sections that programs write into pages."""

import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agents.evaluation.evaluation_run import labelled
from agents.reports.tournaments import draw_scores, read_report, write_report
from evaluate import parse
from experiments.common import RESULTS
from oanquan_env.benchmark.game_pairs import OrderResult, PairingResult
from oanquan_env.benchmark.regret import Regret
from oanquan_env.benchmark.report import markdown
from oanquan_env.benchmark.results import Evaluation, PlayerResult, SuitePart
from oanquan_env.benchmark.statistics import Estimate
from oanquan_env.benchmark.tables import table
from oanquan_env.files import FileError
from tools.docs_from_code import replace_between, wrapped


def estimate(mean: float, spread: float = 0.0) -> Estimate:
    return Estimate(mean=mean, low=mean - spread, high=mean + spread)


def regret_of(mean: float, **phases: Regret) -> Regret:
    numbers = vars(estimate(mean, mean / 10))
    return Regret(**numbers, positions=30, optimal=estimate(0.5, 0.05), blunders=estimate(0.125, 0.01), phases=phases)


@pytest.fixture
def report() -> Evaluation:
    """Return a report of three players and two pairings, with invented numbers."""
    orders = [OrderResult(estimate(score), estimate(margin)) for score, margin in ((0.75, 2), (0.625, -5))]
    sure, near = (Estimate(1, 0.5, 1), estimate(20, 2.5)), (Estimate(0.6875, 0.5, 0.8), estimate(-1.5, 2))
    deep = regret_of(0.25, end=regret_of(0))
    return Evaluation(
        rules="mancala-world",
        seed=0,
        players=[
            PlayerResult("random", "random", "", estimate(-820, 100), estimate(0.0), None, regret_of(8), 0.0012),
            PlayerResult("greedy", "greedy", "", estimate(0), estimate(0.65), None, regret_of(2), 0.02),
            PlayerResult("deep", "minimax:depth=8", "", estimate(137.4, 60), estimate(0.69), None, deep, 4.0),
        ],
        openings="openings-mancala-world.txt",
        openings_digest="0123456789abcdef",
        pairings=[
            PairingResult("greedy", "random", 4, 8, 0, 0, *sure, 9.25, orders, [0, 0, 0, 0, 4]),
            PairingResult("deep", "greedy", 4, 5, 1, 2, *near, 12, orders, [0, 1, 1, 1, 1]),
        ],
        anchor="greedy",
        first=estimate(12, 30),
        suite=SuitePart("regret-mancala-world", 2, "fedcba", "test", 30, 200, 120, 7),
        command="python evaluate.py --config x.yaml",
        commit="0123456789ab",
        processor="abacus",
        versions={"python": "3.11.7", "numpy": "2.4.6"},
    )


def test_a_report_survives_its_file_and_its_picture_shows_something(report: Evaluation, tmp_path: Path) -> None:
    write_report(report, tmp_path)
    assert read_report(tmp_path / "report.json") == report
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "report.md", "scores.png"}
    image = np.asarray(Image.open(tmp_path / "scores.png").convert("RGB"))
    assert min(image.shape[:2]) > 200
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"no such file; evaluate.py --output FOLDER writes it"),
        ("{", "not readable as JSON"),
        ("{}", "rules: Field required"),
        ('{"surprise": 1}', "surprise: unknown field"),
    ],
)
def test_damaged_reports_are_named(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "report.json"
    if text:
        path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_report(path)


def test_the_tables_of_a_report_rank_its_players(report: Evaluation) -> None:
    text = markdown(report, picture=True)
    for part in (
        "| `deep` | +137 (+77 to +197) | 69.0 | 0.25 (0.23 to 0.28) | 50.0 | 12.5 | 4 |\n"
        "| `greedy` | 0 | 65.0 | 2.00 (1.80 to 2.20) | 50.0 | 12.5 | 0.02 |\n"
        "| `random` | -820 (-920 to -720) | 0.0 | 8.00 (7.20 to 8.80) | 50.0 | 12.5 | 0.0012 |\n",
        "4 openings of `openings-mancala-world.txt`",
        "the 30 positions of the test part of `regret-mancala-world`",
        "| `greedy` | `random` | 8/0/0 | 100.0 (50.0 to 100.0) | +20.0 (+17.5 to +22.5) | ∞ (+0 to ∞) |",
        "| `deep` | `greedy` | 5/1/2 | 68.8 (50.0 to 80.0) | -1.5 (-3.5 to +0.5) | +137 (+0 to +241) |",
        "Moving first after the opening is worth +12 (-18 to +42) Elo.",
        "| `deep` | end | 30 | 0.00 (0.00 to 0.00) | 50.0 (45.0 to 55.0) | 12.5 (11.5 to 13.5) |",
        "version 2 (fedcba). 120 of 200 moves have proved values",
        "| `deep` | `minimax:depth=8` |",
        "](scores.png)",
    ):
        assert part in text
    for part in text.split("\n\n"):  # each row of a table has as many cells as its header
        assert len({line.count("|") for line in part.splitlines()}) == 1 or "|" not in part


@pytest.mark.parametrize("path", sorted(RESULTS.glob("**/report.json")), ids=lambda path: path.parent.name)
def test_committed_reports_are_of_the_players_of_their_configuration(path: Path) -> None:
    report = read_report(path)
    settings = parse(shlex.split(report.command)[2:]).settings
    assert [one.label for one in report.players] == [labelled(text)[0] for text in settings.players]
    assert all(one.regret for one in report.players) == ("regret" in settings.suites)


def test_the_picture_shows_the_numbers(report: Evaluation) -> None:
    axes = draw_scores(report).axes[0]
    found = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in axes.texts}
    assert found == {(0, 1): "69", (1, 0): "31", (1, 2): "100", (2, 1): "0"}  # each pairing from both sides
    assert [label.get_text() for label in axes.get_yticklabels()] == ["deep", "greedy", "random"]


@pytest.mark.parametrize(
    ("left", "line"), [(2, "--- | --- | ---:"), (1, "--- | ---: | ---:"), (None, "--- | --- | ---")]
)
def test_a_table_s_columns_are_aligned_as_asked_and_a_bar_begins_no_cell(left: int | None, line: str) -> None:
    found = table(["name", "of", "points"], [["`a|b`", "b", "1"]], left=left).splitlines()
    assert found == ["| name | of | points |", f"| {line} |", r"| `a\|b` | b | 1 |"]


@pytest.mark.parametrize("page", ["", "b", "eb", "bee", "bbe"])
def test_a_part_replaces_what_stands_between_its_markers(page: str) -> None:
    begin, end = "<!-- part:begin -->", "<!-- part:end -->"
    renewed = replace_between(f"Above.\n{begin}\nold\nlines\n{end}\nBelow.\n", "part", "new")
    assert renewed == f"Above.\n{begin}\nnew\n{end}\nBelow.\n" == replace_between(renewed, "part", "new")
    with pytest.raises(ValueError, match=f"must contain {begin} once and, after it, {end} once"):
        replace_between("".join({"b": begin, "e": end}[mark] for mark in page), "part", "new")


def test_generated_prose_is_broken_into_lines_and_tables_and_code_are_not() -> None:
    words, code = "ab " * 60, f"```sh\n{'cd ' * 60}\n```"
    prose, item, row = (f"{start}{words.strip()}" for start in ("", "- ", "| "))
    assert wrapped(f"{prose}\n\n{row}\n{code}\n") == f"{'ab ' * 49}ab\n{'ab ' * 9}ab\n\n{row}\n{code}\n"
    assert wrapped(item) == f"- {'ab ' * 48}ab\n  {'ab ' * 10}ab"
