"""Test the ownership of fields in match play (docs/RULES.md 6), match rules, and leftovers by ownership."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oanquan_env import Core, Rules, RulesError, Termination
from oanquan_env.engine.notation import NotationError
from oanquan_env.match.ownership import Ownership, match_standings
from oanquan_env.match.rules import MatchRules
from oanquan_env.match.settling import debt
from oanquan_env.rollouts import play_randomly
from tests.helpers.strategies import ownerships, seeds
from tests.helpers.strategies import rules as any_rules


def after(scores: tuple[int, int], before: str = "|", rules: str = "", measure: str = "lack") -> str:
    ownership = Ownership.parse(*before.split("|"), 5)
    ownership = ownership.after_round(scores, Rules.parse(rules), MatchRules.parse(f"match_measure={measure}"))
    return f"{ownership.sold_text()} | {ownership.pawned_text()}".strip()


def test_a_loser_sells_and_pawns_for_its_debt() -> None:
    for before, scores, fields in (
        *(("|", (46, 24), "N1 |"), ("|", (40, 30), "| N1"), ("|", (45, 25), "N1 |")),  # the examples of docs/RULES.md 6
        *(("|", (24, 46), "S1 |"), ("|", (54, 16), "N1 | N2"), ("|", (80, -10), "N1 N2 N3 N4 | N5")),
        *(("|", (36, 30), "|"), ("|", (39, 31), "|")),  # a remainder below 5 points is lent
        ("|", (30, 20), "|"),  # with points left in mandarin squares, both have less than half: the winner cannot lend
        ("N1 |", (29, 41), "| S1"),  # North gets a field back, and South pawns one
        ("S4 S1 | S2 S5", (50, 20), "S4 N1 | N2"),  # pawned fields come back first, the latest first
        ("| N1", (50, 20), "N1 | N2"),  # a pawned field is sold when its turn comes
        ("N1 N2 | N3 N4 N5", (40, 30), "N1 N2 | N3 N4 N5"),  # with no free field nothing is pawned
        ("N1 N2 | N3 N4 N5", (90, -20), "N1 N2 N3 N4 N5 |"),  # at most all fields are sold
    ):
        assert after(scores, before) == fields


def test_a_debt_follows_the_measure_and_half_of_all_points() -> None:
    assert [debt(*scores, 35, 0) for scores in ((46, 24), (36, 30), (80, -10), (30, 20))] == [11, 1, 45, 0]
    assert after((46, 24), measure="margin") == "N1 N2 |"  # North pays the whole difference
    assert after((45, 25), rules="tonkin") == "N1 |"  # half is 35, as ten seeds replace each stone
    assert [after(scores, rules="stone_value=5") for scores in ((40, 20), (39, 21))] == ["N1 |", "| N1"]  # half is 30


def ledger(fields: int, rounds: list[tuple[int, int]], half: int, measure: str) -> list[list[int]]:
    """Return each player's field codes (0 owned, 1 pawned, 2 sold) after rounds with these scores, for comparison."""
    codes, dates, date = [[0] * fields, [0] * fields], [[0] * fields, [0] * fields], 0
    for scores in rounds:
        if scores[0] == scores[1]:
            continue
        winner = 0 if scores[0] > scores[1] else 1
        loser = 1 - winner
        for _ in range((scores[winner] - scores[loser]) // 10):
            for code in (1, 2):
                dealt = [(dates[winner][f], f) for f in range(fields) if codes[winner][f] == code]
                if dealt:
                    codes[winner][max(dealt)[1]] = 0
                    break
        owed = scores[winner] - scores[loser]
        if measure == "lack":
            owed = min(half - scores[loser], scores[winner] - half)
        while owed >= 10 and any(code < 2 for code in codes[loser]):
            date, owed = date + 1, owed - 10
            field = next(f for f in range(fields) if codes[loser][f] < 2)
            codes[loser][field], dates[loser][field] = 2, date
        if 5 <= owed < 10 and 0 in codes[loser]:
            date += 1
            field = codes[loser].index(0)
            codes[loser][field], dates[loser][field] = 1, date
    return codes


points = st.integers(-15, 85)


@given(st.integers(2, 5), st.lists(st.tuples(points, points), max_size=12), st.sampled_from(["lack", "margin"]))
def test_any_run_of_rounds_agrees_with_the_ledger(fields: int, rounds: list[tuple[int, int]], measure: str) -> None:
    game, match_rules = Rules(fields=fields), MatchRules.parse(f"match_measure={measure}")
    ownership = Ownership(fields)
    for scores in rounds:
        ownership = ownership.after_round(scores, game, match_rules)
        assert Ownership.parse(ownership.sold_text(), ownership.pawned_text(), fields) == ownership
    assert ownership.owners().tolist() == ledger(fields, rounds, game.total // 2, measure)


def test_no_field_is_given_up_twice_and_none_that_is_not_there() -> None:
    for text, column in (("S1 N6|", 4), ("S0|", 1), ("N1  n2|", 5), ("S1 S1|", 4), ("S1|S2 S1", 4), ("S1,S2|", 1)):
        with pytest.raises(NotationError) as caught:
            Ownership.parse(*text.split("|"), 5)
        assert caught.value.column == column
    for sold, pawned in (((0, 0), ()), ((0,), (0,)), ((5,), ()), ((), (-1,))):
        with pytest.raises(ValueError, match="a row of 5 fields cannot"):
            Ownership(5, (sold, ()), (pawned, ()))


def test_match_rules_read_back_or_say_what_is_wrong() -> None:
    text, margin = "match_measure=margin fields_to_lose=4 max_rounds=7", {"fields_to_lose": 4, "max_rounds": 7}
    assert MatchRules.parse(text) == MatchRules(match_measure="margin", **margin)
    assert (str(MatchRules.parse(text)), MatchRules.parse("")) == (text, MatchRules())
    for wrong, message in (
        ("match_measure=loss", "match_measure must be one of lack, margin"),
        ("fields_to_lose=0", "fields_to_lose must be a whole number from 1 to 5"),
        ("fields_to_lose=two", "fields_to_lose must be a whole number"),
        ("max_rounds=0", "max_rounds must be a whole number from 1"),
        ("max_rounds=5 max_rounds=5", "max_rounds is given twice"),
        ("rounds=5", "unknown match rule 'rounds'.*known: match_measure"),
    ):
        with pytest.raises(RulesError, match=message):
            MatchRules.parse(wrong)
    with pytest.raises(RulesError, match="fields_to_lose"):
        MatchRules(fields_to_lose=True)


SHARED = "leftovers=split mandarin_leftovers=split"


def test_leftovers_go_by_ownership() -> None:
    for rules, ring, fields, ended, gains in (
        # South: 5 sold; 3 = 2 + 1, 1 = 1 + 0 pawned; 2 own. North: 7 sold; 1 = 1 + 0 pawned; 4 own.
        ("", "53102047001", "S1 N2|S2 S3 N5", Termination.STONES_CAPTURED, [2 + 1 + 2 + 7, 5 + 1 + 4 + 1]),
        # 1 + 0 + 2 + 4 + 7 + 0 + 0 + 1 = 15 are 7 each; 6 mandarin seeds are 3 each; North gets 5; 3 = 2 + 1.
        (SHARED, "531024470012", "S1|S2", Termination.STONES_CAPTURED, [7 + 3 + 2, 7 + 3 + 5 + 1]),
        ("mandarin_leftovers=split", "600004200004", "S1|", Termination.MAX_PLIES, [0, 8]),
        ("mandarin_leftovers=split", "600004200004", "S1|", Termination.RUNNING, [0, 0]),
    ):
        core = Core(rules or "mancala-world")
        positions = core.start()
        positions.squares[:] = 0
        positions.squares[0, core.tables.ring_bytes] = [int(seeds) for seeds in ring.ljust(12, "0")]
        positions.scores[:], positions.ended[:] = (30, 10), ended
        shares = match_standings(core, positions, Ownership.parse(*fields.split("|"), 5))
        assert (shares - positions.scores[0]).tolist() == gains


@given(any_rules(players=2), seeds, st.data())
def test_ownership_only_moves_points_between_the_players(game: Rules, seed: int, data: st.DataObject) -> None:
    core = Core(game)
    positions = core.start()
    play_randomly(core, positions, 25, np.random.default_rng(seed))
    before, standings = positions.copy(), core.standings(positions)[0].tolist()
    shares = match_standings(core, positions, data.draw(ownerships(game.fields)))
    assert positions.same(before).all()
    assert list(match_standings(core, positions, Ownership(game.fields))) == standings
    if game.leftovers == "owner":
        assert sum(shares) == sum(standings)
    assert positions.over[0] or list(shares) == positions.scores[0].tolist()
    assert sum(shares) <= game.total
