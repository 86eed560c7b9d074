"""Measure searches with the net for any rules: regret under rule sets that the net was never trained on.

`python -m benchmarks.any_rules` searches the positions of the package's suites for rule sets (see
`oanquan_env.rule_sets`), and the development parts of the suites for the presets, which also have nets of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import report
from oanquan_env.benchmark.regret import Suite, regret
from oanquan_env.benchmark.suites import load_suite, rule_set_suites
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.rule_sets import SPLITS, Split
from oanquan_env.rule_sets import split as rules_of
from oanquan_env.search.any_rules_net import read_any_rules_net
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.value_net import PRETRAINED, ValueNet, read_value_net

HEADINGS = "rules", "no net", "net for any rules", "ratio", "the rules' own net", "ratio to the own net"


@dataclass(frozen=True)
class Options(report.Options):
    """The options of the command line."""

    net: str = PRETRAINED  # the net: a file, a run's folder or `pretrained`
    nodes: int = 2_000  # node limit of the searches


def regret_of(suite: Suite, net: ValueNet | None, nodes: int) -> float:
    """Return the mean regret of a search with `net` in the suite's positions."""
    player = SearchPlayer(Search(suite.core, net=net), Limits(nodes=nodes))
    return regret(player, suite, np.random.default_rng(0), by_phase=False).mean


def measure(options: Options) -> list[dict[str, Any]]:
    """Return the regret under each rule set, without a net, with the net for any rules and with the rules' own net."""
    net, results = read_any_rules_net(options.net), list[dict[str, Any]]()
    for split in SPLITS:
        for suite in _suites(split):
            rules = suite.core.rules
            nets = {"none": None, "any": net.for_rules(rules)}
            if split == "presets":
                nets["own"] = read_value_net(PRETRAINED, rules)
            found = {name: regret_of(suite, one, options.nodes) for name, one in nets.items()}
            results.append({"split": split, "rules": str(rules), "positions": len(suite), **found})
    return results


def _suites(split: Split) -> Sequence[Suite]:
    if split == "presets":
        return [load_suite(rules).part("development") for rules in rules_of(split)]
    return rule_set_suites(split)


def rows(results: list[dict[str, Any]]) -> list[list[str]]:
    """Return the rows of the table: one for each preset, and the mean of each split."""
    lines = []
    for split in SPLITS:
        if parts := [one for one in results if one["split"] == split]:
            names = [name for name in ("none", "any", "own") if name in parts[0]]
            mean: dict[str, Any] = {name: np.mean([one[name] for one in parts]) for name in names}
            each = [{**one, "rules": f"`{one['rules']}`"} for one in parts if split == "presets"]
            lines += [_row(one) for one in [*each, {**mean, "rules": f"{split}: mean of {len(parts)} rule sets"}]]
    return lines


def _row(one: dict[str, Any]) -> list[str]:
    own = [f"{one['own']:.2f}", f"{one['any'] / one['own']:.2f}"] if "own" in one else ["", ""]
    return [one["rules"], f"{one['none']:.2f}", f"{one['any']:.2f}", f"{one['any'] / one['none']:.2f}", *own]


def main() -> None:
    """Measure the net and show the table."""
    options = report.read_options(Options, __doc__, "any_rules")
    results = measure(options)
    report.write(options, "any_rules", {"nodes": options.nodes, "results": results})
    report.show(f"Regret of searches of {options.nodes:,} nodes, in points", HEADINGS, rows(results))


if __name__ == "__main__":
    main()
