"""Markdown that programs write: tables, parts of a page between two markers, and whole files."""

from collections.abc import Sequence
from pathlib import Path

from oanquan_env.files import write_atomically


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int | None = 1) -> str:
    """A table, without a line end; as many cells in each row as there are headings.

    The first `left` columns are aligned left, None: all of them; the others are aligned right.
    """
    rule = ["---" if left is None or number < left else "---:" for number in range(len(heads))]
    cells = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *cells))


def replace_between(page: str, name: str, part: str) -> str:
    """The page with `part` between the lines `<!-- NAME:begin -->` and `<!-- NAME:end -->`.

    Raises `ValueError` unless the page holds each of the two once, in this order.
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.find(begin) > page.find(end):
        raise ValueError(f"the page must hold {begin} and, after it, {end}, each once")
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{part}\n{end}{rest.partition(end)[2]}"


def renew(path: Path, text: str, *, check: bool) -> bool:
    """Write `text` to `path` unless it stands there; with `check` only compare. Returns whether it stood there."""
    current = path.is_file() and path.read_text(encoding="utf-8") == text
    if not (current or check):
        write_atomically(path, text.encode())
    return current
