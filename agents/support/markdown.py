"""Generated Markdown: parts of a page between two markers, and whole files."""

from pathlib import Path

from oanquan_env.files import write_atomically


def replace_between(page: str, name: str, part: str) -> str:
    """Return the page with `part` between the lines `<!-- NAME:begin -->` and `<!-- NAME:end -->`.

    Raises `ValueError` unless the page contains each marker exactly once, in this order.
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.find(begin) > page.find(end):
        raise ValueError(f"the page must contain {begin} once and, after it, {end} once")
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{part}\n{end}{rest.partition(end)[2]}"


def renew(path: Path, text: str, *, check: bool) -> bool:
    """Return whether the file already holds `text`; if it does not and `check` is False, write `text` to the file."""
    current = path.is_file() and path.read_text(encoding="utf-8") == text
    if not (current or check):
        write_atomically(path, text.encode())
    return current
