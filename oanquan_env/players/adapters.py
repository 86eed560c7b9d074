"""Make players from names, objects, functions of observations, trained models and networks.

Environments, evaluation, tournaments and the board call `as_policy`. It recognises players by their methods and does
not import their libraries.
"""

import contextlib
import functools
import importlib
import importlib.util
import inspect
import numbers
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints, Mask
from oanquan_env.engine.core import Core, IllegalActionError, check_whole
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.errors import UnknownAgentError, UsageError
from oanquan_env.observation import OBSERVATIONS, Encoder, Observation
from oanquan_env.players.basic import RandomPolicy
from oanquan_env.players.making import KINDS, make
from oanquan_env.players.policy import Policy

Observed: TypeAlias = Callable[..., npt.ArrayLike]
"""A function that takes (N, D) observations and (N, A) bool masks of legal actions, and returns (N,) actions.

It may also return a logit or value of each action, (N, A), and take the arguments `rng` and `rules` by these names.
"""

MODULE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")
"""The pattern of MODULE:NAME."""
MODULE_ENDINGS = tuple(SOURCE_SUFFIXES + EXTENSION_SUFFIXES)
INSTALLED = {"site-packages", "dist-packages"}
"""Names of the folders in which packages are installed."""


def as_policy(
    player: object,
    core_or_rules: Core | Rules | str = DEFAULT_PRESET,
    *,
    temperature: float = 0.0,
    observation: str | None = None,
    normalize: object = None,
) -> Policy:
    """Return `player` as a `Policy` for a core or for rules.

    `player` is one of these:

    - a player's name, see `oanquan_env.players.make`
    - `MODULE:NAME`, a player in a module, which may be in the current folder. THE MODULE IS IMPORTED AND RUN. A class
      is instantiated, with the argument `core` if it takes one, otherwise without arguments
    - an object with a method `choose(positions, rng)`, see `Policy`
    - a model of stable-baselines3 or sb3-contrib: anything with `predict` and `observation_space`. If it takes no
      masks, its illegal actions are replaced by random legal ones. Its observations are normalised as in training by
      `normalize`, a `VecNormalize`, which defaults to `player.get_vec_normalize_env()`. A model that was loaded without
      its environment has lost this object, so pass it
    - a torch module: anything with `forward` and `state_dict`. It takes observations, or observations and masks, and
      returns a logit or value of each action as its first output; the legal action with the highest output is played
    - a function of (N, D) int32 observations and (N, A) bool masks that returns (N,) legal actions, or (N, A) outputs
      like those of a module. If it has an argument `rng`, it receives the generator from which a player should draw,
      and an argument `rules` receives the `Rules`

    A function or torch module receives the observations that `observation` names, which defaults to its attribute
    `observation` or, without one, to `counts`. A model receives the observations that fit its observation space; see
    `oanquan_env.observation`. With a `temperature` above 0, the player draws legal actions from the softmax of the
    outputs divided by the temperature, with the generator that it receives. At 1, a policy network plays as in
    training.

    Raises:
        UnknownAgentError: a `ValueError`; the name is unknown, or the module or the object in it does not exist.
        ValueError: for any other object, for a class instead of an instance, for a player with a `core` of other rules,
            for a model whose observation space does not fit the rules, that lacks its `normalize` or that remembers
            earlier observations, such as `RecurrentPPO`, for a temperature or observation that the player cannot have,
            and in the same cases as `make`.
    """
    core = core_or_rules if isinstance(core_or_rules, Core) else Core(as_rules(core_or_rules))
    is_model = hasattr(player, "predict") and hasattr(player, "observation_space")
    if normalize is not None and not is_model:
        raise UsageError(f"normalize needs a model of stable-baselines3; got {type(player).__name__}")
    if isinstance(temperature, bool) or not isinstance(temperature, numbers.Real) or not 0 <= temperature < np.inf:
        raise UsageError(f"temperature must be a number of 0 or more; got {temperature!r}")
    if inspect.isclass(player):
        raise UsageError(f"{player.__name__} is a class: pass an instance, such as {player.__name__}()")
    is_player = isinstance(player, str) or callable(getattr(player, "choose", None))
    if (is_player and temperature) or ((is_player or is_model) and observation is not None):
        what = "a name" if isinstance(player, str) else f"this {type(player).__name__}"
        raise UsageError(
            "temperature needs a function, a torch module or a model, and observation a function or a torch module; "
            f"{what} chooses its moves and its input itself"
        )
    if isinstance(player, str):
        return _named(player, core)
    if is_player:
        made_for = getattr(player, "core", None)
        if isinstance(made_for, Core) and made_for.rules != core.rules:
            raise UsageError(f"this {type(player).__name__} plays '{made_for.rules}', not '{core.rules}'")
        return cast(Policy, player)
    if is_model:
        return _model_policy(player, core, normalize, temperature)
    layout = observation or getattr(player, "observation", "counts")
    if hasattr(player, "forward") and hasattr(player, "state_dict"):
        player = _module_outputs(player, layout)
    if callable(player):
        return ObservedPolicy(core, player, observation=layout, temperature=temperature)
    raise UsageError(
        "a player is a name, an object with a method choose(positions, rng), a function of observations and masks, an "
        f"sb3 model or a torch module; got {type(player).__name__}"
    )


def _named(name: str, core: Core) -> Policy:
    """Return the player for a name or for `MODULE:NAME`; a kind of player takes precedence over a module."""
    place = MODULE.fullmatch(name)
    try:
        return make(name, core.rules)
    except UnknownAgentError as error:
        if place is None or place[1] in KINDS or not str(error).startswith("unknown player"):
            raise
        unknown = str(error)
    try:
        player = import_object(name)
    except ModuleNotFoundError as error:
        if not place[1].startswith(error.name or "\0"):  # an import in the module itself failed
            raise
        raise UnknownAgentError(f"cannot import {place[1]}: {error}; {unknown}") from None
    if inspect.isclass(player):
        constructor = cast(Callable[..., object], player)
        player = constructor(core=core) if "core" in inspect.signature(constructor).parameters else constructor()
    return as_policy(player, core)


def import_object(name: str) -> object:
    """Return the object that `MODULE:NAME` names. THE MODULE IS IMPORTED AND RUN; it may be in the current folder.

    Raises `ImportError` if the module cannot be imported, and `UnknownAgentError` if it has no such object.
    """
    where, _, attribute = name.partition(":")
    with _current_folder():
        module = importlib.import_module(where)
    if not hasattr(module, attribute):
        raise UnknownAgentError(f"{module.__file__ or where} has no {attribute}")
    value: object = getattr(module, attribute)
    return value


def module_files(top: str, *, installed: bool = True) -> dict[str, Path]:
    """Return the files of a top-level module, or of all modules below a top-level package, by their relative path.

    The module is not run. There are no files if it does not exist, or if it is installed and `installed` is False.
    """
    with _current_folder():
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):  # for example, `__main__` may have no spec
            return {}
    places = [Path(place) for place in spec.submodule_search_locations or [spec.origin or ""]] if spec else []
    if not installed and any(INSTALLED & set(place.parts) for place in places):
        return {}
    files = [(place, path) for place in places for path in (place.rglob("*") if place.is_dir() else [place])]
    return {os.path.relpath(path, place): path for place, path in files if path.name.endswith(MODULE_ENDINGS)}


@contextlib.contextmanager
def _current_folder() -> Iterator[None]:
    """Make modules in the current folder importable within the block, as `python -m` does."""
    before, folder = list(sys.path), os.getcwd()
    if not {folder, ""} & set(before):
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder not in before and folder in sys.path:
            sys.path.remove(folder)


class ObservedPolicy:
    """A player that chooses from observations and action masks.

    Args:
        core: the core of the rules to play.
        choose: the function that chooses actions from observations and masks, see `Observed`.
        masked: whether `choose` respects action masks. If not, its illegal actions are replaced by random legal ones.
        observation: the layout of observations, one of `oanquan_env.observation.OBSERVATIONS`.
        temperature: see `as_policy`.

    Attributes:
        illegal: number of illegal actions replaced so far.
    """

    def __init__(
        self,
        core: Core,
        choose: Observed,
        *,
        masked: bool = True,
        observation: str = "counts",
        temperature: float = 0.0,
    ) -> None:
        self.core = core
        self.encoder = Encoder(core, observation)
        self.masked = masked
        self.illegal = 0
        self._choose, self._temperature = Asked(choose, core.rules), temperature
        self._random = RandomPolicy(core)

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`.

        Raises `IllegalActionError` unless the function returns N integers, and for an illegal action if `masked`.
        """
        masks = self.core.legal_mask(positions)
        seen = self.encoder.encode(positions)
        chosen, wrong = choices(self._choose, seen, masks, rng, refused=self.masked, temperature=self._temperature)
        if wrong.size:
            chosen[wrong] = self._random.choose(positions[wrong], rng)
            self.illegal += len(wrong)
        return chosen


class Asked:
    """A function that is asked for moves. If its arguments after the first two include `rng` or `rules`, it gets them.

    Raises `UsageError` if it has `rules` and they are None, because they differ between games.
    """

    def __init__(self, function: Observed, rules: Rules | None) -> None:
        try:
            names = list(inspect.signature(function).parameters)[2:]
        except ValueError:  # some built-in functions have no signature
            names = []
        if "rules" in names and rules is None:
            raise UsageError("under a list of rule sets, a function cannot take rules; its observations end with them")
        self._function, self._draws = function, "rng" in names
        self._rules = {"rules": rules} if "rules" in names else {}

    def __call__(self, observations: Observation, masks: Mask, rng: np.random.Generator) -> npt.ArrayLike:
        """Return what the function returns for (N, D) observations and (N, A) masks."""
        return self._function(observations, masks, **self._rules, **({"rng": rng} if self._draws else {}))


def choices(
    function: Asked,
    observations: Observation,
    masks: Mask,
    rng: np.random.Generator,
    *,
    refused: bool = True,
    temperature: float = 0.0,
) -> tuple[Ints, Ints]:
    """Return the (N,) actions that a function chooses, and the rows in which they are illegal.

    Raises `IllegalActionError` unless it returns N integers or (N, A) outputs, and if `refused` for an illegal action;
    `UsageError` if it returns no outputs but has a `temperature`.
    """
    actions = np.asarray(function(observations, masks.copy(), rng))
    if actions.shape == masks.shape:
        return _select(actions, masks, rng, temperature), np.zeros(0, np.intp)
    if temperature:
        raise UsageError(
            f"temperature needs logits of shape {masks.shape}, but the function returned shape {actions.shape}"
        )
    if actions.shape == (len(masks), 1):
        actions = actions[:, 0]
    check_whole(actions, len(masks))
    chosen = actions.astype(np.intp)
    within = (chosen >= 0) & (chosen < masks.shape[1])
    wrong = (~(within & masks[np.arange(len(chosen)), np.where(within, chosen, 0)])).nonzero()[0]
    if wrong.size and refused:
        row = int(wrong[0])
        legal = masks[row].nonzero()[0].tolist()
        raise IllegalActionError(f"row {row}: the player chose action {chosen[row]}; legal actions are {legal}")
    return chosen, wrong


def _select(outputs: npt.NDArray[Any], masks: Mask, rng: np.random.Generator, temperature: float) -> Ints:
    """Return the legal actions with the highest (N, A) outputs, or draw them from a softmax by the Gumbel-max trick."""
    if np.isnan(outputs[masks]).any():
        row = int((np.isnan(outputs) & masks).any(axis=1).argmax())
        raise ValueError(f"the player returned NaN for a legal action in row {row}")
    if temperature:
        outputs = outputs / temperature + rng.gumbel(size=outputs.shape)
    lowest = np.finfo(np.float64).min  # a legal action of -inf ranks above all illegal ones
    actions: Ints = np.where(masks, np.maximum(outputs, lowest), -np.inf).argmax(axis=1)
    return actions


@functools.cache
def use_one_torch_thread_in_children() -> None:
    """Set torch to one thread in forked processes, which would otherwise wait for threads that fork does not copy."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=functools.partial(sys.modules["torch"].set_num_threads, 1))


def _model_policy(model: Any, core: Core, normalize: Any, temperature: float) -> Policy:
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
    return ObservedPolicy(core, choose, masked=masked, observation=encoder.observation, temperature=temperature)


def _check_seen(seen: object, encoder: Encoder) -> None:
    """Raise `UsageError` if the entries of (N, D) that are whole numbers in observations of the game are not whole."""
    if isinstance(seen, np.ndarray) and seen.shape[1:] == (encoder.size,):
        whole = seen[:, encoder.layout.get("counts", slice(None))]
        if (whole != np.rint(whole)).any():
            raise UsageError(
                "the model was trained on changed observations; if a VecNormalize changed them, use "
                "as_policy(model, normalize=…), otherwise pass a function of observations and masks that does the same"
            )


def _module_outputs(module: Any, layout: str) -> Observed:
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
