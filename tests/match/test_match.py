"""Test matches: three rounds by hand, wrong records, starters, the end of a match, and many matches at once."""

import dataclasses

import numpy as np
import pytest

from oanquan_env import Core, IllegalActionError, Rules, RulesError, Termination
from oanquan_env.errors import UsageError
from oanquan_env.match.match import Match, MatchEnd, MatchOutcome, Round, play_matches
from oanquan_env.players import RandomPolicy
from oanquan_env.records.games import GameRecord, format_records, parse_records
from oanquan_env.records.match_records import match_records, replay_match
from tests.helpers.players import FirstMove

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
        ([first, dataclasses.replace(second, moves=second.moves * 2)], "round 2: move 3 comes after the end"),
        ([dataclasses.replace(first, moves=first.moves[:1] * 3)], "round 1: move 2, 2C, is not legal; legal: 1A"),
        ([GameRecord(Rules.parse("three-player"), ())], "round 1: match play needs players=2"),
    ):
        with pytest.raises(UsageError, match=message):
            replay_match(records)


def test_a_match_needs_two_players_and_fields_enough() -> None:
    with pytest.raises(RulesError, match="players=2, not 3"):
        Match("three-player")
    with pytest.raises(RulesError, match="at most fields=2; got 3"):
        Match(Rules(fields=2))
    assert Match(Rules(fields=2), "fields_to_lose=2").outcome is None
    with pytest.raises(ValueError, match="a match has two players; got 3"):
        play_matches([RandomPolicy(Core())] * 3, 1, np.random.default_rng(0))


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


def assert_over(match: Match, winner: int | None, reason: MatchEnd) -> None:
    assert (match.outcome, match.round_number) == (MatchOutcome(winner, reason), len(match.rounds))
    for mistake in (lambda: close(match, 25, 45), match.resign):
        with pytest.raises(ValueError, match="the match is over"):
            mistake()
    with pytest.raises(IllegalActionError, match=r"the game is over \("):
        match.step(0)


@pytest.mark.parametrize("needed", [1, 2, 3, 4, 5])
def test_a_match_ends_at_once_when_enough_fields_are_sold(needed: int) -> None:
    match = Match(match_rules=f"fields_to_lose={needed} max_rounds={needed}")  # decided in the last round
    with pytest.raises(ValueError, match="the round is not over"):
        match.close_round(match.positions)
    for number in range(1, needed + 1):
        assert match.outcome is None
        close(match, 25, 45)
        assert len(match.ownership.sold[0]) == number
    assert_over(match, 1, MatchEnd.FIELDS_SOLD)


def test_a_match_is_drawn_after_its_last_round() -> None:
    match = Match(match_rules="max_rounds=2")
    for scores in ((36, 34), (45, 25)):
        close(match, *scores)
    assert_over(match, None, MatchEnd.MAX_ROUNDS)


@pytest.mark.parametrize("rules", ["mancala-world", "tonkin"])
@pytest.mark.parametrize("resigner", [0, 1])
def test_a_resigned_round_is_lost_by_the_player_to_move(rules: str, resigner: int) -> None:
    for captured, kept in ((12, 12), (0, 0), (-5, -5), (34, 34), (35, 34), (60, 34)):
        match = Match(rules, "fields_to_lose=5")
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
    (record,) = match_records(match)
    assert (record.result, record.termination) == ("*", "resigned")
    again = reread(match)
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
