"""Test atomic writing of files, compressed files, and errors in JSON files."""

import gzip
import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from oanquan_env import files
from oanquan_env.benchmark.openings import read_openings
from oanquan_env.benchmark.suites import read_suite
from oanquan_env.engine.core import Core
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError, parse_json, read_bytes, read_json, text_bytes, write_atomically


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
