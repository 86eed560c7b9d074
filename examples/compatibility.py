"""Compatibility of versions: run the frameworks' tests in the current environment, and record the outcome.

    python -m examples.compatibility            # test what is installed here, and write the outcomes
    python -m examples.compatibility --render   # write the page's tables from outcomes and measured runs
    python -m examples.compatibility --check    # fail if the page is stale, or a framework untested

No virtual environment holds all frameworks, so each run replaces the results of those it finds and keeps the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.support.markdown import replace_between
from agents.support.provenance import commit, versions
from oanquan_env.benchmark.markdown import table
from oanquan_env.files import write_atomically

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "examples" / "results"
OUTCOMES = RESULTS / "compatibility.json"
PAGE = ROOT / "docs" / "frameworks.md"
BESIDE = ("gymnasium", "pettingzoo", "numpy", "torch")
"""Packages whose versions are given beside the framework's."""


@dataclass(frozen=True)
class Framework:
    """A framework, or a way to use one, with an example and its tests.

    Attributes:
        name: what people call it.
        example: module in `examples/`, result file in `examples/results/`, and `tests/examples/test_EXAMPLE.py`.
        module: its import; a framework is installed if this is found.
        package: distribution whose version is given.
        through: the interface that it uses.
        tests: the file of its tests, if it is not named after the example.
    """

    name: str
    example: str
    module: str
    package: str
    through: str
    tests: str = ""

    @property
    def test_file(self) -> str:
        """Where its tests are, from the root of the clone."""
        return self.tests or f"tests/examples/test_{self.example}.py"


FRAMEWORKS = (
    Framework("CleanRL-style PPO", "cleanrl_ppo", "torch", "torch", "`gymnasium.make_vec`, self-play"),
    Framework("sb3-contrib", "sb3_gymnasium", "sb3_contrib", "sb3-contrib", "`gymnasium.make`, against greedy"),
    Framework("TorchRL", "torchrl_ppo", "torchrl", "torchrl", "AEC, `PettingZooWrapper`, self-play"),
    Framework("RLlib", "rllib_ppo", "ray.rllib", "ray", "AEC, `PettingZooEnv`, masking RLModule, self-play"),
    Framework("Tianshou", "tianshou_ppo", "tianshou", "tianshou", "`gymnasium.make`, against greedy"),
    Framework("OpenSpiel", "open_spiel_game", "pyspiel", "open-spiel", "Python game over the core"),
    Framework("Ray", "", "ray", "ray", "`evaluate.py --ray`, `train.py --sweep --ray`", "tests/test_scale.py"),
)


def is_installed(framework: Framework) -> bool:
    """Whether the framework, and the clone's own training packages where its tests need them, can be imported."""
    needed = [framework.module] if framework.example else [framework.module, "sb3_contrib"]
    try:
        return all(importlib.util.find_spec(module) for module in needed)
    except ModuleNotFoundError:  # of the package above a module
        return False


def test(framework: Framework) -> dict[str, Any]:
    """Run the framework's tests; how many passed and failed, and with which versions."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
        command += [f"--junitxml={report}", framework.test_file]
        subprocess.run(command, cwd=ROOT, check=False)
        counts = ElementTree.parse(report).getroot()[0].attrib
    failed, skipped = int(counts["failures"]) + int(counts["errors"]), int(counts["skipped"])
    return {
        "passed": int(counts["tests"]) - failed - skipped,
        "failed": failed,
        "skipped": skipped,
        "seconds": round(float(counts["time"])),
        "commit": commit(),
        "versions": versions([framework.package, *(name for name in BESIDE if name != framework.package)]),
    }


def read_outcomes() -> dict[str, Any]:
    """The outcomes so far, by the framework's name."""
    return json.loads(OUTCOMES.read_text(encoding="utf-8")) if OUTCOMES.exists() else {}


def works_block(outcomes: dict[str, Any]) -> str:
    """The table of what works."""
    rows = []
    for framework in FRAMEWORKS:
        outcome = outcomes.get(framework.name)
        if not outcome:
            continue
        found = outcome["versions"]
        tests = f"{outcome['passed']} passed"
        if outcome["failed"]:
            tests = f"**{outcome['failed']} failed**, {tests}"
        name = f"[{framework.name}](#{framework.example})" if framework.example else framework.name
        beside = [found.get(package, "–") for package in ("gymnasium", "pettingzoo", "torch")]
        rows.append([name, found[framework.package], framework.through, *beside, tests])
    return table(["", "version", "through", "Gymnasium", "PettingZoo", "PyTorch", "tests"], rows, left=3)


def curves_block() -> str:
    """The table of the measured runs."""
    rows = []
    for framework in FRAMEWORKS:
        path = RESULTS / f"{framework.example}.json"
        if not (framework.example and path.exists()):
            continue
        run = json.loads(path.read_text(encoding="utf-8"))
        if "steps" not in run["curve"][-1]:
            continue
        first, last = run["curve"][0], run["curve"][-1]
        scores = [
            f"{100 * first[name]['score']:.0f} → {100 * last[name]['score']:.1f} ± "
            f"{50 * (last[name]['high'] - last[name]['low']):.1f}"
            for name in ("random", "greedy")
        ]
        times = [f"{last[name] / 60:.1f}" for name in ("seconds", "cpu_seconds")]
        rows.append([framework.name, f"{last['steps']:,}", *times, *scores, f"`{run['commit']}`"])
    headings = ["", "steps", "minutes", "of a processor", "score against random, %", "against greedy, %", "commit"]
    return table(headings, rows)


def page(text: str) -> str:
    """The page with its tables as the results have them."""
    return replace_between(replace_between(text, "works", works_block(read_outcomes())), "curves", curves_block())


def check(text: str) -> list[str]:
    """What is wrong with the page and the results."""
    outcomes = read_outcomes()
    problems = [f"{one.name} was never tested" for one in FRAMEWORKS if one.name not in outcomes]
    problems += [f"tests of {name} failed" for name, outcome in outcomes.items() if outcome["failed"]]
    if page(text) != text:
        problems.append(f"{PAGE.name} is stale: run python -m examples.compatibility --render")
    return problems


def main(arguments: list[str]) -> int:
    """Test, or render or check the page; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--check", action="store_true", help="test nothing; fail if something is stale or untested")
    modes.add_argument("--render", action="store_true", help="test nothing; write the page's tables")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these frameworks (default: all that are here)")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {framework.name for framework in FRAMEWORKS}
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(one.name for one in FRAMEWORKS)}")
    if options.check:
        problems = check(PAGE.read_text(encoding="utf-8"))
        for problem in problems:
            print(f"examples.compatibility: {problem}", file=sys.stderr)
        return bool(problems)
    if options.render:
        write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8")).encode())
        return 0
    failed = False
    for framework in FRAMEWORKS:
        if is_installed(framework) and (not options.names or framework.name in options.names):
            outcome = test(framework)
            failed |= bool(outcome["failed"])
            outcomes = {**read_outcomes(), framework.name: outcome}
            ordered = {one.name: outcomes[one.name] for one in FRAMEWORKS if one.name in outcomes}
            write_atomically(OUTCOMES, (json.dumps(ordered, indent=1, ensure_ascii=False) + "\n").encode())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
