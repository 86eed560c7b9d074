"""Measure searches with the net for any rules: regret under rule sets that the net was never trained on.

`python -m experiments.any_rules` searches the positions of the package's suites for rule sets (see
`oanquan_env.rule_sets`), and the development parts of the suites for the presets, which also have nets of their own.
Development rule sets have none, but `--own` names runs that trained some, by `configs/value.yaml` with `--rules`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments import common
from experiments.common import Cells, Experiment
from oanquan_env.benchmark.regret import Suite, regret
from oanquan_env.benchmark.suites import load_suite, rule_set_suites
from oanquan_env.players.search_player import search_player
from oanquan_env.rule_sets import SPLITS, Split
from oanquan_env.rule_sets import split as rules_of
from oanquan_env.search.any_rules_net import read_any_rules_net
from oanquan_env.search.value_net import PRETRAINED, VALUE_NET_NAME, ValueNet, read_value_net


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line."""

    net: str = PRETRAINED  # the net: a file, a run's folder or `pretrained`
    nodes: int = 2_000  # node limit of the searches
    own: tuple[str, ...] = ()  # run folders, each with the own net of a development rule set


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Measure the regret without a net, with the net for any rules, and with own nets; yield after each split."""
    net, results = read_any_rules_net(options.net), list[dict[str, Any]]()
    trained = [ValueNet.from_bytes((Path(run) / VALUE_NET_NAME).read_bytes()) for run in options.own]
    own = {net.rules: net for net in trained} | {
        rules: read_value_net(PRETRAINED, rules) for rules in rules_of("presets")
    }
    for split in SPLITS:
        for suite in _suites(split):
            rules = suite.core.rules
            nets = {"none": None, "any": net.for_rules(rules)} | ({"own": own[rules]} if rules in own else {})
            players = {name: search_player(rules, options.nodes, net) for name, net in nets.items()}
            regrets = {name: regret(player, suite, by_phase=False).mean for name, player in players.items()}
            results.append({"split": split, "rules": str(rules), "positions": len(suite), **regrets})
        yield {"nodes": options.nodes, "results": results}


def _suites(split: Split) -> Sequence[Suite]:
    if split == "presets":
        return [load_suite(rules).part("development") for rules in rules_of(split)]
    return rule_set_suites(split)


def rows(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield a row for each rule set with an own net, and for the mean of each split."""
    for split in SPLITS:
        if parts := [part for part in results["results"] if part["split"] == split]:
            for part in parts:
                if "own" in part:
                    yield _row(f"`{part['rules']}`", part)
            shared = [net for net in ("none", "any", "own") if all(net in part for part in parts)]
            means = {net: np.mean([part[net] for part in parts]) for net in shared}
            yield _row(f"{split}: mean of {len(parts)} rule sets", means)


def _row(name: str, regrets: Mapping[str, Any]) -> Cells:
    none, folded = regrets["none"], regrets["any"]
    cells = {"rules": name, "no net": f"{none:.2f}", "net for any rules": f"{folded:.2f}"}
    cells["ratio"] = f"{folded / none:.2f}"
    if own := regrets.get("own"):
        cells |= {"the rules' own net": f"{own:.2f}", "ratio to the own net": f"{folded / own:.2f}"}
    return cells


EXPERIMENT = Experiment("any_rules", __doc__, Options, measure, {"any-rules": rows})


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
