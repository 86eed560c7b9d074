"""Rewrite the playthrough of every preset and the prompts (`python -m tests.golden`)."""

from oanquan_env import PRESETS
from tests import golden

for preset in PRESETS:
    golden.path(preset).write_text("\n".join(golden.playthrough(preset)) + "\n", encoding="utf-8", newline="\n")
for language in ("en", "vi"):
    golden.path(f"prompts-{language}").write_text(golden.prompts(language), encoding="utf-8", newline="\n")
