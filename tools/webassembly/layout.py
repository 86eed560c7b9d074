"""The content of engine.json: offsets of fields in records, choices of rules, and the tools that made engine.wasm."""

import json
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import numpy as np

from oanquan_env.engine import move
from oanquan_env.engine.positions import MANDARIN_BYTE
from oanquan_env.engine.rules import CHOICES, FIELD_NAMES
from oanquan_env.engine.trace import TURN_ENDS
from oanquan_env.match.rules import MatchMeasure
from oanquan_env.search.search_state import MAX_DEPTH
from tools.webassembly.build import RECORDS

TOOLS = ("llvmlite", "numba", "ziglang")


def describe() -> bytes:
    """Return the content of engine.json."""
    versions = {tool: version(tool) for tool in TOOLS}
    described = {
        "made_with": {"python": f"{sys.version_info.major}.{sys.version_info.minor}", **versions},
        "rules": {name: CHOICES.get(name, []) for name in FIELD_NAMES},
        "match": {"match_measure": get_args(MatchMeasure), "fields_to_lose": [], "max_rounds": []},
        "resigned": move.RESIGNED,
        "turn_ends": TURN_ENDS,
        "nets": {name: RECORDS[name]["net"].itemsize for name in ("two_rules", "many_rules")},
        "row": MANDARIN_BYTE,
        "line": MAX_DEPTH + 1,
        "records": {name: _record(kind) for name, kind in RECORDS.items()},
    }
    return json.dumps(described, separators=(",", ":")).encode() + b"\n"


def _record(kind: np.dtype[Any]) -> dict[str, Any]:
    """Return the size of a record and the offsets of its fields, in bytes.

    For a record of rules, return only the offsets that JavaScript needs: of `total`, `net`, and `players`. The other
    fields of `Rules` follow `players` in order.
    """
    assert kind.fields
    names = ("players", "total", "net") if "playable" in kind.fields else kind.fields
    return {"size": kind.itemsize, **{name: kind.fields[name][1] for name in names if name in kind.fields}}


def compare(made: Mapping[Path, bytes]) -> int:
    """Compare the build with the existing files; return the exit status.

    engine.json must be equal except for the versions of the tools. If these are also equal, the modules must be equal
    byte for byte. tests/page/test_webassembly.py compares the behaviour.
    """
    *modules, description = made
    stored, now = json.loads(description.read_text(encoding="utf-8")), json.loads(made[description])
    same = {name: stored.get(name) == value for name, value in now.items()}
    if same["made_with"]:
        same |= {module.name: module.read_bytes() == made[module] for module in modules}
    for name, equal in same.items():
        print(f"{name}: {'the same' if equal else 'DIFFERS'}")
    return 0 if all(equal for name, equal in same.items() if name != "made_with") else 1
