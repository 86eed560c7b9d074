"""Test the page's players, books, hints and worker in Node.js against their counterparts in Python."""

import base64
import functools
import io
import json
import math
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Core, Rules
from oanquan_env.engine.notation import Move
from oanquan_env.files import npz_bytes, read_arrays
from oanquan_env.play.levels import LEVELS, player_of
from oanquan_env.play.terminal import PREFERENCE
from oanquan_env.players import SaverPolicy, make, move_gains
from oanquan_env.players.book import UNKNOWN, BookPolicy, with_book
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.proofs.bounds import Bounds
from oanquan_env.proofs.certificates import certificate_path
from oanquan_env.proofs.opening_values import opening_move_values
from oanquan_env.rule_sets import split
from oanquan_env.search.any_rules_net import AnyRulesNet, read_any_rules_net
from oanquan_env.search.search_state import TWO_PLAYER_RULES
from oanquan_env.search.value_net import read_value_net
from tests.helpers.boards import played_board
from tests.helpers.certificates import SHIPPED
from tests.helpers.node import CALLS, answers_of, run_node
from tests.helpers.strategies import PRESET_NAMES
from tests.search.test_any_rules_net import random_any_rules_net
from tools.write_page import any_rules_bytes, net_bytes

FORFEIT = "app refill=forfeit"
CUSTOM = "app stone_value=5 sowing=clockwise"
RANDOM = random_any_rules_net()
NODES = 250_000
SEARCHES = {
    2: ("minimax:depth=5", "minimax:nodes=3000", "minimax:depth=3,net=pretrained", "minimax:nodes=3000,net=pretrained"),
    3: ("maxn:nodes=2000", "maxn:depth=2,net=pretrained", "maxn:nodes=2000,net=pretrained"),
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[Any]]:
    """Return a function that runs calls in one Node.js process and returns each call's value or error message."""
    folder = tmp_path_factory.mktemp("nets")
    (folder / "net-any.bin").write_bytes(any_rules_bytes(read_any_rules_net()))
    (folder / "net-random.bin").write_bytes(any_rules_bytes(RANDOM))
    for name in PRESET_NAMES:
        (folder / f"net-{name}.bin").write_bytes(net_bytes(read_value_net("pretrained", name)))

    def asked(*calls: tuple[Any, ...]) -> list[Any]:
        given = json.dumps({"folder": str(folder), "calls": calls})
        return answers_of(run_node(CALLS / "players.mjs", stdin=given))

    return asked


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
    net = AnyRulesNet.from_bytes(RANDOM.to_bytes())
    for name, answer in zip(names, ask(*(("fold", "net-random.bin", name) for name in names)), strict=True):
        page, mine = (
            np.frombuffer(content, weights)[0] for content in (base64.b64decode(answer), net_bytes(net.for_rules(name)))
        )
        for part in ("embedding", "hidden_weight"):
            assert np.abs(page[part].astype(int) - mine[part]).max() <= 1, (name, part)
        for part in ("hidden_bias", "output_weight", "output_bias"):
            np.testing.assert_allclose(page[part], mine[part], rtol=1e-4, atol=1e-4 * np.abs(mine[part]).max())


def test_players_prefer_the_same_moves_as_in_python(ask: Callable[..., list[Any]]) -> None:
    calls, wanted = [], []
    for rules in (*PRESET_NAMES, FORFEIT, "three-player refill=forfeit", CUSTOM):
        parsed = Rules.parse(rules)
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


# ---- proofs ----------------------------------------------------------------------------------------------------------


def certified_games(preset: str, count: int) -> list[Board]:
    """Return games in which one seat mostly follows the certificate and the other plays randomly; half start late."""
    book, rng, games = with_book(make("random", preset), Rules.parse(preset)), np.random.default_rng(5), []
    assert isinstance(book, BookPolicy)
    for number in range(count):
        start = Core(preset).start()
        start.mover[0], start.ply[0] = number % 4 // 2, (0, 0, 161, 172)[number % 4]
        board = Board.from_positions(Core(preset), start)
        while board.outcome is None and len(board.history) < 40:
            known = int(book.known(board.positions)[0])
            follows = board.mover == number % 2 and known != UNKNOWN and rng.random() < 0.97
            board.push(Move.from_action(known) if follows else board.legal_moves[rng.integers(len(board.legal_moves))])
        games.append(board)
    return games


@pytest.mark.slow
def test_the_book_knows_the_same_moves_as_in_python(ask: Callable[..., list[Any]]) -> None:
    calls, wanted = [], []
    for preset in ("tonkin", "app"):
        book, histories, known = with_book(make("random", preset), Rules.parse(preset)), [], []
        assert isinstance(book, BookPolicy)
        for board in (board for game in certified_games(preset, 8) for board in game.boards()):
            action = UNKNOWN if board.outcome else int(book.known(board.positions)[0])
            histories.append((board.start().text(), [move.action for move in board.history]))
            known.append(None if action == UNKNOWN else action)
        assert 15 < sum(action is not None for action in known) < len(known) - 15
        calls.append(("book", preset, histories))
        wanted.append(known)
    assert ask(*calls) == wanted


def test_damaged_certificates_are_refused_with_the_place(ask: Callable[..., list[Any]]) -> None:
    whole = certificate_path(Rules.parse("tonkin")).read_bytes()
    arrays = read_arrays(whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = archive.infolist()
    damaged = {
        f"{member.filename}, byte {member.header_offset}: its checksum": flipped(whole, member.header_offset + 90)
        for member in members
    }
    damaged |= {
        "lower: expected a bound, moves, and edges": npz_bytes(**arrays | {"lower_again": arrays["lower_moves"]}),
        "rules: found app, expected tonkin": npz_bytes(**arrays | {"rules": np.array("app")}),
        "format: found 2, expected 1": npz_bytes(**arrays | {"format": np.array(2)}),
        "lower.npy, byte": npz_bytes(**arrays | {"lower": np.array(5.0)}),
    }
    start = [(Board("tonkin").text(), [])]
    answers = ask(*(("book", "tonkin", start, base64.b64encode(content).decode()) for content in damaged.values()))
    for words, answer in zip(damaged, answers, strict=True):
        assert answer["code"] == "request"
        assert answer["detail"]["en"].startswith(f"certificate-tonkin.npz, {words}")
        assert answer["detail"]["vi"].startswith("Tệp hỏng: certificate-tonkin.npz, ")


def flipped(content: bytes, place: int) -> bytes:
    """Return the content with one bit of the byte at `place` changed."""
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def test_values_of_first_moves_are_those_of_the_table_and_damaged_ones_are_refused(
    ask: Callable[..., list[Any]],
) -> None:
    games = [[played_board(preset, seed, plies) for plies in range(6) for seed in range(5)] for preset in SHIPPED]
    answers = ask(*(("openings", str(boards[0].rules), [board.text() for board in boards]) for boards in games))
    for boards, found in zip(games, answers, strict=True):
        assert found == [
            [
                [move.action, *(int(bound) if math.isfinite(bound) else None for bound in bounds)]
                for move, bounds in known
            ]
            for known in (opening_move_values(board).items() for board in boards)
        ]
        assert len(found[0]) == len(boards[0].legal_moves)
    table = {"format": 1, "rules": "app", "plies": 3, "positions": []}
    damaged = {
        "format, rules: expected format 1 of app": {**table, "rules": "ludii"},
        "position 1: expected [squares, lower": {**table, "positions": [["", 1, 0]]},
        "position 2: expected [squares, lower": {**table, "positions": [["", None, 0], ["", 0, 0.5]]},
    }
    refused = ask(*(("openings", "app", [], content) for content in damaged.values()))
    for words, answer in zip(damaged, refused, strict=True):
        assert answer["detail"]["en"].startswith(f"opening-values-app.json, {words}")


# ---- hints, games, the worker ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_hints_are_pythons_values_within_the_proved_bounds(ask: Callable[..., list[Any]]) -> None:
    asked = [(boards(name, count)[-1], True) for name, count in (("app", 2), ("four-player", 6), (FORFEIT, 7))]
    asked.append((boards(CUSTOM, 3)[-1], True))
    asked.append((Board.parse("2,3,1,0,0,4*/3,0,1,2,0,0 22,22 0 30", FORFEIT), True))  # 3A ends the game
    asked += [(Board("mancala-world"), False), (Board.parse("2,2,1,0,0,0*/0,0,1,0,0,0 30,24 0 196"), True)]
    calls = [("hint", str(board.rules), board.text(), {"nodes": NODES, "proved": on}) for board, on in asked]
    answers = ask(*calls)
    assert answers[-1]["search"]["proved"]
    for (board, proved), found in zip(asked, answers, strict=True):
        rules = board.rules
        analysis = make(reviewer(rules), rules).analyse(board)
        certain = proved and analysis.proved
        bounds = opening_move_values(board) if proved and rules.players == 2 else {}
        within = {move: bounds.get(move, Bounds()) for move in board.legal_moves}
        others = [score for seat, score in enumerate(board.scores) if seat != board.mover]
        lead = board.scores[board.mover] - sum(others) / len(others)
        final = {move: lead + min(max(analysis.values[move], lower), upper) for move, (lower, upper) in within.items()}
        exact = [move for move in final if certain or within[move].meet]
        ranked = sorted(final, key=lambda move: -final[move])
        best, book = ranked[0], with_book(make("random", rules), rules)
        known = int(book.known(board.positions)[0]) if proved and isinstance(book, BookPolicy) else UNKNOWN
        if known != UNKNOWN:
            move = Move.from_action(known)
            least = final[best] if {move, best} <= {*exact} else final[best] - PREFERENCE
            best = move if final[move] >= least else best
        trace = board.sowing(best)
        net = {FORFEIT: None, CUSTOM: "any"}.get(str(rules), str(rules))
        assert (found["search"].pop("nodes") > 0) == (rules.refill == "borrow")  # 0: more nodes would not help
        assert found == {
            "player": adviser(rules),
            "best": str(best),
            "values": {str(move): math.floor(final[move] + 0.5) for move in ranked},
            "exact": [str(move) for move in ranked if move in exact],
            "captured": [trace.captured, sum(capture.stones for capture in trace.captures)],
            "search": {"proved": len(exact) == len(final), "depth": analysis.depth, "net": net},
        }
        assert list(found["values"]) == [str(move) for move in ranked]


@pytest.mark.slow
def test_openings_and_hints_show_the_same_values_and_search_only_where_the_table_ends(
    ask: Callable[..., list[Any]],
) -> None:
    known, beyond = Board("ludii"), played_board("ludii", 1, 9)
    in_table, searched = ask(*(("values", "ludii", board.text()) for board in (known, beyond)))
    assert (in_table["search"]["proved"], in_table["search"]["nodes"]) == (True, 0)
    assert in_table["values"] == {str(move): bound.lower for move, bound in opening_move_values(known).items()}
    assert searched["search"]["nodes"] > 0
    for answer, board in ((in_table, known), (searched, beyond)):
        sign = 1 - 2 * board.mover
        assert answer["shown"] == {move: sign * value for move, value in answer["values"].items()}
        assert answer["asked"] == 1  # although the first request was dropped


def reviewer(rules: Rules, nodes: int = NODES) -> str:
    """Return the name of the player that values moves under these rules by a search of `nodes` moves."""
    if rules.refill == "forfeit":
        return "maxn:depth=6"
    return f"{'minimax' if rules.players == 2 else 'maxn'}:nodes={nodes},net=pretrained"


def adviser(rules: Rules) -> str:
    """Return the name of the player that the page asks for the values of moves."""
    return f"book:{reviewer(rules, 1_000_000)}"


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
    ]
    assert requests["live"] == {"made": 2, "ended": 1}
    assert requests["log"][4][1] in best("greedy", Board("mancala-world"))
    assert len(set(alike)) == 1
