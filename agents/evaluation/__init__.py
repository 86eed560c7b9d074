"""Evaluations of players: tournaments with every measure, and an agent's games during its training.

`evaluation_run` is a run of `evaluate.py`; `finished_parts` stores its parts, so that it can resume, by the
`code_hashes` of all code behind them. `training_evaluation` measures an agent while it learns.
"""
