"""Test trainings under many rule sets: PPO on one board for all, nested rule sets, and the experiment."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.networks.features import AfterstateFeatures
from agents.networks.layers import FORBIDDEN
from agents.networks.nets import NetworkConfig
from agents.rule_set_games import training_rule_sets
from experiments import generalisation
from experiments.many_rules_ppo import (
    BOARD,
    ManyRulesConfig,
    encode,
    legal,
    make_network,
    player_in,
)
from oanquan_env import Board, Core, Rules
from oanquan_env.benchmark.generalisation import Generalisation, percent_of_random
from oanquan_env.rule_sets import LENGTH, TRAIN, split, vector
from tests.helpers import Capture
from tests.helpers.runs import ANY, ITERATION, PPO, begin, checkpoint, learn, resume, same, stopped

MANY: dict[str, Any] = {
    **PPO,
    "kind": "experiments.many_rules_ppo:ManyRulesRun",
    "rule_sets": 12,
    "ppo": {**PPO["ppo"], "n_envs": 64, "n_steps": 4},
    "evaluation": {"every_plies": 100 * ITERATION},
}


def test_training_rule_sets_are_nested_and_differ_from_seed_to_seed() -> None:
    few, many = training_rule_sets(4, 1), training_rule_sets(64, 1)
    assert set(few) < set(many)
    assert set(many) != set(training_rule_sets(64, 2))
    assert training_rule_sets(TRAIN, 5) == list(split("train"))


def test_a_net_that_reads_no_rules_plays_all_rules_alike(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", ANY, td={**ANY["td"], "reads_rules": False})
    run.iterate()
    net = run.network.export({})
    folded = [net.for_rules(f"vietnamese {change}") for change in ("", "stone_value=15", "capture=single")]
    assert all((one.embedding == folded[0].embedding).all() for one in folded)
    assert (net.embedding != begin(tmp_path / "new", ANY).network.export({}).embedding).any()


def test_boards_of_all_sizes_are_laid_out_as_one_with_five_fields() -> None:
    rules = Rules.parse("mancala-world fields=3")
    board = Board.parse("1,2,3,4*/5,6,7,8 0,4 0 0", rules)
    (row,) = encode(board.core, board.positions, looks_ahead=False)
    assert row[:BOARD].tolist() == [1, 0, 2, 0, 3, 4, 5, 0, 6, 0, 7, 8, 1, 0]
    np.testing.assert_allclose(row[BOARD:] / 1000, vector(rules), atol=5e-4)
    assert legal(board.core, board.positions)[0].nonzero()[0].tolist() == [0, 1, 4, 5, 8, 9]


@pytest.mark.parametrize("fields", [2, 3, 5])
def test_afterstates_keep_their_features_on_the_board_with_five_fields(fields: int) -> None:
    core = Core(f"mancala-world fields={fields}")
    own, full = AfterstateFeatures(core), AfterstateFeatures(Core())
    positions = core.start(1)
    (row,), (mine,) = encode(core, positions, looks_ahead=True), own.encode(positions)
    assert len(row) == full.size + (1 + 10) * LENGTH
    parts = sorted(row[row != 0].tolist()), sorted(mine[mine != 0].tolist())
    numbers = np.rint(1000 * vector(core.rules)).astype(int)
    assert parts[0] == sorted([*parts[1], *numbers[numbers != 0].tolist() * (1 + 2 * fields)])
    if fields == 5:
        boards = row[BOARD + LENGTH :][20:].reshape(-1)[: 10 * (BOARD + LENGTH)].reshape(10, -1)[:, :BOARD]
        assert boards.ravel().tolist() == mine[own.layout["after"]].tolist()


@pytest.mark.parametrize("name", ["plain", "afterstates"])
def test_a_network_reads_the_rules_or_ignores_them(name: str) -> None:
    cores = [Core("ludii"), Core("ludii max_plies=300")]  # a difference that no feature shows
    for reads in (True, False):
        torch.manual_seed(0)
        network = make_network(NetworkConfig(name=name, width=8), reads_rules=reads)
        outputs = []
        for core in cores:
            rows = torch.from_numpy(encode(core, core.start(1), looks_ahead=name != "plain"))
            outputs.append(network(rows, torch.from_numpy(legal(core, core.start(1)))))
        assert torch.equal(outputs[0][0], outputs[1][0]) != reads
        assert ((outputs[0][0] == FORBIDDEN) == ~torch.from_numpy(legal(cores[0], cores[0].start(1)))).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "afterstates"])
def test_a_run_under_many_rules_resumes_and_plays_any_rules(name: str, tmp_path: Path) -> None:
    settings = {**MANY, "network": {**MANY["network"], "name": name}, "total_plies": 2 * ITERATION}
    learn(begin(tmp_path / "whole", settings))
    folder = stopped(tmp_path / "stopped", ITERATION, settings=settings)
    learn(resume(folder))
    assert same(checkpoint(folder), checkpoint(tmp_path / "whole"))
    player = player_in(folder, ManyRulesConfig.model_validate(settings))
    for rules in ("vietnamese", "app fields=4 seeds=2", "ludii fields=2"):
        core = Core(rules)
        core.check(core.start(3), player(core.rules).choose(core.start(3), np.random.default_rng(0)))


@pytest.mark.slow
def test_the_experiment_measures_what_is_missing_and_lists_other_results(tmp_path: Path, capsys: Capture) -> None:
    def run(*options: str, file: str = "results.json", status: int = 0) -> tuple[str, str]:
        """Run the experiment in `tmp_path`; return its table without the heads, and its errors."""
        assert generalisation.EXPERIMENT.main(["--json", str(tmp_path / file), *options]) == status
        printed = capsys.readouterr()
        return "\n".join(line for line in printed.out.splitlines() if line.startswith("| ")), printed.err

    own, mine = ["--runs", str(tmp_path / "runs"), "--rows", "greedy"], tmp_path / "mine.json"
    other = ["--add", str(mine), "--label"]
    assert run(*own) == run(*own)
    (measured,) = json.loads((tmp_path / "results.json").read_text())["runs"]
    assert (measured["row"], measured["seed"], measured["plies"], len(measured["regret"])) == ("greedy", 0, 0, 96)
    result = Generalisation.of(np.array([measured["regret"], measured["regret"]]))
    mine.write_text(result.to_json())
    rows = run(*other, "mine")[0].splitlines()[-2:]
    mean = f"{percent_of_random(np.array([measured['regret']])).mean():.1f}"
    assert [row.split()[1] for row in rows if mean in row] == ["greedy", "mine"]
    shown = run(*other, "mine", file="new.json")[0]  # a new file begins with the published results
    assert {"random", "mine"} <= {row.split()[1] for row in shown.splitlines()}
    for label in ("greedy", " "):
        _, error = run(*other, label, file="new.json", status=2)
        assert f"--label must be a new name in the table; got {label!r}" in error
    mine.write_text(Generalisation.of(np.zeros((1, 96))).to_json())
    assert "got 'mine'" in run(*other, "mine", file="new.json", status=2)[1]
    mine.write_text(result.to_json().replace(result.suites, "other"))
    assert "measured with other suites" in run(*other, "theirs", status=2)[1]
