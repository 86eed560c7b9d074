"""Players of other people's modules: `my_package.my_module:MyPolicy`. To name one is to import and run its module."""

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.errors import UnknownAgentError
from oanquan_env.players.making import kinds, make
from oanquan_env.players.observed import as_policy
from oanquan_env.players.policy import Policy

_PLACE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")


def load(name: str, rules: Rules | str = DEFAULT_PRESET) -> Policy:
    """The player of that name, see `oanquan_env.players.make`, or of that place, `MODULE:NAME`.

    A module is looked for in the current folder, too. What it names may be all that `as_policy` takes. Raises
    `UnknownAgentError` for a name that no player has and no module, and for a module without that name; `ValueError` as
    `make` and `as_policy`.
    """
    place = _PLACE.fullmatch(name)
    if place is None or place[1] in kinds():
        return make(name, rules)
    try:
        return make(name, rules)
    except UnknownAgentError:
        module = _module(place[1])
        if module is None:
            raise
    if not hasattr(module, place[2]):
        raise UnknownAgentError(f"{module.__file__ or place[1]} has no {place[2]}")
    found: Any = getattr(module, place[2])
    return as_policy(found, Core(as_rules(rules)))


def source(name: str) -> bytes | None:
    """The content of the module that a player comes from, None where there is no such file. The module is not run."""
    place = _PLACE.fullmatch(name)
    if place is None:
        return None
    with _here():
        try:
            spec = importlib.util.find_spec(place[1])
        except ModuleNotFoundError:  # what the module should lie in
            return None
    return Path(spec.origin).read_bytes() if spec and spec.origin and Path(spec.origin).is_file() else None


def _module(name: str) -> ModuleType | None:
    """The module of that name, imported; None if there is none."""
    with _here():
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            return None
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if name.startswith(error.name or "\0"):
                raise UnknownAgentError(f"there is no module {name}: {error}") from None
            raise


@contextmanager
def _here() -> Iterator[None]:
    """Modules of the current folder can be imported, as by `python -m`."""
    folder = os.getcwd()
    if folder in sys.path or "" in sys.path:
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
