"""Learn from files, without playing a game, and measure the regret.

    python -m agents.data.game_data --output out/games --games 10000 --player minimax:depth=4 --opponent greedy
    python -m examples.offline_learning out/games
    python -m agents.data.position_data --output out/data --positions 100000 --depth 8 --net pretrained
    python -m examples.offline_learning out/data --save out/offline.npz

From games, two policies are learned: *behaviour cloning* predicts the player's action from the position, and a
*return-conditioned* policy predicts it from the position and the return that followed. To play, the latter is given a
return that only one in ten plies of the data has reached.

From positions with the values of their moves, a value net is learned. The value of a move is the margin that it wins at
once plus the mover's value of the next position, which is the negative of the next player's value. So every legal move
that does not end the game gives one training example. The player with this net chooses the move with the largest
estimated value.
"""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env import Core
from oanquan_env.array_types import Floats, Ints, Mask
from oanquan_env.benchmark.evaluation import Evaluation, evaluate
from oanquan_env.engine.core import relative_points
from oanquan_env.errors import needing_extra
from oanquan_env.files import check_place, read_json, write_atomically
from oanquan_env.observation import Observation
from oanquan_env.players import Policy, as_policy
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import MaxnSearch
from oanquan_env.search.value_net import embedding_rows

with needing_extra("train", "examples.offline_learning" if __name__ == "__main__" else None):
    import torch

    from agents.config import progress_bar
    from agents.data.game_data import game_files, read_episodes
    from agents.data.position_data import read_columns, read_positions
    from agents.folders import ABOUT_NAME
    from agents.networks.value_nets import ValueModule

WIDTH = 256
"""Units of each hidden layer of a policy."""


def parse_options(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("data", type=Path, metavar="FOLDER", help="folder written by a program of agents.data")
    add("--epochs", type=int, default=10, help="passes over the data (default: %(default)s)")
    add("--batch-size", type=int, default=1024, help="positions per gradient step (default: %(default)s)")
    add("--learning-rate", type=float, default=3e-3, help="initial learning rate; falls to 0 (default: %(default)s)")
    add("--seed", type=int, default=0, help="seed of all randomness (default: %(default)s)")
    add("--save", type=Path, metavar="FILE", help="write the value net of positions to this .npz file")
    options = parser.parse_args(arguments)
    if not (options.data / ABOUT_NAME).is_file():
        parser.error(
            f"{options.data} has no {ABOUT_NAME}; agents.data.game_data and agents.data.position_data make folders"
        )
    return options


def afterstates(core: Core, path: Path) -> tuple[Ints, Floats]:
    """Return (M, S) `embedding_rows` and (M,) movers' values of the running positions after the moves in a file."""
    before, values = read_positions(path, core), read_columns(path)["values"]
    after, rows, actions = core.expand(before)
    won = relative_points(core.standings(after) - before.scores[rows])[np.arange(len(rows)), before.mover[rows]]
    running = ~after.over
    return embedding_rows(core.rules, after[running]), (won - values[rows, actions])[running]


Loss: TypeAlias = Callable[[torch.Tensor], torch.Tensor]
"""A function that returns the loss of a batch of rows."""


def fit(module: torch.nn.Module, loss_of: Loss, size: int, options: argparse.Namespace) -> float:
    """Fit a network to `size` examples; return the mean loss over the last tenth of the gradient steps."""
    optimizer = torch.optim.Adam(module.parameters(), lr=options.learning_rate)
    steps = max(1, options.epochs * size // options.batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    with progress_bar() as bar:
        for _ in bar.track(range(steps), description="gradient steps"):
            loss = loss_of(torch.randint(size, (options.batch_size,)))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    return float(np.mean(losses[-max(1, steps // 10) :]))


def learned_policies(core: Core, options: argparse.Namespace) -> dict[str, Policy]:
    """Return the policies that are learned from a folder of games, by their names."""
    batches = list(read_episodes(options.data, "planes", returns_to_go=True))
    data = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    seen, masks, actions = (torch.from_numpy(data[name]) for name in ("observations", "masks", "actions"))
    returns, high = torch.from_numpy(data["returns"])[:, None], float(np.quantile(data["returns"], 0.9))
    players: dict[str, Policy] = {}
    cases = {"behaviour cloning": (0 * returns, 0.0), "return-conditioned": (returns, high)}
    for name, (condition, wish) in cases.items():
        net = torch.nn.Sequential(
            torch.nn.Linear(seen.shape[1] + 1, WIDTH),
            torch.nn.ReLU(),
            torch.nn.Linear(WIDTH, WIDTH),
            torch.nn.ReLU(),
            torch.nn.Linear(WIDTH, core.rules.actions),
        )
        inputs = torch.cat([seen, condition], dim=1)

        def loss_of(rows: torch.Tensor, net: torch.nn.Module = net, inputs: torch.Tensor = inputs) -> torch.Tensor:
            logits = net(inputs[rows]).masked_fill(~masks[rows], -1e9)
            return torch.nn.functional.cross_entropy(logits, actions[rows])

        def outputs(
            observations: Observation, masks: Mask, net: torch.nn.Module = net, wish: float = wish
        ) -> npt.ArrayLike:
            with torch.no_grad():
                wishes = torch.full((len(observations), 1), wish)
                return net(torch.cat([torch.from_numpy(observations), wishes], dim=1)).numpy()

        print(f"{name}: cross-entropy {fit(net, loss_of, len(actions), options):.3f} over the last tenth of the steps")
        players[name] = as_policy(outputs, core, observation="planes")
    return players


def learned_search(core: Core, options: argparse.Namespace) -> Policy:
    """Return the player with the value net that is learned from a folder of positions."""
    files = [afterstates(core, path) for path in sorted(options.data.glob("positions-*.npz"))]
    inputs = np.concatenate([arrays[0] for arrays in files])
    values = np.concatenate([arrays[1] for arrays in files]).astype(np.float32)
    module = ValueModule(core.rules)
    torch.nn.init.zeros_(module.output.weight)  # initially, a move's value is its immediate gain
    examples, targets = torch.from_numpy(inputs), torch.from_numpy(values)
    loss = fit(module, lambda rows: (module(examples[rows]) - targets[rows]).square().mean(), len(targets), options)
    print(f"The RMS error over the last tenth of the steps is {math.sqrt(loss):.2f} points.")
    net = module.export({"command": f"python -m examples.offline_learning {shlex.quote(str(options.data))}"})
    if options.save:
        write_atomically(options.save, net.to_bytes())
    return SearchPlayer(MaxnSearch(core, net=net), Limits(depth=1))


def main(arguments: list[str]) -> dict[str, Evaluation]:
    """Learn from the folder, evaluate the players, and return their evaluations by name."""
    options = parse_options(arguments)
    if options.save:
        check_place("--save", options.save)
    core = Core(read_json(options.data / ABOUT_NAME)["asked"]["rules"])
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    if game_files(options.data):
        players = learned_policies(core, options)
    else:
        players = {"value net": learned_search(core, options)}
    results = {}
    for name, player in players.items():
        results[name] = evaluate(player, core.rules, opponents=(), label=name, part="development")
        print(results[name])
    return results


if __name__ == "__main__":
    main(sys.argv[1:])
