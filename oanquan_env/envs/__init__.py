"""PettingZoo and Gymnasium environments of the game.

In reading order:

1. `single`: `OAnQuanEnv`, one game with an opponent; `vector`: `OAnQuanVectorEnv`, N such games;
2. `aec`: `env` and `raw_env` for PettingZoo; `aec_game`: one game; `aec_match`: a match of several rounds;
3. `games`: `Games`, N games as records, and the loops that step them; all environments except matches use it;
4. `infos`: the entries of `info`;
5. `opponents` and `rule_lists`: the opponents of N games, and games that draw their rules from a list;
6. `arguments`, `reset_options` and `rendering`: checks of arguments and of options, and drawing; `video`: videos.

`oanquan_env.engine.step` has the step itself.
"""

import gymnasium

from oanquan_env.envs.infos import TERMINATIONS as TERMINATIONS

gymnasium.register(
    "OAnQuan-v0",
    entry_point="oanquan_env.envs.single:OAnQuanEnv",
    vector_entry_point="oanquan_env.envs.vector:OAnQuanVectorEnv",
)
