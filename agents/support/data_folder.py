"""The folder of a command that makes data: its lock, and a record of the options that made its files."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agents.folders import lock_folder
from oanquan_env.files import read_json, write_atomically

ABOUT_NAME = "about.json"  # records the options, and the meaning of the arrays in each file


@contextlib.contextmanager
def data_folder(folder: Path, kind: str, asked: Mapping[str, Any], fields: Mapping[str, str]) -> Iterator[None]:
    """Lock a folder, creating it if needed. Record `asked` (options) and `fields` (the meaning of the files' arrays).

    Raises `ValueError` if the folder was made with other options; the message calls the content `kind`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder):
        path = folder / ABOUT_NAME
        before = read_json(path).get("asked") if path.exists() else None
        if before is None:
            write_atomically(path, (json.dumps({"asked": asked, "fields": fields}, indent=1) + "\n").encode())
        elif before != asked:
            raise ValueError(f"{folder} holds {kind} made with {before}; choose another folder for {asked}")
        yield
