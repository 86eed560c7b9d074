"""Matches: seats, scores, margins, moves; tournaments that resume."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

import agents
from agents.arena import (
    PairResults,
    play_match,
    play_pairs,
    random_lines,
    random_openings,
    score_interval,
)
from agents.kept import Keeper, KeptError
from agents.keys import canonical_keys, first_of_each, key_number
from agents.openings import (
    OpeningsError,
    Recipe,
    final_margins,
    load_openings,
    make_suite,
    random_suite,
    read_openings,
    suite_path,
)
from agents.tournament import (
    TimedPolicy,
    Tournament,
    TournamentError,
    by_order,
    fingerprint,
    make_entrants,
    replay,
)
from oanquan_env import Board, Core, Positions, mirror, parse_records, rotate_seats
from oanquan_env.policies import GreedyPolicy, Policy, RandomPolicy
from oanquan_env.positions import Ints
from oanquan_env.records import format_records


class FirstMove:
    """Plays the first legal action."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        return self.core.legal_mask(positions).argmax(axis=1)


class LastMove(FirstMove):
    """Plays the last legal action."""

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        mask = self.core.legal_mask(positions)
        return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


class Interrupting:
    """Plays like another player, until it is asked once too often."""

    def __init__(self, policy: Policy, choices: int) -> None:
        self.policy = policy
        self.left = choices

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return self.policy.choose(positions, rng)


@pytest.fixture(scope="module")
def core() -> Core:
    return Core()


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# ---- matches ---------------------------------------------------------------------------------------------------------


def by_hand(rules: str, text: str, seats: list[type[FirstMove]]) -> Board:
    """One game, move by move on a board."""
    board = Board.parse(text, rules)
    while not board.outcome:
        player = seats[board.mover](board.core)
        board.push(board.legal_moves[0 if type(player) is FirstMove else -1])
    return board


@pytest.mark.parametrize("rules", ["mancala-world", "vietnamese refill=forfeit", "three-player", "four-player"])
def test_a_match_is_the_games_played_one_by_one(rules: str) -> None:
    core = Core(rules)
    openings = random_openings(core, 5, 3, rng())
    match = play_match(core, FirstMove(core), LastMove(core), openings, rng())
    moves = match.games.moves()
    for seat in range(core.rules.players):
        seats = [FirstMove if player == seat else LastMove for player in range(core.rules.players)]
        for k in range(5):
            board = by_hand(rules, Board.from_positions(core, openings, k).text(), seats)
            scores = board.outcome.scores if board.outcome else ()
            others = [score for player, score in enumerate(scores) if player != seat]
            winners = [player for player, score in enumerate(scores) if score == max(scores)]
            assert match.results.score[k, seat] == (1 / len(winners) if seat in winners else 0)
            assert match.results.margin[k, seat] == pytest.approx(scores[seat] - np.mean(others))
            assert match.results.plies[k, seat] == len(board.history)
            assert moves[seat * 5 + k] == [move.action for move in board.history]


def test_openings_are_not_changed_by_a_match(core: Core) -> None:
    openings = random_openings(core, 10, 4, rng())
    before = openings.copy()
    play_match(core, FirstMove(core), LastMove(core), openings, rng())
    assert openings.same(before).all()


def test_swapping_the_players_turns_the_results_round(core: Core) -> None:
    openings = random_openings(core, 30, 4, rng())
    a, b = FirstMove(core), LastMove(core)
    forth, back = play_pairs(core, a, b, openings, rng()), play_pairs(core, b, a, openings, rng())
    assert (forth.score == 1 - back.score[:, ::-1]).all()
    assert (forth.margin == -back.margin[:, ::-1]).all()
    assert (forth.plies == back.plies[:, ::-1]).all()


def test_progress_hears_of_every_game(core: Core) -> None:
    heard: list[int] = []
    openings = random_openings(core, 20, 4, rng())
    play_match(core, GreedyPolicy(core), RandomPolicy(core), openings, rng(), heard.append)
    assert sum(heard) == 40


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_one_greedy_player_beats_two_or_three_random_ones(rules: str) -> None:
    core = Core(rules)
    openings = random_openings(core, 200, 4, rng())
    greedy = play_pairs(core, GreedyPolicy(core), RandomPolicy(core), openings, rng())
    equal = play_pairs(core, RandomPolicy(core), RandomPolicy(core), openings, rng())
    assert score_interval(greedy).low > 1 / core.rules.players + 0.1
    interval = score_interval(equal)
    assert interval.low - 0.03 < 1 / core.rules.players < interval.high + 0.03


def test_a_thousand_games_in_under_a_second(core: Core) -> None:
    openings = random_openings(core, 500, 4, rng())
    began = time.perf_counter()
    results = play_pairs(core, RandomPolicy(core), GreedyPolicy(core), openings, rng())
    assert time.perf_counter() - began < 1
    assert results.score.size == 1000


# ---- openings --------------------------------------------------------------------------------------------------------


def test_random_lines_lead_to_their_positions(core: Core) -> None:
    positions, lines = random_lines(core, 50, 6, rng())
    replayed = core.start(50)
    for ply in range(6):
        core.play(replayed, lines[:, ply])
    assert positions.same(replayed).all()
    assert not positions.over.any()


def test_openings_survive_a_file(core: Core, tmp_path: Path) -> None:
    openings = random_suite(core, 20, 5, rng())
    (tmp_path / "lines.txt").write_text(format_records(openings.records))
    read = load_openings(core, str(tmp_path / "lines.txt"), 12, 0, rng())
    assert read.positions.same(openings.positions[:12]).all()
    assert (read.name, read.records) == ("lines.txt", openings.records[:12])
    assert read.digest() != openings.digest()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it holds 0 openings; 2 are wanted"),
        ('[Rules "mancala-world"]\n[Result "*"]\n\n*\n', "it holds 1 openings; 2 are wanted"),
        ('[Rules "tonkin"]\n[Result "*"]\n\n*\n' * 2, "record 1 is of the rules 'tonkin', not of 'mancala-world'"),
        ('[Rules "mancala-world"]\n[Result "*"]\n\n1. 9A *\n' * 2, "line 4, column 4: ply 1"),
        (
            '[Rules "mancala-world"]\n[Result "22-46"]\n[Termination "stones_captured"]\n\n1. 5A 3A\n22-46\n' * 2,
            "record 1 is a finished game",
        ),
    ],
)
def test_unusable_openings_are_refused(core: Core, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "lines.txt"
    path.write_text(text)
    with pytest.raises(OpeningsError, match=message):
        load_openings(core, str(path), 2, 4, rng())


def test_missing_openings_say_what_exists(core: Core, tmp_path: Path) -> None:
    with pytest.raises(OpeningsError, match=r"no such file; openings are `random`, `balanced` or a file of records"):
        load_openings(core, str(tmp_path / "none"), 2, 4, rng())
    with pytest.raises(OpeningsError, match="there is no balanced suite for 'tonkin seeds=3'"):
        load_openings(Core("tonkin seeds=3"), "balanced", 2, 4, rng())


def test_the_balanced_suite(core: Core) -> None:
    openings = read_openings(core, suite_path(core.rules))
    assert len(openings) >= 500
    assert len(first_of_each(canonical_keys(core, openings.positions))) == len(openings)
    assert {record.position for record in openings.records} == {None}
    assert set(openings.positions.ply.tolist()) == {4, 5, 6, 7, 8}
    values = np.array([int(record.headers["Value"]) for record in openings.records])
    assert abs(values).max() <= 3
    some = slice(0, 5)
    assert (final_margins(core, openings.positions[some], Recipe().depth) == values[some]).all()


def test_a_made_suite_is_balanced_and_without_duplicates() -> None:
    recipe = Recipe(rules="mancala-world seeds=2", count=12, within=2, depth=8)
    records = make_suite(recipe)
    assert parse_records(format_records(records)) == records == make_suite(recipe)
    core = Core(recipe.rules)
    positions = Positions.concatenate(record.board().positions for record in records)
    assert len(records) == 12 == len(first_of_each(canonical_keys(core, positions)))
    assert abs(final_margins(core, positions, 8)).max() <= 2
    assert "--depth 8" in records[0].headers["Made"]


def test_final_margins_count_the_scores_so_far() -> None:
    core = Core("mancala-world fields=2 seeds=1")
    board = Board.parse("0,1,0*/0,1,0 12,0 0 4", core.rules)  # 2A captures nothing and leaves the stone; see below
    margins = final_margins(core, board.positions, 6)
    swapped = final_margins(core, rotate_seats(board.positions), 6)
    assert margins[0] == -swapped[0]
    board_ahead = Board.parse("0,1,0*/0,1,0 6,6 0 4", core.rules)
    assert margins[0] - final_margins(core, board_ahead.positions, 6)[0] == 12


# ---- keys ------------------------------------------------------------------------------------------------------------


def test_keys_are_equal_for_boards_that_play_alike(core: Core) -> None:
    positions = random_openings(core, 200, 5, rng())
    keys = canonical_keys(core, positions)
    assert (canonical_keys(core, rotate_seats(positions)) == keys).all()
    assert (canonical_keys(core, mirror(positions, core.rules)) == keys).all()
    richer = positions.copy()
    richer.scores += [[1, 2]]
    assert (canonical_keys(core, richer) == keys).all()


def test_keys_differ_for_boards_that_play_differently(core: Core) -> None:
    even, other = [5, 5, 5, 5, 5, 0], [4, 5, 5, 5, 5, 1]
    seeds = [[*even, *even], [*other, *even], [*even, *other]]
    keys = canonical_keys(core, core.setup(seeds, [[1, 1]] * 3, [[0, 0]] * 3))
    assert len(first_of_each(keys)) == 3
    assert len({key_number(key) for key in keys}) == 3


def test_one_way_sowing_has_no_mirror() -> None:
    core = Core("tonkin")
    positions = random_openings(core, 50, 4, rng())
    keys, mirrored = canonical_keys(core, positions), canonical_keys(core, mirror(positions, core.rules))
    assert (keys != mirrored).any()
    assert (canonical_keys(core, rotate_seats(positions)) == keys).all()


# ---- tournaments -----------------------------------------------------------------------------------------------------


def tournament(folder: Path | None, names: list[str], pairs: int = 6, seed: int = 0, rules: str = "") -> Tournament:
    core = Core(rules or "mancala-world")
    openings = random_suite(core, pairs, 4, rng(seed))
    return Tournament(core, make_entrants(names, core.rules), openings, seed, folder)


def same(a: PairResults, b: PairResults) -> bool:
    return all((left == right).all() for left, right in zip(a, b, strict=True))


NAMES = ["random", "greedy", "again=greedy"]


def test_an_interrupted_tournament_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = list(tournament(None, NAMES).play())
    broken = tournament(tmp_path, NAMES)
    last = broken.entrants[2]
    object.__setattr__(last, "policy", Interrupting(last.policy, 3))
    with pytest.raises(KeyboardInterrupt):
        list(broken.play())
    kept = sorted((tmp_path / "parts" / "pairings").iterdir())
    assert len(kept) == 1
    written = kept[0].stat().st_mtime_ns
    heard: list[int] = []
    resumed = list(tournament(tmp_path, NAMES).play(heard.append))
    assert all(same(one.results, other.results) for one, other in zip(whole, resumed, strict=True))
    assert [one.games for one in whole] == [one.games for one in resumed]
    assert (kept[0].stat().st_mtime_ns, len(list((tmp_path / "parts" / "pairings").iterdir()))) == (written, 3)
    assert sum(heard) == 3 * 12


def test_another_player_leaves_the_finished_pairings_as_they_are(tmp_path: Path) -> None:
    first = list(tournament(tmp_path, ["random", "greedy"]).play())
    more = list(tournament(tmp_path, ["random", "again=greedy", "greedy"]).play())
    assert same(first[0].results, next(one for one in more if (one.a, one.b) == (0, 2)).results)


def test_results_of_other_settings_are_refused(tmp_path: Path) -> None:
    list(tournament(tmp_path, ["random", "greedy"]).play())
    with pytest.raises(KeptError, match=r"made by other settings \(seed, openings\): choose another --output"):
        list(tournament(tmp_path, ["random", "greedy"], seed=1).play())
    with pytest.raises(KeptError, match=r"made by other settings \(agents\)"):
        list(tournament(tmp_path, ["random", "greedy=random"]).play())


@pytest.mark.parametrize("content", ["{", "[]", '{"settings": {}}'])
def test_a_damaged_part_is_named(tmp_path: Path, content: str) -> None:
    keeper = Keeper(tmp_path)
    keeper.keep(["a/b", "c"], {"seed": 1}, {"x": 1})
    assert keeper.find(["a/b", "c"], {"seed": 1}) == {"x": 1}
    assert keeper.find(["a-b", "c"], {"seed": 1}) is None
    path = keeper.path(["a/b", "c"])
    assert path is not None
    path.write_text(content)
    with pytest.raises(KeptError, match=f"{path.name}: not a finished part"):
        keeper.find(["a/b", "c"], {"seed": 1})


def test_a_pairing_file_without_results_is_named(tmp_path: Path) -> None:
    played = tournament(tmp_path, ["random", "greedy"])
    list(played.play())
    path = next((tmp_path / "parts" / "pairings").iterdir())
    data = json.loads(path.read_text())
    del data["content"]["margin"]
    path.write_text(json.dumps(data))
    with pytest.raises(KeptError, match="not a finished pairing"):
        list(played.play())


@pytest.mark.parametrize("rules", ["mancala-world", "three-player"])
def test_saved_games_replay_to_the_results(rules: str) -> None:
    played = tournament(None, ["random", "greedy"], rules=rules)
    pairing = next(iter(played.play()))
    records = played.records(pairing)
    assert parse_records(format_records(records)) == records
    players = played.core.rules.players
    assert len(records) == 6 * players
    for number, record in enumerate(records):
        seat, k = divmod(number, 6)
        labels = [record.headers[name] for name in list(record.headers)[:players]]
        assert labels == ["random" if player == seat else "greedy" for player in range(players)]
        points = [int(point) for point in re.findall(r"(?<!\d)-?\d+", record.result)]
        others = [point for player, point in enumerate(points) if player != seat]
        assert points[seat] - np.mean(others) == pytest.approx(pairing.results.margin[k, seat])
    finals = replay(played.core, played.openings.positions, pairing.games)
    assert finals.over.all()


def test_three_players_meet_in_both_mixtures() -> None:
    played = tournament(None, ["random", "greedy"], rules="three-player")
    assert played.schedule() == [(0, 1), (1, 0)]
    assert [one.results.score.shape for one in played.play()] == [(6, 3), (6, 3)]


def test_labels_name_players(core: Core) -> None:
    entrants = make_entrants(["greedy", "a b = minimax:depth=2", "minimax:depth=2"], core.rules)
    assert [(one.label, one.name) for one in entrants] == [
        ("greedy", "greedy"),
        ("a b", "minimax:depth=2"),
        ("minimax:depth=2", "minimax:depth=2"),
    ]
    with pytest.raises(TournamentError, match="two players are called 'greedy'; tell them apart by labels"):
        make_entrants(["greedy", "greedy"], core.rules)
    with pytest.raises(agents.UnknownAgentError, match="unknown player 'greedi'"):
        make_entrants(["x=greedi"], core.rules)
    with pytest.raises(TournamentError, match="two players or more are needed for a match; got 1"):
        Tournament(core, entrants[:1], random_suite(core, 1, 1, rng()), 0)


def test_a_retrained_agent_has_another_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("plies: 1")
    before = fingerprint(f"ppo:{tmp_path},temperature=1")
    (tmp_path / "agent.yaml").write_text("plies: 2")
    assert before != fingerprint(f"ppo:{tmp_path},temperature=1") != ""
    assert fingerprint("minimax:depth=6") == ""


def test_the_stopwatch_counts_moves(core: Core) -> None:
    timed = TimedPolicy(RandomPolicy(core))
    timed.choose(core.start(7), rng())
    timed.choose(core.start(5), rng())
    assert timed.moves == 12
    assert timed.seconds > 0


def test_results_by_order_follow_the_player_who_moves_first(core: Core) -> None:
    one = random_openings(core, 1, 3, rng())  # North to move
    two = random_openings(core, 1, 4, rng())  # South to move
    results = PairResults(np.array([[1, 0.5], [1, 0.5]]), np.zeros((2, 2)), np.zeros((2, 2)))
    assert by_order(results.score, Positions.concatenate([one, two])).tolist() == [[0.5, 1], [1, 0.5]]
