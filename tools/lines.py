"""Compare the lines of each part of the repository with its budget in `[tool.oanquan.lines]` of pyproject.toml.

    python -m tools.lines    # print a table; fail if a part is above its budget

A commit that raises a budget must say what users gain. Each part is given by patterns for `git ls-files`, so only
tracked files count.
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
    """Print the table; return 1 if a part is above its budget, else 0."""
    parts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["oanquan"]["lines"]
    counts = {name: (lines(part["files"]), part["budget"]) for name, part in parts.items()}
    for name, (counted, budget) in counts.items():
        print(f"{name:16}{counted:>7,} of {budget:>6,} lines{'  TOO MANY' * (counted > budget)}")
    return int(any(counted > budget for counted, budget in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
