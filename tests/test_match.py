"""Whole matches: three rounds by hand, records that say something else, who begins, how a match ends, many at once."""

import dataclasses

import numpy as np
import pytest

from oanquan_env import Core, IllegalActionError, Rules, RulesError, Termination
from oanquan_env.errors import UsageError
from oanquan_env.match.match import Match, MatchEnd, MatchOutcome, play_matches
from oanquan_env.players import RandomPolicy
from oanquan_env.records.games import GameRecord, format_records, parse_records
from oanquan_env.records.match_records import match_records, replay_match
from tests.players import FirstMove, LastMove

THREE_ROUNDS = """\
[Rules "mancala-world"]
[Match "match_measure=lack fields_to_lose=3 max_rounds=50"]
[Round "1"]
[Result "43-25"]
[Termination "stones_captured"]

1. 2C 4C
2. 5C 1C
3. 3C {North lacks 10, South is 8 over half: N1 is pawned}
43-25

[Rules "mancala-world"]
[Match "match_measure=lack fields_to_lose=3 max_rounds=50"]
[Round "2"]
[Pawned "N1"]
[Position "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 1 0"]
[Result "47-21"]
[Termination "stones_captured"]

1. 1C 3C {2 seeds lie on N1: one for each. South is 12 over half: the pawned N1 is sold, 2 points are lent}
47-21

[Rules "mancala-world"]
[Match "match_measure=lack fields_to_lose=3 max_rounds=50"]
[Round "3"]
[Sold "N1"]
[Position "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 1 0"]
[Result "5-65"]
[Termination "stones_captured"]

1. 5A 2A
2. 1A 3C
3. 5A 1A
4. 4C 4C
5. 5A 1C
6. 5C 2A
7. 3A {3 seeds lie on the sold N1: South's. North buys N1 back; South, 30 short, sells three fields and has lost}
5-65
"""


def test_three_rounds_by_hand() -> None:
    records = parse_records(THREE_ROUNDS)
    match = replay_match(records)
    assert [played.scores for played in match.rounds] == [(43, 25), (47, 21), (5, 65)]
    assert [played.starter for played in match.rounds] == [0, 1, 1]
    assert [played.winner for played in match.rounds] == [0, 0, 1]
    assert [played.ownership.owners()[1].tolist() for played in match.rounds] == [
        [0] * 5,
        [1, 0, 0, 0, 0],
        [2, 0, 0, 0, 0],
    ]
    # What the fields of each row alone would have given, ownership aside:
    plain = [match.core.standings(played.positions)[0].tolist() for played in match.rounds]
    assert plain == [[43, 25], [46, 22], [2, 68]]
    assert match.ownership.owners().tolist() == [[2, 2, 2, 0, 0], [0] * 5]
    assert match.outcome == MatchOutcome(1, MatchEnd.FIELDS_SOLD)
    assert match.round_number == 3
    assert not match.legal_mask().any()
    written = match_records(match)
    assert [dataclasses.replace(record, comments={}) for record in records] == written


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('[Pawned "N1"]', '[Pawned "N2"]', "round 2: Pawned is 'N2', but should be 'N1'"),
        ('[Sold "N1"]', '[Sold "S1"]', "round 3: Sold is 'S1', but should be 'N1'"),
        ('[Round "3"]', '[Round "4"]', "round 3: Round is '4', but should be '3'"),
        ('"47-21"', '"46-22"', "round 2: Result is '46-22', but should be '47-21'"),
        ('[Match "match_measure=lack fields_to_lose=3 max_rounds=50"]', "", "round 2: Match is"),
        ('[Match "match_measure=lack fields', '[Match "match_measure=none fields', "round 1: match_measure must be"),
        ("max_rounds=50", "max_rounds=2", "round 3: the match was over after round 2"),
    ],
)
def test_a_record_that_says_something_else_is_refused(old: str, new: str, message: str) -> None:
    text = THREE_ROUNDS.replace(old, new, -1 if old.startswith("max") else 1)
    text = text.replace("\n47-21", "\n46-22") if new == '"46-22"' else text
    with pytest.raises(UsageError, match=message):
        replay_match(parse_records(text))


def test_rounds_out_of_place_are_refused() -> None:
    first, second, third = (dataclasses.replace(record, comments={}) for record in parse_records(THREE_ROUNDS))
    for records, message in (
        ([], "no rounds"),
        ([second, third], "round 1: Position"),
        ([first, third], "round 2: Round is '3'"),
        ([first, dataclasses.replace(second, moves=second.moves[:1])], "round 2: the moves do not finish the round"),
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


def lost_round(match: Match, scores: tuple[int, int], *, truncated: bool = False) -> None:
    """Close the round being played with these scores."""
    final = match.core.start()
    final.squares[:] = 0
    final.scores[:] = scores
    final.ended[:] = Termination.MAX_PLIES if truncated else Termination.STONES_CAPTURED
    match.close_round(final)


def test_the_loser_begins_after_a_draw_who_did_not_and_a_truncated_round_changes_nothing() -> None:
    match = Match()
    assert match.starter == match.mover == 0
    for scores, truncated, starter in (
        ((30, 40), False, 0),
        ((40, 30), False, 1),
        ((35, 35), False, 0),
        ((35, 35), False, 1),
        ((20, 50), True, 0),
        ((70, 0), True, 1),
        ((40, 30), False, 1),
    ):
        ownership = match.ownership
        lost_round(match, scores, truncated=truncated)
        assert (match.ownership == ownership and match.rounds[-1].winner is None) or not truncated
        assert match.starter == match.mover == starter
        assert match.positions.ply[0] == 0
    assert match.round_number == 8


@pytest.mark.parametrize("needed", [1, 2, 3, 4, 5])
def test_a_match_ends_at_once_when_enough_fields_are_sold(needed: int) -> None:
    match = Match(match_rules=f"fields_to_lose={needed}")
    for number in range(1, needed + 1):
        assert match.outcome is None
        lost_round(match, (25, 45))
        assert len(match.ownership.sold[0]) == number
    assert match.outcome == MatchOutcome(1, MatchEnd.FIELDS_SOLD)
    with pytest.raises(ValueError, match="the match is over"):
        lost_round(match, (25, 45))
    with pytest.raises(IllegalActionError, match="the game is over"):
        match.step(0)


@pytest.mark.parametrize("rules", ["mancala-world", "tonkin"])
@pytest.mark.parametrize("resigner", [0, 1])
def test_a_resigned_round_is_lost_by_the_player_to_move(rules: str, resigner: int) -> None:
    for captured, kept in ((12, 12), (0, 0), (-5, -5), (34, 34), (35, 34), (60, 34)):
        match = Match(rules)
        match.positions.mover[:] = resigner
        match.positions.scores[0, resigner] = captured
        played = match.resign()
        assert (played.scores[resigner], sum(played.scores)) == (kept, 70)
        assert (played.winner, played.termination) == (1 - resigner, Termination.RESIGNED)
        assert len(match.ownership.sold[resigner]) == (35 - kept) // 10
        assert (match.round_number, match.starter) == (2, resigner) or match.outcome == MatchOutcome(
            1 - resigner, MatchEnd.FIELDS_SOLD
        )
    match = Match(rules, "fields_to_lose=1")
    match.positions.mover[:] = resigner
    match.resign()
    assert match.outcome == MatchOutcome(1 - resigner, MatchEnd.FIELDS_SOLD)
    assert not match.legal_mask().any()
    with pytest.raises(IllegalActionError, match=r"the game is over \(resigned\)"):
        match.step(0)
    with pytest.raises(ValueError, match="the match is over"):
        match.resign()


def test_a_match_with_a_resigned_round_is_written_and_read_again() -> None:
    match = Match()
    for action in (4, 0):
        match.step(action)
    match.resign()
    lost = match.rounds[0]
    records = parse_records(format_records(match_records(match)))
    assert (records[0].result, records[0].termination) == ("*", "resigned")
    again = replay_match(records)
    assert (again.rounds, again.ownership, again.starter) == ([lost], match.ownership, match.starter)
    wrong = dataclasses.replace(records[0], termination="")
    with pytest.raises(UsageError, match="round 1: the moves do not finish the round"):
        replay_match([wrong])


def test_a_match_is_drawn_after_its_last_round_unless_fields_are_sold_in_it() -> None:
    match = Match(match_rules="max_rounds=2")
    lost_round(match, (36, 34))
    lost_round(match, (45, 25))
    assert match.outcome == MatchOutcome(None, MatchEnd.MAX_ROUNDS)
    assert str(MatchEnd.MAX_ROUNDS) == "max_rounds"
    assert match.round_number == 2
    sold = Match(match_rules="max_rounds=1 fields_to_lose=1")
    with pytest.raises(ValueError, match="the round is not over"):
        sold.close_round(sold.positions)
    lost_round(sold, (45, 25))
    assert sold.outcome == MatchOutcome(0, MatchEnd.FIELDS_SOLD)


@pytest.mark.parametrize("rules", ["mancala-world", "tonkin", "vietnamese refill=forfeit max_plies=40"])
def test_many_matches_at_once_are_the_matches_one_by_one(rules: str) -> None:
    core = Core(rules)
    players = [RandomPolicy(core), RandomPolicy(core)]
    matches = play_matches(players, 12, np.random.default_rng(5), rules=rules, match_rules="max_rounds=12")
    assert len({tuple(played.actions for played in match.rounds) for match in matches}) == 12
    for match in matches:
        alone = Match(rules, match.match_rules)
        for played in match.rounds:
            for action in played.actions:
                alone.step(action)
        assert alone.rounds == match.rounds
        assert (alone.outcome, alone.ownership) == (match.outcome, match.ownership)
        assert replay_match(parse_records(format_records(match_records(match)))).rounds == match.rounds


def test_the_first_player_of_many_matches_is_south() -> None:
    players = [FirstMove(Core()), LastMove(Core())]
    (match,) = play_matches(players, 1, np.random.default_rng(), match_rules="max_rounds=3")
    assert match.rounds[0].actions[:2] == (0, 9)
