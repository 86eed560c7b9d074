"""Validate settings with pydantic, read and write them as YAML, and turn them into command-line options with tyro."""

import difflib
import os
import re
import reprlib
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar

import joblib
import tyro
import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from tyro.constructors import PrimitiveConstructorSpec

from agents.parallel import HELP
from oanquan_env import Rules
from oanquan_env.benchmark.game_pairs import MOST_PAIRS
from oanquan_env.errors import INTERRUPTED, USAGE_ERROR
from oanquan_env.files import LONGEST, FileError, RepeatedKeyError, check_readable, one_line, read_bytes
from oanquan_env.players.adapters import import_object

NARROWEST = 40  # minimum width of the help in characters
ModelT = TypeVar("ModelT")
OptionsT = TypeVar("OptionsT")
_DIGITS = r"(0|[1-9][0-9]*|[1-9][0-9]{0,2}(_[0-9]{3})+)"
INTEGER = re.compile(rf"[-+]?{_DIGITS}$")
FLOAT = re.compile(rf"([-+]?({_DIGITS}(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$")
"""Patterns of the integers and floats in YAML files. Integer options of commands accept both, such as 200 and 1e6."""


def whole_number(value: object) -> int:
    """Convert a whole number, such as 200 or "1e6", to an int. Raises `ValueError` for other values, such as 2.5."""
    number = value
    if isinstance(value, str) and len(value) <= LONGEST and FLOAT.fullmatch(value):
        number = int(value) if INTEGER.fullmatch(value) else float(value)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, Integral) and not isinstance(number, bool):
        return int(number)
    raise ValueError("must be a whole number, such as 200 or 1e6")


def _not_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


def _float(value: object) -> float:
    if isinstance(value, str) and not (len(value) <= LONGEST and FLOAT.fullmatch(value)):
        raise ValueError("must be a number, such as 0.5 or 1e-3")
    return float(value)  # type: ignore[arg-type]


def _option(read: Callable[[object], Any], metavar: str, form: Callable[[Any], str] = str, kind: type = int) -> Any:
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=metavar,
        instance_from_str=lambda texts: read(texts[0]),
        is_instance=lambda value: type(value) is kind,
        str_from_instance=lambda value: [form(value)],
    )


AUTO = 0


def _threads(value: object) -> int:
    return AUTO if value == "auto" else whole_number(value)


def _shown(value: int) -> str:
    return "auto" if value == AUTO else str(value)


def _workers(value: object) -> int:
    return joblib.cpu_count() if value == "auto" else whole_number(value)


Whole = Annotated[int, BeforeValidator(whole_number), _option(whole_number, "INT")]
Number = Annotated[float, BeforeValidator(_not_boolean), _option(_float, "FLOAT", kind=float)]
Count = Annotated[Whole, Field(ge=1, le=10**15)]
CountOrZero = Annotated[Whole, Field(ge=0, le=10**15)]
Seed = Annotated[Whole, Field(ge=0, lt=2**32)]
Pairs = Annotated[Whole, Field(ge=1, le=MOST_PAIRS)]
Size = Annotated[Whole, Field(ge=1, le=10**6)]
"""Number of items that are kept in memory."""
MOST_THREADS = 1024  # OpenMP aborts the process if it cannot start the requested threads
Threads = Annotated[Whole, Field(ge=1, le=MOST_THREADS)]
TorchThreads = Annotated[
    int, BeforeValidator(_threads), _option(_threads, "INT|auto", _shown), Field(ge=AUTO, le=MOST_THREADS)
]
"""Number of torch threads; `auto` is stored as `AUTO`, which a run or sweep replaces by a number at its start."""
Workers = Annotated[int, BeforeValidator(_workers), _option(_workers, "INT|auto"), Field(ge=1, le=MOST_THREADS)]
"""Number of worker processes; `auto` is replaced by the number of processors."""
OpeningPlies = Annotated[Whole, Field(ge=0, le=100)]
Share = Annotated[Number, Field(ge=0.0, le=1.0)]
Positive = Annotated[Number, Field(gt=0.0)]
PositiveOrZero = Annotated[Number, Field(ge=0.0)]
RulesName = Annotated[str, AfterValidator(lambda text: str(Rules.parse(text)))]
"""Name of the rules, with any changed fields, normalised to `str(rules)`."""


def _path(texts: list[str]) -> Path:
    if not texts[0]:  # perhaps from an unset "$FOLDER"; Path would read it as the current folder
        raise ValueError("must be a path; got an empty text")
    return Path(texts[0])


_PATH: Any = PrimitiveConstructorSpec(
    nargs=1,
    metavar="PATH",
    instance_from_str=_path,
    is_instance=lambda value: value is None or isinstance(value, Path),
    str_from_instance=lambda value: [str(value)],
)
OptionalFile: TypeAlias = Annotated[Path | None, _PATH, tyro.conf.arg(metavar="FILE", help_behavior_hint="")]
OptionalFolder: TypeAlias = Annotated[Path | None, _PATH, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")]
Folder: TypeAlias = Annotated[Path, _PATH, tyro.conf.arg(metavar="FOLDER")]
RayAddress: TypeAlias = Annotated[str | None, tyro.conf.arg(metavar="ADDRESS", help=HELP, help_behavior_hint="")]
Flag: TypeAlias = tyro.conf.FlagCreatePairsOff[bool]
"""A flag without a `--no-` form."""


class Strict(BaseModel):
    """Base class of immutable settings that reject unknown keys, infinity and NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Loader(yaml.SafeLoader):
    """A loader that, unlike YAML 1.1, reads `yes`, `010`, `1:30` and dates as strings and rejects repeated keys."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping of a YAML node.

        Raises `RepeatedKeyError` if a key occurs twice, and `ValueError` for a merge key, which could hide that.
        """
        lines: dict[Any, int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            line, value = key.start_mark.line + 1, key.value
            if key.tag.endswith(":merge"):
                raise ValueError(f"line {line}: the merge key {value} is not supported; write out its fields")
            if key.tag != "tag:yaml.org,2002:str":
                value = self.construct_object(key)  # 1 and +1 are the same key
            if value in lines:
                raise RepeatedKeyError(value, lines[value], line)
            lines[value] = line
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """A dumper that quotes strings that YAML 1.1 or `_Loader` would read as another type."""


for _tag, _form, _first in (
    ("null", re.compile("(|~|null|Null|NULL)$"), ["", *"~nN"]),
    ("bool", re.compile("(true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    ("int", INTEGER, list("-+0123456789")),
    ("float", FLOAT, list("-+.0123456789")),
    ("merge", re.compile("<<$"), ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _form, _first)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+.0123456789"))


def dump_yaml(values: BaseModel | dict[str, Any]) -> bytes:
    """Return settings as the content of a YAML file, in the order of the fields."""
    plain = values.model_dump() if isinstance(values, BaseModel) else values
    return yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True).encode()


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a mapping from a YAML file without running code. Raises `FileError` if the file is missing or invalid."""
    check_readable(path, text=True)
    try:
        values = yaml.load(read_bytes(path).decode(), _Loader)
    except RepeatedKeyError as error:
        raise FileError(f"{path}: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FileError(f"{path}: not readable as YAML: {one_line(error)}") from None
    if not isinstance(values, dict):
        raise FileError(f"{path}: expected `field: value` lines, got {reprlib.repr(values)}")
    return values


def validated(model: type[ModelT], values: object, where: str) -> ModelT:
    """Convert `values` to the class `model`. Raises `FileError`, beginning with `where`, if they are invalid."""
    try:
        return TypeAdapter(model).validate_python(values)
    except ValidationError as error:
        raise FileError(f"{where}: {explain(error, model)}") from None


def explain(error: ValidationError, model: Any) -> str:
    """Describe one problem in a line, a missing field only if there is no other; suggest names for unknown fields."""
    problem = min(error.errors(), key=lambda problem: problem["type"] == "missing")
    *way, name = problem["loc"] or ("",)
    message = problem["msg"].removeprefix("Value error, ").replace("Input should", "must")
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        for part in way:
            model = getattr(_fields(model).get(str(part)), "annotation", None)
        close = difflib.get_close_matches(str(name)[:100], _fields(model), 1)
        message = f"unknown field{f'; did you mean {close[0]}?' if close else ''}"
    got = "" if problem["type"] == "missing" else f" (got {reprlib.repr(problem['input'])})"
    return one_line(f"{'.'.join(map(str, problem['loc']))}: ".removeprefix(": ") + message + got)


def _fields(model: Any) -> dict[str, Any]:
    return getattr(model, "model_fields", None) or getattr(model, "__dataclass_fields__", {})


def imported(name: str, field: str) -> Any:
    """Import the object `name`, MODULE:NAME, running its module. Raises `FileError`, naming `field`, if this fails."""
    try:
        return import_object(name)
    except (ImportError, ValueError) as error:
        raise FileError(f"{field}: {name!r} cannot be imported: {error}") from None


def widen() -> None:
    """Set `COLUMNS` in a terminal with fewer than `NARROWEST` columns, because with fewer than 6, tyro never ends."""
    if shutil.get_terminal_size().columns < NARROWEST:
        os.environ["COLUMNS"] = str(NARROWEST)


def folded(text: str) -> str:
    """Return a description wrapped to the terminal. Its lines begin with a space, so that tyro does not join them."""
    lines: list[str] = []
    for line in text.strip().splitlines():
        if line[:1].isalnum() and lines and lines[-1][:1].isalnum():
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return "\n".join(map(_wrapped, lines))


def _wrapped(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    later = f"{indent}    " if indent else " "
    return textwrap.fill(
        line.strip(), shutil.get_terminal_size().columns, initial_indent=indent or " ", subsequent_indent=later,
        break_long_words=False, break_on_hyphens=False,
    ) or " "  # fmt: skip


def parse_options(
    options: type[OptionsT], arguments: Sequence[str], *, prog: str, description: str | None,
    default: Any = tyro.MISSING_NONPROP,
) -> OptionsT:  # fmt: skip
    """Parse a command line into a dataclass of options; `default` supplies the options that are not given.

    Raises `SystemExit` after `--help` (status 0) and for invalid arguments (status 2).
    """
    config = (tyro.conf.DisallowNone,)
    widen()
    parsed: OptionsT = tyro.cli(
        options, args=arguments, prog=prog, description=folded(description or ""), default=default, config=config
    )
    return parsed


def command(
    options: type[OptionsT], prog: str, description: str | None
) -> Callable[[Callable[[OptionsT], int | None]], Callable[..., int]]:
    """Return a decorator that turns a function of parsed options into the `main` of a command.

    `main` parses its arguments and calls the function. It returns the exit status: the function's result (0 for None),
    `INTERRUPTED` after Ctrl-C, or `USAGE_ERROR` after it has printed a `ValueError` or `OSError`.
    """

    def decorate(work: Callable[[OptionsT], int | None]) -> Callable[..., int]:
        def main(arguments: Sequence[str] = sys.argv[1:]) -> int:
            parsed: Any = parse_options(options, arguments, prog=prog, description=description)
            try:
                return work(validated(options, asdict(parsed), "command line")) or 0
            except KeyboardInterrupt:
                return INTERRUPTED
            except (ValueError, OSError) as error:
                return refused(prog, error)

        return main

    return decorate


def command_of(prog: str, recipe: Any) -> str:
    """Return the command line of `prog` with the options of the dataclass `recipe` that are neither None nor False."""

    def option_text(name: str, value: Any) -> str:
        option = f"--{name.replace('_', '-')}"
        if value is True:
            return option
        return shlex.join([option, *map(str, value if isinstance(value, tuple) else [value])])

    changes = {name: value for name, value in asdict(recipe).items() if value is not None and value is not False}
    return " ".join([prog, *(option_text(name, value) for name, value in changes.items())])


def progress_bar(**settings: Any) -> Progress:
    """Make a progress display with one bar per task, showing its name, count, elapsed and remaining time."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, TextColumn("ETA"), TimeRemainingColumn(), **settings)


def refused(prog: str, error: Exception) -> int:
    """Print to stderr the error that stopped the command `prog`, and return the exit status `USAGE_ERROR`."""
    names_file = isinstance(error, OSError) and error.filename
    print(f"{prog}: {f'{error.filename}: {error.strerror}' if names_file else error}", file=sys.stderr)  # type: ignore[attr-defined]
    return USAGE_ERROR
