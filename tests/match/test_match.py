"""Test matches: their rounds, records, starters and end, and the ownership of fields."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oanquan_env import Core, IllegalActionError, Rules, RulesError, Termination
from oanquan_env.engine.notation import NotationError
from oanquan_env.errors import UsageError
from oanquan_env.match.match import Match, MatchEnd, MatchOutcome, Round, play_matches
from oanquan_env.match.ownership import Ownership, match_standings
from oanquan_env.match.rules import MatchRules
from oanquan_env.players import RandomPolicy
from oanquan_env.records.games import GameRecord, format_records, parse_records
from oanquan_env.records.match_records import match_records, replay_match
from oanquan_env.rollouts import play_randomly
from tests.helpers.players import FirstMove
from tests.helpers.strategies import ownerships, seeds
from tests.helpers.strategies import rules as any_rules

MATCH = '[Match "match_measure=lack fields_to_lose=3 max_rounds=50"]'
NORTH_BEGINS = '[Position "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 1 0"]\n'


def written(number: int, start: str, result: str, moves: str) -> str:
    headers = f'[Rules "mancala-world"]\n{MATCH}\n[Round "{number}"]\n{start}[Result "{result}"]\n'
    return f'{headers}[Termination "stones_captured"]\n\n{moves}\n{result}\n'


THREE_ROUNDS = f"""\
{written(1, "", "43-25", "1. 2C 4C 2. 5C 1C 3. 3C {North lacks 10, South is 8 over half: N1 is pawned}")}
{written(2, f'[Pawned "N1"]{NORTH_BEGINS}', "47-21", "1. 1C 3C {2 seeds on N1: one each. N1 is sold, 2 points lent}")}
{written(3, f'[Sold "N1"]{NORTH_BEGINS}', "5-65", "1. 5A 2A 2. 1A 3C 3. 5A 1A 4. 4C 4C 5. 5A 1C 6. 5C 2A 7. 3A")}"""
"""In round 3, the 3 seeds on N1, which North sold, are South's. North gets N1 back; South sells 3 fields."""


def reread(match: Match) -> Match:
    return replay_match(parse_records(format_records(match_records(match))))


def test_three_rounds_by_hand() -> None:
    records = parse_records(THREE_ROUNDS)
    match = replay_match(records)
    found = [(*played.scores, played.starter, played.winner) for played in match.rounds]
    assert found == [(43, 25, 0, 0), (47, 21, 1, 0), (5, 65, 1, 1)]
    north = [played.ownership.owners()[1].tolist() for played in match.rounds]
    assert north == [[0] * 5, [1, 0, 0, 0, 0], [2, 0, 0, 0, 0]]
    plain = [match.core.standings(played.positions)[0].tolist() for played in match.rounds]
    assert plain == [[43, 25], [46, 22], [2, 68]]  # without ownership
    assert match.ownership.owners().tolist() == [[2, 2, 2, 0, 0], [0] * 5]
    assert (match.outcome, match.round_number) == (MatchOutcome(1, MatchEnd.FIELDS_SOLD), 3)
    assert not match.legal_mask().any()
    assert [dataclasses.replace(record, comments={}) for record in records] == match_records(match)


def test_a_record_that_says_something_else_is_refused() -> None:
    for old, new, message in (
        ('[Pawned "N1"]', '[Pawned "N2"]', "round 2: Pawned is 'N2', but should be 'N1'"),
        ('[Sold "N1"]', '[Sold "S1"]', "round 3: Sold is 'S1', but should be 'N1'"),
        ('[Round "3"]', '[Round "4"]', "round 3: Round is '4', but should be '3'"),
        ("47-21", "46-22", "round 2: Result is '46-22', but should be '47-21'"),
        (f'{MATCH}\n[Round "1"]', '[Round "1"]', "round 2: Match is"),
        (f'{MATCH}\n[Round "1"]', '[Match "match_measure=none"]\n[Round "1"]', "round 1: match_measure must be"),
        ("max_rounds=50", "max_rounds=2", "round 3: the match ended after round 2"),
    ):
        with pytest.raises(UsageError, match=message):
            replay_match(parse_records(THREE_ROUNDS.replace(old, new)))
    first, second, _ = (dataclasses.replace(record, comments={}) for record in parse_records(THREE_ROUNDS))
    for records, message in (
        ([], "at least one round"),
        ([dataclasses.replace(first, moves=first.moves[:1])], "round 1: the moves do not finish the round"),
        ([first, dataclasses.replace(second, moves=second.moves * 2)], "round 2: ply 3 comes after the end"),
        ([dataclasses.replace(first, moves=first.moves[:1] * 3)], "round 1: ply 2: 2C is not legal; legal: 1A"),
        ([GameRecord(Rules.parse("three-player"), ())], "round 1: match play needs players=2"),
    ):
        with pytest.raises(UsageError, match=message):
            replay_match(records)


def close(match: Match, *scores: int, ended: Termination = Termination.STONES_CAPTURED) -> Round:
    """Close the current round with an empty board, these scores and the reason `ended`; return the round."""
    final = match.core.start()
    final.squares[:], final.scores[:], final.ended[:] = 0, scores, ended
    return match.close_round(final)


def test_the_loser_begins_after_a_draw_who_did_not_and_a_truncated_round_changes_nothing() -> None:
    match = Match()
    assert match.starter == match.mover == 0
    for scores, starter in (((30, 40), 0), ((40, 30), 1), ((35, 35), 0), ((35, 35), 1)):
        close(match, *scores)
        assert (match.starter, match.mover, match.positions.ply[0]) == (starter, starter, 0)
    for scores, starter in (((20, 50), 0), ((70, 0), 1)):
        before = match.ownership
        assert close(match, *scores, ended=Termination.MAX_PLIES).winner is None
        assert (match.ownership, match.starter) == (before, starter)
    assert match.round_number == 7


@pytest.mark.parametrize(
    ("match_rules", "rounds", "outcome"),
    [
        *(
            (f"fields_to_lose={needed} max_rounds={needed}", [(25, 45)] * needed, MatchOutcome(1, MatchEnd.FIELDS_SOLD))
            for needed in range(1, 6)  # decided in the last round
        ),
        ("max_rounds=2", [(36, 34), (45, 25)], MatchOutcome(None, MatchEnd.MAX_ROUNDS)),
    ],
)
def test_a_match_ends_when_enough_fields_are_sold_or_after_its_last_round(
    match_rules: str, rounds: list[tuple[int, int]], outcome: MatchOutcome
) -> None:
    match = Match(match_rules=match_rules)
    for scores in rounds:
        assert match.outcome is None
        close(match, *scores)
    assert (match.outcome, match.round_number) == (outcome, len(rounds))
    for mistake in (lambda: close(match, 25, 45), match.resign):
        with pytest.raises(ValueError, match="the match is over"):
            mistake()
    with pytest.raises(IllegalActionError, match=r"the game is over \("):
        match.step(0)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: Match("three-player"), "players=2, not 3"),
        (lambda: Match("fields=2"), "at most fields=2; got 3"),
        (lambda: play_matches([RandomPolicy(Core())] * 3, 1, np.random.default_rng(0)), "two players; got 3"),
        (lambda: (match := Match()).close_round(match.positions), "the round is not over"),
    ],
)
def test_a_match_has_two_players_fields_enough_and_finished_rounds(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mistake()


@pytest.mark.parametrize("resigner", [0, 1])
def test_a_resigned_round_is_lost_by_the_player_to_move(resigner: int) -> None:
    for captured, kept in ((12, 12), (-5, -5), (34, 34), (35, 34), (60, 34)):
        match = Match(match_rules="fields_to_lose=5")
        match.positions.mover[:], match.positions.scores[0, resigner] = resigner, captured
        played = match.resign()
        assert (played.scores[resigner], sum(played.scores)) == (kept, 70)
        assert (played.winner, played.termination) == (1 - resigner, Termination.RESIGNED)
        assert len(match.ownership.sold[resigner]) == (35 - kept) // 10
        assert (match.round_number, match.starter) == (2, resigner)


def test_a_match_with_a_resigned_round_is_written_and_read_again() -> None:
    match = Match()
    match.step(4)
    match.resign()
    (record,), again = match_records(match), reread(match)
    assert (record.result, record.termination) == ("*", "resigned")
    assert (again.rounds, again.ownership, again.starter) == (match.rounds, match.ownership, match.starter)
    with pytest.raises(UsageError, match="round 1: the moves do not finish the round"):
        replay_match([dataclasses.replace(record, termination="")])


@pytest.mark.parametrize("rules", ["mancala-world", "tonkin", "vietnamese refill=forfeit max_plies=40"])
def test_many_matches_at_once_are_the_matches_one_by_one(rules: str) -> None:
    players = [FirstMove(Core(rules)), RandomPolicy(Core(rules))]
    matches = play_matches(players, 12, np.random.default_rng(5), rules=rules, match_rules="max_rounds=12")
    assert len({tuple(played.actions for played in match.rounds) for match in matches}) == 12
    for match in matches:
        assert match.rounds[0].actions[0] == 0  # South is the first of `players`
        alone = Match(rules, match.match_rules)
        for action in (action for played in match.rounds for action in played.actions):
            alone.step(action)
        assert (alone.rounds, alone.outcome, alone.ownership) == (match.rounds, match.outcome, match.ownership)
        assert reread(match).rounds == match.rounds


# ---- the ownership of fields (docs/RULES.md 6) ----------------------------------------------------------------------


def test_a_loser_sells_and_pawns_for_its_debt() -> None:
    """These are the examples of docs/RULES.md 6, and one of the measure of Ludii's text."""
    for scores, measure, sold, pawned in (
        ((46, 24), "lack", "N1", ""),
        ((40, 30), "lack", "", "N1"),
        ((45, 25), "lack", "N1", ""),
        ((46, 24), "margin", "N1 N2", ""),
    ):
        after = Ownership(5).after_round(scores, Rules(), MatchRules(match_measure=measure))
        assert (after.sold_text(), after.pawned_text()) == (sold, pawned)


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


@given(any_rules(players=2), st.lists(st.tuples(points, points), max_size=12), st.sampled_from(["lack", "margin"]))
def test_any_run_of_rounds_agrees_with_the_ledger(game: Rules, rounds: list[tuple[int, int]], measure: str) -> None:
    fields, match_rules = game.fields, MatchRules(match_measure=measure)
    ownership = Ownership(fields)
    for scores in rounds:
        ownership = ownership.after_round(scores, game, match_rules)
        assert Ownership.parse(ownership.sold_text(), ownership.pawned_text(), fields) == ownership
    assert ownership.owners().tolist() == ledger(fields, rounds, game.total // 2, measure)


@pytest.mark.parametrize(
    ("text", "column"), [("S1 N6|", 4), ("S0|", 1), ("N1  n2|", 5), ("S1 S1|", 4), ("S1|S2 S1", 4), ("S1,S2|", 1)]
)
def test_no_field_is_given_up_twice_and_none_that_is_not_there(text: str, column: int) -> None:
    with pytest.raises(NotationError) as caught:
        Ownership.parse(*text.split("|"), 5)
    assert caught.value.column == column
    for sold, pawned in (((0, 0), ()), ((0,), (0,)), ((5,), ()), ((), (-1,))):
        with pytest.raises(ValueError, match="a row of 5 fields cannot"):
            Ownership(5, (sold, ()), (pawned, ()))


def test_match_rules_read_back_or_say_what_is_wrong() -> None:
    text = "match_measure=margin fields_to_lose=4 max_rounds=7"
    assert MatchRules.parse(text) == MatchRules(match_measure="margin", fields_to_lose=4, max_rounds=7)
    assert (str(MatchRules.parse(text)), MatchRules.parse("")) == (text, MatchRules())
    for wrong, message in (
        ("match_measure=loss", "match_measure must be one of lack, margin"),
        ("fields_to_lose=6", "fields_to_lose must be a whole number from 1 to 5"),
        ("max_rounds=0", "max_rounds must be a whole number from 1"),
        ("rounds=5", "unknown match rule 'rounds'.*known: match_measure"),
    ):
        with pytest.raises(RulesError, match=message):
            MatchRules.parse(wrong)


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
