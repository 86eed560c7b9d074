"""Test atomic writing of files, compressed files, and errors in JSON files."""

import gzip
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock

import pytest

from agents.config import read_yaml
from agents.data.position_data import read_columns
from oanquan_env import files
from oanquan_env.benchmark.openings import read_openings
from oanquan_env.benchmark.suites import read_suite
from oanquan_env.engine.core import Core
from oanquan_env.errors import UsageError
from oanquan_env.files import (
    FileError,
    check_place,
    parse_json,
    read_bytes,
    read_json,
    replacing,
    text_bytes,
    write_atomically,
)
from oanquan_env.proofs.certificates import read_certificate
from oanquan_env.proofs.opening_values import read_opening_values
from oanquan_env.records.games import read_records
from oanquan_env.search.value_net import read_value_net


def test_a_file_called_gz_is_compressed_and_has_no_time(tmp_path: Path) -> None:
    text = "Ô Ăn Quan\n" * 1000
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    for path in (plain, packed):
        path.write_bytes(text_bytes(path, text))
        assert read_bytes(path).decode() == text
    assert plain.read_bytes() == text.encode()
    assert packed.stat().st_size < plain.stat().st_size / 20
    assert packed.read_bytes()[3:8] == bytes(5)  # neither a name nor a time


def test_a_damaged_or_too_long_compressed_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    path = tmp_path / "a.json.gz"
    for content in (b"plain text", b"", gzip.compress(b"x" * 1000)[:20], gzip.compress(b"x" * 200)):
        path.write_bytes(content)
        for read in (read_suite, lambda path: read_openings(Core(), path)):
            with pytest.raises(FileError, match=r"a\.json\.gz: "):
                read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"a": {"x": "}{\\"a\\":", "y": [1, {"x": 2}]},\n "b": 2,\n "a": 3}',
            "line 3: 'a' is already in line 1; keep",
        ),
        ('[{"a": 1}, {"a": 1, "\\u0061": 2}]', "line 1: 'a' is already in line 1"),
    ],
)
def test_a_repeated_key_of_json_is_refused_with_its_lines(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(FileError, match=rf"a\.json: {message}"):
        read_json(path)
    with pytest.raises(UsageError, match=f"^{message}"):
        parse_json(text.encode("utf-16"))


def test_json_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}', encoding="utf-8-sig")
    assert read_json(tmp_path / "a.json") == {"a": 1}


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, plain = tmp_path / "a.txt", tmp_path / "plain"
    plain.touch()
    monkeypatch.delattr(os, "umask")  # even reading the umask changes it, also for other threads
    write_atomically(path, b"old")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o600)
    write_atomically(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)
    monkeypatch.setattr(os, "replace", Mock(side_effect=OSError("no space")))
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, b"newer")
    assert path.read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "plain"]


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def test_a_pipe_and_a_device_are_written_and_stay(fifo: Path) -> None:
    check_place("--json", fifo)  # does not wait for a reader
    reader, (main, terminal) = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), os.openpty()
    device = Path(os.ttyname(terminal))
    check_place("--json", device)
    for path, other_end in ((fifo, reader), (device, main)):
        write_atomically(path, b"text")
        assert os.read(other_end, 100) == b"text"
    assert fifo.is_fifo()
    assert device.is_char_device()
    for descriptor in (reader, main, terminal):
        os.close(descriptor)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_dev_stdout_gets_the_content_between_the_printed_lines(stream: str, capfd: pytest.CaptureFixture[str]) -> None:
    file = getattr(files.sys, stream)
    print("before", file=file)
    check_place("--json", Path("/dev", stream))
    write_atomically(Path("/dev", stream), b"content\n")
    print("after", file=file)
    assert getattr(capfd.readouterr(), stream[3:]) == "before\ncontent\nafter\n"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere/a", "the folder .*nowhere does not exist"),
        ("folder", "folder is a folder, not a file"),
        ("link", "link cannot be written: No such file or directory"),  # a link into a folder that does not exist
        ("socket", "socket cannot be written: it is neither a file nor a pipe"),
        ("x" * 250, "cannot be written: File name too long"),  # the temporary file's name is longer
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("link").symlink_to("nowhere/a")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("socket")
    before = sorted(os.listdir())
    with pytest.raises(ValueError, match=f"--json: .*{reason}"):
        check_place("--json", Path(name))
    with pytest.raises(OSError, match=r"\[Errno \d+\]"), replacing(Path(name)):
        pass
    check_place("--json", Path("new"))
    assert sorted(os.listdir()) == before


RECORDS = '[Rules "mancala-world"]\n[Result "*"]\n\n1. 3A *\n'


@contextmanager
def piped(content: bytes) -> Iterator[Path]:
    """Yield the path of a pipe with some content, as from a shell's `<(command)`."""
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    yield Path(f"/dev/fd/{reading}")
    os.close(reading)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_records, RECORDS),
        (lambda path: read_openings(Core(), path), RECORDS),
        (read_json, '{"a": 1}'),
        (read_yaml, "a: 1"),
        (read_opening_values, '{"format": 1, "rules": "ludii", "plies": 1, "made": {}, "positions": [["", 1, 1]]}'),
    ],
)
def test_text_is_read_from_pipes(read: Callable[[Path], object], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with piped(text.encode()) as path:
        assert read(path)
    monkeypatch.setattr(files, "PIPE_SECONDS", 0.0)
    with piped(b"") as path, pytest.raises(ValueError, match="no program has written to this pipe within 0 seconds"):
        read(path)


def test_a_pipe_is_waited_for_and_its_length_is_limited(fifo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, unblock = os.open(fifo, os.O_RDWR), os.set_blocking

    def write_late(descriptor: int, blocking: bool) -> None:
        os.write(writer, b"late")
        os.close(writer)
        unblock(descriptor, blocking)

    with monkeypatch.context() as patch:
        patch.setattr(os, "set_blocking", write_late)
        assert read_bytes(fifo) == b"late"
    monkeypatch.setattr(files, "MOST_BYTES", 3)
    with piped(b"1234") as pipe:
        for path in (pipe, Path("/dev/zero")):
            with pytest.raises(ValueError, match="more than 3 bytes"):
                read_bytes(path)


@pytest.mark.parametrize("read", [read_certificate, read_value_net, read_columns])
def test_binary_files_are_not_read_from_pipes(read: Callable[[Path], object], fifo: Path) -> None:
    with pytest.raises(FileError, match="fifo: neither a file nor a folder; copy its content to a file"):
        read(fifo)
