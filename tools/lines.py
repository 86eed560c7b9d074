"""The line budget: lines of each room, compared with `[tool.oanquan.lines]` of pyproject.toml.

    python -m tools.lines    # a table; fails if a room is above its budget

Growth must be worth it: a commit that raises a number says what users get for it. A room is a list of patterns of
files that git tracks.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lines(patterns: list[str]) -> int:
    """Count the lines, as `wc -l` does, of the tracked files that match any of the patterns."""
    names = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return sum((ROOT / name).read_bytes().count(b"\n") for name in names.stdout.splitlines())


def main() -> int:
    """Print the table, and return the exit status."""
    rooms = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["oanquan"]["lines"]
    found = {name: (lines(room["files"]), room["budget"]) for name, room in rooms.items()}
    for name, (counted, budget) in found.items():
        print(f"{name:16}{counted:>7,} of {budget:>6,} lines{'  TOO MANY' * (counted > budget)}")
    return int(any(counted > budget for counted, budget in found.values()))


if __name__ == "__main__":
    sys.exit(main())
