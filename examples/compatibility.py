"""Test the package with the installed frameworks, and write the table in docs/frameworks.md.

    python -m examples.compatibility            # test the installed frameworks
    python -m examples.compatibility --check    # test nothing; fail if a framework is untested or failed

No single virtual environment can hold all frameworks, so each run replaces only the rows of installed frameworks.
"""

import contextlib
import importlib.util
import subprocess
import sys
from pathlib import Path

from oanquan_env.benchmark.tables import table
from oanquan_env.files import write_atomically
from oanquan_env.provenance import versions
from tools.docs_from_code import replace_between

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "frameworks.md"
BESIDE = ("gymnasium", "pettingzoo", "torch")
HEADINGS = ["", "version", "through", "Gymnasium", "PettingZoo", "PyTorch", "tests"]
TESTS = "tests/examples/test_frameworks.py -k"
FRAMEWORKS = {
    "CleanRL-style PPO": ("torch", "torch", "`gymnasium.make_vec`, self-play", f"{TESTS} single"),
    "sb3-contrib": ("sb3_contrib", "sb3-contrib", "`OAnQuanVecEnv`, against greedy", f"{TESTS} sb3"),
    "TorchRL": ("torchrl", "torchrl", "`gymnasium.make`, against greedy", f"{TESTS} torchrl"),
    "RLlib": ("ray.rllib.algorithms", "ray", "AEC, `PettingZooEnv`, masking RLModule, self-play", f"{TESTS} rllib"),
    "Tianshou": ("tianshou", "tianshou", "`gymnasium.make`, against greedy", f"{TESTS} tianshou"),
    "OpenSpiel": ("pyspiel", "open-spiel", "Python game over the core", "tests/examples/test_open_spiel_game.py"),
    "Ray": ("ray", "ray", "`evaluate.py --ray`, `train.py --sweep --ray`", "tests/agents/test_scale.py"),
}
"""Module, distribution, interface and tests of each framework."""


def test(name: str) -> list[str]:
    """Run the tests of a framework, and return its row."""
    _, package, through, tests = FRAMEWORKS[name]
    command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider", *tests.split()]
    passed = subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    tested = versions([package, *(other for other in BESIDE if other != package)])
    beside = [tested.get(other, "–") for other in BESIDE]
    return [name, tested[package], through, *beside, "pass" if passed else "**fail**"]


def read_rows(text: str) -> dict[str, list[str]]:
    """Return the rows of the page's table by framework name."""
    block = text.partition("<!-- works:begin -->")[2].partition("<!-- works:end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.strip().splitlines()[2:]]
    return {row[0]: row for row in rows}


def main(arguments: list[str]) -> int:
    """Test the frameworks and write the page, or with `--check` only read it; return 1 unless all have passed."""
    text = PAGE.read_text(encoding="utf-8")
    rows = read_rows(text)
    if arguments != ["--check"]:
        for name, (module, *_) in FRAMEWORKS.items():
            with contextlib.suppress(ImportError):  # raised if a parent package is missing
                rows |= {name: test(name)} if importlib.util.find_spec(module) else {}
        ordered = [rows[name] for name in FRAMEWORKS if name in rows]
        write_atomically(PAGE, replace_between(text, "works", table(HEADINGS, ordered, left=3)).encode())
    wrong = [name for name in FRAMEWORKS if rows.get(name, ["fail"])[-1] != "pass"]
    for name in wrong:
        print(f"{name} failed or has not been tested: run python -m examples.compatibility", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
