"""Compare the lines of each part of the repository with its budget in `[tool.oanquan.lines]` of pyproject.toml.

    python -m tools.line_budgets    # print a table; fail if a part is above its budget

The table also has the tokens (words and signs) per line, so that dense lines do not pass for less code. A commit that
raises a budget must say what users gain. Each part is given by patterns for `git ls-files`, so only tracked files
count.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOKEN = re.compile(rb"\w+|[^\w\s]")


def sizes(patterns: list[str]) -> tuple[int, int]:
    """Count the lines, as `wc -l` does, and the tokens of the tracked files that match any of the patterns."""
    names = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    contents = [(ROOT / name).read_bytes() for name in names.stdout.splitlines()]
    return sum(text.count(b"\n") for text in contents), sum(len(TOKEN.findall(text)) for text in contents)


def main() -> int:
    """Print the table; return 1 if a part is above its budget, else 0."""
    parts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["oanquan"]["lines"]
    over = False
    for name, part in parts.items():
        lines, tokens = sizes(part["files"])
        left = part["budget"] - lines
        over |= left < 0
        state = f"{left:>5,} left" if left >= 0 else f"{-left:>5,} TOO MANY"
        print(f"{name:12}{lines:>7,} of {part['budget']:>6,} lines, {state}, {tokens / lines:.1f} tokens a line")
    if over:
        print("The budgets are in pyproject.toml; a commit that raises one says what users gain.")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
