"""Trained players of Ô Ăn Quan. `make` creates any player from its name, as in `make("ppo:runs/quick")`.

The modules, in reading order:

- `config`: settings, YAML, command lines;
- `networks`, `self_play`, `ppo`, `td`: the networks and their inputs, batches of games, and how agents learn;
- `run`, `checkpoint`, `workers`, `training_evaluation`: a training run, its files, processes and evaluations;
- `sweep`, `parallel`: runs with several seeds, and work on many processors or machines;
- `players`, `pretrained`: agents as players, their files, and the project's own agents;
- `evaluation`, `suites`: tournaments and regret, and the makers of the suites that these use;
- `position_data`, `game_data`: data for offline learning;
- `reports`: learning curves and cards; `folders`, `provenance`: locks, and the origin of results.
"""

from oanquan_env.errors import MissingExtraError, UnknownAgentError
from oanquan_env.players import make, usage

__all__ = ["MissingExtraError", "UnknownAgentError", "make", "usage"]
