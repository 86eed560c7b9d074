"""Finished parts of a long evaluation, one JSON file each, so that the same command goes on after an interruption.

A file holds the settings by which its part was made. A part made by other settings is never taken for the wanted one.
"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any

from agents.support.files import write_atomically
from agents.support.provenance import commit


class ResultCacheError(ValueError):
    """A kept part that is damaged or was made by other settings; names the file and says what to do."""


class ResultCache:
    """Keeps parts in a folder, which is made when first needed.

    Args:
        folder: where the files lie; None keeps nothing.

    Attributes:
        commit: of the project, at which parts are made.
        made_at: commits at which the parts that were found here were made.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.commit = commit()
        self.made_at: set[str] = set()

    def path(self, names: list[str]) -> Path | None:
        """The file of the part of that name: readable, with a hash that tells names apart that read the same."""
        if self.folder is None:
            return None
        slug = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", name)[:40] for name in names)
        return self.folder / f"{slug}-{zlib.crc32(chr(10).join(names).encode()):08x}.json"

    def store(self, names: list[str], settings: dict[str, Any], content: dict[str, Any]) -> None:
        """Write a part; a kill at any moment leaves the whole file or none."""
        path = self.path(names)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            part = {"settings": settings, "made_at": self.commit, "content": content}
            write_atomically(path, (json.dumps(part) + "\n").encode())

    def find(self, names: list[str], settings: dict[str, Any]) -> dict[str, Any] | None:
        """The content of a part; None if it is not there yet.

        Raises:
            ResultCacheError: if it is damaged or was made by other settings.
        """
        path = self.path(names)
        if path is None or not path.is_file():
            return None
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            made_by, content = dict(data["settings"]), dict(data["content"])
        except (ValueError, KeyError, TypeError) as error:
            raise ResultCacheError(
                f"{path}: not a finished part of an evaluation ({error}); delete it to go on"
            ) from None
        different = [name for name, value in settings.items() if made_by.get(name) != value]
        if different:
            raise ResultCacheError(
                f"{path} was made by other settings ({', '.join(different)}): choose another --output, or delete it"
            )
        self.made_at.add(str(data.get("made_at")))
        return content
