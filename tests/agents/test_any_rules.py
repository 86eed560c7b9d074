"""Test the training of the net for any rules: its module, its games under many rule sets, and its runs."""

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

import train
from agents.networks.value_nets import AnyRulesModule
from agents.reports import cards
from agents.rule_set_games import STAY, RuleSetGames
from agents.run import load_config
from agents.self_play import StartsConfig
from agents.suites.__main__ import main as make_suites
from agents.td import Learner, TDConfig, TDSettings
from experiments import any_rules
from oanquan_env import Core
from oanquan_env.benchmark.generalisation import CANARY
from oanquan_env.benchmark.suites import read_suites
from oanquan_env.files import FileError
from oanquan_env.rule_sets import sample, split
from oanquan_env.search.any_rules_net import MISSING, read_any_rules_net
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from tests import ROOT
from tests.helpers import Capture, Patch
from tests.helpers.boards import random_positions
from tests.helpers.runs import ANY, ITERATION, begin, evaluations, learn


def test_a_folded_net_computes_exactly_what_was_trained() -> None:
    rule_sets = [*split("development")[::3], *split("test: new values")[::4]]
    torch.manual_seed(0)
    module = AnyRulesModule(rule_sets)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    net, examples = module.export({}), []
    for number, rules in enumerate(rule_sets):
        positions = random_positions(Core(rules), 10, seed=number)
        returns = np.zeros((len(positions), 2))
        examples.append((net.for_rules(rules).values(positions), module.examples(number, positions, returns)))
    wanted = np.concatenate([values for values, _ in examples])
    rows, numbers, _ = (torch.cat(column) for column in zip(*(one for _, one in examples), strict=True))
    found = module(rows, numbers).detach().numpy()  # one batch with positions of all rule sets
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())
    assert (rows == MISSING).any()


@pytest.mark.slow
def test_a_net_learns_what_depends_on_the_rules() -> None:
    """The target is the difference of the seeds on the rows times the value of a stone, which is 5 or 15 points."""
    rule_sets = sample(6, 0, stones=True, stone_value=5) + sample(6, 0, stones=True, stone_value=15)
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    module = AnyRulesModule(rule_sets)
    learner = Learner(module, TDSettings(batch_size=256, uses=15))

    def examples(seed: int) -> tuple[torch.Tensor, ...]:
        parts = []
        for number, rules in enumerate(rule_sets):
            positions = random_positions(Core(rules), 200, seed=seed)
            seeds = positions.squares.reshape(len(positions), -1, 8)[:, :, :5].sum(axis=2, dtype=np.int64)
            returns = (seeds - seeds[:, ::-1]) * rules.stone_value / 10
            parts.append(module.examples(number, positions, returns))
            assert parts[-1][2].tolist() == returns[np.arange(len(positions)), positions.mover].tolist()
            assert set(parts[-1][1].tolist()) == {number}
        return tuple(torch.cat(column) for column in zip(*parts, strict=True))

    for done in (0.0, 0.5):
        learner.learn(examples(1), done, rng)
    rows, numbers, targets = examples(9)
    assert (module(rows, numbers) - targets).abs().mean() < 0.4 * targets.std()


def test_every_rule_set_is_played_before_any_is_played_again() -> None:
    games = RuleSetGames(sample(12, 0), 5, 13, StartsConfig(), seed=3, depth=1)
    assert [len(one.games.positions) for one in games.played] == [3, 3, 3, 2, 2]
    begun = [one.number for one in games.played]
    while len(begun) < 24:
        games.renew()
        assert len(games.played) == 5
        begun += [one.number for one in games.played][-(5 // STAY) :]
        assert [one.number for one in games.played] == begun[-5:]
        assert sum(len(one.games.positions) for one in games.played) == 13
    assert sorted(begun[:12]) == sorted(begun[12:]) == list(range(12))
    assert begun[:12] != begun[12:]
    state = games.state_dict()
    again = RuleSetGames(sample(12, 0), 5, 13, StartsConfig(), seed=3, depth=1)
    again.load_state_dict(state)
    for one, other in zip(games.played, again.played, strict=True):
        assert one.number == other.number
        assert one.games.positions.same(other.games.positions).all()
        assert one.games.draw(50).same(other.games.draw(50)).all()
    with pytest.raises(ValueError, match="its number of rule sets differs"):
        again.load_state_dict({**state, "games": state["games"][1:]})


@pytest.mark.slow
def test_suites_of_a_split_have_the_searched_values_of_all_moves(tmp_path: Path) -> None:
    path = tmp_path / "suites.json.gz"
    options = "--count 3 --nodes 100 --least-depth 4 --games 8 --proof-nodes 1 --jobs 1 --split development"
    assert make_suites(["rule-sets", *options.split(), "--output", str(path)]) == 0
    suites = read_suites(path)
    assert [suite.core.rules for suite in suites] == list(split("development"))
    for suite in suites[::6]:
        search = Search(suite.core, threads=1)
        limited = search.best_moves(suite.positions, Limits(nodes=100), every_move=True)
        for row, shallow in enumerate(limited):
            deep = search.best(suite.positions[row : row + 1], Limits(depth=4), every_move=True)
            result = shallow if shallow.depth >= 4 or shallow.proved else deep
            unproved = np.isfinite(suite.values[row]) & ~suite.proved[row]
            assert not set(unproved.nonzero()[0]) & set(result.proved_actions)
            for action in unproved.nonzero()[0].tolist():
                bounds = suite.lower[row, action], suite.upper[row, action]
                assert suite.values[row, action] == np.clip(result.values[action], *bounds)
    assert "tmp" not in str(suites[0].made)
    assert suites[0].made["canary"] == CANARY
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileError, match=r"suites\.json\.gz"):
        read_suites(path)


def test_the_table_of_the_experiment_shows_presets_and_the_means_of_splits() -> None:
    development = {"split": "development", "positions": 9}
    results = [
        {**development, "rules": "app seeds=3", "none": 2.0, "any": 1.0},
        {**development, "rules": "app seeds=4", "none": 1.0, "any": 0.5},
        {"split": "presets", "rules": "app", "positions": 9, "none": 3.0, "any": 0.6, "own": 0.5},
    ]
    first, preset, last = (list(row.values()) for row in any_rules.rows({"results": results}))
    assert first == ["development: mean of 2 rule sets", "1.50", "0.75", "0.50"]
    assert preset == ["`app`", "3.00", "0.60", "0.20", "0.50", "1.20"]
    assert last == ["presets: mean of 1 rule sets", *preset[1:]]


@pytest.mark.slow
def test_train_py_writes_a_net_for_any_rules(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    config, folder = tmp_path / "any.yaml", tmp_path / "run"
    config.write_text(yaml.safe_dump({**ANY, "total_plies": 2 * ITERATION}))
    assert train.main(["--config", str(config), "--output", str(folder)]) == 0
    assert f"the net for any rules is {folder}/any-rules.npz" in capsys.readouterr().out
    net = read_any_rules_net(folder)
    assert (net.origin["plies"], net.origin["config"]["rules"]) == (2 * ITERATION, "any")
    monkeypatch.setattr(cards, "PRETRAINED_PATH", tmp_path / "copy.npz")
    assert cards.publish(folder) == tmp_path / "copy.npz"
    assert (tmp_path / "copy.npz").read_bytes() == net.to_bytes()
    assert np.isfinite(net.for_rules("app fields=4 seeds=9").values(Core("app fields=4 seeds=9").start())).all()


@pytest.mark.slow
def test_evaluations_measure_regret_under_the_development_rule_sets(tmp_path: Path) -> None:
    reports: list[str] = []
    learn(begin(tmp_path / "run", ANY, reports.append, total_plies=ITERATION))
    found = evaluations(tmp_path / "run")[-1]["regrets"]["minimax:nodes=50"]
    assert len(found["rule_sets"]) == 24
    assert found["mean"] == pytest.approx(np.mean(found["rule_sets"]))
    assert f"mean regret under the development rule sets {found['mean']:.2f} at 50 nodes" in reports[-1]


def test_the_projects_configuration_trains_on_the_whole_split() -> None:
    config = load_config(ROOT / "configs" / "any-rules.yaml")
    assert isinstance(config, TDConfig)
    assert (config.rules, config.td.training_rule_sets, config.td.games) == ("any", 16_384, 512)
