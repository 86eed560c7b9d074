"""The tests. Each folder tests the package of the same name in `oanquan_env` or in the clone; `page` tests `play/web`.

Slow tests run only with `-m slow`, and those that take minutes with `-m daily`. Tests are also examples of use: to see
how something is used, read

| what | test |
|---|---|
| positions and moves of a batch | `engine/test_core.py` |
| a game on a board, with moves as texts | `test_board.py` |
| the vector environment in its three reset modes, and its opponents | `envs/test_vector.py`, `envs/test_opponents.py` |
| stable-baselines3 | `test_sb3.py` |
| a player of one's own, and matches | `players/test_players.py`, `match/test_match.py` |
| own losses, networks, rewards and algorithms | `agents/test_own_learning.py` |
| own suites and comparisons of players and runs | `benchmark/test_comparing.py` |
| records of games, and the rules move by move | `records/test_records.py`, `engine/test_rule_moves.py` |
| a rule, added by following the guide | `test_new_rule.py` |
| commands, and their mistakes | `test_cli.py` |
| language models | `text/test_text_game.py` |
| the page, as a person uses it | `page/__init__.py` |

`helpers` holds what several tests use, and `golden` whole games that must not change.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]  # of the repository
