"""The tests. Each folder tests the package of the same name in `oanquan_env` or in the clone; `page` tests `play/web`.

Slow tests run only with `-m slow`, and those that take minutes with `-m daily`. Tests are also examples of use: to see
how something is used, read

| what | test |
|---|---|
| positions and moves of a batch | `engine/test_core.py` |
| the vector environment in its three reset modes | `envs/test_vector.py` |
| own losses, networks, rewards and algorithms | `agents/test_own_learning.py` |
| own suites and comparisons of players and runs | `benchmark/test_comparing.py` |
| records of games | `records/test_records.py` |
| a rule, added by following the guide | `test_new_rule.py` |

`helpers` holds what several tests use, and `golden` whole games that must not change.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]  # of the repository
