"""Ô Ăn Quan as a PettingZoo AEC environment: `env` and `raw_env`, which make a `GameEnv` or a `MatchEnv`."""

from typing import Any

from pettingzoo import AECEnv, register
from pettingzoo.utils import wrappers

from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.engine.step import ILLEGAL_REWARD
from oanquan_env.envs.aec_game import GameEnv, ObsType
from oanquan_env.envs.aec_match import MatchEnv
from oanquan_env.envs.arguments import RuleSets
from oanquan_env.match.rules import MatchRules


def env(
    rules: RuleSets = DEFAULT_PRESET,
    *,
    match: MatchRules | str | bool | None = False,
    reward: str = "outcome",
    opening_plies: int = 0,
    observation: str = "counts",
    rules_visible: bool = True,
    render_mode: str | None = None,
) -> AECEnv[str, ObsType, int]:
    """Return the environment that `raw_env` makes from the same arguments, in PettingZoo's usual wrappers.

    An illegal action ends the game with -1 for the offender and 0 for the others. To score a benchmark, use `raw_env`,
    which raises an error instead. Actions outside the action space and calls out of order raise errors.
    """
    environment: AECEnv[str, ObsType, int] = raw_env(
        rules,
        match=match,
        reward=reward,
        opening_plies=opening_plies,
        observation=observation,
        rules_visible=rules_visible,
        render_mode=render_mode,
    )
    environment = wrappers.TerminateIllegalWrapper(environment, illegal_reward=ILLEGAL_REWARD)
    environment = wrappers.AssertOutOfBoundsWrapper(environment)
    return wrappers.OrderEnforcingWrapper(environment)


def raw_env(
    rules: RuleSets = DEFAULT_PRESET,
    *,
    match: MatchRules | str | bool | None = False,
    reward: str = "outcome",
    opening_plies: int = 0,
    observation: str = "counts",
    rules_visible: bool = True,
    render_mode: str | None = None,
) -> GameEnv:
    """Return a `GameEnv`, or with `match` a `MatchEnv` for whole matches.

    Args:
        rules: as for `GameEnv`; a match is played under one rule set.
        match: True for a match under the default match rules; a `MatchRules` or its text, such as
            `"fields_to_lose=4"`, for other match rules; False or None for single games.
        reward: as for `GameEnv`; a match supports only `outcome`.
        opening_plies: as for `GameEnv`; must be 0 in a match.
        observation: as for `GameEnv`; a match supports only `counts`.
        rules_visible: as for `GameEnv`.
        render_mode: as for `GameEnv`.

    Raises:
        ValueError: if an argument is invalid; for `rules` and match rules, the subclass `RulesError`.
        TypeError: if `match` has another type.
    """
    if match is None or match is False:
        settings: Any = {"reward": reward, "opening_plies": opening_plies, "observation": observation}
        return GameEnv(rules, **settings, rules_visible=rules_visible, render_mode=render_mode)
    if not isinstance(rules, Rules | str):
        raise ValueError(f"a match needs one rule set; got a {type(rules).__name__}")
    if reward != "outcome":
        raise ValueError(f"reward must be outcome in a match; got {reward!r}")
    if opening_plies:
        raise ValueError(f"opening_plies must be 0 in a match, which begins at the set-up; got {opening_plies!r}")
    if observation != "counts":
        raise ValueError(f"observation must be counts in a match; got {observation!r}")
    return MatchEnv(rules, match=match, render_mode=render_mode)


register("aec", id="OAnQuan-v0", entry_point=env)
