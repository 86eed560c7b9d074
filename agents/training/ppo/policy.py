"""The project's networks behind stable-baselines3's policy interface, for `MaskablePPO` to train."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import PyTorchObs, Schedule
from torch import Tensor

from agents.networks.config import NetworkConfig
from agents.networks.networks import Net, make_network
from oanquan_env import Core


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """A network of `agents.networks.networks` as a maskable actor-critic policy.

    Where stable-baselines3 expects one value of a position there are those of P - 1 players, see
    `agents.networks.networks`; it flattens them before it compares them with returns, which are flattened too.

    Log-probabilities and entropies come straight from masked logits: torch's distribution objects cost as much
    as a small network.

    The first arguments are stable-baselines3's; the rules, as text, fix the features' layout.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        rules: str,
        network: NetworkConfig,
    ) -> None:
        self.rules = rules
        self.network_config = network
        self.network: Net  # made by _build, which the parent's constructor calls
        super().__init__(observation_space, action_space, lr_schedule)

    def _build(self, lr_schedule: Schedule) -> None:
        _, self.network = make_network(Core(self.rules), self.network_config)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions (B,), values (B, P-1) and log-probabilities (B,)."""
        logits, values = self.network(obs, self._mask(obs, action_masks))
        log_probs = torch.log_softmax(logits, dim=1)
        actions = logits.argmax(dim=1) if deterministic else torch.multinomial(log_probs.exp(), 1)[:, 0]
        return actions, values, log_probs.gather(1, actions[:, None])[:, 0]

    def evaluate_actions(
        self, obs: PyTorchObs, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values (B, P-1), log-probabilities (B,) of `actions` (B,), entropies (B,)."""
        assert isinstance(obs, Tensor)
        logits, values = self.network(obs, self._mask(obs, action_masks))
        log_probs = torch.log_softmax(logits, dim=1)
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)  # a forbidden action has probability zero, not NaN
        return values, log_probs.gather(1, actions[:, None])[:, 0], entropy

    def predict_values(self, obs: PyTorchObs) -> Tensor:
        """Values (B, P-1)."""
        assert isinstance(obs, Tensor)
        return self.network.state_value(obs)

    def _predict(
        self, observation: PyTorchObs, deterministic: bool = False, action_masks: npt.NDArray[np.bool_] | None = None
    ) -> Tensor:
        assert isinstance(observation, Tensor)
        return self.forward(observation, deterministic, action_masks)[0]

    def _mask(self, obs: Tensor, action_masks: npt.NDArray[np.bool_] | Tensor | None) -> Tensor:
        """(B, A) bool tensor of any form of mask that stable-baselines3 passes."""
        if action_masks is None:
            raise ValueError("SelfPlayPolicy needs action_masks: pass the legal actions of each position")
        return torch.as_tensor(action_masks, device=obs.device).reshape(len(obs), -1).bool()
