"""Rewrite the playthrough of every preset (`python -m tests.golden`)."""

from oanquan_env import PRESETS
from tests import golden

for preset in PRESETS:
    golden.path(preset).write_text("\n".join(golden.playthrough(preset)) + "\n", encoding="utf-8", newline="\n")
