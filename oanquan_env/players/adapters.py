"""Make players from names, objects, functions of observations, trained models and networks.

Environments, evaluation, tournaments and the board call `as_policy`. It recognises players by their methods and does
not import their libraries.
"""

import contextlib
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
from typing import cast

import numpy as np

from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.errors import UnknownAgentError, UsageError
from oanquan_env.files import one_line
from oanquan_env.players.making import KINDS, make
from oanquan_env.players.models import model_policy, module_outputs
from oanquan_env.players.observed import ObservedPolicy
from oanquan_env.players.policy import Policy

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
        named = isinstance(player, str)
        what, such = (
            ("a name", ", as ppo:FOLDER,temperature=1 does") if named else (f"this {type(player).__name__}", "")
        )
        raise UsageError(
            "temperature needs a function, a torch module or a model, and observation a function or a torch module; "
            f"{what} chooses its moves and its input itself{such}"
        )
    if isinstance(player, str):
        return _named(player, core)
    if is_player:
        made_for = getattr(player, "core", None)
        if isinstance(made_for, Core) and made_for.rules != core.rules:
            raise UsageError(f"this {type(player).__name__} plays '{made_for.rules}', not '{core.rules}'")
        return cast(Policy, player)
    if is_model:
        return model_policy(player, core, normalize, temperature)
    layout = observation or getattr(player, "observation", "counts")
    label = getattr(player, "__name__", type(player).__name__)
    if hasattr(player, "forward") and hasattr(player, "state_dict"):
        player = module_outputs(player, layout)
    if callable(player):
        return ObservedPolicy(core, player, observation=layout, temperature=temperature, label=label)
    raise UsageError(
        "a player is a name, an object with a method choose(positions, rng), a function of observations and masks, an "
        f"sb3 model or a torch module; got {type(player).__name__}"
    )


def _named(name: str, core: Core) -> Policy:
    """Return the player for a name or for `MODULE:NAME`; a kind of player takes precedence over a module."""
    place = re.match(rf"{MODULE.pattern}(?=,|\Z)", name)
    try:
        return make(name, core.rules)
    except UnknownAgentError as error:
        if place is None or place[1] in KINDS or not str(error).startswith("unknown player"):
            raise
        if place.end() < len(name):
            raise UnknownAgentError(
                f"MODULE:NAME takes no options; got {one_line(repr(name))}: let the module hold the player that it "
                "names, such as soft = as_policy(f, temperature=0.5)"
            ) from None
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
