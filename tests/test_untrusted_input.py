"""Test that invalid input from outside is refused with a short error that says what is wrong, or does no harm."""

import base64
import contextlib
import importlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from agents.evaluation.evaluation_run import FinishedParts
from agents.networks import nets
from agents.players.agent_files import CARD_NAME, WEIGHTS_NAME, read_card
from agents.players.network_player import PPOPlayer
from agents.reports.tournaments import read_report
from agents.run import load_config
from oanquan_env import (
    Board,
    Core,
    Move,
    NotationError,
    Rules,
    RulesError,
    cuda,
    parse_records,
)
from oanquan_env.benchmark.suites import read_suite
from oanquan_env.errors import MissingExtraError, UsageError, needing_extra
from oanquan_env.files import FileError
from oanquan_env.match.rules import MatchRules
from oanquan_env.players import as_policy
from oanquan_env.proofs.opening_values import read_opening_values
from oanquan_env.records.match_records import replay_match
from oanquan_env.search.value_net import ValueNet
from tests.helpers.untrained import renew_checksum, save_untrained

ROOT = Path(__file__).parents[1]
SHORT = 1000
"""Upper limit on the number of characters in an error message."""
SET_UP, HEAD, DEEP = "5,5,5,5,5,0*/5,5,5,5,5,0*", '[Rules "mancala-world"]\n[Result "*"]\n', 100_000
SUITE = '{"format": 2, "made": {}, "rules": "mancala-world", "positions": '
BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
FAULTS = {
    "notation": [
        *("", "\uff15A", "\u00b2A", "5," * DEEP, f"{SET_UP} 0,0 0 \uff10", f"{SET_UP} 0,0 0 {'9' * 5000}"),
        *("5,5,300,5,5,0*/5,5,5,5,5,0* 0,0 0 0", f"{SET_UP} 0,-0 0 0", f"\u2028{SET_UP} 0,0 0 0\0"),
        "0,0,0,0,1,127*/0,0,0,0,0,127* -9999999999999999999,0 0 0",
    ],
    "rules": [
        *("seeds=" + "5" * 10**7, "seeds=5 " * 10**6, "seeds=\u00b2", "max_plies=1e3", "tonkin seeds", "quan_non=-1"),
        *("max_rounds=" + "9" * 23, "mancala-world mancala-world"),
    ],
    "records": [
        *("hello", "[", "[Rules]", "[" * DEEP, HEAD, f"{HEAD}3A *", f"{HEAD}1. {{\\x}} 3A *", f"{HEAD}{{{{{{a}}"),
        *(f"{HEAD}1. \uff15A *", f"{HEAD}\0", HEAD + "{a}" * DEEP, HEAD + "{" * DEEP, f"{HEAD}{'9' * 23}. 5A *"),
        *(f"{HEAD}1. 5A {'(' * DEEP}", f"{HEAD}1. 5A {'(1. 4A' * DEEP}", f"{HEAD}1. 5A{')' * DEEP}"),
        *(f'{HEAD}[Sold "S1"]\n*', f'{HEAD}[Match "fields_to_lose=9"]\n[Round "1"]\n*', f'{HEAD}[Position "5"]\n*'),
    ],
    "cards": [
        "rules: ludii\nrules: ludii",
        "a: " + "[" * 5000,
        "a: " + "9" * 10**4,
        BOMB,
        "\0",
        "- 1",
        "rules: [1]",
        "{",
    ],
    "suites": [
        *(
            '{"format": 2, "format": 2}',
            "[]",
            "[" * DEEP,
            '{"format": ' + "9" * 10**4 + "}",
            f"{SUITE}7}}",
            f'{SUITE}["{"x" * 10**6}"]}}',
        ),
        *(f"{SUITE}[]}}", f'{SUITE}[["{SET_UP} 0,0 0 0", [1{"0" * 300}], [], []]]}}'),
    ],
    "opening values": [
        f'{{"format": 1, "rules": "mancala-world", "plies": 1, "made": {{}}, "positions": {rows}}}'
        for rows in ("7", "null", "[7]", '[["", 1, 0]]')
    ],
}
"""By kind, texts that once made a reader raise an undocumented error. If a fuzzer finds another, add it here."""


def of_file(read: Callable[[Path], object], name: str) -> Callable[[str, Path], object]:
    def read_text(text: str, folder: Path) -> object:
        (folder / name).write_text(text)
        return read(folder / name)

    return read_text


READERS: dict[str, list[tuple[Callable[[str, Path], object], type[Exception]]]] = {
    "notation": [(lambda text, _: Move.parse(text), NotationError), (lambda text, _: Board.parse(text), NotationError)],
    "rules": [(lambda text, _: Rules.parse(text), RulesError), (lambda text, _: MatchRules.parse(text), RulesError)],
    "records": [(lambda text, _: replay_match(parse_records(text)), UsageError)],
    "cards": [
        (of_file(load_config, "x.yaml"), UsageError),
        (of_file(lambda path: read_card(path.parent), CARD_NAME), UsageError),
    ],
    "opening values": [(of_file(read_opening_values, "x.json"), FileError)],
    "suites": [(of_file(read_suite, "x.json"), FileError), (of_file(read_report, "x.json"), FileError)],
}


@pytest.mark.parametrize("kind", FAULTS)
def test_texts_that_once_failed_are_refused_in_a_few_words(kind: str, tmp_path: Path) -> None:
    for text in FAULTS[kind]:
        for read, error in READERS[kind]:
            with pytest.raises(error) as refused:
                read(text, tmp_path)
            assert 0 < len(str(refused.value)) < SHORT, text[:SHORT]


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(rng.integers(1, 4)):
        at, more = rng.integers(len(content)), rng.bytes(rng.integers(0, 4))
        content = content[:at] + more + content[at + rng.integers(0, 4) :]
    return content


@pytest.mark.filterwarnings("ignore:Reading .* Python 2:UserWarning")
@pytest.mark.parametrize("count", [500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_damaged_nets_are_refused(count: int) -> None:
    """Bytes are damaged in a small archive, or in one of its members before the member's checksum is computed."""
    rng, whole = np.random.default_rng(8), {"format": np.array(3), "rules": np.array("mancala-world"), "x": np.zeros(6)}
    for _ in range(count):
        members, file = {}, io.BytesIO()
        for name, array in whole.items():
            np.save(member := io.BytesIO(), array)
            members[name] = member.getvalue()
        if name := rng.choice([*members, ""]):
            members[name] = damaged(members[name], rng)
        with zipfile.ZipFile(file, "w", int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))) as archive:
            for member_name, content in members.items():
                archive.writestr(f"{member_name}.npy", content)
        content = file.getvalue() if name else damaged(file.getvalue(), rng)
        try:
            with pytest.raises(FileError) as refused:
                ValueNet.from_bytes(content)
        except Exception as error:
            pytest.fail(f"{error!r}: {base64.b64encode(content)!r}")
        assert len(str(refused.value)) < SHORT


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ({"width": 30_000}, "has at least .* weights, but the file"),
        ({"width": 1_000_000_000}, r"network\.width"),
        ({"embed": 1_000_000_000}, r"network\.embed"),
    ],
)
def test_a_card_cannot_ask_for_a_network_that_its_weights_do_not_fill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: dict[str, object], message: str
) -> None:
    agent = save_untrained(tmp_path / "agent")
    for name in ("PlainNet", "AfterstateNet", "TwoPlyNet"):
        monkeypatch.setattr(nets, name, lambda *_: pytest.fail("a network was made"))
    card = yaml.safe_load((agent / CARD_NAME).read_text())
    (agent / CARD_NAME).write_text(yaml.safe_dump({**card, "network": {**card["network"], **network}}))
    with pytest.raises(FileError, match=message):
        PPOPlayer(agent)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weight: weight * float("nan"), "value.weight holds numbers that are not finite"),
        (lambda weight: weight * 1e30, r"value.weight holds numbers that are not finite or exceed 1e\+04"),
        (lambda weight: weight.to(torch.int8), r"value.weight has the dtype torch.int8; expected torch.float32"),
        (lambda weight: weight[:, :3], "size mismatch for value.weight"),
    ],
)
def test_weights_that_no_network_has_are_refused(
    tmp_path: Path, change: Callable[[torch.Tensor], torch.Tensor], message: str
) -> None:
    path = save_untrained(tmp_path / "agent") / WEIGHTS_NAME
    tensors = load_file(path)
    save_file({**tensors, "value.weight": change(tensors["value.weight"])}, path)
    renew_checksum(path.parent)
    with pytest.raises(FileError, match=rf"agent\.safetensors: not the weights of the network.*{message}"):
        PPOPlayer(path.parent)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(FileError, match="neither a file nor a folder"):
        PPOPlayer(path.parent)


def test_a_damaged_part_is_named_and_one_of_other_settings_is_not_found(tmp_path: Path) -> None:
    parts = FinishedParts(tmp_path)
    parts.store(["a/b", "c"], {"seed": 1}, {"score": 0.5})
    assert parts.find(["a/b", "c"], {"seed": 1}) == {"score": 0.5}
    assert parts.find(["a-b", "c"], {"seed": 1}) is parts.find(["a/b", "c"], {"seed": 2}) is None
    (path,) = tmp_path.iterdir()
    for text in ("[]", "{}", "3", "{", '{"key": []}', "[" * 100_000):
        path.write_text(text)
        with pytest.raises(FileError, match="not a finished part of an evaluation"):
            parts.find(["a/b", "c"], {"seed": 1})


@pytest.mark.parametrize("bias", [0.0, float("nan")])
def test_a_module_s_logits_are_checked(bias: float) -> None:
    core, positions, module = Core(), Core().start(2), torch.nn.Linear(18, 10).to(torch.bfloat16)
    torch.nn.init.constant_(module.bias, bias)
    with pytest.raises(ValueError, match="NaN for a legal action") if bias else contextlib.nullcontext():
        chosen = as_policy(module, core).choose(positions, np.random.default_rng(0))
        assert core.legal_mask(positions)[np.arange(2), chosen].all()


MISTAKES = """
train --config nowhere.yaml  =>  nowhere.yaml: no such file
train --resume nowhere  =>  nowhere
train --seed -1  =>  command line: seed: must be greater than or equal to 0 (got -1)
train --total-plies 2.5  =>  Error parsing --total-plies: must be a whole number, such as 200 or 1e6
train --output ""  =>  Error parsing --output: must be a path; got an empty text
evaluate greedy random --openings ""  =>  openings must be balanced, fair, random or a file of game records; got ''
train --sweep 0 --jobs 1000000  =>  --jobs must be a whole number from 1 to 1,024; got 1000000
evaluate greedy random --pairs 1e12  =>  command line: pairs: must be less than or equal to 1000000
evaluate greedy rendom  =>  unknown player 'rendom' (did you mean random?)
evaluate greedy random --rules chess  =>  unknown preset 'chess'
oanquan_env.cli evaluate nobody  =>  unknown player 'nobody'
oanquan_env.cli evaluate greedy --json nowhere/a.json  =>  --json: the folder nowhere does not exist
oanquan_env.cli evaluate greedy --json /proc/a.json  =>  --json: /proc/a.json cannot be written
oanquan_env.cli exploit greedy --json /proc/a.json  =>  --json: /proc/a.json cannot be written
oanquan_env.cli solve --json /proc/a.json  =>  --json: /proc/a.json cannot be written
oanquan_env.cli solve --certificate /proc/a.npz  =>  --certificate: /proc/a.npz cannot be written
oanquan_env.cli show --svg /proc/a.svg  =>  --svg: /proc/a.svg cannot be written
evaluate greedy random --json /proc/a.json  =>  --json: /proc/a.json cannot be written
evaluate greedy random --save-games /proc/a.txt  =>  --save-games: /proc/a.txt cannot be written
agents.suites.__main__ opening-values --output /proc/a.json  =>  the output: /proc/a.json cannot be written
oanquan_env.cli solve --rules three-player  =>  minimax needs rules for two players, and these have 3; use maxn
oanquan_env.cli solve --time ٣  =>  argument --time: must be a number, such as 2.5, not '٣'
oanquan_env.cli exploit greedy --minutes 1_0  =>  argument --minutes: must be a number, such as 2.5, not '1_0'
oanquan_env.cli exploit greedy --positions ３  =>  argument --positions: must be a whole number from 1
oanquan_env.cli perft --depth ٣  =>  argument --depth: must be a whole number from 1 with at most 40 digits, not '٣'
train --ppo.learning-rate ٣  =>  --ppo.learning-rate: must be a number, such as 0.5 or 1e-3
train --total-plies ٣  =>  Error parsing --total-plies: must be a whole number, such as 200 or 1e6
oanquan_env.cli solve --time 0  =>  --megabytes and --time must be above 0
agents.data.position_data --output nowhere --positions 0  =>  recipe.positions: must be greater than or equal to 1
agents.suites.__main__ make_regret  =>  argument command: invalid choice: 'make_regret' (choose from
agents.suites.__main__ regret --games 1e9  =>  recipe.games: must be less than or equal to 1000000 (got 1000000000)
experiments.methods --jobs 1000000  =>  command line: jobs: must be less than or equal to 1024
agents.suites.__main__ opening-values --nodes 0  =>  command line: nodes: must be greater than or equal to 1 (got 0)
agents.suites.__main__ prove-regret nowhere.json --jobs 0  =>  command line: jobs: must be greater than or equal to 1
notebooks.run nowhere  =>  no notebook begins with 'nowhere'; there are 01_the_game.ipynb,
examples.llm_player --model m  =>  the following arguments are required: --base-url
examples.llm_player --model m --base-url u --retries -1  =>  --positions and --jobs must be 1 or more
examples.llm_player --model m --base-url u  =>  --base-url must begin with http:// or https://; got u
examples.llm_player --model m --base-url http://u --opponent greed  =>  did you mean greedy
examples.llm_player --model m --base-url http://u --rules chess  =>  unknown preset 'chess'
examples.llm_player --model m --base-url http://u --rules fields=3  =>  there is no regret suite for
"""


@pytest.mark.parametrize("row", MISTAKES.strip().splitlines())
def test_a_mistake_in_a_command_is_explained(row: str, capsys: pytest.CaptureFixture[str]) -> None:
    command, message = row.split("  =>  ")
    module, *arguments = shlex.split(command)
    try:
        status = importlib.import_module(module).main(arguments)
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("module", "option"), [("train", "--resume"), ("evaluate", "--save-games"), ("oanquan_env.cli", "--version")]
)
def test_help_ends_and_can_be_read_in_a_terminal_of_one_column(
    module: str, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "1")
    with pytest.raises(SystemExit, match=r"^0$"):
        importlib.import_module(module).main(["--help"])
    assert option in capsys.readouterr().out  # not broken at the end of a line


@pytest.mark.parametrize("command", ["perft --depth", "solve --time", "exploit greedy --positions"])
def test_a_number_of_5000_digits_is_refused_in_a_few_words(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        importlib.import_module("oanquan_env.cli").main([*command.split(), "9" * 5000])
    message = capsys.readouterr().err.splitlines()[-1]
    assert "must be a" in message
    assert len(message) < SHORT


@pytest.mark.parametrize(
    ("package", "remedy", "command"),
    [
        ("torch", '-e ".[train]"', "train.py --help"),
        ("torch", '-e ".[train]"', "-m oanquan_env play --opponent ppo:pretrained"),
    ],
)
def test_a_command_says_what_to_install(tmp_path: Path, package: str, remedy: str, command: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{package!r}] = None\n")
    paths = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "", "HOME": str(tmp_path)}
    started = [sys.executable, *command.split()]
    ended = subprocess.run(started, cwd=ROOT, env=paths, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert ended.returncode != 0
    assert f"the package {package} is missing; install it with: pip install {remedy}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_hint_on_a_missing_extra_fits_a_clone_and_an_installed_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for root, remedy in ((ROOT, '-e ".[cuda]"'), (tmp_path, "'oanquan[cuda]'")):
        monkeypatch.setattr("oanquan_env.errors.__file__", str(root / "oanquan_env" / "errors.py"))
        with pytest.raises(MissingExtraError, match=re.escape(f"pip install {remedy}")), needing_extra("cuda"):
            raise ModuleNotFoundError(name="numba_cuda")


EXTRAS = {
    "torch": ("train", ("alphazero", "cleanrl_ppo", "offline_learning", "pqn", "sb3_ppo")),
    "sb3_contrib": ("train", ("sb3_ppo",)),
    "pyspiel": ("openspiel", ("open_spiel_game",)),
    "ray": ("rllib", ("rllib_ppo",)),
    "tianshou": ("tianshou", ("tianshou_ppo",)),
    "tensordict": ("torchrl", ("torchrl_ppo",)),
    "datasets": ("trl", ("trl_grpo",)),
    "verifiers": ("verifiers", ("verifiers_positions",)),
}
"""By missing package, the extra that installs it, and examples that need it."""


@pytest.mark.parametrize("package", EXTRAS)
def test_an_example_says_what_to_install(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    extra, examples = EXTRAS[package]
    for name in examples:
        with pytest.raises(SystemExit, match=r"^2$"):
            runpy.run_path(f"{ROOT}/examples/{name}.py", run_name="__main__")
        expected = f'examples.{name}: the package {package} is missing; install it with: pip install -e ".[{extra}]"'
        assert capsys.readouterr().err.strip() == expected


@pytest.mark.parametrize("device", ["cuda", "cuda:3", "cpu"])
def test_games_on_a_device_need_one(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: device == "cpu")
    with pytest.raises(UsageError, match=rf"device must be a CUDA device that torch .* can use; got '{device}'"):
        cuda.CudaGames(2, device=device)
