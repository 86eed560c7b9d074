"""Players that choose from observations: `ObservedPolicy`, and the functions that it asks."""

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints, Mask
from oanquan_env.engine.core import Core, IllegalActionError
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UsageError
from oanquan_env.observation import Encoder, Observation
from oanquan_env.players.basic import RandomPolicy

Observed: TypeAlias = Callable[..., npt.ArrayLike]
"""A function that takes (N, D) observations and (N, A) bool masks of legal actions, and returns (N,) actions.

It may also return a logit or value of each action, (N, A), and take the arguments `rng` and `rules` by these names.
"""
VARIADIC = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD


class ObservedPolicy:
    """A player that chooses from observations and action masks.

    Args:
        core: the core of the rules to play.
        choose: the function that chooses actions from observations and masks, see `Observed`.
        masked: whether `choose` respects action masks. If not, its illegal actions are replaced by random legal ones.
        observation: the layout of observations, one of `oanquan_env.observation.OBSERVATIONS`.
        temperature: see `as_policy`.
        label: name of the player in tables.

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
        label: str = "function",
    ) -> None:
        self.core = core
        self.__name__ = label + f",temperature={temperature:g}" * bool(temperature)
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

    Raises `UsageError` if it needs others, or has `rules` and they are None, because they differ between games.
    """

    def __init__(self, function: Observed, rules: Rules | None) -> None:
        try:
            further = list(inspect.signature(function).parameters.values())[2:]
        except ValueError:  # some built-in functions have no signature
            further = []
        names = [parameter.name for parameter in further]
        for parameter in further:
            optional = parameter.default is not parameter.empty or parameter.kind in VARIADIC
            if not optional and parameter.name not in ("rng", "rules"):
                raise UsageError(
                    f"a player's function may have only rng and rules as further arguments; got {parameter.name}"
                )
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
    if actions.shape != (len(masks),) or actions.dtype.kind not in "iu":
        wanted = f"integer actions of shape {masks.shape[:1]}, or outputs of shape {masks.shape}"
        raise IllegalActionError(f"the player must return {wanted}; got {actions.dtype} of shape {actions.shape}")
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
