"""The game Ô Ăn Quan (mandarin square capturing): rules, a vectorised engine, environments and players.

In reading order:

1. `engine`: rules, positions, moves, and the step of an environment; `board`: one game for people;
2. `envs`: PettingZoo and Gymnasium environments; `observation` and `rewards`; `cuda` and `sb3`: on a GPU, and for sb3;
3. `players`: players by name; `search` and `proofs`, on which strong players rely;
4. `benchmark`: how strong a player is; `rule_sets`: many rule sets; `text`: words for people and language models;
5. `rollouts` and `perft`: whole games, and counts of moves; `match` and `records`: matches, and games as text files;
6. `render`, `play` and `cli`: drawings, games for people, and the command line;
7. `errors`, `array_types`, `files`, `lazy`, `progress` and `provenance`, which all of these use.
"""

from typing import TYPE_CHECKING

from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.engine.core import Core, IllegalActionError, sample_actions
from oanquan_env.engine.notation import Move, NotationError
from oanquan_env.engine.positions import Outcome, PositionError, Positions, Termination
from oanquan_env.engine.rules import PRESETS, Rules, RulesError
from oanquan_env.engine.symmetry import mirror, mirror_actions, rotate_seats
from oanquan_env.engine.trace import MoveTrace
from oanquan_env.envs.aec import env, raw_env
from oanquan_env.lazy import lazy
from oanquan_env.match.match import Match, play_matches
from oanquan_env.match.ownership import Ownership
from oanquan_env.match.rules import MatchRules
from oanquan_env.perft import divide, perft
from oanquan_env.records.games import GameRecord, parse_records, read_records
from oanquan_env.records.lines import Variation
from oanquan_env.rollouts import choose_move

if TYPE_CHECKING:
    from oanquan_env.benchmark.comparing import compare, compare_runs
    from oanquan_env.benchmark.evaluation import evaluate
    from oanquan_env.benchmark.generalisation import evaluate_rules
    from oanquan_env.benchmark.regret import regret
    from oanquan_env.benchmark.suites import read_suite, write_suite

__version__ = "1.0.0"

__all__ = [
    "PRESETS",
    "Board",
    "Core",
    "GameRecord",
    "IllegalActionError",
    "IllegalMoveError",
    "Match",
    "MatchRules",
    "Move",
    "MoveTrace",
    "NotationError",
    "Outcome",
    "Ownership",
    "PositionError",
    "Positions",
    "Rules",
    "RulesError",
    "Termination",
    "Variation",
    "choose_move",
    "compare",
    "compare_runs",
    "divide",
    "env",
    "evaluate",
    "evaluate_rules",
    "mirror",
    "mirror_actions",
    "parse_records",
    "perft",
    "play_matches",
    "raw_env",
    "read_records",
    "read_suite",
    "regret",
    "rotate_seats",
    "sample_actions",
    "write_suite",
]

_BENCHMARK = {
    **dict.fromkeys(("compare", "compare_runs"), "comparing"),
    "evaluate": "evaluation",
    "evaluate_rules": "generalisation",
    "regret": "regret",
    **dict.fromkeys(("read_suite", "write_suite"), "suites"),
}
# most programs do not measure players
__getattr__ = lazy(__name__, {name: f"oanquan_env.benchmark.{module}" for name, module in _BENCHMARK.items()})
