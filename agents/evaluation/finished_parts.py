"""Finished parts of long work, one JSON file each, so that the same command can resume.

We do not use joblib.Memory: it stores pickles, which can run code, and any change of a function invalidates all parts.
"""

import json
import re
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from agents.evaluation.code_hashes import project_code
from oanquan_env.files import naming_damage, read_json, short_hash, write_atomically
from oanquan_env.provenance import commit, versions

PACKAGES = ("numpy", "numba", "torch")
CONTENTS = {
    "openings": "games",
    "suite": "regret",
    "minutes": "best responses",
    "rule_pairs": "rule pairs",
    "rule_sets": "rule sets",
}
"""The content of a finished part, by a setting that only parts with this content have."""


class FinishedParts:
    """The parts stored in a folder, which is created when first needed; if `folder` is None, nothing is stored.

    A part's key holds everything that the part depends on: names, settings, the project's version, commit and code, and
    the versions of `PACKAGES`. Each key has its own file. Parts with a name in `again` are stored, but not found.

    Attributes:
        reused: the content of each part that was found, and the time at which it was stored.
    """

    def __init__(self, folder: Path | None, again: Collection[str] = ()) -> None:
        self.folder = folder
        self.again = again
        self.reused: dict[str, str] = {}
        self.version = [commit(), project_code(), versions(PACKAGES)]

    def find(self, names: list[str], settings: dict[str, Any], kind: Any = Any) -> Any:
        """Return the content of a part as a value of type `kind`, or None if it is not finished or is made again.

        Raises `FileError` if its file is damaged.
        """
        path, key = self._path(names, settings)
        if path is None or not path.is_file() or not set(names).isdisjoint(self.again):
            return None
        with naming_damage(path, "not a finished part of an evaluation", "; delete it to continue"):
            part = read_json(path)
            if part["key"] != json.loads(key):
                raise ValueError("it belongs to another key")
            content = TypeAdapter(kind).validate_python(part["content"])
            what = next((word for setting, word in CONTENTS.items() if setting in settings), "part")
            self.reused[f"{what} {' – '.join(names)}"] = str(part["finished"])
            return content

    def store(self, names: list[str], settings: dict[str, Any], content: Any) -> None:
        """Store the content of a part, which must be serialisable as JSON."""
        path, key = self._path(names, settings)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            finished = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
            part = {"key": json.loads(key), "finished": finished, "content": content}
            write_atomically(path, (json.dumps(part) + "\n").encode())

    def _path(self, names: list[str], settings: dict[str, Any]) -> tuple[Path | None, str]:
        """Return the path of a part's file (None without a folder), and the part's key as JSON."""
        key = json.dumps([names, settings, self.version], sort_keys=True)
        slug = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", name)[:40] for name in names)
        return self.folder and self.folder / f"{slug}-{short_hash(key.encode())}.json", key
