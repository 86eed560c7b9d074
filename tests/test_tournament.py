"""Tournaments: they resume, refuse results of other settings, and keep games that replay; who plays in them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from rich.progress import Progress

import agents
from agents.evaluation.results import origin
from agents.evaluation.run import EvaluationRun, EvaluationSettings
from agents.evaluation.tournament import TimedPolicy, Tournament, make_entrants, replay
from agents.players.fingerprint import fingerprint
from oanquan_env import Core, Positions, Rules, parse_records
from oanquan_env.arrays import Ints
from oanquan_env.benchmark.openings import random_suite
from oanquan_env.benchmark.pairs import PairResults
from oanquan_env.files import FileError
from oanquan_env.players import Policy, RandomPolicy
from oanquan_env.records.games import format_records
from tests.players import rng


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
    with pytest.raises(FileError, match=r"made by other settings \(seed, openings\): choose another folder"):
        list(tournament(tmp_path, ["random", "greedy"], seed=1).play())
    with pytest.raises(FileError, match=r"made by other settings \(agents\)"):
        list(tournament(tmp_path, ["random", "greedy=random"]).play())


def test_a_pairing_file_without_results_is_named(tmp_path: Path) -> None:
    played = tournament(tmp_path, ["random", "greedy"])
    list(played.play())
    path = next((tmp_path / "parts" / "pairings").iterdir())
    data = json.loads(path.read_text())
    del data["content"]["margin"]
    path.write_text(json.dumps(data))
    with pytest.raises(FileError, match=r"not a finished part of an evaluation: damaged: "):
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


def test_labels_name_players() -> None:
    core = Core()
    entrants = make_entrants(["greedy", "a b = minimax:depth=2", "minimax:depth=2"], core.rules)
    assert [(one.label, one.name) for one in entrants] == [
        ("greedy", "greedy"),
        ("a b", "minimax:depth=2"),
        ("minimax:depth=2", "minimax:depth=2"),
    ]
    with pytest.raises(agents.UnknownAgentError, match="unknown player 'greedi'"):
        make_entrants(["x=greedi"], core.rules)


def test_a_retrained_agent_has_another_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("plies: 1")
    before = fingerprint(f"ppo:{tmp_path},temperature=1", Rules())
    (tmp_path / "agent.yaml").write_text("plies: 2")
    assert before != fingerprint(f"ppo:{tmp_path},temperature=1", Rules()) != ""
    files = tmp_path / "lr=1e-3"
    files.mkdir()
    for content in (b"one", b"two"):
        (files / "value.npz").write_bytes(content)
        found = {fingerprint(name, Rules()) for name in (f"selective:{files}", f"maxn:depth=1,net={files}")}
        assert before not in found
        assert len(found) == 1
        before = found.pop()


def test_another_version_of_play_has_other_fingerprints(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["greedy", "minimax:depth=6", "ppo:pretrained"]
    before = [fingerprint(name, Rules()) for name in names]
    monkeypatch.setattr("agents.players.fingerprint.PLAY_VERSION", 77)
    assert all(fingerprint(name, Rules()) != old for name, old in zip(names, before, strict=True))


def test_parts_kept_from_another_commit_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = EvaluationSettings(agents=["greedy", "random"], pairs=3, suites=["arena", "regret"])
    reports = []
    for number in ("one", "one", "two"):
        monkeypatch.setattr("agents.evaluation.result_cache.commit", lambda number=number: number)
        with Progress(disable=True) as progress:
            reports.append(EvaluationRun(settings, tmp_path).run("test", progress))
    assert [report.kept_from for report in reports] == [[], [], ["one"]]
    assert "at commit `two` (parts of it at `one`)" in origin(reports[-1])


def test_the_stopwatch_counts_moves() -> None:
    core = Core()
    timed = TimedPolicy(RandomPolicy(core))
    timed.choose(core.start(9), rng())
    assert (timed.moves, timed.seconds) == (0, 0)  # the first choice may load and compile
    timed.choose(core.start(7), rng())
    timed.choose(core.start(5), rng())
    assert timed.moves == 12
    assert timed.seconds > 0
