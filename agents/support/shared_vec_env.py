"""A VecEnv of stable-baselines3 whose games share one object: all methods but `reset` and `step`."""

from collections.abc import Iterable
from typing import Any

from stable_baselines3.common.vec_env import VecEnv


class SharedVecEnv(VecEnv):
    """A method called for all games is called once, for the object."""

    render_mode = None

    def close(self) -> None:
        """Nothing to release."""

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute, once for each game asked for."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refused."""
        raise NotImplementedError("these games share one object; set its attributes directly")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method once for all games; the list holds its one result."""
        return [getattr(self, method_name)(*method_args, **method_kwargs)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]
