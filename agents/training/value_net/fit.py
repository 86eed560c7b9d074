"""Fitting a value net to valued positions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

from agents.networks.value_net import ValueModule
from agents.training.value_net.config import FitConfig
from agents.training.value_net.labels import Values
from oanquan_env import Positions, Rules, mirror
from oanquan_env.players.value_net import embedding_rows

Rows = npt.NDArray[np.int16]


def net_inputs(rules: Rules, positions: Positions) -> Rows:
    """(M, N, P * (F + 1)) what the net looks up of N positions and, if the rules allow it, of their mirror images."""
    images = [positions, mirror(positions, rules)] if rules.is_symmetric else [positions]
    return np.stack([embedding_rows(rules, image).astype(np.int16) for image in images])


def fit(
    module: ValueModule,
    inputs: Rows,
    values: Values,
    config: FitConfig,
    rng: np.random.Generator,
    progress: Callable[[float], None],
) -> float:
    """Train `module`, in place, to give the values of N positions.

    `values` are (N,) future margins in points, or (N, P) of all players, the mover's first. For `inputs` see
    `net_inputs`; at each step one of the images is drawn. The same seed of `rng` and threads give the same net.
    `progress` hears what share of the steps is done.

    Returns the root of the mean squared error in points, over the last tenth of the steps.
    """
    images, n = inputs.shape[:2]
    size = min(config.batch_size, n)
    steps = max(1, round(config.samples / size))
    taught = torch.from_numpy(inputs.reshape(images * n, -1))
    wanted = torch.from_numpy(values.astype(np.float32))
    optimizer = torch.optim.Adam(module.parameters(), lr=config.learning_rate, fused=True)
    errors = []
    order = rng.permutation(n)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * (1 + math.cos(math.pi * step / steps)) / 2
        begin = step * size % n
        if begin + size > n:
            order = np.concatenate([order[begin:], rng.permutation(n)])[:n]
        drawn = torch.from_numpy(np.resize(order[begin : begin + size], size))
        rows = taught[drawn + n * torch.from_numpy(rng.integers(0, images, size))].long()
        found = module(rows)
        loss = torch.nn.functional.huber_loss(found, wanted[drawn], delta=config.huber)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step >= steps - max(1, steps // 10):
            errors.append(float((found.detach() - wanted[drawn]).square().mean()))
        progress((step + 1) / steps)
    return math.sqrt(float(np.mean(errors)))
