"""Reports: JSON, Markdown, the README's table, pictures; Markdown that programs write."""

import dataclasses
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from agents.evaluation.results import (
    AgentResult,
    ArenaResult,
    Rating,
    RegretResult,
    Report,
    Share,
    read_report,
)
from agents.reports.pictures import draw_all, draw_ratings, draw_regret, draw_scores
from agents.reports.report import DEFAULT_REPORT, explanation, markdown, summary, write_report
from agents.support.markdown import replace_between
from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.markdown import table
from oanquan_env.benchmark.pairs import OrderResult, PairingResult
from oanquan_env.benchmark.regret import Regret
from oanquan_env.files import FileError


def estimate(mean: float, spread: float = 0.0) -> Estimate:
    return Estimate(mean=mean, low=mean - spread, high=mean + spread)


def measures(positions: int, mean: float, blunders: float, phases: dict[str, Regret] | None = None) -> Regret:
    ends = vars(estimate(mean, mean / 10))
    return Regret(
        **ends, positions=positions, optimal=estimate(0.5, 0.05), blunders=estimate(blunders, 0.01), phases=phases or {}
    )


def regret_of(mean: float) -> Regret:
    factors = {"opening": 2, "middle": 1, "end": 0}
    return measures(30, mean, 0.125, {name: measures(10, mean * factor, 0.1) for name, factor in factors.items()})


def pairing(agent: str, opponent: str, games: tuple[int, int, int], **numbers: Any) -> PairingResult:
    return PairingResult(
        agent=agent, opponent=opponent, pairs=4, wins=games[0], draws=games[1], losses=games[2], **numbers
    )


def arena() -> ArenaResult:
    orders = [OrderResult(estimate(score), estimate(margin)) for score, margin in ((0.75, 2), (0.625, -5))]
    sure = {"score": Estimate(1, 0.5, 1), "margin": estimate(20, 2.5), "orders": orders}
    near = {"score": Estimate(0.6875, 0.5, 0.8), "margin": estimate(-1.5, 2), "orders": orders}
    won = pairing("greedy", "random", (8, 0, 0), **sure, plies=9.25, pentanomial=[0, 0, 0, 0, 4])
    close = pairing("deep", "greedy", (5, 1, 2), **near, plies=12, pentanomial=[0, 1, 1, 1, 1])
    return ArenaResult(
        openings="openings-mancala-world.txt",
        digest="0123456789abcdef",
        pairings=[won, close],
        anchor="greedy",
        ratings=[
            Rating(agent="deep", elo=estimate(137.4, 60), score=0.69),
            Rating(agent="greedy", elo=estimate(0), score=0.65),
            Rating(agent="random", elo=estimate(-820, 100), score=0.0),
        ],
        first=estimate(12, 30),
    )


@pytest.fixture
def report() -> Report:
    regret = RegretResult(
        suite="regret-mancala-world",
        part="test",
        positions=30,
        moves=200,
        proved_moves=120,
        proved=7,
        agents={"random": regret_of(8), "greedy": regret_of(2), "deep": regret_of(0.25)},
    )
    return Report(
        command="python evaluate.py --config x.yaml",
        rules="mancala-world",
        seed=0,
        commit="0123456789ab",
        processor="abacus",
        versions={"python": "3.11.7", "numpy": "2.4.6"},
        agents=[
            AgentResult(label="random", name="random", ms_per_move=0.0012),
            AgentResult(label="greedy", name="greedy", ms_per_move=0.02),
            AgentResult(label="deep", name="minimax:depth=8", ms_per_move=4.0),
        ],
        arena=arena(),
        regret=regret,
    )


def test_a_report_survives_its_file(report: Report, tmp_path: Path) -> None:
    write_report(report, tmp_path)
    assert read_report(tmp_path / "report.json") == report
    written = {"report.json", "report.md", "elo.png", "scores.png", "regret.png"}
    assert {path.name for path in tmp_path.iterdir()} == written


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not readable as JSON"), ("{}", "command: Field required"), ('{"surprise": 1}', "command: Field required")],
)
def test_damaged_reports_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_report(path)
    with pytest.raises(FileError, match=r"no such file; evaluate.py --output FOLDER writes one"):
        read_report(tmp_path / "none.json")


def test_the_table_of_everything(report: Report) -> None:
    assert summary(report).splitlines() == [
        "| agent | Elo, greedy = 0 (95 %) | score, % | regret, points (95 %) | best moves, % | blunders, % "
        "| ms a move |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| `deep` | +137 (+77 to +197) | 69.0 | 0.25 (0.23 to 0.28) | 50.0 | 12.5 | 4 |",
        "| `greedy` | 0 | 65.0 | 2.00 (1.80 to 2.20) | 50.0 | 12.5 | 0.02 |",
        "| `random` | -820 (-920 to -720) | 0.0 | 8.00 (7.20 to 8.80) | 50.0 | 12.5 | 0.0012 |",
    ]
    assert "4 openings of `openings-mancala-world.txt`" in explanation(report)
    assert "the 30 positions of the test part of `regret-mancala-world`" in explanation(report)


def test_the_table_has_only_what_was_measured(report: Report) -> None:
    untimed = [agent.model_copy(update={"ms_per_move": None}) for agent in report.agents]
    report = report.model_copy(update={"agents": untimed, "arena": None})
    assert summary(report).splitlines()[0] == ("| agent | regret, points (95 %) | best moves, % | blunders, % |")
    assert report.order_of_agents() == ["deep", "greedy", "random"]
    assert "Elo" not in explanation(report)
    report = report.model_copy(update={"regret": None})
    assert report.order_of_agents() == ["random", "greedy", "deep"]


def test_the_whole_report(report: Report) -> None:
    text = markdown(report, ["elo.png", "regret.png"])
    assert "| agent | opponent | won/drawn/lost | score, % (95 %) |" in text
    assert "| `greedy` | `random` | 8/0/0 | 100.0 (50.0 to 100.0) | +20.0 (+17.5 to +22.5) | ∞ (+0 to ∞) |" in text
    assert "| `deep` | `greedy` | 5/1/2 | 68.8 (50.0 to 80.0) | -1.5 (-3.5 to +0.5) | +137 (+0 to +241) |" in text
    assert "Moving first from the opening is worth +12 (-18 to +42) Elo." in text
    assert "| `deep` | end | 10 | 0.00 (0.00 to 0.00) | 50.0 (45.0 to 55.0) | 10.0 (9.0 to 11.0) |" in text
    assert "Of the 200 moves in 30 positions 120 have proved values, the others searched ones" in text
    assert "| `deep` | `minimax:depth=8` |" in text
    assert "](elo.png)" in text
    assert "](regret.png)" in text
    assert "](scores.png)" not in text
    for part in text.split("\n\n"):  # every table's rows have as many cells as its head
        assert len({line.count("|") for line in part.splitlines()}) == 1 or "|" not in part


def test_a_report_on_three_players_names_the_fair_share(report: Report) -> None:
    assert report.arena
    orders = [OrderResult(estimate(0.25), estimate(-3))] * 3
    pairings = [dataclasses.replace(one, pentanomial=None, orders=orders) for one in report.arena.pairings]
    shares = [Share(agent=one, wins=estimate(0.4, 0.1), margin=estimate(2, 1)) for one in ("deep", "greedy", "random")]
    three = {"players": 3, "first": None, "ratings": [], "pairings": pairings, "shares": shares}
    report = report.model_copy(update={"rules": "three-player", "arena": report.arena.model_copy(update=three)})
    text = markdown(report)
    assert "one agent among 2 copies of another, the mean over all others; the fair share is 33.3 %" in text
    assert "| `deep` | 40.0 (30.0 to 50.0) | +2.0 (+1.0 to +3.0) | 0.25 (" in text
    assert "| agent | among | won/shared/lost |" in text
    assert "| score by moving first/second/third, % |\n" in text
    assert "| 25.0/25.0/25.0 |\n" in text
    assert "Elo" not in text
    assert set(draw_all(report)) == {"scores.png", "regret.png"}


def test_the_committed_report_can_be_read() -> None:
    report = read_report(Path(__file__).parent.parent / DEFAULT_REPORT)
    assert report.arena
    assert report.regret
    assert set(report.regret.agents) == {agent.label for agent in report.agents}


def test_pictures_are_images_with_something_on_them(report: Report) -> None:
    pictures = draw_all(report)
    assert set(pictures) == {"scores.png", "elo.png", "regret.png"}
    for content in pictures.values():
        image = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
        assert min(image.shape[:2]) > 200
        assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20
    assert draw_all(report) == pictures


def test_the_cross_table_shows_each_pairing_from_both_sides() -> None:
    figure = draw_scores(arena(), ["deep", "greedy", "random"])
    axes = figure.axes[0]
    found = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in axes.texts}
    assert found == {(0, 1): "69", (1, 0): "31", (1, 2): "100", (2, 1): "0"}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["deep", "greedy", "random"]


def test_the_ratings_stand_with_the_strongest_on_top() -> None:
    axes = draw_ratings(arena()).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["random", "greedy", "deep"]
    assert [text.get_text() for text in axes.texts] == ["-820", "0", "+137"]


def test_regret_is_shown_by_phase(report: Report) -> None:
    assert report.regret
    axes = draw_regret(report.regret, report.order_of_agents()).axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["opening", "middle", "end"]
    shown = [container.lines[0].get_xdata().tolist() for container in axes.containers]
    assert shown == [[0.5, 4, 16], [0.25, 2, 8], [0, 0, 0]]


BEGIN, END = "<!-- part:begin -->", "<!-- part:end -->"


def test_columns_are_aligned_as_asked() -> None:
    heads, rows = ["name", "of", "points"], [["a", "b", "1"], ["c", "d", "23"]]
    assert table(heads, rows, left=2) == ("| name | of | points |\n| --- | --- | ---: |\n| a | b | 1 |\n| c | d | 23 |")
    assert table(heads, rows).splitlines()[1] == "| --- | ---: | ---: |"
    assert table(heads, rows, left=None).splitlines()[1] == "| --- | --- | --- |"


def test_a_bar_in_a_cell_does_not_begin_another_cell() -> None:
    assert table(["name"], [["`a|b`"]]).splitlines()[2] == r"| `a\|b` |"


def test_a_part_replaces_what_stands_between_its_markers() -> None:
    page = f"Above.\n{BEGIN}\nold\nlines\n{END}\nBelow.\n"
    renewed = replace_between(page, "part", "new")
    assert renewed == f"Above.\n{BEGIN}\nnew\n{END}\nBelow.\n"
    assert replace_between(renewed, "part", "new") == renewed


@pytest.mark.parametrize("page", ["", BEGIN, END + BEGIN, BEGIN + END + END, BEGIN + BEGIN + END])
def test_a_page_without_a_place_for_the_part_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match=f"must hold {BEGIN} and, after it, {END}, each once"):
        replace_between(page, "part", "new")
