"""Value nets for three and four players: torch against NumPy, seats, the search with a net, and how they are made."""

from pathlib import Path

import numpy as np
import pytest
import torch

import agents
from agents.players.fingerprint import fingerprint
from agents.td import ValueModule
from oanquan_env import Core, Positions, Rules
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.engine.core import relative_points
from oanquan_env.files import FileError
from oanquan_env.players import make as make_policy
from oanquan_env.players.full_width import NET_UNIT, FullWidthSearch
from oanquan_env.players.value_net import VALUE_NET_NAME, ValueNet, embedding_rows, read_value_net
from tests.boards import random_positions
from tests.plain_search import after_each_move

RULES = ["three-player", "four-player", "three-player fields=3 seeds=2"]


def drawn_net(rules: str, seed: int = 0) -> ValueNet:
    """A net of random weights, whose values differ by some points."""
    torch.manual_seed(seed)
    module = ValueModule(Rules.parse(rules))
    with torch.no_grad():
        module.output.weight.mul_(10)
        module.output.bias.add_(torch.arange(len(module.output.bias)))
    return module.export({"seed": seed})


@pytest.mark.parametrize("rules", RULES)
def test_torch_and_numpy_agree_and_margins_sum_to_zero(rules: str) -> None:
    core = Core(rules)
    positions = random_positions(core, 100, seed=1)
    torch.manual_seed(2)
    module = ValueModule(core.rules)
    net = module.export({})
    with torch.no_grad():
        wanted = module(torch.from_numpy(embedding_rows(core.rules, positions))).numpy()
    assert wanted.std(axis=0).min() > 0.3
    margins, rows = net.margins(positions), np.arange(len(positions))
    for place in range(core.rules.players):
        seat = (positions.mover + place) % core.rules.players
        np.testing.assert_allclose(margins[rows, seat], wanted[:, place], atol=1e-4)
    np.testing.assert_allclose(net.values(positions), wanted[:, 0], atol=1e-4)
    np.testing.assert_allclose(margins.sum(axis=1), 0, atol=1e-4)


def brute_force(core: Core, net: ValueNet, position: Positions, depth: int) -> list[int]:
    """Final points of all players at the end of the max^n line, in units: a move at a time."""
    players = core.rules.players
    if position.over[0] or not depth:
        points = NET_UNIT * core.standings(position)[0]
        if not position.over[0]:
            points = points + np.rint(net.margins(position)[0] * np.float32(NET_UNIT * (players - 1) / players))
        return [int(one) for one in points]
    mover = int(position.mover[0])
    lines = [brute_force(core, net, child, depth - 1) for child in after_each_move(core, position).values()]
    return max(lines, key=lambda line: line[mover] * players - sum(line))


@pytest.mark.parametrize(
    "rules", ["three-player fields=2 seeds=2", "four-player fields=2 seeds=2", "mancala-world fields=2 seeds=2"]
)
def test_a_search_with_a_net_is_brute_force_with_it(rules: str) -> None:
    core, net = Core(rules), drawn_net(rules)
    positions = random_positions(core, 12, seed=4)
    found, chunked = (FullWidthSearch(core, 3, net=net, chunk=chunk).values(positions) for chunk in (1024, 3))
    assert (found == chunked).all()
    for row in range(len(positions)):
        position = positions[row : row + 1]
        for action, child in after_each_move(core, position).items():
            points = np.array([brute_force(core, net, child, 2)]) - NET_UNIT * position.scores
            assert found[row, action] == pytest.approx(relative_points(points)[0] / NET_UNIT, abs=2.1 / NET_UNIT)


def test_players_take_nets_by_name(tmp_path: Path) -> None:
    path = tmp_path / VALUE_NET_NAME
    path.write_bytes(drawn_net("three-player").to_bytes())
    core = Core("three-player")
    positions = random_positions(core, 60, seed=6)
    choices = []
    for make in (agents.make, make_policy):
        for text in (f"maxn:depth=2,net={path}", f"maxn:depth=2,net={tmp_path}", "maxn:depth=2"):
            choices.append(make(text, "three-player").choose(positions, np.random.default_rng(0)).tolist())
    assert choices[0] == choices[1] == choices[3] == choices[4] != choices[2] == choices[5]
    names = (f"maxn:depth=2,net={path}", f"paranoid:depth=2,net={path}", "maxn:depth=2")
    prints = [fingerprint(name, core.rules) for name in names]
    assert prints[0] == prints[1] != prints[2]
    for make in (agents.make, make_policy):
        with pytest.raises(FileError, match="the net is for the rules 'three-player', not 'four-player'"):
            make(f"maxn:depth=2,net={path}", "four-player")
    with pytest.raises(ValueError, match="the net is for the rules 'three-player', not 'mancala-world'"):
        FullWidthSearch(Core(), 2, net=read_value_net(path, "three-player"))


def test_the_net_of_the_package_makes_search_better() -> None:
    rules = Rules.parse("three-player")
    for preset in ("three-player", "four-player"):
        assert len(read_value_net("pretrained", preset).to_bytes()) < 300_000
    suite = load_suite(rules)
    regrets = [
        regret(make_policy(name, rules), suite, np.random.default_rng(0)).overall.regret.mean
        for name in ("maxn:depth=2,net=pretrained", "maxn:depth=2", "maxn:depth=1,net=pretrained", "maxn:depth=1")
    ]
    assert regrets[0] < 0.9 * regrets[1]
    assert regrets[2] < 0.9 * regrets[3]
