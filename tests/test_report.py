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
    OrderResult,
    PairingResult,
    Rating,
    RegretResult,
    Report,
    order_of_agents,
    read_report,
)
from agents.reports.pictures import draw_all, draw_ratings, draw_regret, draw_scores
from agents.reports.report import DEFAULT_REPORT, explanation, markdown, summary, write_report
from agents.support.markdown import replace_between, table
from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.regret import RegretMeasures, RegretRow
from oanquan_env.files import FileError


def estimate(mean: float, spread: float = 0.0) -> Estimate:
    return Estimate(mean=mean, low=mean - spread, high=mean + spread)


def measures(positions: int, regret: float, optimal: float, blunders: float) -> RegretMeasures:
    return RegretMeasures(positions, estimate(regret, regret / 10), estimate(optimal, 0.05), estimate(blunders, 0.01))


def regret_row(agent: str, regret: float) -> RegretRow:
    phases = {
        name: measures(10, regret * factor, 0.5, 0.1) for name, factor in (("opening", 2), ("middle", 1), ("end", 0))
    }
    return RegretRow(agent=agent, overall=measures(30, regret, 0.5, 0.125), phases=phases)


def pairing(agent: str, opponent: str, games: tuple[int, int, int], **numbers: Any) -> PairingResult:
    return PairingResult(
        agent=agent, opponent=opponent, pairs=4, wins=games[0], draws=games[1], losses=games[2], **numbers
    )


def arena() -> ArenaResult:
    counts = [0, 0, 0, 0, 4], [0, 1, 1, 1, 1]
    sure, ahead = {"score": estimate(1.0), "margin": estimate(20, 2.5)}, {"elo": 137.0, "elo_error": 90.0, "los": 0.975}
    won = pairing("greedy", "random", (8, 0, 0), **sure, plies=9.25, pentanomial=counts[0], los=1.0)
    first, second = ((0.75, 2), (0.625, -5))
    orders = [OrderResult(score=estimate(score), margin=estimate(margin)) for score, margin in (first, second)]
    near = {"score": estimate(0.6875, 0.1), "margin": estimate(-1.5, 2), "orders": orders}
    close = pairing("deep", "greedy", (5, 1, 2), **near, plies=12, pentanomial=counts[1], **ahead)
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
        orders=[estimate(12, 30)],
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
        agents=[regret_row("random", 8), regret_row("greedy", 2), regret_row("deep", 0.25)],
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
    [("{", "not readable as JSON"), ("{}", "command: Field required"), ('{"surprise": 1}', "surprise: unknown field")],
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
        "| agent | Elo (95 %) | score, % | regret, points (95 %) | best moves, % | blunders, % | ms a move |",
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
    assert order_of_agents(report) == ["deep", "greedy", "random"]
    assert "Elo" not in explanation(report)
    report = report.model_copy(update={"regret": None})
    assert order_of_agents(report) == ["random", "greedy", "deep"]


def test_the_whole_report(report: Report) -> None:
    text = markdown(report, ["elo.png", "regret.png"])
    assert "| `greedy` | `random` | 8 | 0 | 0 | 100.0 (100.0 to 100.0) | +20.0 (+17.5 to +22.5) | 9.2 |" in text
    assert " 0/0/0/0/4 | ∞ |  | 100.0 |" in text
    assert "| 75.0 | +2.0 | 62.5 | -5.0 | 0/1/1/1/1 |" in text
    assert "|  |  |  |  | 0/0/0/0/4 |" in text
    assert " 0/1/1/1/1 | +137 ± 90 | +110 ± 245 | 97.5 |" in text
    assert "Moving first from the opening is worth +12 (-18 to +42) Elo." in text
    assert "| `deep` | end | 10 | 0.00 (0.00 to 0.00) | 50.0 (45.0 to 55.0) | 10.0 (9.0 to 11.0) |" in text
    assert (
        "Of the 200 moves in 30 positions 120 have proved values, the others searched ones; all moves are proved in 7"
        in text
    )
    assert "| `deep` | `minimax:depth=8` |" in text
    assert "](elo.png)" in text
    assert "](regret.png)" in text
    assert "](scores.png)" not in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    heads = [number for number, line in enumerate(lines) if line.startswith("| ---")]
    for head in heads:  # every table's rows have as many cells as its head
        width = lines[head].count("|")
        end = next((other - 1 for other in heads if other > head), len(lines))
        assert {line.count("|") for line in lines[head - 1 : end]} == {width}


def test_a_report_on_three_players_names_the_even_share(report: Report) -> None:
    arena = report.arena
    assert arena
    unknown = dict.fromkeys(("pentanomial", "elo", "elo_error", "los"))
    orders = [OrderResult(score=estimate(0.25), margin=estimate(-3))] * 3
    pairings = [dataclasses.replace(one, **unknown, orders=orders) for one in arena.pairings]
    three = {"players": 3, "orders": [*arena.orders, estimate(-40, 10)], "pairings": pairings}
    report = report.model_copy(update={"arena": arena.model_copy(update=three)})
    text = markdown(report, [])
    assert "one agent among 2 opponents of one kind, 33.3 % among equals" in text
    assert "worth +12 (-18 to +42) Elo over moving last, moving second -40 (-50 to -30)." in text
    assert "| agent | opponents | won | shared | lost |" in text
    assert "| third, % | margin |\n" in text
    assert "| 25.0 | -3.0 | 25.0 | -3.0 | 25.0 | -3.0 |\n" in text
    assert (
        "First, second, third: the games in which the agent moved first from the opening, or second or third." in text
    )
    assert "LOS" not in text
    assert set(draw_all(report)) == {"scores.png", "elo.png", "regret.png"}


def test_the_committed_report_can_be_read() -> None:
    report = read_report(Path(__file__).parent.parent / DEFAULT_REPORT)
    assert report.arena
    assert report.regret
    assert {row.agent for row in report.regret.agents} == {agent.label for agent in report.agents}


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
    axes = draw_regret(report.regret, order_of_agents(report)).axes[0]
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
