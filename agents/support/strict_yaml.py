"""YAML files read into typed settings: unknown keys and wrong values are errors that name file and field."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.support.files import check_readable, one_line
from agents.support.renamed import renamed

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
"""Pydantic's names of a key that there is not, in a model and in a dataclass."""
MOST_BYTES = 1_000_000
"""Largest YAML file that is read."""
MOST_PROBLEMS = 5
"""Most problems that one error tells."""


class ConfigError(ValueError):
    """A configuration that cannot be used; names the file, the field and what would be right."""


class Strict(BaseModel):
    """Settings that refuse unknown keys and never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@contextmanager
def naming_field(field: str) -> Iterator[None]:
    """Within it a `ValueError` becomes a `ConfigError` that names the field."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{field}: {error}") from None


class _Loader(yaml.SafeLoader):
    """YAML without references, which can make gigabytes of a few lines, and without keys that overwrite others."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            said = f"references such as *{event.anchor} are not read"
            raise yaml.composer.ComposerError(None, None, said, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if (key.tag, key.value) in keys:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value} is there twice", key.start_mark)
            keys.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Writes no references, which `_Loader` would refuse."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def dump_yaml(values: dict[str, Any]) -> str:
    """A mapping as YAML that `read_yaml` reads back, its keys in their order."""
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; raises `ConfigError` if there is none."""
    try:
        check_readable(path)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if path.stat().st_size > MOST_BYTES:
        raise ConfigError(f"{path}: {path.stat().st_size:,} bytes; at most {MOST_BYTES:,} are read")
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except RecursionError:
        raise ConfigError(f"{path}: not readable as YAML: nested too deep") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{path}: not readable as YAML: {one_line(error)}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected `field: value` lines, got {type(values).__name__}")
    return values


def explain(error: ValidationError) -> str:
    """What is wrong, field by field, on one line."""
    parts = []
    problems = error.errors()
    for problem in problems[:MOST_PROBLEMS]:
        name = ".".join(str(part) for part in problem["loc"])
        if problem["type"] in UNKNOWN:
            said = f"unknown field; {renamed(problem['loc'][-1]) or ''}".removesuffix("; ")
        else:
            said = renamed(problem["input"]) or problem["msg"].removeprefix("Value error, ")
        got = "" if problem["type"] == "missing" else f" (got {one_line(repr(problem['input']))})"
        parts.append(f"{one_line(name)}: {one_line(said)}{got}" if name else one_line(said))
    if len(problems) > MOST_PROBLEMS:
        parts.append(f"and {len(problems) - MOST_PROBLEMS} more")
    return "; ".join(parts)
