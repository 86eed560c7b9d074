"""The player that is a trained network: one forward pass of a position, and one of its mirror image."""

import functools
import os
from pathlib import Path

import numpy as np
import torch

from agents.networks.nets import with_last
from agents.players.agent_files import WEIGHTS_NAME, load_network, read_card
from oanquan_env import Core, Positions, Rules, mirror, mirror_actions
from oanquan_env.arrays import Floats, Ints
from oanquan_env.engine.rules import as_rules
from oanquan_env.files import FileError

BATCH = 4096
"""Positions that go through the network at once."""


class PPOPlayer:
    """Plays by the network of a trained agent's files.

    Raises `FileError` for files that are missing or damaged; `ValueError` for rules that the agent was not trained for,
    a negative temperature, or mirror images under rules that differ in a mirror.

    Args:
        folder: the agent's folder.
        rules: rules to play; those of the card if left out.
        temperature: 0 plays the best action; above, actions are drawn from `softmax(logits / temperature)`.
        mirror_average: take the mean of the network's outputs for a position and for its mirror image. Both have the
            same value, so the outputs differ by the network's errors only, and the mean makes these smaller. If left
            out, wherever the rules allow it.
        network: the class MODULE:NAME of a network of one's own, which a card alone does not import.
    """

    def __init__(
        self,
        folder: Path,
        rules: Rules | str | None = None,
        *,
        temperature: float = 0.0,
        mirror_average: bool | None = None,
        network: str | None = None,
    ) -> None:
        self.card = read_card(folder)
        trained = Rules.parse(self.card.rules)
        if rules is not None and as_rules(rules) != trained:
            raise ValueError(f"{folder}: this agent was trained for the rules '{trained}', not for '{as_rules(rules)}'")
        if not 0 <= temperature < np.inf:
            raise ValueError(f"temperature must be 0 or more; got {temperature}")
        if mirror_average and not trained.is_symmetric:
            raise ValueError(f"mirror_average must be no for '{trained}': a mirror makes them other rules")
        self.core = Core(trained)
        self.features, module = load_network(self.core, self.card, folder / WEIGHTS_NAME, network)
        self.network = module.eval()
        _use_one_thread_in_children()
        self.temperature = temperature
        self.mirror_average = trained.is_symmetric if mirror_average is None else mirror_average

    def evaluate(self, positions: Positions) -> tuple[Floats, Floats]:
        """The network's outputs for N running positions.

        Returns:
            (N, A) float64 logits of the actions, illegal ones `FORBIDDEN`; and (N, P) float64, the reward that each
            player will still get, the mover first, in the units of the reward that the network was trained on.
        """
        if not self.mirror_average:
            return self._forward(positions)
        rules = self.core.rules
        both = Positions.concatenate([positions, mirror(positions, rules)])
        logits, values = (np.split(said, 2) for said in self._forward(both))
        back = mirror_actions(np.arange(rules.actions), rules)
        return (logits[0] + logits[1][:, back]) / 2, (values[0] + values[1]) / 2

    def _forward(self, positions: Positions) -> tuple[Floats, Floats]:
        device = next(self.network.parameters()).device
        logits, values = [np.zeros((0, self.core.rules.actions))], [np.zeros((0, self.core.rules.players))]
        for begin in range(0, len(positions), BATCH):
            some = positions[begin : begin + BATCH]
            features = torch.from_numpy(self.features.encode(some)).to(device)
            mask = torch.from_numpy(self.core.legal_mask(some)).to(device)
            with torch.no_grad():
                some_logits, some_values = self.network(features, mask)
            if not (torch.isfinite(some_logits).all() and torch.isfinite(some_values).all()):
                raise FileError("the network cannot be used: its evaluation of a position is not finite")
            logits.append(some_logits.cpu().double().numpy())
            values.append(with_last(some_values).cpu().double().numpy())
        return np.concatenate(logits), np.concatenate(values)

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        logits, _ = self.evaluate(positions)
        if self.temperature > 0:  # the largest of logits plus Gumbel noise is a draw from their softmax
            logits = logits / self.temperature + rng.gumbel(size=logits.shape)
        choice: Ints = np.where(self.core.legal_mask(positions), logits, -np.inf).argmax(axis=1)
        return choice


@functools.cache
def _use_one_thread_in_children() -> None:
    """One torch thread in forked processes: they inherit torch's threads by name only, and would wait for them."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=functools.partial(torch.set_num_threads, 1))
