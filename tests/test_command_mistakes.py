"""A mistake in any command is explained before anything is done, and so is a package that is not installed."""

import importlib
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agents.support.extras import needing_extras
from oanquan_env.errors import MissingExtraError
from oanquan_env.players import MaxnPolicy, make

HERE = Path(__file__).parent
ASK = "examples.llm_player --base-url http://127.0.0.1:9 --model m"  # nobody answers there
MISTAKES = f"""
train  =>  what to train? try: python train.py --config configs/quick.yaml
train --config nowhere.yaml  =>  nowhere.yaml: no such file
train configs/quick.yaml  =>  what is 'configs/quick.yaml'? A configuration is given by --config
train --config configs/quick.yaml --output {__file__}  =>  train.py: {__file__}: File exists
train --resume nowhere  =>  nowhere holds no run
train --resume nowhere --seed 3  =>  only --threads, --device, --total-plies go with it
train --resume nowhere --output there  =>  only --threads, --device, --total-plies go with it
train --resume runs/x --sweep 0  =>  only --threads, --device,
train --seed -1  =>  command line: seed: must be 0 or more (got -1)
train --reward outcome  =>  command line: network.name must be plain with reward=outcome: afterstates takes a move for
train --reward outcome --network.name two_ply  =>  network.name must be plain with reward=outcome: two_ply takes a move
train --jobs 2  =>  --ray and --jobs spread the seeds of a --sweep
train --ray auto  =>  --ray and --jobs spread the seeds of a --sweep
train --sweep 0 --jobs 0  =>  --jobs must be 1 or more
train --sweep a  =>  --sweep takes seeds
train --sweep ''  =>  --sweep takes seeds
train --ppo.n-stpes 32  =>  --ppo.n-stpes
train --ppo.n-steps -1  =>  greater than or equal to 1
train --ppo.n-steps=x  =>  --ppo.n-steps
train --ppo.gamma nan  =>  finite number
train --network.name resnet  =>  invalid choice 'resnet'
evaluate  =>  evaluate.py: which players? try: python evaluate.py greedy random
evaluate greedy  =>  evaluate.py: two players or more are needed for a match; got 1
evaluate greedy greedy  =>  two players are called 'greedy'; tell them apart by labels
evaluate greedy rendom  =>  unknown player 'rendom' (did you mean random?)
evaluate greedy random --pairs 0  =>  pairs: must be 1 or more (got 0)
evaluate greedy random --rules chess  =>  unknown preset 'chess'
evaluate greedy random --suite arena,elo  =>  suites.1: must be 'arena', 'tables' or 'regret' (got 'elo')
evaluate greedy random --openings {HERE}  =>  {HERE}: Is a directory
evaluate greedy random --output {__file__}  =>  {__file__}: File exists
evaluate greedy random --openings nowhere.txt  =>  nowhere.txt: no such file; openings are `random`, `balanced` or
evaluate greedy random --openings balanced --pairs 100000  =>  it holds 600 openings; 100000 are needed
evaluate greedy random --openings balanced --rules 'tonkin seeds=3'  =>  there is no balanced suite for
evaluate greedy --suite regret --rules 'tonkin seeds=3'  =>  no regret suite for
evaluate greedy random --json nowhere/x.json  =>  --json: there is no folder nowhere
evaluate greedy --suite regret --save-games x.txt  =>  no games are played without --suite arena
evaluate greedy --suite regret --ray x:1  =>  nothing to spread over a cluster without --suite arena
evaluate greedy random --opening-plies 120  =>  was running after 120 plies: take fewer plies
evaluate --config nowhere.yaml  =>  nowhere.yaml: no such file
evaluate greedy random --seed -1  =>  seed: must be 0 or more (got -1)
oanquan_env.cli evaluate nobody  =>  unknown player 'nobody'
oanquan_env.cli evaluate greedy --json nowhere/a.json  =>  --json: there is no folder nowhere
oanquan_env.cli evaluate greedy random --openings nowhere.txt  =>  nowhere.txt: no such file
agents.evaluation.sprt greedy rendom  =>  unknown player 'rendom'
agents.evaluation.sprt greedy random --rules three-player  =>  a test of pairs is for two players
agents.evaluation.sprt greedy random --elo1 -5  =>  elo0 must be less than elo1
agents.evaluation.sprt greedy random --batch 0  =>  batch and max_pairs must be 1 or more
agents.evaluation.make_regret --count 600 --depths 1 1 1 --games 3  =>  positions too few of the phase 'opening'
agents.evaluation.make_regret --count 7  =>  count must be a multiple of 3
agents.evaluation.prove_regret x.json --nodes 0  =>  --nodes and --threads must be 1 or more
agents.evaluation.openings --rules three-player --count 5  =>  give a depth of at most 8
oanquan_env.cli solve --rules chess  =>  unknown preset 'chess'
oanquan_env.cli solve --rules three-player  =>  two players, not 3
oanquan_env.cli solve --time 0  =>  --megabytes and --time must be above 0
oanquan_env.cli solve --megabytes inf  =>  --megabytes at most 1,000,000,000
oanquan_env.cli solve --megabytes 1e9  =>  --megabytes: there is no memory for a table of 1,000,000,000
oanquan_env.cli solve --position 5,5  =>  column
oanquan_env.cli solve --position '1,0,0,0,0,0/1,0,0,0,0,0 34,34 0 0'  =>  a running game
oanquan_env.cli solve --json nowhere/x.json  =>  --json: there is no folder nowhere
agents.reports.curves nowhere  =>  nowhere/config.yaml: no such file
agents.reports.curves  =>  give the folder of a training run
agents.reports.report nowhere.json  =>  no such file
benchmarks.players nobody --uses search --learned-from nothing  =>  unknown player 'nobody'
examples.compatibility Dopamine  =>  unknown: Dopamine; there are CleanRL-style PPO,
examples.llm_player --model m  =>  --base-url is needed, or OPENAI_BASE_URL in the environment
examples.llm_player --base-url http://x  =>  --model is needed, or OPENAI_MODEL in the environment
{ASK} --jobs 0  =>  --jobs must be 1 or more; got 0
{ASK} --timeout nan  =>  --timeout must be a number of seconds above
{ASK} --base-url ftp://x  =>  --base-url must begin with http:// or https://; got 'ftp://x'
{ASK} --positions 100000  =>  --positions: the development part of regret-mancala-world has 1170; got 100000
{ASK} --rules 'tonkin seeds=3'  =>  --rules: there is no regret suite of two players for 'tonkin seeds=3'
{ASK} --rules tonkin  =>  --rules: this example has no words for the leftovers, mandarin_ahead, mandarin_seeds
{ASK} --rules three-player  =>  --rules: there is no regret suite of two players for 'three-player'
{ASK} --extra [1]  =>  --extra must be a JSON object; got '[1]'
{ASK} --extra {{  =>  not readable as JSON
{ASK} --output missing/found.json  =>  --output: there is no folder missing
examples.td_lambda --rules three-player  =>  --rules: this example is for two players; 'three-player' has 3
examples.td_lambda --rules chess  =>  chess
examples.td_lambda --save nowhere/td.npz  =>  --save: there is no folder nowhere
examples.td_lambda --results nowhere/td.json  =>  --results: there is no folder nowhere
examples.td_lambda --plies 0  =>  argument --plies: must be 1 to inf; got 0
examples.td_lambda --lam 1.5  =>  argument --lam: must be 0 to 1; got 1.5
examples.td_lambda --temperature nan  =>  argument --temperature: must be 0.01 to 100; got nan
examples.td_lambda --seed one  =>  argument --seed: invalid
"""
DATA = """
  =>  there is nothing to make: give --positions or --games
--positions -1  =>  --positions must be 0 or more; got -1
--positions 9 --depth 0  =>  depth must be 1 or more; got 0
--positions 9 --threads 0  =>  --threads must be 1 or more; got 0
--positions 9 --rules three-player  =>  moves are valued for two players; 'three-player' has more
--positions 9 --rules mongol  =>  unknown preset 'mongol'
--positions 9 --net nowhere  =>  nowhere
"""
"""Of `agents.training.datasets`, which makes its folder."""


def complaint(capsys: pytest.CaptureFixture[str], module: str, arguments: list[str]) -> str:
    """What a command says, in one line, of arguments that it refuses."""
    try:
        status = importlib.import_module(module).main(arguments)
    except SystemExit as ended:
        status = ended.code
    printed = capsys.readouterr()
    assert status == 2
    assert not printed.out or module.startswith(("agents.evaluation", "agents.training"))  # their bar
    return " ".join(printed.err.split())


@pytest.mark.parametrize("row", MISTAKES.strip().splitlines())
def test_a_mistake_is_explained(row: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    command, message = row.split("  =>  ")
    module, *arguments = shlex.split(command)
    assert message in complaint(capsys, module, arguments)


@pytest.mark.parametrize("row", DATA.strip("\n").splitlines())
def test_data_that_cannot_be_made_are_refused(row: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options, message = row.split("  =>  ")
    arguments = ["--output", str(tmp_path / "data"), "--depth", "2", "--threads", "1", *shlex.split(options)]
    assert message in complaint(capsys, "agents.training.datasets", arguments)
    assert not list(tmp_path.rglob("*.npz"))


ROOT = Path(__file__).parent.parent
HIDE = """
import importlib.abc, sys
class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
"""


def run_without(package: str, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Python in the clone, in which `package` is not installed."""
    (folder / "sitecustomize.py").write_text(HIDE.format(name=package))
    paths = {"PYTHONPATH": f"{folder}:{ROOT}", "PATH": "", "HOME": str(folder)}
    command = sys.executable, *command
    return subprocess.run(command, cwd=ROOT, env=paths, stdin=subprocess.DEVNULL, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("package", "extra", "command"),
    [
        ("tyro", "train", ["train.py", "--help"]),
        ("torch", "train", ["train.py", "--help"]),
        ("rich", "train", ["evaluate.py", "greedy", "random"]),
        ("numba", "fast", ["-m", "oanquan_env", "solve"]),
        ("nbclient", "notebooks", ["notebooks/run.py", "nothing"]),
        ("numba", "fast", ["-m", "oanquan_env", "play", "--opponent", "minimax:depth=2"]),
        ("torch", "train", ["-m", "oanquan_env", "play", "--opponent", "ppo:pretrained"]),
    ],
)
def test_a_command_says_what_to_install(tmp_path: Path, package: str, extra: str, command: list[str]) -> None:
    ended = run_without(package, tmp_path, *command)
    assert ended.returncode != 0
    remedy = '"oanquan[fast]"' if extra == "fast" else f'-e ".[{extra}]"'
    assert f"this needs {package}: pip install {remedy}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_benchmark_leaves_out_the_games_that_need_pygame(tmp_path: Path) -> None:
    ended = run_without("pygame", tmp_path, "-m", "benchmarks.aec", "--seconds", "0.001")
    assert ended.returncode == 0, ended.stderr
    assert "PettingZoo's games are left out: this needs pygame: pip install -e" in ended.stdout
    assert "oanquan raw_env" in ended.stdout


def test_players_say_what_to_install(without_numba: None) -> None:
    for name in ("minimax:depth=2", "book:minimax:ms=5"):
        with pytest.raises(MissingExtraError, match=r'^this needs numba: pip install "oanquan\[fast\]"$'):
            make(name)
    assert isinstance(make("maxn:depth=2", "three-player"), MaxnPolicy)


def test_an_interrupt_ends_a_command_that_is_being_imported_without_a_traceback() -> None:
    with pytest.raises(SystemExit) as ended, needing_extras("train.py"):
        raise KeyboardInterrupt
    assert ended.value.code == 130
    with pytest.raises(KeyboardInterrupt), needing_extras():
        raise KeyboardInterrupt
