"""Trained players of Ô Ăn Quan. `make` creates any player from its name, as in `make("ppo:runs/quick")`.

In reading order:

1. `config`: settings, YAML, command lines;
2. `run`, `checkpoint`, `workers`, `training_evaluation`: a training run, its files, processes and evaluations;
3. `networks`, `self_play`, `rule_set_games`: the networks and their inputs, and batches of games;
4. `ppo`, `td`: how agents and value nets learn, one file for each method;
5. `sweep`, `parallel`: runs with several seeds, and work on many processors or machines;
6. `players`, `pretrained`: agents as players, their files, and the project's own agents;
7. `tournament_run`, `finished_parts`, `suites`: tournaments and regret, and the makers of the suites that these use;
8. `position_data`, `game_data`: data for offline learning;
9. `reports`: learning curves and cards; `folders`, `code_hashes`: locks, and hashes of the code that made a result.
"""

from oanquan_env.errors import MissingExtraError, UnknownAgentError
from oanquan_env.players import make, usage

__all__ = ["MissingExtraError", "UnknownAgentError", "make", "usage"]
