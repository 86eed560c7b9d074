"""Tournaments: they resume, keep games that replay, and sum up one player among copies of another."""

import re
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation.evaluation import summarize
from agents.evaluation.tournament import TimedPolicy, Tournament, hash_of_files, make_entrants, replay
from oanquan_env import Core, Rules, parse_records
from oanquan_env.benchmark.openings import random_suite
from oanquan_env.files import FileError
from oanquan_env.players import RandomPolicy
from oanquan_env.records.games import format_records
from tests.players import rng


def tournament(folder: Path | None, names: list[str], pairs: int = 6, seed: int = 0, rules: str = "") -> Tournament:
    core = Core(rules or "mancala-world")
    openings = random_suite(core, pairs, 4, rng(seed))
    return Tournament(core, make_entrants(names, core.rules), openings, seed, folder)


def test_another_player_leaves_the_finished_pairings_as_they_are(tmp_path: Path) -> None:
    first = tournament(tmp_path, ["random", "greedy"]).play()
    more = tournament(tmp_path, ["random", "again=greedy", "greedy"]).play()
    again = next(one for one in more if (one.a, one.b) == (0, 2))
    assert all((one == other).all() for one, other in zip(first[0].results, again.results, strict=True))


def test_finished_pairings_are_kept_by_players_settings_and_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(names: list[str], **settings: int) -> int:
        """How many pairings had to be played."""
        begun = tournament(tmp_path, names, **settings)
        play, seen = begun.play_one, list[int]()
        monkeypatch.setattr(begun, "play_one", lambda *pair: seen.append(0) or play(*pair))
        begun.play()
        return len(seen)

    assert [played(["random", "greedy"]) for _ in range(2)] == [1, 0]
    assert played(["random", "greedy", "again=greedy"]) == 2
    assert played(["random", "greedy"], seed=1) == played(["random", "greedy=maxn:depth=1"]) == 1
    monkeypatch.setattr("oanquan_env.__version__", "99")
    assert [played(["random", "greedy"]) for _ in range(2)] == [1, 0]
    path = next((tmp_path / "parts" / "pairings").iterdir())
    for damaged in tmp_path.glob("parts/pairings/*"):
        damaged.write_text(path.read_text()[:-30])
    with pytest.raises(FileError, match="not a finished part of an evaluation"):
        played(["random", "greedy"])


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


def test_a_retrained_agent_and_another_net_have_other_hashes(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("plies: 1")
    before = hash_of_files(f"ppo:{tmp_path},temperature=1", Rules())
    (tmp_path / "agent.yaml").write_text("plies: 2")
    assert before != hash_of_files(f"ppo:{tmp_path},temperature=1", Rules()) != ""
    net = tmp_path / "lr=1e-3"
    net.mkdir()
    found = set()
    for content in (b"one", b"two"):
        (net / "value.npz").write_bytes(content)
        found |= {hash_of_files(name, Rules()) for name in (f"book:maxn:depth=1,net={net}", f"maxn:depth=1,net={net}")}
    assert len(found) == 2
    assert hash_of_files("minimax:depth=6", Rules()) == ""


def test_the_stopwatch_counts_moves() -> None:
    core = Core()
    timed = TimedPolicy(RandomPolicy(core))
    timed.choose(core.start(9), rng())
    assert (timed.moves, timed.seconds) == (0, 0)  # the first choice may load and compile
    timed.choose(core.start(7), rng())
    timed.choose(core.start(5), rng())
    assert timed.moves == 12
    assert timed.seconds > 0


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_one_player_among_copies_of_another_is_counted_over_all_seats_and_others(rules: str) -> None:
    played = tournament(None, ["random", "greedy", "maxn:depth=1"], pairs=20, rules=rules)
    pairings = played.play()
    found = summarize(played, pairings)
    assert [(one.agent, one.opponent) for one in found.pairings][:2] == [
        ("random", "greedy"),
        ("random", "maxn:depth=1"),
    ]
    assert (found.ratings, found.anchor, found.first) == ([], None, None)
    assert [share.agent for share in found.shares][-1] == "random"
    for share in found.shares:
        own = [one for one in pairings if played.entrants[one.a].label == share.agent]
        wins, margins, games = 0.0, 0.0, 0
        for pairing in own:
            for number, record in enumerate(played.records(pairing)):
                outcome = record.board().outcome
                assert outcome
                seat, scores = number // 20, np.array(outcome.scores)
                wins += (scores[seat] == scores.max()) / (scores == scores.max()).sum()
                margins += scores[seat] - np.delete(scores, seat).mean()
                games += 1
        assert games == 2 * 20 * played.core.rules.players
        assert (share.wins.mean, share.margin.mean) == pytest.approx((wins / games, margins / games))
        assert share.wins.low < share.wins.mean < share.wins.high


def test_a_player_among_copies_of_itself_has_the_fair_share() -> None:
    played = tournament(None, ["greedy", "again=greedy"], pairs=60, rules="three-player")
    for share in summarize(played, played.play()).shares:
        assert share.wins.low < 1 / 3 < share.wins.high
        assert share.margin.low < 0 < share.margin.high
