"""The notebook's widget: by its messages, and in JupyterLab in a real browser."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import nbformat
import numpy as np
import pytest

import oanquan_env.play
from oanquan_env import Board, GameRecord, Match, Move, env
from oanquan_env.errors import MissingExtraError
from tests.boards import boards_of
from tests.browsers import Person

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PUZZLE = ("5A", "3A")
"""The moves of one of the shortest games."""
CELLS = (
    "from oanquan_env.play import BoardWidget\nwidget = BoardWidget(opponent='greedy')\nwidget",
    "print('played', *widget.board.history[:1], len(widget.board.history))",
    "from oanquan_env import Board\nwidget.board = Board('three-player')",
)


def widget(*arguments: Any, **options: Any) -> Any:
    pytest.importorskip("anywidget")
    return oanquan_env.play.BoardWidget(*arguments, **options)


def click(shown: Any, request: str, **arguments: Any) -> None:
    """What the browser sends."""
    shown._handle_custom_msg({"request": request, "arguments": arguments}, [])


def test_the_board_follows_what_is_clicked() -> None:
    begun = widget(opponent="greedy", seat=1)  # its opponent moves first
    assert (begun.board.ply, begun.state["turn"]) == (1, "person")
    for options, why in (({"seat": 2}, "seat must be 0 to 1"), ({"opponent": "nobody"}, "unknown player")):
        with pytest.raises(ValueError, match=why):
            widget(**options)
    shown = widget(opponent="greedy")
    click(shown, "move", move="3A", ply=0)
    assert str(shown.board.history[0]) == "3A"
    assert (shown.board.ply, shown.state["ply"], shown.state["turn"]) == (2, 2, "person")
    click(shown, "undo")
    assert shown.board == Board()
    click(shown, "hint")
    assert set(shown.hint["values"]) == {str(move) for move in Board().legal_moves}
    sent: list[Any] = []
    shown.send = sent.append
    click(shown, "move", move="9A", ply=0)  # it says so, and nothing changes
    assert sent == [{"trouble": "South cannot play 9A; legal: 1A, 1C, 2A, 2C, 3A, 3C, 4A, 4C, 5A, 5C"}]
    assert shown.board == Board()
    assert shown.hint is not None


def test_its_script_is_one_module_that_needs_no_other_file() -> None:
    """As VS Code and Colab ask for: they serve no files beside it."""
    script = widget()._esm
    assert not re.search(r"\bimport\b *[({\w*\"']", script)
    assert re.findall(r"^export .*", script, re.MULTILINE) == ["export default { render };"]


def replayed(shown: Any) -> list[str]:
    """The moves that Redo plays from the beginning."""
    assert shown.board.history == []
    moves = []
    while shown.state["can_redo"]:
        click(shown, "redo")
        moves.append(str(shown.board.history[-1]))
    return moves


def test_records_and_finished_episodes_are_replayed() -> None:
    game, moves = env(), iter(PUZZLE)
    game.reset()
    while game.agents:
        _, _, terminated, truncated, _ = game.last()
        game.step(None if terminated or truncated else Move.parse(next(moves)).action)
    answer = np.array([Move.parse(PUZZLE[1]).action])
    made = gymnasium.make("OAnQuan-v0", opponent=lambda positions, rng: answer, seat=0, render_mode="ansi")
    single: Any = made.unwrapped
    made.reset()
    made.step(Move.parse(PUZZLE[0]).action)
    for shown in (GameRecord.from_board(boards_of(*PUZZLE)[-1]), game.unwrapped.board, single.board):
        assert replayed(widget(shown)) == list(PUZZLE)
    made.reset()
    assert single.board == Board()
    with pytest.raises(ValueError, match="render_mode"):
        _ = gymnasium.make("OAnQuan-v0").unwrapped.board  # type: ignore[attr-defined]


def test_a_match_s_environment_knows_the_round_that_was_played_last() -> None:
    game, match = env(match=True), Match()
    game.reset()
    for moves in (PUZZLE, ("1A",)):
        for move in moves:
            game.step(Move.parse(move).action)
            match.step(Move.parse(move).action)
        assert [str(move) for move in game.unwrapped.board.history] == list(moves)
    assert (game.unwrapped.board.positions.squares == match.positions.squares).all()


def test_without_anywidget_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "oanquan_env.play.widget", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'oanquan\[widget\]'"):
        _ = oanquan_env.play.BoardWidget
    with pytest.raises(AttributeError, match="BoardWindow"):
        _ = oanquan_env.play.BoardWindow  # type: ignore[attr-defined]


def answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def jupyter(folder: Path) -> Iterator[str]:
    """JupyterLab over a folder; its address."""
    pytest.importorskip("jupyterlab")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--IdentityProvider.token="]
    command += [f"--ServerApp.port={port}", f"--ServerApp.root_dir={folder}"]
    places = {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **places, "PYTHONPATH": str(Path(__file__).parent.parent)}
    log = (folder / "log").open("w")
    with subprocess.Popen(command, stdout=log, stderr=log, env=environment) as process:
        try:
            end = time.monotonic() + 90
            while not answers(port):
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < end, (folder / "log").read_text()
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=60)
            log.close()


@pytest.mark.slow
def test_a_click_in_a_notebook_moves_the_board(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("anywidget")
    v4 = nbformat.v4
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in CELLS], metadata=kernel)
    nbformat.write(notebook, tmp_path / "game.ipynb")
    with jupyter(tmp_path) as address:
        page = browser.new_page()
        person = Person(page, ".oanquan-board")
        page.set_default_timeout(120_000)
        page.goto(f"{address}/lab/tree/game.ipynb")
        page.locator("#jp-main-statusbar", has_text="| Idle").wait_for()  # a cell run before that is at times dropped
        page.locator(".jp-Notebook .jp-Cell").first.click()
        page.keyboard.press("Shift+Enter")
        person.board.locator("select").select_option("none", force=True)
        person.fields.first.wait_for(state="attached")
        person.move("3A")
        person.waits_for("Your turn.")
        page.locator(".jp-Notebook .jp-Cell").nth(1).click()
        page.keyboard.press("Shift+Enter")
        page.locator(".jp-OutputArea-output", has_text="played 3A 2").wait_for()
        page.keyboard.press("Shift+Enter")
        person.board.locator(".hit").nth(17).wait_for(state="attached")
        assert person.errors == []
        page.close()
