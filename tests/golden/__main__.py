"""`python -m tests.golden`: write the playthrough of every preset anew."""

from oanquan_env import PRESETS
from tests import golden

for preset in PRESETS:
    golden.path(preset).write_text("\n".join(golden.playthrough(preset)) + "\n", encoding="utf-8", newline="\n")
