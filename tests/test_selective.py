"""The narrow search with a value net: against brute force, its widths, analyses, names, the environments."""

import sys

import gymnasium
import numpy as np
import pytest

from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.players import make
from oanquan_env.players.selective import CHUNK, WIDTHS, SelectivePolicy
from oanquan_env.players.value_net import ValueNet, read_value_net
from tests.boards import FINISHING, random_positions
from tests.plain_search import after_each_move


@pytest.fixture(scope="module")
def net() -> ValueNet:
    return read_value_net("pretrained")


def brute_force(
    core: Core, net: ValueNet, position: Positions, widths: tuple[int, ...], gaps: list[float]
) -> dict[int, float]:
    """What each kept move of one position is worth, a move at a time; `gaps` from the last kept to the next."""
    seen, after = {}, {}
    mover = int(position.mover[0])
    for action, child in after_each_move(core, position).items():
        gained = core.standings(child)[0] - position.scores[0]
        won = float(gained[mover] - gained[1 - mover])
        seen[action] = won if child.over[0] else won - float(net.values(child)[0])
        after[action] = (won, child)
    if not widths:
        return seen
    ranked = sorted(seen, key=lambda action: -seen[action])
    gaps += [seen[ranked[widths[0] - 1]] - seen[dropped] for dropped in ranked[widths[0] : widths[0] + 1]]
    deeper = {}
    for action in ranked[: widths[0]]:
        won, child = after[action]
        deeper[action] = won if child.over[0] else won - max(brute_force(core, net, child, widths[1:], gaps).values())
    return deeper


@pytest.mark.parametrize("widths", [(), (10,), (3,), (10, 10), (4, 3, 2), (1, 1, 1)])
def test_values_are_those_of_brute_force(widths: tuple[int, ...], net: ValueNet) -> None:
    core = Core()
    positions = random_positions(core, 24, seed=len(widths))
    positions.scores[:, 0] += 5  # what was won before does not matter
    values = SelectivePolicy(core, net, widths).values(positions)
    compared = 0
    for row in range(len(positions)):
        gaps: list[float] = []
        expected = brute_force(core, net, positions[row : row + 1], widths, gaps)
        if min(gaps, default=1) < 1e-3:  # a net's last digits vary with the batch and the processor
            continue
        compared += 1
        found = {action: values[row, action] for action in np.isfinite(values[row]).nonzero()[0].tolist()}
        assert found == pytest.approx(expected, abs=1e-4)
    assert compared > len(positions) / 2


def test_positions_of_a_batch_do_not_change_one_another(net: ValueNet) -> None:
    core = Core()
    positions = random_positions(core, 2 * CHUNK, seed=5)
    player = SelectivePolicy(core, net)
    together = player.values(positions)
    for row in (0, CHUNK - 1, CHUNK, CHUNK + 2):
        assert player.values(positions[row : row + 1])[0] == pytest.approx(together[row], abs=1e-4)


def test_an_analysis_values_every_move_and_tells_a_line_that_can_be_played(net: ValueNet) -> None:
    board = Board.parse(FINISHING.format(30, 19))
    found = SelectivePolicy(board.core, net).analyse(board)
    assert set(found.values) == set(board.legal_moves)
    assert found.value == max(found.values.values()) == found.values[found.best]
    assert (found.line[0], found.proved, found.depth) == (found.best, False, len(WIDTHS) + 1)
    for move in found.line:
        board.push(move)


def test_it_loses_fewer_points_than_one_look_at_the_net_and_far_fewer_than_greedy(net: ValueNet) -> None:
    suite = load_suite(Rules()).part("development").take(np.arange(0, 1100, 5))
    rng = np.random.default_rng(0)
    players = (make("greedy"), SelectivePolicy(suite.core, net, ()), make("selective:pretrained"))
    greedy, once, far = (regret(player, suite, rng).overall.regret.mean for player in players)
    assert WIDTHS == (5, 4, 3)  # chosen by this measure
    assert far < 0.6 * once < 0.6 * 0.5 * greedy


def test_it_is_an_opponent_by_name_without_the_agents_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents", None)
    game = gymnasium.make("OAnQuan-v0", opponent="selective:pretrained", seat=1)
    _, info = game.reset(seed=0)
    game.step(int(np.flatnonzero(info["action_mask"])[0]))


@pytest.mark.parametrize(
    ("name", "rules", "message"),
    [
        ("selective", "mancala-world", "selective needs a value net"),
        ("selective:nowhere.npz", "mancala-world", "nowhere.npz: no such file"),
        ("selective:pretrained,depth=3", "mancala-world", "selective has epsilon=…; got 'depth=3'"),
        ("selective:pretrained", "tonkin seeds=3", "no value net for the rules 'tonkin seeds=3' comes with"),
    ],
)
def test_mistaken_names_are_refused(name: str, rules: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(name, rules)


def test_a_net_of_other_rules_and_widths_of_nothing_are_refused(net: ValueNet) -> None:
    with pytest.raises(ValueError, match="the net is for the rules 'mancala-world', not 'tonkin'"):
        SelectivePolicy(Core("tonkin"), net)
    with pytest.raises(ValueError, match="a selective search is for two players"):
        SelectivePolicy(Core("three-player"), net)
    with pytest.raises(ValueError, match=r"widths must be 1 or more; got \(3, 0\)"):
        SelectivePolicy(Core(), net, (3, 0))
