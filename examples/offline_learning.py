"""Learn the values of positions from files, without playing a game, and measure the regret.

    python -m agents.position_data --output out/data --positions 100000 --depth 8 --net pretrained
    python -m examples.offline_learning out/data --save out/offline.npz

The value of a move is the margin that it wins at once plus the mover's value of the next position, which is the
negative of the next player's value. So every legal move that does not end the game gives one training example. A value
net is fitted to all examples. The player with this net chooses the move with the largest estimated value.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

import numpy as np

from oanquan_env import Core
from oanquan_env.array_types import Floats, Ints
from oanquan_env.benchmark.evaluation import Evaluation, evaluate
from oanquan_env.engine.core import relative_points
from oanquan_env.errors import needing_extra
from oanquan_env.files import check_place, read_json, write_atomically
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import MaxnSearch
from oanquan_env.search.value_net import embedding_rows

with needing_extra("train", "examples.offline_learning" if __name__ == "__main__" else None):
    import torch

    from agents.config import progress_bar
    from agents.folders import ABOUT_NAME
    from agents.networks.value_nets import ValueModule
    from agents.position_data import read_columns, read_positions


def parse(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("data", type=Path, metavar="FOLDER", help="folder written by python -m agents.position_data")
    add("--epochs", type=int, default=10, help="passes over the data (default: %(default)s)")
    add("--batch-size", type=int, default=1024, help="positions per gradient step (default: %(default)s)")
    add("--learning-rate", type=float, default=3e-3, help="initial learning rate; falls to 0 (default: %(default)s)")
    add("--seed", type=int, default=0, help="seed of all randomness (default: %(default)s)")
    add("--save", type=Path, metavar="FILE", help="write the value net to this .npz file")
    return parser.parse_args(arguments)


def afterstates(core: Core, path: Path) -> tuple[Ints, Floats]:
    """Return (M, S) `embedding_rows` and (M,) movers' values of the running positions after the moves in a file."""
    before, values = read_positions(path, core), read_columns(path)["values"]
    after, rows, actions = core.expand(before)
    won = relative_points(core.standings(after) - before.scores[rows])[np.arange(len(rows)), before.mover[rows]]
    running = ~after.over
    return embedding_rows(core.rules, after[running]), (won - values[rows, actions])[running]


def fit(module: ValueModule, inputs: torch.Tensor, values: torch.Tensor, options: argparse.Namespace) -> float:
    """Fit the net to (M, S) inputs and (M,) values; return the RMS error in points over the last tenth of the steps."""
    optimizer = torch.optim.Adam(module.parameters(), lr=options.learning_rate)
    steps = max(1, options.epochs * len(values) // options.batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    with progress_bar() as bar:
        for _ in bar.track(range(steps), description="gradient steps"):
            rows = torch.randint(len(values), (options.batch_size,))
            loss = (module(inputs[rows]) - values[rows]).square().mean()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    return float(np.sqrt(np.mean(losses[-max(1, steps // 10) :])))


def main(arguments: list[str]) -> Evaluation:
    """Train a net, evaluate it, and return the evaluation."""
    options = parse(arguments)
    if options.save:
        check_place("--save", options.save)
    core = Core(read_json(options.data / ABOUT_NAME)["asked"]["rules"])
    files = [afterstates(core, path) for path in sorted(options.data.glob("positions-*.npz"))]
    inputs = np.concatenate([one[0] for one in files])
    values = np.concatenate([one[1] for one in files]).astype(np.float32)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    module = ValueModule(core.rules)
    torch.nn.init.zeros_(module.output.weight)  # initially, a move's value is its immediate gain
    error = fit(module, torch.from_numpy(inputs), torch.from_numpy(values), options)
    print(f"The RMS error over the last tenth of the steps is {error:.2f} points.")
    net = module.export({"command": f"python -m examples.offline_learning {shlex.quote(str(options.data))}"})
    if options.save:
        write_atomically(options.save, net.to_bytes())
    player = SearchPlayer(MaxnSearch(core, net=net), Limits(depth=1))
    evaluation = evaluate(player, core.rules, opponents=(), label="offline", part="development")
    print(evaluation)
    return evaluation


if __name__ == "__main__":
    main(sys.argv[1:])
