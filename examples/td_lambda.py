"""TD(lambda) on afterstates by self-play, as TD-Gammon learned: a value net that no search has taught.

    python -m examples.td_lambda --plies 1000000 --save out/td.npz
    python evaluate.py lookahead:out/td.npz minimax:nodes=2000,net=out/td.npz minimax:nodes=2000

A move is worth the points that it wins less what the net expects the other player to win from there on. Games are
played side by side by such values, somewhat at random. What a position turned out to be worth, seen from some plies
later, becomes the net's target for it (Sutton 1988; Tesauro 1992). Two things differ from TD-Gammon:

- A position looks ahead to the value of its best move, not of the move played, and no further than the next move that
  was much worse than the best (Watkins 1989). So chance in play does not spoil the targets.
- Targets are used several times, in minibatches drawn from the newest games.

Shapes: N games, T plies of each in a rollout, A actions.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import deque
from pathlib import Path

import numpy as np
import torch
from agents.training.selfplay import RandomStarts
from agents.training.value_net.fit import net_inputs
from oanquan_env.players.lookahead import LookaheadPolicy

from agents.networks.value_net import ValueModule
from agents.support.provenance import commit
from agents.training.schedules import between
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats, Mask
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.core import relative_points
from oanquan_env.files import check_place, write_atomically
from oanquan_env.players.full_width import FullWidthPolicy, FullWidthSearch
from oanquan_env.players.value_net import ValueNet
from oanquan_env.rules import DEFAULT_PRESET

GAMES, PLIES = 512, 8
"""Games side by side, and plies of each in one rollout."""
SLIP = 1.0
"""A move this many points or more below the best one ends the look ahead."""
RANDOM_MOVES = 0.05
"""Share of the moves that are any legal ones."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--rules", default=DEFAULT_PRESET, help="rules by name, for two players (default: %(default)s)")
    add("--plies", type=int, default=1_000_000, help="plies to train for (default: %(default)s)")
    add("--every", type=int, default=250_000, help="plies between two measurements of regret (default: %(default)s)")
    add("--seed", type=int, default=0, help="of all chance (default: %(default)s)")
    add("--save", type=Path, metavar="FILE", help="write the value net here, as .npz, at each measurement")
    add("--lambda", type=float, default=0.4, dest="lam", help="how far targets look ahead (default: %(default)s)")
    add("--temperature", type=float, default=1.0, help="of play, points; falls to a third (default: %(default)s)")
    add("--learning-rate", type=float, default=4e-3, help="of Adam; falls to a twentieth (default: %(default)s)")
    add("--minibatch", type=int, default=1024, help="positions of a gradient step (default: %(default)s)")
    add("--uses", type=int, default=8, help="times that a position is used (default: %(default)s)")
    add("--replay", type=int, default=16, help="newest rollouts that minibatches are drawn from (default: %(default)s)")
    return parser.parse_args(arguments)


def lambda_returns(best: Floats, won: Floats, over: Mask, followed: Mask, lam: float) -> Floats:
    """(T, N) what positions were worth to their movers, as seen later.

    G[t] = (1 - lam) * best[t] + lam * (won[t] - G[t + 1]), as the next mover is the other player. The last ply, and one
    whose move was not `followed`, have best[t] alone.

    Args:
        best: (T, N) the values of the best moves, points.
        won: (T, N) points that the moves played won their movers at once, less those that they won the others.
        over: (T, N) whether the game ended with the move.
        followed: (T, N) whether the move was about as good as the best one.
        lam: lambda, 0 to 1.
    """
    returns = best.copy()
    for ply in reversed(range(len(best) - 1)):
        later = won[ply] - np.where(over[ply], 0.0, returns[ply + 1])
        returns[ply] += np.where(followed[ply], lam * (later - best[ply]), 0.0)
    return returns


class Games:
    """N games of self-play, begun anew when they end, some random plies after the set-up."""

    def __init__(self, core: Core, seed: int) -> None:
        self.core = core
        self.starts = RandomStarts(core, set_up_share=0.2, max_plies=10, seed=seed)
        self.positions = self.starts.draw(GAMES)
        self.rng = np.random.default_rng(seed)

    def play(self, net: ValueNet, temperature: float, lam: float) -> tuple[Positions, Floats]:
        """A rollout: its T * N positions and what each was worth, (T * N,) in points."""
        search, seen, each = FullWidthSearch(self.core, 1, net=net), [], np.arange(GAMES)
        best, won, over, followed = [], [], [], []
        for _ in range(PLIES):
            values = search.movers_values(self.positions)
            likely = values / temperature + self.rng.gumbel(size=values.shape)  # the largest: a draw by softmax
            anyhow = np.where(np.isfinite(values), self.rng.random(values.shape), -np.inf)
            at_random = self.rng.random(GAMES) < RANDOM_MOVES
            actions = np.where(at_random[:, None], anyhow, likely).argmax(axis=1)
            seen.append(self.positions.copy())
            best.append(values.max(axis=1))
            followed.append(values[each, actions] > best[-1] - SLIP)
            before, mover = self.core.standings(self.positions), self.positions.mover.copy()
            self.core.play(self.positions, actions)
            won.append(relative_points(self.core.standings(self.positions) - before)[each, mover])
            over.append(self.positions.over.copy())
            ended = over[-1].nonzero()[0]
            self.positions[ended] = self.starts.draw(len(ended))
        returns = lambda_returns(np.stack(best), np.stack(won), np.stack(over), np.stack(followed), lam)
        return Positions.concatenate(seen), returns.flatten()


class Learner:
    """A net, and the newest targets that it is fitted to."""

    def __init__(self, core: Core, options: argparse.Namespace) -> None:
        self.core = core
        self.options = options
        self.module = ValueModule(core.rules)
        torch.nn.init.zeros_(self.module.output.weight)  # at first moves are worth what they win
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=options.learning_rate)
        self.inputs: deque[torch.Tensor] = deque(maxlen=options.replay)
        self.targets: deque[torch.Tensor] = deque(maxlen=options.replay)

    def learn(self, positions: Positions, returns: Floats, done: float) -> None:
        """Remember a rollout and take gradient steps, each on one of the positions' two mirror images."""
        rate = self.options.learning_rate
        for group in self.optimizer.param_groups:
            group["lr"] = between(rate, rate / 20, done)
        self.inputs.append(torch.from_numpy(net_inputs(self.core.rules, positions)))
        self.targets.append(torch.from_numpy(returns).float())
        inputs, targets = torch.cat(list(self.inputs), dim=1), torch.cat(list(self.targets))
        for step in range(self.options.uses * len(positions) // self.options.minibatch):
            rows = torch.randint(len(targets), (self.options.minibatch,))
            values = self.module(inputs[step % len(inputs), rows].long())
            loss = (values - targets[rows]).square().mean() / 100
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def measured(core: Core, net: ValueNet) -> dict[str, float]:
    """Regret over the development part, in points, of three players with the net."""
    players = {
        "maxn:depth=1": FullWidthPolicy(core, 1, "maxn", net=net),
        "maxn:depth=2": FullWidthPolicy(core, 2, "maxn", net=net),
        "lookahead": LookaheadPolicy(core, net),
    }
    suite, rng = load_suite(core.rules).part("development"), np.random.default_rng(0)
    return {name: regret(one, suite, rng, by_phase=False).overall.regret.mean for name, one in players.items()}


def main(arguments: list[str]) -> ValueNet:
    """Train; returns the net."""
    options = parse(arguments)
    if options.save:
        check_place("--save", options.save)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    core = Core(options.rules)
    if core.rules.players != 2:
        raise ValueError(f"--rules: this file is for two players; '{core.rules}' has {core.rules.players}")
    games, learner = Games(core, options.seed), Learner(core, options)
    origin = {"command": shlex.join(["python", "-m", "examples.td_lambda", *arguments]), "commit": commit()}
    plies, due, seconds = 0, 0, 0.0
    while True:
        net = learner.module.export(origin)
        if plies >= min(due, options.plies):
            told = ", ".join(f"{name} {points:.2f}" for name, points in measured(core, net).items())
            print(f"{plies:>11,} plies {seconds:>6.0f} s of processor time: regret of {told}", flush=True)
            if options.save:
                write_atomically(options.save, net.to_bytes())
            due += options.every
        if plies >= options.plies:
            return net
        began, done = time.process_time(), plies / options.plies
        learner.learn(*games.play(net, options.temperature * (1 - done * 2 / 3), options.lam), done)
        plies += GAMES * PLIES
        seconds += time.process_time() - began


if __name__ == "__main__":
    main(sys.argv[1:])
