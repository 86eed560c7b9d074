"""Learn what moves are worth from files of positions, without playing a game; evaluated by regret.

    python -m agents.training.datasets --output out/data --positions 100000 --depth 8 --net pretrained
    python -m examples.offline_learning out/data --epochs 10

A network with one hidden layer is fitted to the values of all legal moves, and plays the move of the highest value.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch

from agents.training.datasets import ABOUT_NAME, read_columns
from examples.scoring import Features
from oanquan_env import Core
from oanquan_env.arrays import Ints, Mask
from oanquan_env.benchmark.evaluation import Evaluation, evaluate
from oanquan_env.observation import Observation

POINTS = 10.0
"""Points of one unit of the network's outputs."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("data", type=Path, metavar="FOLDER", help="what python -m agents.training.datasets wrote")
    add("--epochs", type=int, default=10, help="times that each position is used (default: %(default)s)")
    add("--batch-size", type=int, default=256, help="positions of a gradient step (default: %(default)s)")
    add("--width", type=int, default=256, help="of the hidden layer (default: %(default)s)")
    add("--learning-rate", type=float, default=1e-3, help="of Adam at the start; it falls to 0 (default: %(default)s)")
    add("--seed", type=int, default=0, help="of all chance (default: %(default)s)")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> Evaluation:
    """Train and evaluate; returns the evaluation."""
    options = parse(arguments)
    core = Core(json.loads((options.data / ABOUT_NAME).read_text(encoding="utf-8"))["asked"]["rules"])
    files = [read_columns(path) for path in sorted(options.data.glob("positions-*.npz"))]
    features, rng = Features(core), np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(
        torch.nn.Linear(features.size, options.width),
        torch.nn.ReLU(),
        torch.nn.Linear(options.width, core.rules.actions),
    )
    seen = torch.from_numpy(np.concatenate([features(one["observations"]) for one in files]))
    values = torch.from_numpy(np.concatenate([one["values"] for one in files])) / POINTS
    optimizer = torch.optim.Adam(net.parameters(), lr=options.learning_rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, options.epochs)
    for epoch in range(options.epochs):
        errors = []
        for rows in torch.from_numpy(rng.permutation(len(seen))).split(options.batch_size):
            wanted = values[rows]
            legal = wanted.isfinite()
            loss = torch.nn.functional.huber_loss(net(seen[rows])[legal], wanted[legal])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            errors.append(loss.item())
        schedule.step()
        print(f"epoch {epoch + 1}: loss {np.mean(errors):.4f}", flush=True)

    def choose(observations: Observation, masks: Mask) -> Ints:
        with torch.no_grad():
            found = net(torch.from_numpy(features(observations))).numpy()
        return np.where(masks, found, -np.inf).argmax(axis=1)

    found = evaluate(choose, core.rules, opponents=(), label="offline", part="development")
    print(found)
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
