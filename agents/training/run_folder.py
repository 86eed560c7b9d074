"""Names of the files in a run's folder."""

from __future__ import annotations

CONFIG_NAME = "config.yaml"
"""The configuration, resolved."""
RUN_NAME = "run.yaml"
"""Where the run comes from: command, commit, versions."""
CHECKPOINT_NAME = "checkpoint.safetensors"
"""All that a run needs to go on."""
EVALUATIONS_NAME = "evaluations.jsonl"
"""One evaluation a line."""
