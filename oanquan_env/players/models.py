"""Functions of observations for torch modules and models of stable-baselines3, without importing their libraries."""

import functools
import inspect
import os
import sys
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Mask
from oanquan_env.engine.core import Core
from oanquan_env.errors import UsageError
from oanquan_env.observation import OBSERVATIONS, Encoder, Observation
from oanquan_env.players.observed import Observed, ObservedPolicy
from oanquan_env.players.policy import Policy


@functools.cache
def use_one_torch_thread_in_children() -> None:
    """Set torch to one thread in forked processes, which would otherwise wait for threads that fork does not copy."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=functools.partial(sys.modules["torch"].set_num_threads, 1))


def model_policy(model: Any, core: Core, normalize: Any, temperature: float) -> Policy:
    """Return the player for a model of stable-baselines3; see `oanquan_env.players.as_policy`."""
    if "torch" in sys.modules:
        use_one_torch_thread_in_children()
    shape, encoders = model.observation_space.shape, [Encoder(core, name) for name in OBSERVATIONS]
    encoder = next((candidate for candidate in encoders if (candidate.size,) == shape), None)
    if encoder is None:
        shapes = ", ".join(f"({candidate.size},)" for candidate in encoders)
        raise ValueError(f"the model needs observations of shape {shape}; '{core.rules}' has shapes {shapes}")
    if normalize is None and hasattr(model, "get_vec_normalize_env"):
        normalize = model.get_vec_normalize_env()
    if normalize is None:
        _check_seen(getattr(model, "_last_obs", None), encoder)  # the last input of the network; `load` keeps it
    elif not hasattr(normalize, "normalize_obs") or normalize.observation_space.shape != shape:
        other = getattr(getattr(normalize, "observation_space", None), "shape", None)
        got = type(normalize).__name__ + (f" for shape {other}" if other else "")
        raise UsageError(f"normalize must be the model's VecNormalize, for observations of shape {shape}; got {got}")
    masked = "action_masks" in inspect.signature(model.predict).parameters
    if temperature and not hasattr(model.policy, "get_distribution"):
        raise UsageError(f"temperature needs a model with a distribution over actions; {type(model).__name__} has none")

    def choose(observations: Observation, masks: Mask) -> npt.ArrayLike:
        seen = observations if normalize is None else normalize.normalize_obs(observations)
        if temperature:
            torch: Any = sys.modules["torch"]
            model.policy.set_training_mode(False)
            with torch.no_grad():
                distribution = model.policy.get_distribution(model.policy.obs_to_tensor(seen)[0]).distribution
            return cast(npt.ArrayLike, distribution.logits.double().cpu().numpy())
        actions, memory = model.predict(seen, deterministic=True, **{"action_masks": masks} if masked else {})
        if memory is not None:
            raise UsageError(
                f"this {type(model).__name__} remembers earlier observations, but a player chooses from one position; "
                "train a model without memory, such as MaskablePPO: the observation contains the whole position"
            )
        return cast(npt.ArrayLike, actions)

    choose(encoder.encode(core.start()), core.legal_mask(core.start()))  # refuse a memory before any game is played
    label, layout = type(model).__name__, encoder.observation
    return ObservedPolicy(core, choose, masked=masked, observation=layout, temperature=temperature, label=label)


def _check_seen(seen: object, encoder: Encoder) -> None:
    """Raise `UsageError` if the entries of (N, D) that are whole numbers in observations of the game are not whole."""
    if isinstance(seen, np.ndarray) and seen.shape[1:] == (encoder.size,):
        whole = seen[:, encoder.layout.get("counts", slice(None))]
        if (whole != np.rint(whole)).any():
            raise UsageError(
                "the model was trained on changed observations; if a VecNormalize changed them, use "
                "as_policy(model, normalize=…), otherwise pass a function of observations and masks that does the same"
            )


def module_outputs(module: Any, layout: str) -> Observed:
    """Return a function that returns the first output of a torch module, (N, A) float64."""
    torch: Any = sys.modules["torch"]
    use_one_torch_thread_in_children()
    with_masks = len(inspect.signature(module.forward).parameters) > 1

    def outputs_of(observations: Observation, masks: Mask) -> npt.ArrayLike:
        weights = (weight for weight in module.parameters() if weight.is_floating_point())
        like = next(weights, torch.zeros(0))
        inputs = [torch.as_tensor(observations).to(like)]
        inputs += [torch.as_tensor(masks, device=like.device)] * with_masks
        modes = [(part, part.training) for part in module.modules()]  # some parts may already be in evaluation mode
        module.eval()
        try:
            with torch.no_grad():
                outputs = module(*inputs)
        except RuntimeError as error:
            width = next((part.in_features for part in module.modules() if hasattr(part, "in_features")), None)
            if width in (None, observations.shape[1]):
                raise
            raise UsageError(
                f"the first linear layer of this {type(module).__name__} takes shape (N, {width}), but it received "
                f"observations '{layout}' of shape {observations.shape}; if it expects another layout, set its "
                f"attribute observation to one of {', '.join(OBSERVATIONS)}"
            ) from error
        finally:
            for part, training in modes:
                part.training = training
        output = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
        if not isinstance(output, torch.Tensor):
            raise UsageError(
                f"a module must return logits, or a tuple that begins with them; got {type(output).__name__}"
            )
        logits = output.double().cpu().numpy()
        if logits.shape != masks.shape:
            raise ValueError(f"the module must return logits of shape {masks.shape}; got {logits.shape}")
        return cast(npt.ArrayLike, logits)

    return outputs_of
