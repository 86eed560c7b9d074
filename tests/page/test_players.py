"""Test the page's players and worker in Node.js against their counterparts in Python."""

import base64
import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Rules
from oanquan_env.play.levels import LEVELS, player_of
from oanquan_env.players import SaverPolicy, make, move_gains
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.rule_sets import split
from oanquan_env.search.any_rules_net import AnyRulesNet
from oanquan_env.search.search_state import TWO_PLAYER_RULES
from tests.helpers.boards import played_board
from tests.helpers.strategies import PRESETS_TO_COMPILE
from tests.search.test_any_rules_net import random_any_rules_net
from tools.write_page import net_bytes

FORFEIT = "app refill=forfeit"
CUSTOM = "app stone_value=5 sowing=clockwise"
SEARCHES = {
    2: ("minimax:depth=5", "minimax:nodes=3000", "minimax:depth=3,net=pretrained", "minimax:nodes=3000,net=pretrained"),
    3: ("maxn:nodes=2000", "maxn:depth=2,net=pretrained", "maxn:nodes=2000,net=pretrained"),
}


def boards(rules: Rules | str, count: int, seed: int = 0) -> list[Board]:
    """Return up to `count` unfinished boards of separate random games, in ascending order of their plies."""
    played = (played_board(rules, seed + number, 3 * number) for number in range(3 * count))
    return [board for board in played if not board.outcome][:count]


make_once = functools.cache(make)


def best(name: str, board: Board) -> list[int]:
    """Return the equally good actions among which the player `name` chooses in Python."""
    player, legal = make_once(name, board.rules), [move.action for move in board.legal_moves]
    if isinstance(player, SearchPlayer):
        return list(player.search.best(board.positions, player.limits).actions)
    if isinstance(player, SaverPolicy):
        chosen = player.choose(board.positions[np.zeros(100, dtype=np.intp)], np.random.default_rng(0))
        return sorted(set(chosen.tolist()))
    values = move_gains(board.core, board.positions)[0]
    return [action for action in legal if values[action] == values[legal].max()]


TO_FOLD = (
    "app stones=False end=squares_empty mandarin_seeds=5 stone_value=3 mandarin_ahead=take_one quan_non=3",
    "vietnamese mandarin_seeds=5 quan_non=3",
    "ludii sowing=clockwise mandarin_ahead=stop mandarin_seeds_capturable=False empty_mandarin=gap quan_non=2",
    "vietnamese sowing=clockwise end=squares_empty mandarin_leftovers=split fields=3",
    "mancala-world sowing=clockwise fields=4",
)
"""Rule sets on the mirrored board, and with values that have no effect."""


def test_the_page_folds_the_net_for_any_rules_as_python_does(ask: Callable[..., list[Any]]) -> None:
    rule_sets = [*split("presets"), *split("development")[::2], *split("test: new values")[::3]]
    names, weights = [*TO_FOLD, *map(str, rule_sets)], TWO_PLAYER_RULES["net"]
    net = AnyRulesNet.from_bytes(random_any_rules_net().to_bytes())
    for name, answer in zip(names, ask(*(("fold", "net-random.bin", name) for name in names)), strict=True):
        page, mine = (
            np.frombuffer(content, weights)[0] for content in (base64.b64decode(answer), net_bytes(net.for_rules(name)))
        )
        for part in ("embedding", "hidden_weight"):
            assert np.abs(page[part].astype(int) - mine[part]).max() <= 1, (name, part)
        for part in ("hidden_bias", "output_weight", "output_bias"):
            np.testing.assert_allclose(page[part], mine[part], rtol=1e-4, atol=1e-4 * np.abs(mine[part]).max())


@pytest.mark.parametrize("rules", [*PRESETS_TO_COMPILE, FORFEIT, "three-player refill=forfeit", CUSTOM])
def test_players_prefer_the_same_moves_as_in_python(rules: str, ask: Callable[..., list[Any]]) -> None:
    calls, wanted, parsed = [], [], Rules.parse(rules)
    searches = SEARCHES[min(parsed.players, 3)] if parsed.refill == "borrow" else ()
    searches += ("minimax:nodes=3000,net=any",) if rules in ("tonkin", CUSTOM) else ()
    for board in boards(parsed, 4)[1::2]:
        for name in ("greedy", "saver", "maxn:depth=3", *searches):
            calls.append(("best", name, rules, board.text()))
            wanted.append(best(name, board))
    for call, answer, actions in zip(calls, ask(*calls), wanted, strict=True):
        assert answer["actions"] == actions, call


def test_levels_match_python_and_unknown_names_are_refused(ask: Callable[..., list[Any]]) -> None:
    levels = ask(*(("player", name, "mancala-world") for name in LEVELS))
    rules = [(level["epsilon"], level.get("goesOn", False)) for level in levels]
    assert rules == [(level.epsilon, level.goes_on) for level in LEVELS.values()]
    assert [level["name"] for level in levels[:4]] == [
        re.sub(",ms=[0-9]+", "", level.players[0]) for level in list(LEVELS.values())[:4]
    ]
    plays = {
        ("hard", "mancala-world max_plies=90"): "minimax:depth=6,net=pretrained",
        ("hard", "vietnamese seeds=4"): "minimax:depth=6,net=pretrained",
        ("hard", "vietnamese fields=3 max_plies=90"): "minimax:depth=6,net=pretrained",
        ("hard", "vietnamese fields=4"): "minimax:depth=7",
        ("hard", "four-player"): "maxn:depth=5",
        ("perfect", "four-player"): "book:maxn:nodes=1000000,net=pretrained",
        ("perfect", FORFEIT): "book:maxn:depth=6",
    }
    assert [one["name"] for one in ask(*(("player", *asked) for asked in plays))] == list(plays.values())
    (timed,) = ask(("player", "minimax:ms=1.5,depth=9,net=pretrained,epsilon=.5", "app"))
    assert (timed["nodes"], timed["depth"], timed["epsilon"], timed["net"]) == (1500, 9, 0.5, "app")
    nets = {
        ("pretrained", "app"): "app",
        ("any", "app max_plies=90"): "any",
        ("pretrained", "app seeds=3"): "any",
        ("any", "app fields=2"): "any",
    }
    made = ask(*(("player", f"minimax:depth=2,net={net}", rules) for net, rules in nets))
    assert [player["net"] for player in made] == list(nets.values())
    refused = {
        ("greddy", "app"): "unknown player 'greddy'; the page plays beginner, ",
        ("mcts:simulations=9", "app"): "unknown player 'mcts:simulations=9'; the page plays ",
        ("book:", "app"): "book needs a player for positions that it does not know, as in book:greedy",
        ("minimax", "app"): "minimax needs a limit, as in minimax:depth=4, minimax:nodes=20000",
        ("minimax:deep=6", "app"): "minimax has the options depth=…, nodes=…, ms=…, net=…, epsilon=…; got 'deep=6'",
        ("minimax:depth=6,depth=7", "app"): "minimax has the option depth twice in 'depth=6,depth=7'",
        ("minimax:depth=6.5", "app"): "depth of minimax must be a whole number; got '6.5'",
        ("minimax:depth=128", "app"): "depth must be 1 to 127; got 128",
        ("maxn:nodes=0", "three-player"): "nodes must be 1 or more; got 0",
        ("greedy:epsilon=2", "app"): "epsilon must be a probability, 0 to 1; got 2",
        ("minimax:depth=2,net=runs/mine", "app"): "the page has no net 'runs/mine'; write net=pretrained",
        ("minimax:depth=2,net=pretrained", "app fields=4"): "with 4 fields, a search is better without a net; write ",
        ("minimax:depth=2,net=pretrained", "app fields=2"): "with 2 fields, a search is better without a net; write ",
        ("maxn:depth=2,net=any", "three-player"): "no net comes for these rules; write the name without net=",
        (
            "maxn:depth=2,net=pretrained",
            "three-player seeds=3",
        ): "no net comes for these rules; write the name without ",
        ("minimax:depth=2,net=any", FORFEIT): "no net comes for these rules; write the name without net=",
        ("minimax:depth=2", "three-player"): "minimax is for two players and refill=borrow; write maxn:depth=2",
        ("minimax:depth=2", FORFEIT): "minimax is for two players and refill=borrow; write maxn:depth=2",
        (
            "maxn:nodes=9",
            "app",
        ): "maxn with net, nodes, ms is for three and four players and refill=borrow; write minimax",
        ("maxn:depth=3,ms=9", FORFEIT): "maxn with net, nodes, ms is for three and four players and refill=borrow; "
        "write maxn:depth=3",
    }
    for (asked, words), answer in zip(refused.items(), ask(*(("player", *asked) for asked in refused)), strict=True):
        assert answer["code"] == "player", asked
        assert answer["detail"]["en"].startswith(words)
        assert answer["detail"]["vi"] not in ("", answer["detail"]["en"])


def test_the_weakest_level_avoids_ending_a_game_as_in_python(ask: Callable[..., list[Any]]) -> None:
    tempted = "6,6,6,6,0,0/6,6,6,6,0,1* 11,0 1 1"  # the greedy move ends the game
    last = "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 199"  # every move ends the game
    for position, goes_on in ((tempted, True), (last, False)):
        board = Board.parse(position)
        core, children = board.core, board.core.expand(board.positions)[0]
        assert bool((~children.over).any()) is goes_on
        assert children.over.any()
        player = player_of("beginner", board.rules)
        assert player is not None
        chosen = player.choose(board.positions[np.zeros(600, dtype=np.intp)], np.random.default_rng(0))
        asked = ask(*(("choose", "beginner", str(board.rules), position, seed) for seed in range(200)))
        assert set(asked) == set(chosen.tolist())
        after = board.positions[np.zeros(len(chosen), dtype=np.intp)]
        core.play(after, chosen)
        assert bool(after.over.any()) is not goes_on


def test_random_moves_come_from_the_seed_and_are_spread_evenly(ask: Callable[..., list[Any]]) -> None:
    once, again, other = ask(("draws", 7, 10_000), ("draws", 7, 10_000), ("draws", 8, 10_000))
    assert once == again != other
    assert np.histogram(once, bins=10, range=(0, 1))[0] == pytest.approx(1000, abs=150)
    assert min(once) >= 0
    assert max(once) < 1


def test_perfect_play_holds_the_proved_bound(ask: Callable[..., list[Any]]) -> None:
    perfect, games = "book:minimax:nodes=2000,net=pretrained", []
    for seat in (0, 1):
        names = [perfect, "random"] if seat == 0 else ["random", perfect]
        games += [("game", "mancala-world", names, 1000 * seed) for seed in range(3)]
    for number, (call, game) in enumerate(zip(games, ask(*games), strict=True)):
        seat, (south, north) = number // 3, game["standings"]
        assert (south - north >= 12) if seat == 0 else (south - north <= 12), call


def test_a_player_loads_its_files_and_strategy_before_its_first_move(ask: Callable[..., list[Any]]) -> None:
    board = Board("tonkin")
    board.push("1A")
    before, later = ask(("prepared", "perfect", "tonkin", board.text()))[0]
    assert before == [["catalogue.json", "certificate-tonkin.npz", "net-tonkin.bin"], 1]
    assert later == [[], 1]


def test_the_worker_answers_in_order_and_drops_what_is_not_wanted(ask: Callable[..., list[Any]]) -> None:
    position = Board("mancala-world").text()
    requests, alike = ask(("requests", "mancala-world", position), ("alike", "greedy", "mancala-world", position))
    assert requests["log"] == [
        ["ppo:pretrained", position, "mancala-world"],
        ["left", "second"],
        ["python", 2],
        ["aborted", "first"],
        ["greedy", requests["log"][4][1]],
        ["over", "the game is over"],
        ["unknown"],
        ["notebook", True],
    ]
    assert requests["live"] == {"made": 2, "ended": 1}
    assert requests["log"][4][1] in best("greedy", Board("mancala-world"))
    assert len(set(alike)) == 1
