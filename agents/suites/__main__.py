"""Make the suites by which players are measured, and prove their values.

    python -m agents.suites openings --rules vietnamese --output out/openings.txt
    python -m agents.suites regret --rules vietnamese --output out/regret.json
    python -m agents.suites prove-regret out/regret.json --nodes 4000000
    python -m agents.suites opening-values --rules vietnamese --plies 3 --output out/opening-values.json
    python -m agents.suites rule-sets --split development --output out/rule-sets.json
    python -m agents.suites pairs --output out/pairs.json

`python -m agents.suites COMMAND --help` explains a command.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from agents.config import command
from agents.suites.make_opening_values import MakeOpeningValues
from agents.suites.make_openings import MakeOpenings
from agents.suites.make_regret import MakeRegret, ProveRegret
from agents.suites.make_rule_pairs import MakePairs
from agents.suites.make_rule_sets import MakeRuleSetSuites

PROG = "python -m agents.suites"
COMMANDS: dict[str, Any] = {
    "openings": MakeOpenings,
    "regret": MakeRegret,
    "prove-regret": ProveRegret,
    "opening-values": MakeOpeningValues,
    "rule-sets": MakeRuleSetSuites,
    "pairs": MakePairs,
}
"""The options of each command; their method `run` does its work."""


def main(arguments: Sequence[str] = sys.argv[1:]) -> int:
    """Run a command with its options, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog=PROG, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("options", nargs=argparse.REMAINDER, help="the options of the command")
    asked = parser.parse_args(arguments)
    options = COMMANDS[asked.command]
    return command(options, f"{PROG} {asked.command}", options.__doc__)(options.run)(asked.options)


if __name__ == "__main__":
    raise SystemExit(main())
