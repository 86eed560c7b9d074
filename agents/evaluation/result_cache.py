"""Finished parts of a long evaluation, one JSON file each, from which an interrupted evaluation continues.

A file also holds the settings that its part depends on. A part of other settings is refused, never used.
"""

import hashlib
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from agents.support.provenance import commit
from oanquan_env.files import FileError, naming_damage, read_json, write_atomically

Part = TypeVar("Part")

DIGEST = "digest"  # under this name a part holds a hash of the rest of it


class ResultCache:
    """Stores parts in a folder, which is made when it is first needed; without one, nothing.

    Attributes:
        commit: the project's commit now, at which new parts are made.
        made_at: commits at which the parts found so far were made.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.commit = commit()
        self.made_at: set[str] = set()

    def path(self, names: list[str]) -> Path | None:
        """The file of a part: its names without special characters, and a hash that keeps similar names apart."""
        if self.folder is None:
            return None
        slug = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", name)[:40] for name in names)
        return self.folder / f"{slug}-{zlib.crc32(chr(10).join(names).encode()):08x}.json"

    def store(self, names: list[str], settings: dict[str, Any], content: dict[str, Any]) -> None:
        """Write a part."""
        path = self.path(names)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            part = {"settings": settings, "made_at": self.commit, "content": content}
            part[DIGEST] = _digest(part)
            write_atomically(path, (json.dumps(part) + "\n").encode())

    def find(self, names: list[str], settings: dict[str, Any], read: Callable[[dict[str, Any]], Part]) -> Part | None:
        """A stored part, as `read` makes it from its content; None if the part is not there yet.

        Raises `FileError` if the part is damaged or belongs to other settings.
        """
        path = self.path(names)
        if path is None or not path.is_file():
            return None
        with naming_damage(path, "not a finished part of an evaluation", "; delete it to continue"):
            data = read_json(path)
            if data.get(DIGEST, _digest(data)) != _digest(data):  # older parts have none
                raise ValueError("damaged: the content is not that of its digest")
            made_by, part = dict(data["settings"]), read(data["content"])
        different = [name for name, value in settings.items() if made_by.get(name) != value]
        if different:
            raise FileError(
                f"{path} was made by other settings ({', '.join(different)}): choose another folder, or delete it"
            )
        self.made_at.add(str(data.get("made_at")))
        return part


def _digest(part: dict[str, Any]) -> str:
    rest = {name: value for name, value in part.items() if name != DIGEST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
