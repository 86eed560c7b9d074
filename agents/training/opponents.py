"""Who holds the other seats in training: the latest self, or in a share of the games a past self or a player by name.

A past self is a copy of the network as it was; a ring of the newest ones is kept. All chance is drawn from the
seed and a counter, so a checkpoint keeps the counter alone.
"""

from __future__ import annotations

import copy

import numpy as np
import torch

import agents
from agents.networks.features import FeatureEncoder
from agents.networks.networks import Net
from agents.players.network_player import NetworkPlayer
from agents.training.config import OpponentsConfig
from oanquan_env import Positions
from oanquan_env.arrays import Ints, Mask
from oanquan_env.players import Policy, ask_players

NOBODY = -1
"""Number of the opponent in a seat that the latest self holds."""


class Opponents:
    """Opponents of N games; raises `ValueError`, what players say of their names.

    Attributes:
        seating: (N, P) intp, the opponent in each seat: one of the players by name, then one of the past selves.
        past: past selves, which see a position without its mirror image; at most `config.past_selves`.
        kept: past selves kept so far, including those that newer ones replaced.
        drawn: how many random generators were made.
    """

    def __init__(self, config: OpponentsConfig, features: FeatureEncoder, *, n_envs: int, seed: int) -> None:
        self.config = config
        self.features = features
        self.seed = seed
        self.players: list[Policy] = [agents.make(name, features.core.rules) for name in config.players]
        self.past: list[NetworkPlayer] = []
        self.seating: Ints = np.full((n_envs, features.core.rules.players), NOBODY, dtype=np.intp)
        self.kept = 0
        self.drawn = 0

    def assign(self, rows: Ints) -> None:
        """Draw opponents and their seats for games that begin: one to all but one of the seats, side by side."""
        rng, pool = self._rng(), len(self.players) + len(self.past)
        n, players = len(rows), self.seating.shape[1]
        met = rng.random(n) < self.config.share
        number = np.where(met, rng.integers(0, pool, n), NOBODY) if pool else np.full(n, NOBODY)
        first, held = rng.integers(0, players, n), rng.integers(1, players, n)
        theirs = (np.arange(players) - first[:, None]) % players < held[:, None]
        self.seating[rows] = np.where(theirs, number[:, None], NOBODY)

    def to_move(self, positions: Positions, rows: Ints) -> Mask:
        """(M,) bool: in which of the games `rows`, whose positions these are, an opponent is to move."""
        theirs: Mask = (self.seating[rows, positions.mover] != NOBODY) & ~positions.over
        return theirs

    def choose(self, positions: Positions, rows: Ints) -> Ints:
        """(M,) intp, the opponents' actions in the games `rows`, where they are to move in these positions."""
        return ask_players([*self.players, *self.past], self.seating[rows, positions.mover], positions, self._rng())

    def keep(self, network: Net) -> None:
        """Put a copy of `network` among the past selves, in place of the oldest if there are enough."""
        if not self.config.past_selves:
            return
        self._place(copy.deepcopy(network).requires_grad_(False), self.kept % self.config.past_selves)
        self.kept += 1

    def state(self) -> dict[str, torch.Tensor]:
        """Everything that a checkpoint keeps."""
        state = {"seating": torch.from_numpy(self.seating.copy()), "counters": torch.tensor([self.kept, self.drawn])}
        for slot, player in enumerate(self.past):
            state.update({f"past.{slot}.{name}": tensor for name, tensor in player.network.state_dict().items()})
        return state

    def restore(self, state: dict[str, torch.Tensor], network: Net) -> None:
        """What `state` gave; `network` is one of the same shape. Raises KeyError, RuntimeError or ValueError if not."""
        seating, counters = state["seating"], state["counters"]
        if not (seating.shape == self.seating.shape and counters.shape == (2,) and (counters >= 0).all()):
            raise ValueError("the opponents are those of another number of games, or their counters are below 0")
        pool = len(self.players) + min(int(counters[0]), self.config.past_selves)
        if not ((seating >= NOBODY) & (seating < pool)).all():
            raise ValueError("a game has an opponent that there is not")
        if not (seating == NOBODY).any(dim=1).all():
            raise ValueError("in a game the learner has no seat")
        self.seating = seating.numpy().copy()
        self.kept, self.drawn = state["counters"].tolist()
        for slot in range(min(self.kept, self.config.past_selves)):
            past = copy.deepcopy(network).requires_grad_(False)
            past.load_state_dict({name: state[f"past.{slot}.{name}"] for name in past.state_dict()})
            self._place(past, slot)

    def _place(self, network: Net, slot: int) -> None:
        self.past[slot : slot + 1] = [NetworkPlayer(self.features, network, temperature=1.0)]

    def _rng(self) -> np.random.Generator:
        self.drawn += 1
        return np.random.default_rng([self.seed, self.drawn])
