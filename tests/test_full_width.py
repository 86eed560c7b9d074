"""Full-width search for any number of players: against brute force, minimax and greedy; chunks, seats, errors."""

import re
import sys
from fractions import Fraction

import numpy as np
import pytest

import agents
from oanquan_env import Board, Core, Positions
from oanquan_env.arrays import Floats
from oanquan_env.engine.core import Expanded
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.players import FullWidthPolicy, GreedyPolicy, move_gains
from oanquan_env.players import make as make_policy
from oanquan_env.search.numpy_maxn import AIMS, MAX_DEPTH, Aim, MaxnSearch
from tests.boards import random_positions
from tests.plain_search import after_each_move

SMALL = "fields=2 seeds=2 mandarin_seeds=1"
RULES = [f"{preset} {SMALL}" for preset in ("mancala-world", "three-player", "four-player")]
RULES += [f"three-player {SMALL} {other}" for other in ("max_plies=4", "refill=forfeit", "leftovers=split")]


def margin(points: list[int], seat: int) -> Fraction:
    """A player's points less the mean of the others'."""
    return Fraction(points[seat]) - Fraction(sum(points) - points[seat], len(points) - 1)


def final_points(core: Core, position: Positions, depth: int, aim: Aim, root: int) -> list[int]:
    """Points of all players at the end of the line that goes up from one position: brute force, a move at a time."""
    if depth == 0 or position.over[0]:
        return [int(points) for points in core.standings(position)[0]]
    mover = int(position.mover[0])
    lines = [final_points(core, child, depth - 1, aim, root) for child in after_each_move(core, position).values()]
    if aim == "maxn" or mover == root:
        wanting = mover if aim == "maxn" else root
        return max(lines, key=lambda line: margin(line, wanting))  # the first of equals
    return min(lines, key=lambda line: margin(line, root))


def brute_force(core: Core, positions: Positions, depth: int, aim: Aim) -> Floats:
    """What `MaxnSearch.values` says, found by brute force."""
    values = np.full((len(positions), core.rules.actions, core.rules.players), -np.inf)
    for row in range(len(positions)):
        position = positions[row : row + 1]
        root = int(position.mover[0])
        for action, child in after_each_move(core, position).items():
            points = final_points(core, child, depth - 1, aim, root)
            won = [final - score for final, score in zip(points, position.scores[0].tolist(), strict=True)]
            values[row, action] = [float(margin(won, seat)) for seat in range(core.rules.players)]
    return values


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("rules", RULES)
def test_values_are_those_of_brute_force(rules: str, depth: int, aim: Aim) -> None:
    core = Core(rules)
    positions = random_positions(core, 16, seed=depth)
    values = MaxnSearch(core, depth, aim).values(positions)
    assert values == pytest.approx(brute_force(core, positions, depth, aim), abs=1e-9)


class CountingCore(Core):
    """Remembers how many positions each call of `expand` was given."""

    def __init__(self, rules: str) -> None:
        super().__init__(rules)
        self.sizes: list[int] = []

    def expand(self, positions: Positions) -> Expanded:
        self.sizes.append(len(positions))
        return super().expand(positions)


@pytest.mark.parametrize("chunk", [1, 7, 100_000])
def test_chunks_of_any_size_give_the_same_and_no_call_is_larger(chunk: int) -> None:
    core = CountingCore("three-player")
    positions = random_positions(core, 12, seed=5)
    usual = MaxnSearch(core, 3).values(positions)
    core.sizes.clear()
    assert (MaxnSearch(core, 3, chunk=chunk).values(positions) == usual).all()
    assert max(core.sizes) <= chunk
    assert sum(core.sizes) > 300


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])
def test_depth_1_is_greedy(rules: str) -> None:
    core = Core(rules)
    positions = random_positions(core, 60, seed=1)
    legal = core.legal_mask(positions)
    values = MaxnSearch(core, 1).values(positions)[np.arange(len(positions)), :, positions.mover]
    assert (values[legal] == move_gains(core, positions)[legal]).all()
    for aim in AIMS:
        players = FullWidthPolicy(core, 1, aim), GreedyPolicy(core)
        first, second = (player.choose(positions, np.random.default_rng(0)) for player in players)
        assert (first == second).all()


def test_it_plays_every_best_move_and_no_other() -> None:
    core = Core("three-player")
    start = core.start(600)
    values = MaxnSearch(core, 3).values(start[:1])[0, :, 0]
    tied = (values == values.max()).nonzero()[0]
    chosen = make_policy("maxn:depth=3", "three-player").choose(start, np.random.default_rng(0))
    assert sorted(set(chosen.tolist())) == tied.tolist()
    assert len(tied) > 1
    assert np.bincount(chosen)[tied].min() > 600 / len(tied) / 2


def test_a_single_legal_move_is_played_without_search() -> None:
    core = CountingCore("three-player sowing=clockwise")
    seeds = [0, 0, 0, 0, 3, 10, *[5, 5, 5, 5, 5, 10] * 2]
    only = core.setup([seeds], [[1, 1, 1]], [[0, 0, 0]], checked=False)
    assert FullWidthPolicy(core, 3, "maxn").choose(only, np.random.default_rng(0)).tolist() == [9]
    assert core.sizes == []


@pytest.mark.parametrize("aim", AIMS)
def test_an_analysis_values_every_move_and_its_line_leads_there(aim: Aim) -> None:
    player = FullWidthPolicy(Core("four-player"), 4, aim)
    batch = random_positions(player.core, 12, seed=6)
    found = player.search.values(batch)
    for row in range(len(batch)):
        board = Board.from_positions(player.core, batch, row)
        root, before = board.mover, list(board.scores)
        analysis = player.analyse(board)
        assert {move.action: value for move, value in analysis.values.items()} == {
            move.action: found[row, move.action, root] for move in board.legal_moves
        }
        assert list(analysis.values.values()) == sorted(analysis.values.values(), reverse=True)
        assert analysis.value == analysis.values[analysis.best]
        assert (analysis.line[0], analysis.depth, analysis.proved) == (analysis.best, 4, False)
        for move in analysis.line:
            board.push(move)
        assert len(analysis.line) == 4 or board.outcome
        final = board.core.standings(board.positions)[0].tolist()
        won = [points - score for points, score in zip(final, before, strict=True)]
        assert analysis.value == pytest.approx(float(margin(won, root)))


def test_an_analysis_shows_itself_with_parts_of_points() -> None:
    board = Board("four-player")
    shown = str(FullWidthPolicy(Core("four-player"), 2, "maxn").analyse(board))
    assert re.match(r"\+\d+\.[37] points for South from here on, seen 2 plies ahead\nmoves  ", shown)
    with pytest.raises(ValueError, match="the board has the rules 'four-player', the player 'three-player'"):
        FullWidthPolicy(Core("three-player"), 2, "maxn").analyse(board)


@pytest.mark.parametrize("aim", AIMS)
def test_players_by_name_need_no_agents(aim: Aim, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents.players.make", None)  # as if it were not installed
    game = OAnQuanEnv(rules="three-player", opponent=f"{aim}:depth=2", seat=2)
    game.reset(seed=0)
    assert game.positions.ply[0] == 2
    with pytest.raises(ValueError, match=f"{aim} has depth=.*; got 'deep=2'"):
        make_policy(f"{aim}:deep=2")
    with pytest.raises(ValueError, match="only random, greedy, maxn, paranoid, selective, book exist"):
        make_policy("minimax:depth=2")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("maxn", "maxn needs its depth, as in maxn:depth=3"),
        ("paranoid", "paranoid needs its depth, as in paranoid:depth=3"),
        ("maxn:depth=0", f"depth must be 1 to {MAX_DEPTH}; got 0"),
        ("paranoid:depth=-1", f"depth must be 1 to {MAX_DEPTH}; got -1"),
        ("maxn:depth=21", f"depth must be 1 to {MAX_DEPTH}; got 21"),
        ("maxn:depth=2.5", "depth of maxn must be a whole number; got '2.5'"),
        ("maxn:plies=5", "maxn has depth=…, nodes=…, ms=…, net=…, epsilon=…; got 'plies=5'"),
    ],
)
def test_mistaken_names_are_refused(name: str, message: str) -> None:
    for make in (make_policy, agents.make):
        with pytest.raises(ValueError, match=message):
            make(name, "three-player")


def test_what_cannot_be_searched_is_told() -> None:
    assert MaxnSearch(Core(), MAX_DEPTH).depth == MAX_DEPTH
    core = Core("three-player max_plies=1")
    positions = Positions.concatenate([core.start(), core.start()])
    positions[1:] = core.expand(core.start()).positions[:1]
    with pytest.raises(ValueError, match=r"the game in row 1 is over \(max_plies\); there is nothing to search"):
        MaxnSearch(core, 2).values(positions)
    with pytest.raises(ValueError, match="chunk must be 1 or more; got 0"):
        MaxnSearch(core, 2, chunk=0)
    with pytest.raises(ValueError, match="aim must be one of maxn, paranoid; got 'minimax'"):
        MaxnSearch(core, 2, "minimax")  # type: ignore[arg-type]
