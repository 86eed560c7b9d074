"""Inputs that once failed, and files of strangers: every reader refuses them with its own error, in a few words."""

import base64
import http.client
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation.results import read_report
from agents.networks.agent_files import CARD_NAME, read_card
from agents.training.kinds import load_config
from oanquan_env import Board, Move, NotationError, Rules, RulesError, parse_records
from oanquan_env.benchmark.suites import read_suite
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.match.rules import MatchRules
from oanquan_env.play.server import PlayServer
from oanquan_env.records.matches import replay_match
from oanquan_env.search.value_net import ValueNet
from tests.fuzz_corpus import FOLDER, inputs

LONGEST = 1000
"""Most characters of an error."""


def from_file(read: Callable[[Path], object], name: str) -> Callable[[str], None]:
    """`read` of a file called `name` that holds a text; its errors name the file."""

    def read_text(text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_text(text)
            with pytest.raises(UsageError, match=re.escape(name)) as refused:
                read(path)
        raise refused.value

    return read_text


READERS: dict[str, list[tuple[Callable[[str], object], type[Exception] | tuple[type[Exception], ...]]]] = {
    "notation": [(Move.parse, NotationError), (Board.parse, NotationError)],
    "rules": [(Rules.parse, RulesError), (MatchRules.parse, RulesError)],
    "records": [(lambda text: replay_match(parse_records(text)), UsageError)],
    "nets": [(lambda text: ValueNet.from_bytes(base64.b64decode(text)), FileError)],
    "cards": [
        (from_file(load_config, "x.yaml"), UsageError),
        (from_file(lambda path: read_card(path.parent), CARD_NAME), UsageError),
    ],
    "suites": [(from_file(read_suite, "x.json"), FileError), (from_file(read_report, "x.json"), FileError)],
}
"""The readers of each kind, and the error that each promises."""


@pytest.mark.parametrize(("kind", "read", "error"), [(kind, *one) for kind, row in READERS.items() for one in row])
def test_what_once_failed_is_refused_in_a_few_words(
    kind: str, read: Callable[[str], object], error: type[Exception]
) -> None:
    for text in inputs(kind):
        with pytest.raises(error) as refused:
            read(text)
        assert 0 < len(str(refused.value)) < LONGEST, text[:LONGEST]


def test_requests_that_once_failed_are_answered_and_change_no_game(persons: PlayServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", persons.server_port, timeout=60)

    def ask(name: str, body: str) -> tuple[int, dict[str, object]]:
        connection.request("POST", f"/{persons.token}/{name}", body, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())

    tab = ask("begin", "{}")[1]["tab"]
    before = ask("wait", json.dumps({"tab": tab}))
    for text in inputs("requests"):
        name, _, body = text.partition(" ")
        status, answer = ask(name, body.replace("TAB", str(tab)))
        assert status == 400, text[:LONGEST]
        assert len(json.dumps(answer["error"])) < 3 * LONGEST, text[:LONGEST]
        assert ask("wait", json.dumps({"tab": tab})) == before
    connection.close()


@pytest.mark.filterwarnings("ignore:Reading .* Python 2:UserWarning")
@pytest.mark.parametrize("count", [500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_damaged_nets_are_refused(count: int) -> None:
    """Bytes of small archives changed, lost and put in, within members as well, whose checksums then fit."""
    rng = np.random.default_rng(8)
    whole = {"format": np.array(3), "rules": np.array("mancala-world"), "origin": np.array("{}"), "x": np.zeros((2, 3))}
    for _ in range(count):
        members = {name: member_bytes(array) for name, array in whole.items()}
        name = rng.choice([*members, ""])
        if name:
            members[name] = damaged(members[name], rng)
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))) as archive:
            for member, content in members.items():
                archive.writestr(f"{member}.npy", content)
        content = file.getvalue() if name else damaged(file.getvalue(), rng)
        try:
            with pytest.raises(FileError) as refused:
                ValueNet.from_bytes(content)
        except Exception as error:
            pytest.fail(f"{error!r}: add it to tests/fuzz_corpus/nets.json: {base64.b64encode(content)!r}")
        assert len(str(refused.value)) < LONGEST


def member_bytes(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(rng.integers(1, 4)):
        at, more = rng.integers(len(content)), rng.bytes(rng.integers(0, 4))
        content = content[:at] + more + content[at + rng.integers(0, 4) :]
    return content


def test_every_kind_is_read() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*READERS, "requests"}
