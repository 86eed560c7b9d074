"""Play N games on a CUDA device and return torch tensors. A kernel runs the step of `engine.step`.

Each thread plays one game. The module needs the extra `cuda`, which installs torch and numba-cuda.

    games = CudaGames(65_536, opponent="greedy")
    observation, mask = games.reset(seed=0)
    observation, reward, terminated, truncated, mask = games.step(actions)
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from oanquan_env.engine.compiled import RULES, inlined, zeros
from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.engine.step import act, finish
from oanquan_env.envs.arguments import Seat
from oanquan_env.envs.games import Games
from oanquan_env.errors import UsageError, needing_extra
from oanquan_env.observation import Encoder

with needing_extra("cuda"):
    import torch
    from numba import cuda

THREADS = 128
"""Threads per block."""
NO_FIELD = 63
"""An action that is always illegal; it replaces actions outside the action space."""


class Row(NamedTuple):
    """One row of an array, in the form that `engine.step` takes."""

    row: Any


class Outputs(NamedTuple):
    """The outputs of a step of N games: (N, D) int32, (N, A) int8, (N,) float32, (N,) bool and (N,) bool tensors."""

    observation: Any
    mask: Any
    reward: Any
    terminated: Any
    truncated: Any


@inlined
def step_game(players: int, opponent: int, row: int, games: Any, actions: Any, constants: Any, outputs: Any) -> None:
    """Step the game in one row and write the row of each output. If the step ends the game, also begin a new game.

    `constants` holds the rules, the start position and the settings, each as an array of one entry.
    `outputs` holds the arrays of `Outputs`, in that order.
    """
    rules, start, settings = constants[0][0], constants[1][0], constants[2][0]
    game, action = games[row], actions[row]
    if action < 0 or action >= 2 * rules.fields:
        action = NO_FIELD
    while True:
        act(rules, players, opponent, game, action, start, settings, actions[:0])  # no log
        finish(rules, players, opponent, game, settings, Row(outputs[0][row]), Row(outputs[1][row]))
        if game.begun:
            return
        outputs[2][row] = game.reward
        outputs[3][row], outputs[4][row] = game.terminated != 0, game.truncated != 0
        if not (game.terminated or game.truncated):
            return


@functools.cache
def kernel(players: int, opponent: int) -> Callable[..., Any]:
    """Return the kernel for a number of players and a kind of opponent; its first launch compiles it."""

    def step(
        games: Any, actions: Any, rules: Any, start: Any, settings: Any, obs: Any, masks: Any, rewards: Any, ends: Any
    ) -> None:
        row = cuda.grid(1)
        if row < len(games):
            constants, outputs = (rules, start, settings), (obs, masks, rewards, ends[0], ends[1])
            step_game(players, opponent, row, games, actions, constants, outputs)

    compiled: Callable[..., Any] = cuda.jit(step)
    return compiled


class CudaGames:
    """N games that restart in the step that ends them; their final observations are not returned.

    The games are the same as in an `OAnQuanVectorEnv` with the same arguments and seed and `autoreset_mode="SameStep"`.
    Each call overwrites the tensors of the previous call and runs on torch's current stream.

    Args:
        n: the number of games.
        rules: a `Rules` or its text.
        opponent: `random`, `greedy`, or None for the self-play view.
        seat, reward, opening_plies: as for `OAnQuanEnv`.
        device: a torch CUDA device.

    Raises `ValueError` for an opponent other than these three, for a list of rules, if torch cannot use `device` as a
    CUDA device, and in the same cases as `OAnQuanVectorEnv`.
    """

    def __init__(
        self,
        n: int,
        rules: Rules | str = DEFAULT_PRESET,
        *,
        opponent: str | None = None,
        seat: Seat = "random",
        reward: str = "outcome",
        opening_plies: int = 0,
        device: str = "cuda",
    ) -> None:
        if opponent not in (None, "random", "greedy"):
            raise ValueError(f"opponent must be random, greedy or None on a device; got {opponent!r}")
        if not isinstance(rules, Rules | str):
            raise UsageError(
                f"rules must be one rule set on a device, got a {type(rules).__name__}; OAnQuanVectorEnv plays a list"
            )
        if not (torch.cuda.is_available() and device.partition(":")[0] == "cuda"):
            raise UsageError(
                f"device must be a CUDA device that torch {torch.__version__} can use; got {device!r}; "
                "without one, play the same games with OAnQuanVectorEnv"
            )
        settings: Any = {"seat": seat, "reward": reward, "opening_plies": opening_plies}
        self._host = Games(n, rules, opponent=opponent, **settings)
        self.core: Core = self._host.core
        self.encoder: Encoder = self._host.encoder
        with torch.device(device):
            self.observation = torch.zeros((n, self.encoder.size), dtype=torch.int32)
            self.mask = torch.zeros((n, self.core.rules.actions), dtype=torch.int8)
            self.reward = torch.zeros(n)
            self.terminated, self.truncated = torch.zeros((2, n), dtype=torch.bool)
            self._no_actions = torch.zeros(n, dtype=torch.int64)
        self._rules_array = zeros(RULES, 1)
        self._rules_array[0] = self.core.record
        self._arguments: tuple[Any, ...] = ()
        self._blocks = -(-n // THREADS)
        self._kernel = kernel(self.core.rules.players, self._host.kind)

    def reset(self, seed: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Restart all games; the game in row i gets `seed` + i as its seed. Return observations and masks.

        Without `seed`, the first reset draws random seeds, and later resets repeat the games of the last reset. Raises
        `ValueError` if, in some row, the opponent ended 100 new games before the agent's first move.
        """
        host, rows = self._host, np.arange(len(self._host.records))
        host.seed(seed, rows, np.random.default_rng())
        host.records["terminated"] = 1
        tensors = self.observation, self.mask, self.reward, (self.terminated, self.truncated)
        observations, masks, rewards = (cuda.as_cuda_array(tensor, sync=False) for tensor in tensors[:3])
        ends = tuple(cuda.as_cuda_array(tensor, sync=False) for tensor in tensors[3])
        constants = (cuda.to_device(array) for array in (self._rules_array, *host.constants))
        self._arguments = *constants, observations, masks, rewards, ends
        self._games = cuda.to_device(host.records)
        self.step(self._no_actions)
        if not self.mask.any(dim=1).all():
            raise ValueError(f"the opponent ended games of '{self.core.rules}' before the agent's first move")
        return self.observation, self.mask

    def step(self, actions: torch.Tensor) -> Outputs:
        """Play (N,) int64 `actions` on the device and the opponent's replies; an action out of range is illegal."""
        stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
        launch = self._kernel[self._blocks, THREADS, stream]  # type: ignore[index]
        launch(self._games, cuda.as_cuda_array(actions, sync=False), *self._arguments)
        return Outputs(self.observation, self.mask, self.reward, self.terminated, self.truncated)
