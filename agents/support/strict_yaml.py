"""YAML files read into typed settings: unknown keys and wrong values are errors that name file and field."""

import dataclasses
import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from oanquan_env import Rules
from oanquan_env.files import FileError, check_readable, one_line


def whole_number(value: object) -> object:
    """A text of plain decimal digits, or one such as 1e6, as the whole number that it means; anything else as it is.

    Raises `ValueError` for truth values and for texts that are no such number.
    """
    if isinstance(value, str) and WHOLE.fullmatch(value):
        value = float(value) if "e" in value.lower() else int(value)
    if isinstance(value, bool | str) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError("must be a whole number")
    return int(value) if isinstance(value, float) else value


def plain_number(value: object) -> object:
    """Refuses truth values and texts that are no number in decimal digits, with `ValueError`."""
    if isinstance(value, bool) or (isinstance(value, str) and not NUMBER.fullmatch(value)):
        raise ValueError("must be a number")
    return value


Model = TypeVar("Model")
WHOLE = re.compile(r"-?[0-9]{1,18}|[0-9]{1,9}(\.[0-9]{1,9})?[eE]\+?[0-9]{1,2}")
NUMBER = re.compile(r"-?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})([eE][+-]?[0-9]{1,3})?")
Whole = Annotated[int, BeforeValidator(whole_number)]
Number = Annotated[float, BeforeValidator(plain_number), Field(allow_inf_nan=False)]
Count = Annotated[Whole, Field(ge=1, le=10**15)]
CountOrZero = Annotated[Whole, Field(ge=0, le=10**15)]
Seed = Annotated[Whole, Field(ge=0, lt=2**32)]
Share = Annotated[Number, Field(ge=0.0, le=1.0)]
Positive = Annotated[Number, Field(gt=0.0)]
RulesName = Annotated[str, AfterValidator(lambda text: str(Rules.parse(text)))]
"""Rules by name, with changed fields, in the order in which `str` tells them."""
PositiveOrZero = Annotated[Number, Field(ge=0.0)]
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
"""Pydantic's names of a key that there is not, in a model and in a dataclass."""
MOST_BYTES = 1_000_000  # largest YAML file that is read
MOST_PROBLEMS = 10  # most problems that one error tells


class Strict(BaseModel):
    """Settings that refuse unknown keys and never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def to_yaml(self) -> str:
        """The settings as YAML that reads back."""
        return dump_yaml(self.model_dump())


@contextmanager
def naming_field(field: str) -> Iterator[None]:
    """Within it a `ValueError` becomes a `FileError` that names the field."""
    try:
        yield
    except ValueError as error:
        raise FileError(f"{field}: {error}") from None


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
    """The mapping in a YAML file; raises `FileError` if there is none."""
    check_readable(path)
    if path.stat().st_size > MOST_BYTES:
        raise FileError(f"{path}: {path.stat().st_size:,} bytes; at most {MOST_BYTES:,} are read")
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except RecursionError:
        raise FileError(f"{path}: not readable as YAML: nested too deep") from None
    except (yaml.YAMLError, ValueError) as error:
        raise FileError(f"{path}: not readable as YAML: {one_line(error)}") from None
    if not isinstance(values, dict):
        said = "nothing" if values is None else f"a {type(values).__name__}"
        raise FileError(f"{path}: expected `field: value` lines, got {said}")
    return values


SAID = {
    "missing": "is missing",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be {le} or less",
    "literal_error": "must be {expected}",
    "finite_number": "must be a finite number",
    "too_short": "must have {min_length} or more",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(
        ("model_type", "model_attributes_type", "dataclass_type", "dict_type"), "must be `field: value` lines"
    ),
    "string_type": "must be a text",
    "list_type": "must be a list",
}
"""What errors say, by pydantic's name of the problem."""


def validated(model: type[Model], values: object, where: str) -> Model:
    """Values as a pydantic model or dataclass; raises `FileError` naming `where` and the field."""
    try:
        return TypeAdapter(model).validate_python(values)
    except ValidationError as error:
        raise FileError(f"{where}: {explain(error, model)}") from None


def explain(error: ValidationError, model: type | None = None) -> str:
    """What is wrong, field by field, on one line; of an unknown field of `model`, which one may be meant."""
    parts = []
    problems = sorted(error.errors(), key=lambda problem: problem["type"] == "missing")  # what is there comes first
    for problem in problems[:MOST_PROBLEMS]:
        name = ".".join(str(part) for part in problem["loc"])
        if problem["type"] in UNKNOWN:
            meant = did_you_mean(problem["loc"], model)
            said = f"unknown field; {meant}" if meant else "unknown field"
        elif problem["type"] in SAID:
            said = SAID[problem["type"]].format(**problem.get("ctx", {}))
        else:
            said = problem["msg"].removeprefix("Value error, ")
        got = "" if problem["type"] == "missing" else f" (got {one_line(repr(problem['input']))})"
        parts.append(f"{one_line(name)}: {one_line(said)}{got}" if name else one_line(said))
    if len(problems) > MOST_PROBLEMS:
        parts.append(f"and {len(problems) - MOST_PROBLEMS} more")
    return "; ".join(parts)


def did_you_mean(place: Iterable[int | str], model: Any) -> str:
    """Which field of a model, or of a model in it, may be meant by the last name of a place; empty if none is close."""
    *way, name = place
    for part in way:
        model = getattr(fields_of(model).get(str(part)), "annotation", None)
    close = difflib.get_close_matches(str(name)[:100], fields_of(model), n=1)
    return f"did you mean {close[0]}?" if close else ""


def fields_of(model: Any) -> dict[str, Any]:
    """The fields of a pydantic model or of a dataclass, by name; none of anything else."""
    if isinstance(model, type) and issubclass(model, BaseModel):
        return dict(model.model_fields)
    return {field.name: field for field in dataclasses.fields(model)} if dataclasses.is_dataclass(model) else {}
