"""Whatever comes in from outside is refused at the boundary, by name, or does no harm."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oanquan_env
import oanquan_env.play
from agents.training.ppo.config import TrainConfig
from oanquan_env import Core, GameRecord, IllegalActionError, Positions, Rules
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.errors import UsageError
from oanquan_env.players import ask_players
from oanquan_env.players.observed import as_policy
from oanquan_env.search.deepening import Limits, Search
from tests.boards import random_positions

ROOT = Path(__file__).parent.parent


class Answering:
    """A player whose answers to N positions are `answer(N)`."""

    def __init__(self, answer: Callable[[int], object]) -> None:
        self.answer = answer

    def choose(self, positions: Positions, rng: np.random.Generator) -> Any:
        return self.answer(len(positions))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.zeros(n, dtype=np.intp), "illegal action 0 in row"),
        (lambda n: np.full(n, -1), "illegal action -1 in row 0"),
        (lambda n: 3, r"actions must be 40 whole numbers, got int64 of shape \(\)"),
        (lambda n: np.full(n, 2.0), "actions must be 40 whole numbers, got float64 of shape"),
        (lambda n: [2] * (n + 1), "actions must be 40 whole numbers, got int64 of shape"),
    ],
)
def test_players_answer_with_a_legal_action_for_each_position(answer: Callable[[int], object], message: str) -> None:
    player, rng = Answering(answer), np.random.default_rng(0)
    with pytest.raises(IllegalActionError, match=message):
        regret(player, load_suite(Rules()).take(np.arange(40)), rng)
    if "whole" in message:
        with pytest.raises(IllegalActionError, match=message):
            ask_players([player], np.zeros(40, dtype=np.intp), Core().start(40), rng)


def test_an_unknown_part_of_a_suite_is_refused() -> None:
    with pytest.raises(ValueError, match="part must be development, test, all; got 'Test'"):
        oanquan_env.evaluate("greedy", opponents=[], part="Test")  # type: ignore[arg-type]


def test_threads_may_share_a_search() -> None:
    core = Core()
    positions, limits = random_positions(core, 64, seed=3), Limits(depth=5)
    search = Search(core, table_megabytes=1, threads=2)
    alone = search.best_moves(positions, limits)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: search.best_moves(positions, limits), range(12)))
    assert all(found == alone for found in together)


def run_python(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program in another folder, which finds its modules first and then ours."""
    env = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", **environment}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def test_another_project_s_package_called_agents_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text("")
    code = (
        "import oanquan_env.players as p\n"
        "for name in ('ppo:pretrained', 'gredy'):\n"
        "    try: p.make(name)\n"
        "    except ValueError as error: print(error)\n"
    )
    done = run_python(code, tmp_path)
    assert "ppo cannot be loaded from agents.players.ppo:PPO: No module named 'agents.players'" in done.stdout, (
        done.stderr
    )
    assert "did you mean greedy?" in done.stdout


def test_a_search_without_a_place_for_its_cache_is_compiled_anew(tmp_path: Path) -> None:
    code = (
        "import numba, sys\n"
        "def no_cache(self): raise RuntimeError('cannot cache function: no locator available for file')\n"
        "from numba.core.dispatcher import Dispatcher\n"
        "Dispatcher.enable_caching = no_cache\n"
        "import oanquan_env.search.compiled as c, numpy as np\n"
        "print(c.compiled(lambda x: x + 1)(1))\n"
    )
    done = run_python(code, tmp_path)
    assert done.stdout == "2\n", done.stderr
    assert done.stderr.count("set NUMBA_CACHE_DIR") == 1


@pytest.mark.parametrize("moves", [[0], [0, 8]])
def test_observations_stay_in_their_space_from_any_position(moves: list[int]) -> None:
    game = OAnQuanEnv(opponent=None, rules="max_plies=2")
    with pytest.raises(ValueError, match="scores must be -5 to 75"):
        game.reset(options={"position": "1,0,0,0,0,0*/0,0,0,0,0,0* 59,-10 0 0"})
    observation, _ = game.reset(options={"position": "1,0,0,0,0,0*/0,0,0,0,0,0* 54,-5 0 0"})
    assert game.observation_space.contains(observation)
    for move in moves:
        observation, _, terminated, truncated, _ = game.step(move)
        assert game.observation_space.contains(observation)
        if terminated or truncated:
            break


def test_torch_modules_that_cannot_play_are_refused_by_name() -> None:
    torch = pytest.importorskip("torch")
    core, positions = Core(), Core().start(2)

    class Fixed(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, output: Any) -> None:
            super().__init__()
            self.output = output

        def forward(self, observations: Any) -> Any:
            return self.output

    def choose(output: Any) -> Any:
        return as_policy(Fixed(output), core).choose(positions, np.random.default_rng(0))

    with pytest.raises(ValueError, match="NaN for a legal action in row 1"):
        choose(torch.tensor([[0.0] * 10, [float("nan")] * 10]))
    with pytest.raises(UsageError, match=r"a module returns logits, .*; got dict"):
        choose({"logits": torch.zeros(2, 10)})
    assert core.legal_mask(positions)[np.arange(2), choose(torch.full((2, 10), -torch.inf))].all()


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
def test_torch_modules_of_any_precision_play(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.Linear(18, 10).to(getattr(torch, dtype))
    core, positions = Core(), Core().start(2)
    chosen = as_policy(module, core).choose(positions, np.random.default_rng(0))
    assert core.legal_mask(positions)[np.arange(2), chosen].all()


def test_a_class_that_takes_no_core_gets_none() -> None:
    class Deep(Answering):
        def __init__(self, depth: int = 3) -> None:
            self.depth = depth

    assert as_policy(Deep, Core()).depth == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(("command", "closed"), [("show", 1), ("show", 2), ("play --opponent greedy", 0)])
def test_closed_streams_end_no_command_in_a_traceback(command: str, closed: int) -> None:
    shell = f"{sys.executable} -m oanquan_env {command} {closed}>&-"
    done = subprocess.run(shell, shell=True, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 2)


def test_headers_of_records_are_texts() -> None:
    for headers in ({"South": 3}, {3: "South"}):
        with pytest.raises(TypeError, match="headers are texts; got"):
            GameRecord(Rules(), (), headers=headers)  # type: ignore[arg-type]


def test_a_widget_minds_no_message_of_another_form() -> None:
    pytest.importorskip("anywidget")
    widget = oanquan_env.play.BoardWidget()
    before = widget.state
    for message in ("hint", 3, None, ["request"]):
        widget._answer(widget, message, None)
    assert widget.state == before


@pytest.mark.parametrize("settings", [{"ppo": {"clip_range": 1e308}}, {"evaluation": {"pairs": 10**15}}])
def test_settings_that_would_fail_late_are_refused_at_once(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="less than or equal to"):
        TrainConfig.model_validate(settings)
