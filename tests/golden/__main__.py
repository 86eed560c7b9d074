"""`python -m tests.golden`: write the playthrough of every preset anew, and remove those of presets that are gone."""

from oanquan_env import PRESETS
from tests import golden

for stale in set(golden.FOLDER.glob("*.txt")) - {golden.path(preset) for preset in PRESETS}:
    stale.unlink()
for preset in PRESETS:
    golden.path(preset).write_text("\n".join(golden.playthrough(preset)) + "\n", encoding="utf-8", newline="\n")
