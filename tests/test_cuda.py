"""Test the environment on a CUDA device: its kernel compiles, and it plays the vector environment's games."""

from typing import Any

import numpy as np
import pytest

from oanquan_env import PRESETS, Rules
from oanquan_env.array_types import Mask
from oanquan_env.engine.step import SETTINGS, game_type
from oanquan_env.envs.vector import OAnQuanVectorEnv
from tests.helpers.players import random_legal
from tests.helpers.strategies import PRESET_NAMES

pytest.importorskip("numba_cuda", reason="needs the extra cuda")
torch = pytest.importorskip("torch")

import numba  # noqa: E402
from numba import cuda, types  # noqa: E402

from oanquan_env.cuda import CudaGames, kernel, step_game  # noqa: E402
from oanquan_env.engine.compiled import RULES  # noqa: E402
from oanquan_env.envs.games import Games  # noqa: E402

OPPONENTS = (None, "random", "greedy")


def actions_of(mask: Mask, rng: np.random.Generator) -> Any:
    """Return a random legal action for each row of `mask`; in 2 % of the rows, any action, which may be illegal."""
    legal = random_legal(mask, rng)
    return np.where(rng.random(len(mask)) < 0.02, rng.integers(mask.shape[1], size=len(mask)), legal)


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("preset", ["mancala-world", "three-player"])
def test_a_thread_plays_the_games_of_the_vector_environment(preset: str, opponent: str | None) -> None:
    """Run the function of a CUDA thread in Python, and compare its games with the vector environment's."""
    settings: Any = {"opponent": opponent, "reward": "mixed", "opening_plies": 3}
    rules = PRESETS[preset].rules.replace(max_plies=20)
    games, host = OAnQuanVectorEnv(4, rules, autoreset_mode="SameStep", **settings), Games(4, rules, **settings)
    rng, rows = np.random.default_rng(0), range(4)
    seen, info = games.reset(seed=5)
    host.seed(5, np.arange(4), rng)
    host.records["terminated"] = 1
    outputs = np.zeros_like(seen), np.zeros_like(info["action_mask"]), np.zeros(4), np.zeros(4, bool), np.zeros(4, bool)
    given = [games._games.core.numbers], *host.constants
    for row in rows:
        step_game(rules.players, host.kind, row, host.records, np.zeros(4, int), given, outputs)
    assert (outputs[0] == seen).all()
    ends = 0
    for _ in range(40):
        actions = actions_of(games.action_masks(), rng)
        seen, rewards, terminated, truncated, info = games.step(actions)
        for row in rows:
            step_game(rules.players, host.kind, row, host.records, actions, given, outputs)
        for mine, theirs in zip(outputs, (seen, info["action_mask"], rewards, terminated, truncated), strict=True):
            assert (mine == theirs).all()
        ends += (terminated | truncated).sum()
    assert ends > 4


@pytest.mark.parametrize("opponent", range(3))
@pytest.mark.parametrize("players", [2, 4])
def test_the_kernel_compiles_for_compute_capability_9(
    players: int, opponent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Device:
        compute_capability = (9, 0)

    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", Device)
    rules, games, settings = (
        numba.from_dtype(kind)[::1] for kind in (RULES, game_type(Rules(players=players)), SETTINGS)
    )
    outputs = types.int32[:, ::1], types.int8[:, ::1], types.float32[::1], types.UniTuple(types.boolean[::1], 2)
    signature = types.void(games, types.int64[::1], rules, games, settings, *outputs)
    code, _ = cuda.compile_ptx(kernel(players, opponent).py_func, signature, cc=(9, 0))  # type: ignore[attr-defined]
    assert ".target sm_90" in code
    assert "call." not in code  # everything is inlined


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_the_games_on_the_device_are_those_of_the_vector_environment(preset: str, opponent: str | None) -> None:
    settings: Any = {"opponent": opponent, "reward": "margin", "opening_plies": 4}
    host = OAnQuanVectorEnv(500, preset, autoreset_mode="SameStep", **settings)
    device = CudaGames(500, preset, **settings)
    seen, info = host.reset(seed=3)
    for mine, theirs in zip((seen, info["action_mask"]), device.reset(seed=3), strict=True):
        assert (mine == theirs.numpy(force=True)).all()
    rng = np.random.default_rng(0)
    for _ in range(200):
        actions = actions_of(host.action_masks(), rng)
        seen, rewards, terminated, truncated, info = host.step(actions)
        expected = seen, info["action_mask"], rewards.astype(np.float32), terminated, truncated
        for mine, theirs in zip(expected, device.step(torch.from_numpy(actions).cuda()), strict=True):
            assert (mine == theirs.numpy(force=True)).all()


def test_other_opponents_are_refused() -> None:
    with pytest.raises(ValueError, match="opponent must be random, greedy or None on a device; got 'saver'"):
        CudaGames(2, opponent="saver")
