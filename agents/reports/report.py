"""A report for people: its tables as Markdown, with a picture of the scores of its games."""

from collections.abc import Collection
from pathlib import Path

from agents.evaluation.results import ArenaResult, Report
from oanquan_env import Rules
from oanquan_env.benchmark.markdown import interval, name, pairings_table, regret_table, table
from oanquan_env.benchmark.regret import PHASES, PROVED
from oanquan_env.files import write_atomically

SCORES = "scores.png"


def summary(report: Report, players: Collection[str] | None = None, headings: Collection[str] | None = None) -> str:
    """A table of whatever was measured: all players or these, all columns or those whose headings begin so."""
    arena, columns = report.arena, dict[str, dict[str, str]]()
    if arena and arena.ratings:
        columns[f"Elo, {arena.anchor} = 0 (95 %)"] = {
            row.agent: "0" if row.agent == arena.anchor else interval(row.elo) for row in arena.ratings
        }
        columns["score, %"] = {row.agent: f"{100 * row.score:.1f}" for row in arena.ratings}
    if arena and arena.shares:
        columns["wins, % (95 %)"] = {row.agent: interval(row.wins, ".1f", 100) for row in arena.shares}
        columns["margin, points (95 %)"] = {row.agent: interval(row.margin, "+.1f") for row in arena.shares}
    if report.regret:
        regrets = report.regret.agents
        columns["regret, points (95 %)"] = {agent: interval(found, ".2f") for agent, found in regrets.items()}
        columns["best moves, %"] = {agent: f"{100 * found.optimal.mean:.1f}" for agent, found in regrets.items()}
        columns["blunders, %"] = {agent: f"{100 * found.blunders.mean:.1f}" for agent, found in regrets.items()}
    times = {agent.label: agent.ms_per_move for agent in report.agents}
    if any(time is not None for time in times.values()):
        columns["ms a move"] = {agent: "" if time is None else f"{time:.3g}" for agent, time in times.items()}
    columns = {
        heading: cells for heading, cells in columns.items() if headings is None or heading.startswith(tuple(headings))
    }
    agents = [agent for agent in report.order_of_agents() if players is None or agent in players]
    return table(
        ["agent", *columns], [[name(agent), *(cells[agent] for cells in columns.values())] for agent in agents]
    )


def explanation(report: Report) -> str:
    """The meaning of the numbers of `summary`."""
    parts, two = [], Rules.parse(report.rules).players == 2
    if report.arena:
        parts.append(_arena_explained(report.arena))
    if report.regret:
        where = "the final result" if two else "on which side of the others' mean the agent ends by the suite's search"
        parts.append(
            f"Regret: points lost a move against the best one, over the {report.regret.positions} positions of the "
            f"{report.regret.part} part of `{report.regret.suite}`; a blunder changes {where}."
        )
    if any(agent.ms_per_move is not None for agent in report.agents):
        asked = "the regret suite's positions" if report.regret else "all games of a pairing"
        parts.append(f"Times: wall time where {asked} are asked at once, and searches use every processor.")
    return " ".join(parts)


def _arena_explained(arena: ArenaResult) -> str:
    begun = "games from the set-up" if arena.openings == "set-up" else f"openings of {openings(arena)}"
    games = f"{arena.pairings[0].pairs} {begun}, each played in every seating, in every pairing."
    if arena.players == 2:
        first = f" Moving first from the opening is worth {interval(arena.first)} Elo." if arena.first else ""
        return (
            f"{games} Elo: Bradley-Terry ratings of these players, `{arena.anchor}` = 0, intervals bootstrapped over "
            f"openings; score against all others.{first}"
        )
    return (
        f"{games} Wins: the share of wins (a shared one divided) of one agent among {arena.players - 1} copies of "
        f"another, the mean over all others; the fair share is {100 / arena.players:.1f} %. Margin: points over the "
        "mean of the others'."
    )


def openings(arena: ArenaResult) -> str:
    """The openings of a tournament, in words."""
    words = {"random": "random play", "set-up": "the set-up"}
    return words.get(arena.openings, f"`{arena.openings}`")


def markdown(report: Report, *, picture: bool = False) -> str:
    """The whole report, with a picture of the scores if that lies beside it."""
    versions = ", ".join(f"{package} {version}" for package, version in report.versions.items())
    made = f"Made {report.origin}. Rules `{report.rules}`, seed {report.seed}; {versions}."
    parts, order = ["# Evaluation", made, summary(report), explanation(report)], report.order_of_agents()
    if report.arena:
        pairings = sorted(report.arena.pairings, key=lambda one: order.index(one.agent))
        parts += ["## Games", pairings_table(pairings), *[f"![Scores of all pairings]({SCORES})"] * picture]
    if report.regret:
        found = report.regret
        parts += [
            "## Regret",
            f"Of the {found.moves} moves in {found.positions} positions {found.proved_moves} have proved values, the "
            f"others searched ones; all moves are proved in {found.proved} positions.",
            regret_table({agent: found.agents[agent] for agent in order}, ("all", *PHASES, PROVED)),
        ]
    names = [[name(agent.label), name(agent.name)] for agent in report.agents if agent.label != agent.name]
    if names:
        parts += ["## Players", table(["label", "player"], names, left=2)]
    return "\n\n".join(parts) + "\n"


def write_report(report: Report, folder: Path) -> None:
    """Write report.json, report.md and, if it has games, scores.png into a folder that exists."""
    write_atomically(folder / "report.json", report.to_json().encode())
    if report.arena:
        from agents.reports.pictures import draw_scores, png  # matplotlib takes a second to import

        write_atomically(folder / SCORES, png(draw_scores(report.arena, report.order_of_agents())))
    write_atomically(folder / "report.md", markdown(report, picture=True).encode())
