"""Read and write files. Writes are atomic: a killed program leaves the old file or the new one, never a partial file.

Files may be untrusted: damaged files and JSON that is nested too deeply raise `ValueError`. Files whose names end in
`.gz` are compressed. Pipes and devices are written in place. Text is also read from them, but binary files are not.
"""

import errno
import gzip
import hashlib
import io
import json
import os
import re
import secrets
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from oanquan_env.errors import UsageError

DATA = Path(__file__).parent / "data"  # suites, openings, value nets and opening values of the package
LONGEST = 200  # maximum length of an untrusted text in an error message, in characters
TEMPORARY = ".part"  # suffix of a file while it is written
COMPRESSED = ".gz"
MOST_BYTES = 1 << 27  # maximum size of a decompressed file and of the content of a pipe, in bytes
PIPE_SECONDS = 5.0  # time within which another program must open a pipe to write to it


class FileError(UsageError):
    """Raised for a file or folder that is missing, damaged, in use or of the wrong kind; the message says which."""


class RepeatedKeyError(UsageError):
    """Raised if a key occurs twice in a mapping or object of a file; other parsers would keep only the last value."""

    def __init__(self, key: str, first: int, line: int) -> None:
        super().__init__(f"line {line}: {one_line(repr(key))} is already in line {first}; keep one of them")


@contextmanager
def naming_damage(path: Path, what: str, remedy: str = "", *, text: bool = False) -> Iterator[None]:
    """Raise `FileError` if `path` is not a file or the block fails; state the path, `what`, the cause and `remedy`.

    `text` is as for `check_readable`.
    """
    check_readable(path, text=text)
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).removeprefix(f"{path}: ")
        raise FileError(f"{path}: {what}: {one_line(reason)}{remedy}") from None


def check_format(arrays: Mapping[str, Any], wanted: int) -> None:
    """Raise `ValueError` if `format` in a file's `arrays` is not `wanted`, and `KeyError` if it is missing."""
    if arrays["format"].tolist() != wanted:
        raise ValueError(f"its format is {one_line(arrays['format'])}, but this version reads format {wanted}")


def one_line(text: object) -> str:
    """Return `text` as a string on one line for an error message, cut after `LONGEST` characters."""
    line = " ".join(str(text)[: 10 * LONGEST].split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def check_readable(path: Path, *, text: bool = False) -> None:
    """Raise `FileError` unless `path` is a file or, if `text` is True, a pipe or device for `read_bytes`."""
    if not (path.is_file() or (text and (path.is_fifo() or path.is_char_device()))):
        pipe = "neither a file nor a folder; copy its content to a file"
        kind = "a folder, not a file" if path.is_dir() else pipe if path.exists() else "no such file"
        raise FileError(f"{path}: {kind}")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, pipe or device, decompressed if its name ends in `.gz`.

    Raises `OSError` if it cannot be read, and `ValueError` if a `.gz` file is damaged, if a `.gz` file (decompressed),
    a pipe or a device has more than `MOST_BYTES` bytes, or if nothing writes to a pipe.
    """
    compressed = path.suffix == COMPRESSED
    if path.is_file() and not compressed:
        return path.read_bytes()
    try:
        with _pipe_content(path) if path.is_fifo() else open(path, "rb") as file:
            content = (gzip.GzipFile(fileobj=file) if compressed else file).read(MOST_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"not a compressed file: {error}") from None
    if len(content) > MOST_BYTES:
        raise ValueError(f"the content has more than {MOST_BYTES:,} bytes")
    return content


def _pipe_content(path: Path) -> IO[bytes]:
    """Return the content of a pipe. Raise `ValueError` if no other program writes to it within `PIPE_SECONDS`."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        end = time.monotonic() + PIPE_SECONDS
        while (first := file.raw.read(1)) == b"":  # None if another program has opened the pipe, but not yet written
            if time.monotonic() > end:
                raise ValueError(f"no program has written to this pipe within {PIPE_SECONDS:g} seconds")
            time.sleep(PIPE_SECONDS / 100)
        os.set_blocking(file.fileno(), True)
        return io.BytesIO((first or b"") + file.read(MOST_BYTES + 1))


def text_bytes(path: Path, text: str) -> bytes:
    """Return the UTF-8 bytes of `text` for the file `path`, compressed (without a timestamp) if it ends in `.gz`."""
    if path.suffix != COMPRESSED:
        return text.encode()
    content = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=content, mtime=0) as file:
        file.write(text.encode())
    return content.getvalue()


def read_json(path: Path) -> Any:
    """Return the content of a JSON file. Raise `FileError` if the file is missing or is not valid JSON."""
    check_readable(path, text=True)
    try:
        return parse_json(read_bytes(path).decode("utf-8-sig"))  # Windows editors write a byte order mark
    except ValueError as error:
        raise FileError(f"{path}: {error}") from None


def parse_json(text: str | bytes) -> Any:
    """Return the value that a JSON text describes.

    Raises `ValueError` if the text is invalid, is nested too deeply, has overlong numbers or repeats a key.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RepeatedKeyError:
        raise _repeated_key(text if isinstance(text, str) else text.decode(json.detect_encoding(text))) from None
    except RecursionError:
        raise ValueError("not readable as JSON: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not readable as JSON: {one_line(error)}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise RepeatedKeyError("", 0, 0)  # Python's reader gives no line numbers
    return mapping


def _repeated_key(text: str) -> RepeatedKeyError:
    """Return the error for the first repeated key in a JSON text that has one."""
    objects: list[dict[str, int]] = []
    for token in re.finditer(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}]', text):
        if token[0] == "{":
            objects.append({})
        elif token[0] == "}":
            objects.pop()
        elif token[2]:
            key, line = json.loads(token[1]), text.count("\n", 0, token.start()) + 1
            if key in objects[-1]:
                return RepeatedKeyError(key, objects[-1][key], line)
            objects[-1][key] = line
    raise AssertionError("no key is repeated")


def read_arrays(source: Path | bytes, most: int = MOST_BYTES) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an `.npz` file by name, without unpickling. `source` is the file's path or its content.

    Raises `OSError` if the file cannot be read, and `ValueError` if it is not a valid `.npz` file or its arrays have
    more than `most` bytes.
    """
    file = io.BytesIO(source if isinstance(source, bytes) else source.read_bytes())
    try:
        with zipfile.ZipFile(file) as archive:  # reading a member stops at its declared size
            size = sum(member.file_size for member in archive.infolist())
        if size > most:
            raise ValueError(f"the arrays have {size:,} bytes; at most {most:,} are allowed")
        with np.load(file, allow_pickle=False) as members:
            arrays = {name: np.asarray(member) for name, member in members.items()}
        for array in arrays.values():
            if array.dtype.kind == "U":  # otherwise Python would fail later, where the text is used
                codes = np.frombuffer(array.tobytes(), f"{array.dtype.byteorder}u4")
                if codes.max(initial=0) > sys.maxunicode:
                    raise ValueError("a string holds an invalid character")
        return arrays
    except Exception as error:  # readers of archives and headers raise many kinds of errors
        raise ValueError(f"not readable as .npz: {one_line(error) or type(error).__name__}") from None


def npz_bytes(**arrays: npt.NDArray[Any]) -> bytes:
    """Return the content of a compressed `.npz` file that holds the arrays."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def short_hash(*parts: bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 hash of the joined parts."""
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def check_place(option: str, path: Path) -> None:
    """Raise `ValueError` if `replacing` could not write to `path`; the message names `option`.

    Call it before long work. It makes and removes a temporary file in the folder, and does not open a pipe or device.
    """
    if not path.parent.is_dir():
        raise ValueError(f"{option}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise ValueError(f"{option}: {path} is a folder, not a file")
    try:
        if replaceable(path):
            temporary = _temporary(Path(os.path.realpath(path)))
            temporary.touch(exist_ok=False)
            temporary.unlink()
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise ValueError(f"{option}: {path} cannot be written: {error.strerror}") from None


def replaceable(path: Path) -> bool:
    """Return whether `path` is a file or does not exist, and so not a pipe, a device or this program's own output.

    Raises `OSError` for other kinds of files, such as sockets and disks.
    """
    if path.is_block_device() or path.is_socket():
        raise OSError(errno.EINVAL, "it is neither a file nor a pipe", str(path))
    return not (path.is_fifo() or path.is_char_device() or _own_output(path))


def _own_output(path: Path) -> IO[str] | None:
    """Return the stream of this program's output if `path` names it, such as /dev/stdout, and None otherwise."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # closed, or a stream without a descriptor
            if os.path.samestat(os.fstat(stream.fileno()), path.stat()):
                return stream
    return None


def _temporary(path: Path) -> Path:
    """Return the path of a new temporary file beside the file `path`."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY}")


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to the file `path` in one step; see `replacing`."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield an open binary file that replaces `path` in one step after the block, with the old file's permissions.

    Pipes, devices and this program's own output are not replaced: the block writes to them directly.

    Raises `OSError` if the file cannot be written. After any error, even one in the block, the old file is unchanged.
    """
    if not replaceable(path):
        if own := _own_output(path):
            own.flush()  # the output that was printed comes first
        with os.fdopen(os.dup(own.fileno()), "wb") if own else open(path, "wb") as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    name = _temporary(path)
    try:
        with open(name, "xb") as file:  # `tempfile` would ignore the umask and give only the owner access
            if path.exists():
                os.chmod(name, path.stat().st_mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
