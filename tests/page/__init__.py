"""Test the page in `oanquan_env/play/web`. Tests in a browser are slow; those that run scripts in Node.js are quick.

| journeys of a person in a browser | module |
|---|---|
| a first game, Options, and both languages | `test_play.py` |
| puzzles, and the par of the day | `test_puzzles.py`, `test_par.py` |
| the review of a game, the analysis board, Openings | `test_review.py`, `test_analysis.py`, `test_proof.py` |
| links, files and pictures; a game with a friend | `test_saving.py`, `test_friends.py` |
| what fits, and what can be read, from phones to wide screens | `test_looks.py`, `test_board.py` |

The others compare the scripts with Python: sessions (`test_model.py`), texts and records (`test_texts.py`), films,
players, hints, losses and the compiled engine. `test_hosting.py` is about hosting: sizes, offline use and new versions.
"""
