"""A trained agent that searches: `ppo:runs/quick,search=8`, `ppo:runs/quick,nodes=20000`, `ppo:runs/quick,ms=50`.

Alpha-beta finds the best moves, and where several have the same value the policy chooses among them. So it plays only
moves that plain alpha-beta might play too. With an agent of 2.5 million plies it scored 50.8 % (50.1 to 51.4) against
`minimax` with 2,000 nodes each and 50.7 % (50.2 to 51.2) with 8,000, over 1,500 pairs.

With `slack` the policy chooses among moves that many points worse too. That needs an agent that knows more than such a
search: with the agent of 2.5 million plies `slack=1` scored less than none. With `ppo:pretrained` and 20,000 nodes
`slack=2` scored 51.3 % (± 1.5) against `minimax` and none 50.3 % (± 1.1), over 500 pairs; 4 scored 50.4 %.

Two things were worse: the network's values at the leaves of a full-width search of 3 plies had a regret of 1.79 points,
no better than depth 6 of alpha-beta, which takes a twentieth of the time; at the ends of the best lines they did harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from agents.players.network_player import PPOPlayer
from agents.search.deepening import Limits, Search
from oanquan_env import Positions
from oanquan_env.arrays import Ints
from oanquan_env.policies import best_actions

POLICY_WEIGHT = 0.5
"""Points that a move gains when its probability is e times as high."""
SLACK_DEPTH = 12
"""Plies; a search that looks deeper judges a difference of a point better than the policy does."""


class PPOSearchPlayer:
    """Plays the move that the policy prefers among the best moves of an alpha-beta search for points.

    Args:
        player: the agent; its temperature is not used.
        limits: when each search stops.
        slack: points; moves at most this much worse than the best compete too, by value plus `POLICY_WEIGHT` times
            log-probability, unless the search has proved the value or looked deeper than `SLACK_DEPTH`.
        threads: positions searched at once, one for each processor if left out.

    Raises:
        ValueError: for a negative slack, for more than two players, and for `refill=forfeit`.
    """

    def __init__(self, player: PPOPlayer, limits: Limits, *, slack: int = 0, threads: int | None = None) -> None:
        if slack < 0:
            raise ValueError(f"slack must be 0 or more; got {slack}")
        self.player = player
        self.limits = limits
        self.slack = slack
        self.search = Search(player.core, threads=threads)

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.policies.Policy.choose`."""
        mask = self.player.core.legal_mask(positions)
        with one_torch_thread():
            logits, _ = self.player.evaluate(positions)
        scores = POLICY_WEIGHT * logits  # their differences are those of log-probabilities
        rows = (mask.sum(axis=1) > 1).nonzero()[0]
        found = self.search.best_moves(positions[rows], self.limits, slack=self.slack, slack_depth=SLACK_DEPTH)
        for row, result in zip(rows, found, strict=True):
            actions = list(result.actions if result.proved else result.near)
            mask[row] = False
            mask[row, actions] = True
            scores[row, actions] += [result.near[action] for action in actions]
        return best_actions(scores, mask, rng)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Within it torch works on one thread; others would go on waiting busily after their work.

    That costs a search of 50 ms which follows a tenth of its nodes.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
