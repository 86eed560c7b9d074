"""Test the page's books, values of first moves and hints in Node.js against their counterparts in Python."""

import base64
import io
import math
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Core, Rules
from oanquan_env.engine.notation import Move
from oanquan_env.files import npz_bytes, read_arrays
from oanquan_env.play.terminal import PREFERENCE
from oanquan_env.players import make
from oanquan_env.players.book import UNKNOWN, BookPolicy, with_book
from oanquan_env.proofs.bounds import Bounds
from oanquan_env.proofs.certificates import certificate_path
from oanquan_env.proofs.opening_values import opening_move_values
from tests.helpers.boards import played_board
from tests.helpers.certificates import SHIPPED
from tests.page.test_players import CUSTOM, FORFEIT, boards

NODES = 250_000


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
    answers = ask(*(("openings", str(group[0].rules), [board.text() for board in group]) for group in games))
    for group, found in zip(games, answers, strict=True):
        assert found == [
            [
                [move.action, *(int(bound) if math.isfinite(bound) else None for bound in bounds)]
                for move, bounds in known
            ]
            for known in (opening_move_values(board).items() for board in group)
        ]
        assert len(found[0]) == len(group[0].legal_moves)
    table = {"format": 1, "rules": "app", "plies": 3, "positions": []}
    damaged = {
        "format, rules: expected format 1 of app": {**table, "rules": "ludii"},
        "position 1: expected [squares, lower": {**table, "positions": [["", 1, 0]]},
        "position 2: expected [squares, lower": {**table, "positions": [["", None, 0], ["", 0, 0.5]]},
    }
    refused = ask(*(("openings", "app", [], content) for content in damaged.values()))
    for words, answer in zip(damaged, refused, strict=True):
        assert answer["detail"]["en"].startswith(f"opening-values-app.json, {words}")


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
