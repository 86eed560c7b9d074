"""A value net, the newest targets, and the gradient steps that fit one to the others."""

import math
from collections import deque

import numpy as np
import torch

from agents.networks.layers import POINTS_SCALE
from agents.networks.value_net import ValueModule
from agents.training.td.config import TDConfig
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats
from oanquan_env.engine.positions import turn_order
from oanquan_env.search.value_net import embedding_rows

LAST_RATE = 0.05
"""Of the step size, at the end."""


class Learner:
    """A net, and the newest rollouts that it is fitted to.

    Attributes:
        module: the net as a torch module.
        inputs: (M, S) int16, for each rollout its positions as `embedding_rows`.
        targets: (M,) float32 for two players, (M, P) for more, the mover's first.
        rollouts: how many it has learned from.
    """

    def __init__(self, core: Core, config: TDConfig) -> None:
        self.core = core
        self.config = config
        self.module = ValueModule(core.rules)
        torch.nn.init.zeros_(self.module.output.weight)  # at first a move's value is its gain
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=config.learning_rate, fused=True)
        self.inputs: deque[torch.Tensor] = deque(maxlen=config.replay)
        self.targets: deque[torch.Tensor] = deque(maxlen=config.replay)
        self.rollouts = 0

    def learn(self, positions: Positions, returns: Floats, done: float, rng: np.random.Generator) -> float:
        """Remember a rollout and take gradient steps; the root of the mean squared error before them, points.

        `returns` are (M, P) targets of M positions for the players, by seat, and `done` is the share of the run that is
        done, for the step size.
        """
        config = self.config
        for group in self.optimizer.param_groups:
            falling = (1 + math.cos(math.pi * min(done, 1.0))) / 2
            group["lr"] = config.learning_rate * (LAST_RATE + (1 - LAST_RATE) * falling)
        self._remember(positions, returns)
        inputs, targets = torch.cat(list(self.inputs)).long(), torch.cat(list(self.targets))
        steps = max(1, config.uses * len(positions) // config.batch_size)
        drawn = torch.from_numpy(rng.integers(0, len(targets), (steps, config.batch_size)))
        losses = [self._step(inputs[rows], targets[rows]) for rows in drawn]
        self.rollouts += 1
        return POINTS_SCALE * math.sqrt(np.mean(losses))

    def _remember(self, positions: Positions, returns: Floats) -> None:
        players = returns.shape[1]
        from_mover = np.take_along_axis(returns, turn_order(positions.mover, players), axis=1).astype(np.float32)
        self.inputs.append(torch.from_numpy(embedding_rows(self.core.rules, positions).astype(np.int16)))
        self.targets.append(torch.from_numpy(from_mover[:, 0].copy() if players == 2 else from_mover))

    def _step(self, inputs: torch.Tensor, targets: torch.Tensor) -> float:
        loss = ((self.module(inputs) - targets) / POINTS_SCALE).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())
