"""Who owns which field in match play: docs/RULES.md section 6, a slow ledger, match rules, leftovers by ownership."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oanquan_env import Core, Rules, RulesError, Termination
from oanquan_env.engine.notation import NotationError
from oanquan_env.match.ownership import Ownership, debt, match_standings
from oanquan_env.match.rules import MatchRules
from oanquan_env.playing import play_randomly
from tests.strategies import rules as any_rules
from tests.strategies import seeds

RULES, ALL_FREE = Rules(), Ownership(5)
LACK, MARGIN = MatchRules(), MatchRules(match_measure="margin")


def after(scores: tuple[int, int], match_rules: MatchRules = LACK, ownership: Ownership = ALL_FREE) -> tuple[str, str]:
    ownership = ownership.after_round(scores, RULES, match_rules)
    return ownership.sold_text(), ownership.pawned_text()


@pytest.mark.parametrize(
    ("scores", "owed", "sold", "pawned"),
    [
        ((46, 24), 11, "N1", ""),  # the examples of docs/RULES.md 6
        ((40, 30), 5, "", "N1"),
        ((45, 25), 10, "N1", ""),
        ((36, 30), 1, "", ""),
        ((24, 46), 11, "S1", ""),
        ((39, 31), 4, "", ""),  # a rest below 5 is lent
        ((54, 16), 19, "N1", "N2"),
        ((80, -10), 45, "N1 N2 N3 N4", "N5"),
        ((30, 20), 0, "", ""),  # both short of half, as much lies in mandarin squares: the winner has nothing to lend
    ],
)
def test_a_loser_sells_and_pawns_for_its_debt(scores: tuple[int, int], owed: int, sold: str, pawned: str) -> None:
    assert debt(scores, RULES.total // 2, "lack") == owed
    assert after(scores) == (sold, pawned)
    assert after((46, 24), match_rules=MARGIN) == ("N1 N2", "")  # by the margin it pays the whole difference


def test_half_of_all_points_follows_the_rules() -> None:
    tonkin = Rules.parse("tonkin")  # 35 with ten seeds for a stone
    cheap = Rules(stone_value=5)  # 30
    assert ALL_FREE.after_round((45, 25), tonkin, LACK).sold_text() == "N1"
    assert ALL_FREE.after_round((40, 20), cheap, LACK).sold_text() == "N1"
    assert ALL_FREE.after_round((39, 21), cheap, LACK).pawned_text() == "N1"


@pytest.mark.parametrize(
    ("before", "scores", "after_them"),
    [
        ("N1 | ", (29, 41), " | S1"),  # the former loser gets a field back, and the other pawns one
        ("S4 S1 | S2 S5", (50, 20), "S4 N1 | N2"),  # pawned ones come back first, the latest first
        ("S4 S1 | S2 S5", (65, 5), "N1 N2 N3 | "),
        (" | N1", (50, 20), "N1 | N2"),  # a pawned field is sold when its turn comes
        ("N1 N2 | N3 N4 N5", (40, 30), "N1 N2 | N3 N4 N5"),  # with no free field nothing is pawned
        ("N1 N2 | N3 N4 N5", (90, -20), "N1 N2 N3 N4 N5 | "),  # no more than all are sold
    ],
)
def test_fields_change_hands(before: str, scores: tuple[int, int], after_them: str) -> None:
    assert " | ".join(after(scores, ownership=Ownership.parse(*before.split("|"), 5))) == after_them


def ledger(fields: int, rounds: list[tuple[int, int]], half: int, measure: str) -> tuple[list[list[int]], list[int]]:
    """The codes of the fields, kept in the slowest way: every deal has a date, every step looks through the row."""
    codes = [[0] * fields, [0] * fields]
    dates = [[0] * fields, [0] * fields]
    date = 0
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
    return codes, [row.count(2) for row in codes]


scores_of_rounds = st.lists(st.tuples(st.integers(-15, 85), st.integers(-15, 85)), max_size=12)


@given(st.integers(2, 5), scores_of_rounds, st.sampled_from(["lack", "margin"]))
def test_any_run_of_rounds_agrees_with_the_ledger(fields: int, rounds: list[tuple[int, int]], measure: str) -> None:
    game, match_rules = Rules(fields=fields), MatchRules.parse(f"match_measure={measure}")
    ownership = Ownership(fields)
    for scores in rounds:
        ownership = ownership.after_round(scores, game, match_rules)
        assert Ownership.parse(ownership.sold_text(), ownership.pawned_text(), fields) == ownership
    codes, sold = ledger(fields, rounds, game.total // 2, measure)
    assert ownership.owners().tolist() == codes
    assert [len(row) for row in ownership.sold] == sold


@pytest.mark.parametrize(
    ("sold", "pawned", "column"),
    [("S1 N6", "", 4), ("S0", "", 1), ("N1  n2", "", 5), ("S1 S1", "", 4), ("S1", "S2 S1", 4), ("S1,S2", "", 1)],
)
def test_a_text_that_names_no_field_is_refused(sold: str, pawned: str, column: int) -> None:
    with pytest.raises(NotationError) as caught:
        Ownership.parse(sold, pawned, 5)
    assert caught.value.column == column


def test_no_row_gives_up_a_field_twice_or_one_that_is_not_there() -> None:
    for sold, pawned in (((0, 0), ()), ((0,), (0,)), ((5,), ()), ((), (-1,))):
        with pytest.raises(ValueError, match="no row of 5 fields"):
            Ownership(5, (sold, ()), (pawned, ()))


def test_match_rules_read_back() -> None:
    assert MatchRules.parse("") == MatchRules()
    text = "match_measure=margin fields_to_lose=4 max_rounds=7"
    assert MatchRules.parse(text) == MatchRules(match_measure="margin", fields_to_lose=4, max_rounds=7)
    assert str(MatchRules.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("match_measure=loss", "match_measure must be one of lack, margin"),
        ("fields_to_lose=0", "fields_to_lose must be a whole number from 1 to 5"),
        ("fields_to_lose=two", "fields_to_lose must be a whole number"),
        ("max_rounds=0", "max_rounds must be a whole number from 1"),
        ("max_rounds=5 max_rounds=5", "max_rounds is given twice"),
        ("rounds=5", "cannot read 'rounds=5' in match rules; known: match_measure"),
    ],
)
def test_match_rules_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(RulesError, match=message):
        MatchRules.parse(text)
    with pytest.raises(RulesError, match="fields_to_lose"):
        MatchRules(fields_to_lose=True)


def finished(rules: Rules | str, south: list[int], north: list[int], mandarins: tuple[int, int] = (0, 0)):
    """A core, and a finished game with these seeds on its fields and the rest captured by South."""
    core = Core(rules)
    positions = core.start()
    positions.squares[:] = 0
    ring = [*south, mandarins[0], *north, mandarins[1]]
    positions.squares[0, core.tables.ring_bytes] = ring
    positions.scores[0] = core.rules.total - sum(ring), 0
    positions.ended[:] = Termination.STONES_CAPTURED
    return core, positions


def test_seeds_on_sold_and_pawned_fields_go_by_ownership() -> None:
    core, positions = finished("mancala-world", [5, 3, 1, 0, 2], [4, 7, 0, 0, 1])
    ownership = Ownership(5, sold=((0,), (1,)), pawned=((1, 2), (4,)))
    # South: 5 sold; 3 = 2 + 1, 1 = 1 + 0 pawned; 2 own. North: 7 sold; 1 = 1 + 0 pawned; 4 own.
    gains = match_standings(core, positions, ownership.owners())[0] - positions.scores[0]
    assert gains.tolist() == [2 + 1 + 2 + 7, 5 + 1 + 4 + 1]


def test_only_the_other_fields_are_split_where_leftovers_are() -> None:
    split = "mancala-world leftovers=split mandarin_leftovers=split"
    core, positions = finished(split, [5, 3, 1, 0, 2], [4, 7, 0, 0, 1], mandarins=(4, 2))
    ownership = Ownership(5, sold=((0,), ()), pawned=((1,), ()))
    # 1 + 0 + 2 + 4 + 7 + 0 + 0 + 1 = 15 make 7 each; 6 mandarin seeds make 3 each; 5 go North; 3 = 2 + 1.
    gains = match_standings(core, positions, ownership.owners())[0] - positions.scores[0]
    assert gains.tolist() == [7 + 3 + 2, 7 + 3 + 5 + 1]


def test_a_truncated_round_shares_its_fields_and_a_running_one_nothing() -> None:
    core, positions = finished("mancala-world mandarin_leftovers=split", [6, 0, 0, 0, 0], [2, 0, 0, 0, 0], (4, 4))
    sold = Ownership(5, sold=((0,), ())).owners()
    positions.ended[:] = Termination.MAX_PLIES
    assert (match_standings(core, positions, sold)[0] - positions.scores[0]).tolist() == [0, 8]
    positions.ended[:] = Termination.RUNNING
    assert match_standings(core, positions, sold).tolist() == positions.scores.tolist()


@given(any_rules(players=2), seeds)
def test_ownership_only_moves_points_between_the_players(game: Rules, seed: int) -> None:
    rng = np.random.default_rng(seed)
    core = Core(game)
    positions = core.start(8)
    play_randomly(core, positions, 25, rng)
    before = positions.copy()
    owners = rng.integers(0, 3, (8, 2, game.fields))
    shares = match_standings(core, positions, owners)
    assert positions.same(before).all()
    assert np.array_equal(match_standings(core, positions, np.zeros((2, game.fields))), core.standings(positions))
    if game.leftovers == "owner":
        assert np.array_equal(shares.sum(axis=1), core.standings(positions).sum(axis=1))
    assert (shares[~positions.over] == positions.scores[~positions.over]).all()
    assert (shares.sum(axis=1) <= game.total).all()
