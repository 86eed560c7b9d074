"""A larger network that computes what a smaller one does, and goes on learning from there.

Units and layers are added to the hidden layers. Weights from new units to old ones and to the output are zero, and old
units pass through new layers unchanged, so nothing changes at first; the new units have random inputs, and gradients
bring them in. (To start with a smaller network's function is the idea of Chen et al. 2016, Net2Net, who copy units
instead.) The policy's correction may be left out, as the values do not need it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agents.networks.config import NetworkConfig

SIZES = ("width", "depth", "leaf_width", "leaf_depth")
"""The settings that may be larger."""
LEAF = "leaf."
"""What names of the leaf network's parameters begin with."""


def is_grown(small: NetworkConfig, large: NetworkConfig) -> bool:
    """Whether they are of one kind and `large` is nowhere smaller; it may lack the policy's correction."""
    grown = {name: getattr(large, name) for name in SIZES}
    if large.policy_gradient == "inverse_temperature":
        grown["policy_gradient"] = large.policy_gradient
    return small.model_copy(update=grown) == large and all(getattr(small, name) <= grown[name] for name in SIZES)


def grow(small: nn.Module, large: nn.Module, small_config: NetworkConfig) -> None:
    """Make `large`, a fresh network, compute what `small` does, up to rounding and the policy's correction.

    Args:
        small: the network to start from.
        large: one for whose configuration `is_grown` is true.
        small_config: the configuration of `small`.
    """
    with torch.no_grad():
        known = dict(small.named_parameters())
        for name, parameter in large.named_parameters():
            if name in known:
                _widen(known[name], parameter)
            else:
                units = small_config.leaf_width if name.startswith(LEAF) else small_config.width
                _pass_through(parameter, units)


def _widen(old: Tensor, new: Tensor) -> None:
    if old.ndim == 2:  # weights (units, inputs)
        new[: old.shape[0], old.shape[1] :] = 0.0
    new[tuple(slice(size) for size in old.shape)] = old


def _pass_through(new: Tensor, units: int) -> None:
    """Let the first units of a new layer be those of the layer before, which are not negative, so ReLU keeps them."""
    new[:units] = 0.0
    if new.ndim == 2:
        new[:units, :units] = torch.eye(units)
