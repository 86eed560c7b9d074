"""A player that uses a trained network. By default, it averages the outputs for a position and its mirror image."""

from pathlib import Path

import numpy as np
import torch

from agents.networks.layers import with_last
from agents.players.agent_files import WEIGHTS_NAME, load_network, read_card
from oanquan_env import Core, Positions, Rules, mirror, mirror_actions
from oanquan_env.array_types import Floats, Ints
from oanquan_env.engine.rules import as_rules
from oanquan_env.files import FileError
from oanquan_env.players.models import use_one_torch_thread_in_children

BATCH = 4096
"""Maximum number of positions in one forward pass."""


class PPOPlayer:
    """A player that chooses moves by the network in a trained agent's folder.

    Raises `FileError` if files are missing or damaged; `ValueError` if the agent was not trained for the rules, if the
    temperature is negative or not finite, or if mirror averaging is requested for rules that are not mirror-symmetric.

    Args:
        folder: the agent's folder.
        rules: rules to play; defaults to the rules on the card.
        temperature: 0 plays the best action; otherwise actions are drawn from `softmax(logits / temperature)`.
        mirror_average: average the network's outputs for a position and for its mirror image. Both have the same true
            value, so the outputs differ only by the network's errors, and averaging reduces these. Defaults to True if
            the rules are symmetric.
        network: the class MODULE:NAME of a custom network; a class that only the card names is never imported.
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
            raise ValueError(f"mirror_average must be no for '{trained}': these rules are not symmetric")
        self.core = Core(trained)
        self.features, module = load_network(self.core, self.card, folder / WEIGHTS_NAME, network)
        self.network = module.eval()
        use_one_torch_thread_in_children()
        self.temperature = temperature
        self.mirror_average = trained.is_symmetric if mirror_average is None else mirror_average

    def evaluate(self, positions: Positions) -> tuple[Floats, Floats]:
        """Return the network's outputs for N running positions.

        Returns:
            (N, A) float64 logits of the actions, `FORBIDDEN` if illegal; and (N, P) float64 expected future
            rewards of the players in turn order from the mover, in the units of the reward used in training.
        """
        if not self.mirror_average:
            return self._forward(positions)
        rules = self.core.rules
        both = Positions.concatenate([positions, mirror(positions, rules)])
        logits, values = (np.split(output, 2) for output in self._forward(both))
        back = mirror_actions(np.arange(rules.actions), rules)
        return (logits[0] + logits[1][:, back]) / 2, (values[0] + values[1]) / 2

    def _forward(self, positions: Positions) -> tuple[Floats, Floats]:
        device = next(self.network.parameters()).device
        logits, values = [np.zeros((0, self.core.rules.actions))], [np.zeros((0, self.core.rules.players))]
        for begin in range(0, len(positions), BATCH):
            batch = positions[begin : begin + BATCH]
            features = torch.from_numpy(self.features.encode(batch)).to(device)
            mask = torch.from_numpy(self.core.legal_mask(batch)).to(device)
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
