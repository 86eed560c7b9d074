"""PettingZoo and Gymnasium environments of the game."""

import gymnasium

from oanquan_env.envs.infos import TERMINATIONS as TERMINATIONS

gymnasium.register(
    "OAnQuan-v0",
    entry_point="oanquan_env.envs.single:OAnQuanEnv",
    vector_entry_point="oanquan_env.envs.vector:OAnQuanVectorEnv",
)
