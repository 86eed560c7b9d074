"""Test the notebook widget through its messages, and in a browser with JupyterLab and with a saved notebook."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from oanquan_env import Board, GameRecord, Match, Move, env, parse_records
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.errors import MissingExtraError
from tests import ROOT
from tests.helpers.boards import boards_of
from tests.helpers.browsers import Person

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PUZZLE = ("5A", "3A")
"""The moves of one of the shortest games."""
CELLS = (
    "from oanquan_env.play.widget import BoardWidget\n"
    "widget = BoardWidget(opponent='tests.helpers.players:FirstMove')\nwidget",
    "print('played', *widget.board.history)",
    "from oanquan_env import Board\nwidget.board = Board('three-player')",
)


def widget(*arguments: Any, **options: Any) -> Any:
    pytest.importorskip("anywidget")
    from oanquan_env.play.widget import BoardWidget

    return BoardWidget(*arguments, **options)


def test_python_follows_the_game_in_the_browser() -> None:
    for options, why in (({"seat": 2}, "seat must be 0 to 1"), ({"opponent": "nobody"}, "unknown player")):
        with pytest.raises(ValueError, match=why):
            widget(**options)
    shown = widget(opponent="easy", seat=1)
    assert (shown.board, shown.begin["seats"]) == (Board(), ["easy", "human"])
    played = {"number": 1, "record": str(GameRecord.from_board(boards_of("3A", "1A")[-1]))}
    shown.set_state({"game": played})
    assert (shown.board, shown.board.history) == (boards_of("3A", "1A")[-1], [Move.parse("3A"), Move.parse("1A")])
    shown.board = boards_of("5A", rules="three-player")[-1]
    shown.set_state({"game": played})  # a late message of the previous game
    assert (shown.board, shown.begin["seats"]) == (boards_of("5A", rules="three-player")[-1], ["easy", "human", "easy"])
    assert {"drawing-2-5.json", "drawing-3-5.json", "catalogue.json", "engine.wasm"} <= set(shown.files)
    nets = {"mancala-world max_plies=90": "mancala-world", "app stone_value=5": "any"}
    for rules, net in nets.items():
        assert [name for name in widget(rules).files if name.startswith("net-")] == [f"net-{net}.bin"]
    assert "net-any.bin" in widget(opponent="minimax:depth=2,net=any").files
    shown.puzzle("easy", 2)
    assert shown.begin["puzzle"] == {"level": "easy", "number": 2}
    with pytest.raises(ValueError, match="levels are first, easy"):
        shown.puzzle("hopeless")


def test_players_of_python_answer_the_browser() -> None:
    shown, sent = widget(opponent="tests.helpers.players:FirstMove"), list[Any]()
    shown.send = sent.append
    question = {"rules": "mancala-world", "position": Board().text()}
    for player in ("tests.helpers.players:FirstMove", "tests.helpers.players:LastMove"):
        shown._handle_custom_msg({"number": 7, "choose": {**question, "player": player}}, [])
    shown._handle_custom_msg("hello", [])  # not from our page
    assert sent[0] == {"number": 7, "move": "1A"}
    assert (sent[1]["error"]["code"], len(sent)) == ("player", 2)  # it was not named in Python


def test_its_script_is_one_module_that_needs_no_other_file() -> None:
    """VS Code and Colab require this, because they serve no other files."""
    script = widget()._esm
    assert not re.search(r"\bimport\b *[({\w*\"']|import\.meta", script)
    exported = ["export const modules = {};", 'export default modules["widget.js"].widget;']
    assert re.findall(r"^export .*", script, re.MULTILINE) == exported


def test_records_and_finished_episodes_begin_at_their_first_position() -> None:
    game, actions = env(), [Move.parse(move).action for move in PUZZLE]
    single = OAnQuanEnv(opponent=lambda positions, rng: np.array(actions[1:]), seat=0, render_mode="ansi")
    game.reset()
    single.reset()
    for action in actions:
        game.step(action)
    single.step(actions[0])
    record = GameRecord.from_board(boards_of(*PUZZLE)[-1], {"South": "Lan", "Round": "2"}, {1: "bad"})
    for ended in (record, game.unwrapped.board, single.board):
        shown = widget(ended)
        assert (shown.board, shown.begin["rewind"]) == (Board(), True)
        (kept,) = parse_records(shown.begin["text"])
        assert kept.moves == record.moves
        if ended is record:
            assert (dict(kept.headers), dict(kept.comments)) == ({"South": "Lan"}, {1: "bad"})
    single.reset()
    assert single.board == Board()
    with pytest.raises(ValueError, match="render_mode"):
        _ = OAnQuanEnv().board


SAVED = """
from oanquan_env import Board
from oanquan_env.play.widget import BoardWidget
board = Board()
board.push("5A")
board.push("3A")
shown = BoardWidget(opponent="easy"), BoardWidget(board)
"""
SHOW = """async ({ state, buffers }) => {
    const script = URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" }));
    const made = (await import(script)).default(), nothing = () => {};
    const bytes = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
    for (const { path: [trait, name], data } of buffers) state[trait][name] = bytes(data);
    const model = { get: (name) => state[name], set: (name, value) => { state[name] = value; } };
    Object.assign(model, { save_changes: nothing, on: nothing, off: nothing });
    await made.initialize({ model });
    made.render({ model, el: document.body });
    window.state = state;
}"""
"""A script that shows a widget of a saved notebook without a kernel."""


@pytest.mark.slow
def test_a_saved_notebook_plays_on_without_a_kernel(browser: Browser) -> None:
    pytest.importorskip("anywidget")
    nbclient, v4 = pytest.importorskip("nbclient"), pytest.importorskip("nbformat.v4")
    notebook = v4.new_notebook(cells=[v4.new_code_cell(SAVED)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    saved = notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()
    game, finished = (Person(browser.new_page(reduced_motion="reduce"), ".oanquan-board") for _ in range(2))
    for person, model in zip((game, finished), (one for one in saved if "_esm" in one["state"]), strict=True):
        person.page.evaluate(SHOW, model)

    def record(person: Person, ply: int) -> str:
        person.page.wait_for_function("ply => state.game?.record?.match(/[1-9][AC]/g)?.length === ply", arg=ply)
        return str(person.page.evaluate("state.game.record"))

    game.move("3A")
    assert str(parse_records(record(game, 2))[0].moves[0]) == "3A"
    game.press("hint")
    game.waits_for("Try ")
    for ply in (1, 2):
        finished.press("redo")
        record(finished, ply)
    finished.waits_for("The game is over.")
    assert game.errors == finished.errors == []
    game.page.close()
    finished.page.close()


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
    with pytest.raises(MissingExtraError, match=r'pip install -e "\.\[widget\]"'):
        importlib.import_module("oanquan_env.play.widget")


def answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def jupyter(folder: Path) -> Iterator[str]:
    """Run JupyterLab in a folder and yield its address."""
    pytest.importorskip("jupyterlab")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--IdentityProvider.token="]
    command += [f"--ServerApp.port={port}", f"--ServerApp.root_dir={folder}"]
    places = {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **places, "PYTHONPATH": str(ROOT)}
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
    import nbformat
    from nbformat import v4

    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in CELLS], metadata=kernel)
    nbformat.write(notebook, tmp_path / "game.ipynb")
    with jupyter(tmp_path) as address:
        page = browser.new_page()
        person = Person(page, ".oanquan-board")
        page.set_default_timeout(120_000)
        page.goto(f"{address}/lab/tree/game.ipynb")
        page.locator("#jp-main-statusbar", has_text="| Idle").wait_for()  # a cell run earlier is sometimes dropped
        page.locator(".jp-Notebook .jp-Cell").first.click()
        page.keyboard.press("Shift+Enter")
        person.board.locator("select").select_option("none", force=True)
        person.fields.first.wait_for(state="attached")
        person.move("3A")
        person.waits_for("To win, capture more points than")  # the second turn
        page.locator(".jp-Notebook .jp-Cell").nth(1).click()
        page.keyboard.press("Shift+Enter")
        page.locator(".jp-OutputArea-output", has_text="played 3A 1A").wait_for()
        page.keyboard.press("Shift+Enter")
        person.board.locator(".hit").nth(17).wait_for(state="attached")
        assert person.errors == []
        page.close()
