"""Files that may come from a stranger: one that is none, and JSON that no reader can bear, are `ValueError`s."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LONGEST = 200
"""Most characters of a stranger's text that an error shows."""


def one_line(text: object) -> str:
    """What an error can show of a text: one line, cut."""
    line = " ".join(str(text)[: 10 * LONGEST].split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def check_readable(path: Path) -> None:
    """Raises `ValueError` unless `path` is a file: a folder cannot be read, and a pipe is waited for."""
    if not path.is_file():
        said = "a folder" if path.is_dir() else "neither a file nor a folder" if path.exists() else "no such file"
        raise ValueError(f"{path}: {said}" + (", not a file" if path.is_dir() else ""))


def read_json(path: Path) -> Any:
    """What a JSON file holds; raises `ValueError` that names the file."""
    check_readable(path)
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def parse_json(text: str | bytes) -> Any:
    """What a JSON text says; raises `ValueError`, also for one that is nested too deep or has endless numbers."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("not readable as JSON: nested too deep") from None
    except ValueError as error:
        raise ValueError(f"not readable as JSON: {one_line(error)}") from None


def check_place(option: str, path: Path) -> None:
    """Check, before hours of work, that a file can be written. Raises `ValueError` that names the option."""
    if not path.parent.is_dir():
        raise ValueError(f"{option}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"{option}: {path} is a folder, not a file")
