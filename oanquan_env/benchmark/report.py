"""The report of an evaluation in Markdown, and its tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from oanquan_env.benchmark.game_pairs import PairingResult
from oanquan_env.benchmark.generalisation import cells_of
from oanquan_env.benchmark.regret import PHASES, PROVED, Regret
from oanquan_env.benchmark.rule_pairs import RuleFollowing
from oanquan_env.benchmark.statistics import Estimate
from oanquan_env.benchmark.tables import interval, name, table
from oanquan_env.engine.rules import Rules
from oanquan_env.provenance import made_by

if TYPE_CHECKING:
    from oanquan_env.benchmark.results import Evaluation, PlayerResult

PICTURE = "scores.png"
ORDINALS = ("first", "second", "third", "fourth")
"""Words for the order in which players move after the opening."""


def pairings_table(pairings: Sequence[PairingResult], *, padded: bool = False) -> str:
    """Return a table with one row per pairing: games, score, margin, and Elo (for 3 or 4 players, scores by order)."""
    two = pairings[0].pentanomial is not None
    heads = ["agent", "opponent" if two else "among", f"won/{'drawn' if two else 'shared'}/lost", "score, % (95 %)"]
    orders = "/".join(ORDINALS[: len(pairings[0].orders)])
    heads += ["margin, points (95 %)", "Elo against the opponent (95 %)" if two else f"score by moving {orders}, %"]
    return table(heads, [_pairing(pairing) for pairing in pairings], left=2, padded=padded)


def _pairing(pairing: PairingResult) -> list[str]:
    cells = [name(pairing.agent), name(pairing.opponent), f"{pairing.wins}/{pairing.draws}/{pairing.losses}"]
    cells += [interval(pairing.score, ".1f", 100), interval(pairing.margin, "+.1f")]
    by_order = "/".join(f"{100 * order.score.mean:.1f}" for order in pairing.orders)
    return [*cells, interval(pairing.elo) if pairing.pentanomial else by_order]


def regret_table(players: Mapping[str, Regret], groups: Sequence[str], *, padded: bool = False) -> str:
    """Return a table with one row per player (by label) and group of positions: `all` or a key of `Regret.phases`."""
    heads = ["agent", "positions", "number", "regret, points (95 %)", "best moves, % (95 %)", "blunders, % (95 %)"]
    rows = []
    for group in groups:
        for label, overall in players.items():
            regret = overall if group == "all" else overall.phases.get(group)
            if regret:
                shares = (interval(share, ".1f", 100) for share in (regret.optimal, regret.blunders))
                bounds = "" if not regret.least else f"{regret.least:.2f} or more"
                if regret.most is not None:
                    bounds = f"{regret.least:.2f} to {regret.most:.2f}"
                rows.append([name(label), group, str(regret.positions), interval(regret, ".2f"), *shares, bounds])
    return table([*heads, "regret by proved bounds"], rows, left=2, padded=padded)


def following_table(players: Mapping[str, RuleFollowing], *, padded: bool = False) -> str:
    """Return a table of the rules that players follow, by label and by the field in which the rule sets differ."""
    heads = ["agent", "rules differ in", "positions", "follows, % (95 %)", "reverts, % (95 %)", "neither, % (95 %)"]
    rows = []
    for label, overall in players.items():
        for group, shares in {"all": overall, **overall.groups}.items():
            estimates = (shares.follows, shares.reverts, shares.neither)
            cells = [interval(share, ".1f", 100) for share in estimates]
            by_chance = f"{100 * shares.random_follows:.1f} / {100 * shares.random_reverts:.1f}"
            rows.append([name(label), group, str(shares.positions), *cells, by_chance])
    return table([*heads, "random legal move follows / reverts, %"], rows, left=2, padded=padded)


# ---- the report for people ------------------------------------------------------------------------------------------


def summary(
    evaluation: Evaluation,
    players: Collection[str] | None = None,
    headings: Collection[str] | None = None,
    *,
    padded: bool = False,
) -> str:
    """Return a table of results; `players` and `headings` (prefixes of column names) select its rows and columns."""
    return table(*summary_cells(evaluation, players, headings), padded=padded)


def summary_cells(
    evaluation: Evaluation, players: Collection[str] | None = None, headings: Collection[str] | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return the headings and rows of `summary`."""
    rows, two = evaluation.ranked(), Rules.parse(evaluation.rules).players == 2

    def cell(estimate: Estimate | None, form: str, factor: float = 1.0, *, ends: bool = True) -> str:
        if estimate is None:
            return ""
        return interval(estimate, form, factor) if ends else f"{factor * estimate.mean:{form}}"

    columns = {
        f"Elo, {evaluation.anchor} = 0 (95 %)": [
            "0" if player.label == evaluation.anchor else cell(player.elo, "+.0f") for player in rows
        ],
        "score, %" if two else "wins, % (95 %)": [cell(player.score, ".1f", 100, ends=not two) for player in rows],
        "margin, points (95 %)": ["" if two else cell(player.margin, "+.1f") for player in rows],
        "regret, points (95 %)": [cell(player.regret, ".2f") for player in rows],
        "best moves, %": [cell(player.regret and player.regret.optimal, ".1f", 100, ends=False) for player in rows],
        "blunders, %": [cell(player.regret and player.regret.blunders, ".1f", 100, ends=False) for player in rows],
        "follows its rules, % (95 %)": [
            cell(player.following.follows if player.following else None, ".1f", 100) for player in rows
        ],
        "held-out rules, % of random's regret (95 %)": [
            cell(player.generalisation.mean if player.generalisation else None, ".1f") for player in rows
        ],
        "gives up as South, as North, points": [_given_up(player) for player in rows],
        "ms a move": ["" if player.ms_per_move is None else f"{player.ms_per_move:.3g}" for player in rows],
    }
    columns = {
        heading: cells
        for heading, cells in columns.items()
        if any(cells) and (headings is None or heading.startswith(tuple(headings)))
    }
    lines = [
        [name(player.label), *(cells[number] for cells in columns.values())]
        for number, player in enumerate(rows)
        if players is None or player.label in players
    ]
    return ["agent", *columns], lines


def explanation(evaluation: Evaluation) -> str:
    """Return an explanation of the numbers in `summary`."""
    parts = []
    if evaluation.pairings:
        parts.append(_games_explained(evaluation))
    if evaluation.suite:
        two, suite = Rules.parse(evaluation.rules).players == 2, evaluation.suite
        where = "the final result" if two else "whether the search expects the agent to end above the others' mean"
        values = "All values come from a search."
        if suite.proved_moves:
            values = f"{suite.proved_moves} of {suite.moves} moves have proved values; other values come from a search."
            values += f" In {suite.proved} positions, all values are proved."
        part = "" if suite.part == "all" else f"the {suite.part} part of "
        parts.append(
            f"Regret is the mean number of points that a move loses compared with the best move, over the "
            f"{suite.positions} positions of {part}`{suite.name}`, version {suite.version} ({suite.digest}). {values} "
            f"A blunder is a move that changes {where}."
        )
        runs = max(player.regret.runs for player in evaluation.players if player.regret)
        if runs > 1:
            parts.append(f"For players that choose at random, regret is the mean of {runs} choices in each position.")
    if any(player.following for player in evaluation.players):
        parts.append(
            "In each position of the rule pairs, two rule sets have different best moves. A player follows its rules "
            "if its move is best under the given rules, and reverts if its move is best under the other rules."
        )
    if any(player.generalisation for player in evaluation.players):
        parts.append(
            "Under 96 rule sets that no training may use, regret is given in percent of the regret of a random legal "
            "move; the mean is over the rule sets."
        )
    searched = [best for player in evaluation.players for best in player.exploited or ()]
    if searched:
        parts.append(
            "A player gives up at least this many points, compared with the proved value of the game, to the best "
            f"response found in {max(best['seconds'] for best in searched):.0f} s; a longer search may find more."
        )
    if any(player.ms_per_move is not None for player in evaluation.players):
        batch = "the regret suite's positions" if evaluation.suite else "all games of a pairing"
        parts.append(f"Times are wall times of a player that moves in {batch} at once; searches use all processors.")
    if own := ", ".join(name(player.label) for player in evaluation.players if player.repeats is False):
        parts.append(f"Asked again with the same seed, {own} chose other moves, so the seed does not fix the results.")
    if evaluation.illegal:
        parts.append(f"{evaluation.illegal} illegal actions were replaced by random legal ones.")
    if evaluation.reused:
        first, *_, last = sorted(evaluation.reused.values()) * 2
        when = f"at {first}" if first == last else f"between {first} and {last}"
        parts.append(f"Reused from earlier sessions, measured {when}: {'; '.join(map(name, evaluation.reused))}.")
    return " ".join(parts)


def _given_up(player: PlayerResult) -> str:
    responses = player.exploited or ()
    return ", ".join("?" if best["given_up"] is None else f"{best['given_up']}" for best in responses)


def _games_explained(evaluation: Evaluation) -> str:
    players = len(evaluation.pairings[0].orders)
    starts = f"openings of {openings_phrase(evaluation)}, each"
    if evaluation.openings == "set-up":
        starts = "games from the set-up"
    games = f"Every pairing plays {evaluation.pairings[0].pairs} {starts} in every seating."
    if evaluation.anchor:
        first = (
            f" Moving first after the opening is worth {interval(evaluation.first)} Elo." if evaluation.first else ""
        )
        return (
            f"{games} Elo ratings are from a Bradley-Terry model of these players, with `{evaluation.anchor}` at 0 and "
            f"intervals bootstrapped over openings. Scores are averages over all opponents.{first}"
        )
    if players == 2:
        return games
    return (
        f"{games} Wins are the share of games that an agent wins against {players - 1} copies of another agent, "
        "averaged over all other agents; a shared win is divided among the winners. Equal players would each win "
        f"{100 / players:.1f} %. The margin is the agent's points minus the mean of the other players' points."
    )


def openings_phrase(evaluation: Evaluation) -> str:
    """Return a phrase that names the openings of the games."""
    words = {"random": "random play", "set-up": "the set-up"}
    return words.get(evaluation.openings or "", f"`{evaluation.openings}`")


def markdown(evaluation: Evaluation, *, heading: bool = True, picture: bool = False, padded: bool = False) -> str:
    """Return the report.

    `heading` adds a title and the names of labelled players, and `picture` a link to the picture of the scores;
    `padded` aligns tables in plain text.
    """
    order = [player.label for player in evaluation.ranked()]
    versions = ", ".join(f"{package} {version}" for package, version in evaluation.versions.items())
    made = f"Made {origin_phrase(evaluation)}. Rules `{evaluation.rules}`, seed {evaluation.seed}; {versions}."
    parts = [*["# Evaluation"] * heading, made, explanation(evaluation)]
    if len(evaluation.players) > 1:
        parts.insert(-1, summary(evaluation, padded=padded))
    if evaluation.pairings:
        pairings = [pairing for label in order for pairing in evaluation.pairings if pairing.agent == label]
        parts += ["## Games", pairings_table(pairings, padded=padded)]
        parts += [f"![Scores of all pairings]({PICTURE})"] * picture
    regrets = {player.label: player.regret for player in evaluation.ranked() if player.regret}
    if regrets:
        parts += ["## Regret", regret_table(regrets, ("all", *PHASES, PROVED), padded=padded)]
    if following := {player.label: player.following for player in evaluation.ranked() if player.following}:
        parts += ["## Rule pairs", following_table(following, padded=padded)]
    measured = {player.label: player.generalisation for player in evaluation.ranked() if player.generalisation}
    if general := {label: cells_of(result) for label, result in measured.items()}:
        heads = ["player", *next(iter(general.values()))]
        lines = [[name(label), *cells.values()] for label, cells in general.items()]
        parts += ["## Held-out rule sets", table(heads, lines, padded=padded)]
    names = [[name(player.label), name(player.name)] for player in evaluation.players if player.label != player.name]
    if names and heading:
        parts += ["## Players", table(["label", "player"], names, left=2, padded=padded)]
    return "\n\n".join(parts) + "\n"


def origin_phrase(evaluation: Evaluation) -> str:
    """Return a phrase that names the command, commit and processor of the result."""
    return made_by(evaluation.command, evaluation.commit, evaluation.processor)
