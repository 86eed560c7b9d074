"""Circles of players, and scores that ratings do not explain."""

from __future__ import annotations

from agents.evaluation.results import ArenaResult, PairingResult, Rating
from agents.evaluation.transitivity import circles, largest_misfit, verdict
from oanquan_env.benchmark.elo import expected_score
from oanquan_env.benchmark.estimates import Estimate


def arena(scores: dict[str, float], elo: dict[str, float], half: float = 0.04) -> ArenaResult:
    """A tournament from scores such as `{"AB": 0.6}`, each with an interval of `half` to both sides."""
    pairings = [
        PairingResult(
            agent=pair[0],
            opponent=pair[1],
            pairs=100,
            wins=0,
            draws=200,
            losses=0,
            score=Estimate(score, score - half, score + half),
            margin=Estimate(0, 0, 0),
            plies=10,
        )
        for pair, score in scores.items()
    ]
    ratings = [Rating(agent=name, elo=Estimate(value, value, value), score=0.5) for name, value in elo.items()]
    return ArenaResult(openings="random", digest="", pairings=pairings, anchor="A", ratings=ratings)


EVEN = {"A": 0.0, "B": 0.0, "C": 0.0}


def test_a_circle_is_found_whoever_comes_first() -> None:
    assert circles(arena({"AB": 0.6, "BC": 0.6, "AC": 0.4}, EVEN)) == [("A", "B", "C")]
    assert circles(arena({"AB": 0.4, "BC": 0.4, "AC": 0.6}, EVEN)) == [("A", "C", "B")]


def test_a_circle_needs_every_score_to_be_clear_of_half() -> None:
    assert circles(arena({"AB": 0.6, "BC": 0.6, "AC": 0.47}, EVEN)) == []
    assert circles(arena({"AB": 0.6, "BC": 0.6, "AC": 0.6}, EVEN)) == []


def test_what_ratings_explain_least_is_told() -> None:
    elo = {"A": 100.0, "B": 0.0, "C": -100.0}
    fair = {"AB": expected_score(100), "BC": expected_score(100), "AC": expected_score(200)}
    right = largest_misfit(arena(fair, elo))
    assert right
    assert abs(right.deviations) < 1e-9
    assert not right.surprising
    wrong = largest_misfit(arena({**fair, "BC": expected_score(100) - 0.1}, elo))
    assert wrong
    assert (wrong.pairing.agent, wrong.pairing.opponent) == ("B", "C")
    assert wrong.predicted == expected_score(100)
    assert abs(wrong.deviations + 0.1 * 1.96 / 0.04) < 1e-9
    assert wrong.surprising


def test_the_verdict_is_in_words() -> None:
    said = verdict(arena({"AB": 0.62, "BC": 0.6, "AC": 0.4}, EVEN))
    assert "In a circle each beats the next: `A`, `B`, `C`." in said
    assert "62.0 % where they predict 50.0 %, more than chance explains" in said
    level = verdict(arena({"AB": 0.51, "BC": 0.5, "AC": 0.5}, EVEN))
    assert level.startswith("No three players beat one another in a circle.")
    assert "`A` against `B`: 51.0 % where they predict 50.0 %, no more than chance explains" in level


def test_two_players_have_no_verdict() -> None:
    assert verdict(arena({"AB": 0.9}, {"A": 0.0, "B": 0.0})) == ""
    assert largest_misfit(arena({"AB": 1.0}, EVEN, half=0)) is None
