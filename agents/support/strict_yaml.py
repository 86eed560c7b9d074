"""YAML files read into typed settings: unknown keys and wrong values are errors that name file and field."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.support.renamed import renamed

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
"""Pydantic's names of a key that there is not, in a model and in a dataclass."""


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


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; raises `ConfigError` if there is none."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected `field: value` lines, got {type(values).__name__}")
    return values


def explain(error: ValidationError) -> str:
    """What is wrong, field by field, on one line."""
    parts = []
    for problem in error.errors():
        name = ".".join(str(part) for part in problem["loc"])
        if problem["type"] in UNKNOWN:
            said = f"unknown field; {renamed(problem['loc'][-1]) or ''}".removesuffix("; ")
        else:
            said = renamed(problem["input"]) or problem["msg"].removeprefix("Value error, ")
        got = "" if problem["type"] == "missing" else f" (got {problem['input']!r})"
        parts.append(f"{name}: {said}{got}" if name else said)
    return "; ".join(parts)
