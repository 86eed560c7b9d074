"""A batch of games as a stable-baselines3 `VecEnv`, with action masks.

    from oanquan_env.sb3 import HYPERPARAMETERS, OAnQuanVecEnv
    from sb3_contrib import MaskablePPO

    MaskablePPO("MlpPolicy", OAnQuanVecEnv(128, opponent="greedy"), **HYPERPARAMETERS).learn(1_000_000)

`OAnQuanVecEnv` steps all games in one call, while SB3's `make_vec_env` steps one after another. The package does not
depend on stable-baselines3; install it before importing this module.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from oanquan_env.array_types import Mask
from oanquan_env.board import shared_core
from oanquan_env.engine.positions import Positions
from oanquan_env.envs.arguments import MAX_SEED
from oanquan_env.envs.opponents import Opponent
from oanquan_env.envs.reset_options import check_options, chosen_rules, start_position, start_positions
from oanquan_env.envs.vector import DRAWN_GAMES, OAnQuanVectorEnv
from oanquan_env.errors import UsageError, as_whole

HYPERPARAMETERS: dict[str, Any] = {
    "n_steps": 32,
    "batch_size": 1024,
    "n_epochs": 4,
    "learning_rate": LinearSchedule(2e-3, 2e-4, 1.0),
    "gamma": 1.0,  # games are short
    "gae_lambda": 0.9,
    "ent_coef": 0.01,
    "vf_coef": 10.0,  # value errors are small, as rewards are shares of all points
    "policy_kwargs": {"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
    "device": "cpu",
}
"""Keyword arguments with which `MaskablePPO("MlpPolicy", OAnQuanVecEnv(128), **HYPERPARAMETERS)` learns this game.

The learning rate falls over the plies of one call of `learn`; for repeated calls, choose a constant one. With
sb3-contrib's own defaults, a rollout in 128 games has 262,144 plies, and learning has hardly begun after a minute.
"""


class SharedVecEnv(VecEnv):
    """A VecEnv whose games share one object, so that `env_method` calls a method once for all games."""

    render_mode: str | None = None

    def close(self) -> None:
        """Do nothing, as there is nothing to release."""

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return a list that holds the shared attribute once for each requested game."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Raise NotImplementedError, because attributes are to be set on the shared object directly."""
        raise NotImplementedError("all games share one object; set its attributes directly")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method once for all games; return its result in a list of one.

        Raises NotImplementedError if `indices` omits a game.
        """
        if indices is not None and {*self._get_indices(indices)} != {*range(self.num_envs)}:
            raise NotImplementedError(f"all games share one object; call {method_name} for all of them: omit indices")
        return [getattr(self, method_name)(*method_args, **method_kwargs)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """Return False for each requested game."""
        return [False for _ in self._get_indices(indices)]

    def _get_indices(self, indices: int | Iterable[int] | None) -> list[int]:
        return [range(self.num_envs)[index] for index in super()._get_indices(indices)]  # IndexError for other games


class OAnQuanVecEnv(SharedVecEnv):
    """N games against an opponent.

    A finished game restarts at once; its `info` holds `terminal_observation`, the entries of `OAnQuanVectorEnv` for a
    finished game, such as `termination` and `opponent`, and `episode` in the form of `Monitor`. A game truncated by the
    ply limit is scored like any other, so no value is bootstrapped.

    Args:
        num_envs: the number of games, N.
        seed: as in `seed`, for the first reset; None for random seeds. A model that is made with a seed replaces it.
        reward, observation, opening_plies: as in `OAnQuanVectorEnv`, with other defaults. From `counts`, from
            `outcome` or without random openings, SB3's networks learn far less; `moves` looks two plies ahead.
        render_mode: `rgb_array` or None. SB3 arranges the pictures of the first 16 games as tiles.
        **settings: other arguments of `OAnQuanVectorEnv`: rules, opponent, seat, rules_visible, threads.

    Raises:
        ValueError: in the same cases as `OAnQuanVectorEnv`, for another `render_mode`, and for `opponent=None`, because
            SB3 would take the opponent's value of the next position for the learner's.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        reward: str = "margin",
        observation: str = "planes",
        opening_plies: int = 6,
        seed: int | None = None,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        if settings.get("opponent", "") is None:
            raise UsageError(
                "opponent must be a player: without one, SB3 would bootstrap with the wrong sign, because the next "
                "observation is the opponent's; for self-play, set copies of the model as opponents by set_opponent"
            )
        if render_mode not in (None, "rgb_array"):
            raise UsageError(f"render_mode must be rgb_array or None; got {render_mode!r}")
        settings |= {"reward": reward, "observation": observation, "opening_plies": opening_plies}
        mode = AutoresetMode.SAME_STEP
        self.games = OAnQuanVectorEnv(num_envs, autoreset_mode=mode, render_mode=render_mode, **settings)
        self.render_mode = render_mode
        super().__init__(num_envs, self.games.single_observation_space, self.games.single_action_space)
        self.metadata["render_fps"] = self.games.metadata["render_fps"]
        if seed is not None:
            self.seed(seed)

    def set_opponent(self, opponent: Opponent) -> None:
        """Set an opponent, or a list of opponents, for new games; see `OAnQuanVectorEnv`."""
        self.games.set_opponent(opponent)

    def set_opponent_weights(self, weights: npt.ArrayLike) -> None:
        """Draw the opponents of new games in proportion to (K,) weights, one for each of the K opponents."""
        self.games.set_opponent_weights(weights)

    def action_masks(self) -> Mask:
        """Return (N, A) bool, the legal actions, for MaskablePPO."""
        return self.games.action_masks()

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """Return for each requested game whether the class is `Monitor`, whose entry `episode` the infos have."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the generators of the games at the next reset: row i with `seed` + i. None draws a random seed.

        Returns the N seeds. Raises `ValueError` unless `seed` is an integer from 0 to 2^64 - N.
        """
        return super().seed(None if seed is None else as_whole("seed", seed, 0, MAX_SEED + 1 - len(self._seeds)))

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Set the options of the next reset, as in `OAnQuanVectorEnv`, or a list with a dict for each game.

        The options are `position` and `rules`. Raises `ValueError` for another option, an invalid value, or a list of
        another length or with an option for only some games; `TypeError` for other types.
        """
        games = self.games._games
        if isinstance(options, Mapping | None):
            checked = check_options(options, ("position", "rules"))
            start_positions(games, checked.get("position"), chosen_rules(games, checked.get("rules")))
            return super().set_options(dict(options or {}))
        given, together = [check_options(option, ("position", "rules")) for option in options], dict[str, Any]()
        for name in ("position", "rules"):
            values = [option.get(name) for option in given]
            count = sum(value is not None for value in values)
            if len(values) != self.num_envs or 0 < count < len(values):
                requirement = f"must be {self.num_envs} dicts, one for each game, all with a {name} or all without"
                raise UsageError(f"a list of options {requirement}; got {len(values)}, of which {count} have a {name}")
            if count:
                together[name] = values
        rules = chosen_rules(games, together.get("rules"))
        if starts := together.get("position"):
            if rules is None:
                start_positions(games, starts[0], None)  # refuses positions without rules, if there is a list
            sets = [games.rule_sets[index] for index in ([0] * self.num_envs if rules is None else rules)]
            batches = [start_position(*pair) for pair in zip(map(shared_core, sets), starts, strict=True)]
            together["position"] = Positions.concatenate([batch for batch in batches if batch is not None])
        return super().set_options(together)

    def reset(self) -> VecEnvObs:
        """Restart all games with the seeds and options set since the last reset; return (N, D) observations."""
        self._rewards, self._lengths, self._began = np.zeros(self.num_envs), np.zeros(self.num_envs, int), time.time()
        seeds = [seed for seed in self._seeds if seed is not None]
        observations = self.games.reset(seed=seeds or None, options=self._options[0])[0]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Store the actions for the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Step all games. Return (N, D) observations, (N,) float32 rewards, (N,) bool dones and N infos.

        Raises `IllegalActionError` unless the actions are N integers in the action space.
        """
        observations, rewards, terminated, truncated, info = self.games.step(self._actions)
        done = terminated | truncated
        self._rewards += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        final = info.get("final_info", {})
        for row in done.nonzero()[0].tolist():
            spent = round(time.time() - self._began, 6)
            infos[row] = {name: final[name][row] for name in final if not name.startswith("_")} | {
                "terminal_observation": info["final_obs"][row],
                "TimeLimit.truncated": False,
                "episode": {"r": float(self._rewards[row]), "l": int(self._lengths[row]), "t": spent},
            }
        self._rewards[done], self._lengths[done] = 0.0, 0
        return observations, rewards.astype(np.float32), done, infos

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Return RGB pictures of the first 16 games, or None for each without a `render_mode`."""
        pictures: Any = self.games.render() or [None] * self.num_envs
        return list(pictures[:DRAWN_GAMES])

    def close(self) -> None:
        """Close the games; they need a reset before further use."""
        self.games.close()
