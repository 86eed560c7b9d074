"""Trained players of Ô Ăn Quan. `make` creates any player from its name, as in `make("ppo:runs/quick")`.

In reading order:

1. `config`: settings, YAML, command lines;
2. `run`, `checkpoint`, `workers`: a training run, its files and its processes;
3. `networks`, `self_play`, `rule_set_games`: the networks and their inputs, and batches of games;
4. `ppo`, `td`: how agents and value nets learn, one file for each method;
5. `sweep`, `parallel`: runs with several seeds, and work on many processors or machines;
6. `players`, `pretrained`: agents as players, their files, and the project's own agents;
7. `evaluation`, `suites`: tournaments, evaluations during training, and the makers of the suites that both use;
8. `data`: positions and games for offline learning;
9. `reports`: learning curves and cards; `folders`: locks and data cards.
"""

from oanquan_env.errors import MissingExtraError, UnknownAgentError
from oanquan_env.players import make, usage

__all__ = ["MissingExtraError", "UnknownAgentError", "make", "usage"]
