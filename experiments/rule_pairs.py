"""Measure which of two rule sets players follow that use no language: baselines for language models, and controls.

`python -m experiments.rule_pairs` asks each player about the package's rule pairs (see
`oanquan_env.benchmark.rule_pairs`). A search for the other rules shows a player that reverts, as far as it sees.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments import common
from experiments.common import Cells, Experiment
from oanquan_env import Board, Core, Move, Positions
from oanquan_env.array_types import Ints
from oanquan_env.benchmark.regret import PHASES
from oanquan_env.benchmark.rule_pairs import (
    Chooser,
    RulePairs,
    follow_rules,
    load_rule_pairs,
    named,
    seed_phases,
)
from oanquan_env.benchmark.statistics import Estimate
from oanquan_env.benchmark.tables import interval
from oanquan_env.engine.core import sample_actions
from oanquan_env.players import Policy, make
from oanquan_env.players.search_player import SearchPlayer, search_player
from oanquan_env.search.any_rules_net import read_any_rules_net
from oanquan_env.text import prompt, read_answer


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line."""

    nodes: int = 20_000  # node limit of the searches
    runs: int = 2  # number of moves that a player chooses in each position


class Spoken:
    """A player whose move becomes a sentence, which is read like the answer of a language model."""

    def __init__(self, player: Policy, core: Core) -> None:
        self.player, self.core = player, core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        chosen = list[int]()
        for row, action in enumerate(self.player.choose(positions, rng)):
            board = Board.from_positions(self.core, positions, row)
            assert prompt(board)
            move = read_answer(f"I thought about all moves.\nI play {Move.from_action(action)}.", board).move
            assert move is not None
            chosen.append(move.action)
        return np.array(chosen)


class UnderOtherRules:
    """A search under other rules; if all of its best moves are illegal here, it plays any legal move."""

    def __init__(self, player: SearchPlayer, core: Core) -> None:
        self.player, self.core = player, core

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        legal = self.core.legal_mask(positions)
        best = self.player.tied_moves(positions) & legal
        return sample_actions(np.where(best.any(axis=1, keepdims=True), best, legal), rng)


def players(nodes: int) -> dict[str, Chooser]:
    """Return the players by name, each as a function of the rule pairs that it is asked about."""
    net = read_any_rules_net()

    def with_vector(pairs: RulePairs) -> Policy:
        rules = pairs.given.core.rules
        return search_player(rules, nodes, dataclasses.replace(net.for_rules(pairs.other.core.rules), rules=rules))

    return {
        "greedy": named("greedy"),
        "greedy, through prompt and parser": lambda pairs: Spoken(
            make("greedy", pairs.given.core.rules), pairs.given.core
        ),
        "search": lambda pairs: search_player(pairs.given.core.rules, nodes),
        "search for the other rules": lambda pairs: UnderOtherRules(
            search_player(pairs.other.core.rules, nodes), pairs.given.core
        ),
        "search with the net for any rules": lambda pairs: search_player(
            pairs.given.core.rules, nodes, net.for_rules(pairs.given.core.rules)
        ),
        "the same, with the other rules' vector": with_vector,
    }


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Describe the rule pairs, and measure each player; yield after each."""
    rule_pairs, results = load_rule_pairs(), dict[str, Any]()
    described = {"pairs": list(describe(rule_pairs)), "nodes": options.nodes}
    for name, choose in players(options.nodes).items():
        results[name] = dataclasses.asdict(follow_rules(choose, rule_pairs, np.random.default_rng(0), options.runs))
        yield {**described, "results": results}


def describe(rule_pairs: tuple[RulePairs, ...]) -> Iterator[dict[str, Any]]:
    """Yield, for each field in which rule sets differ, the numbers of rule sets, and of positions by phase."""
    for name in dict.fromkeys(pairs.field for pairs in rule_pairs):
        members = [pairs for pairs in rule_pairs if pairs.field == name]
        phases = np.concatenate([seed_phases(pairs.given.core, pairs.given.positions) for pairs in members])
        proved = int(sum(pairs.proved().sum() for pairs in members))
        counts = np.bincount(phases, minlength=len(PHASES)).tolist()
        yield {"field": name, "rule sets": len(members), **dict(zip(PHASES, counts, strict=True)), "proved": proved}


def positions(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield the rows of the table of positions, and their sums."""
    rows = results["pairs"]
    sums = {name: sum(row[name] for row in rows) for name in rows[0] if name != "field"}
    for row in [*rows, {"field": "all", **sums}]:
        count = sum(row[phase] for phase in PHASES)
        name = row["field"] if row["field"] in ("several", "all") else f"`{row['field']}`"
        cells = {"the rule sets differ in": name, "pairs of rule sets": str(row["rule sets"]), "positions": str(count)}
        cells |= {phase: str(row[phase]) for phase in PHASES}
        yield {**cells, "proved": f"{row['proved']} ({100 * row['proved'] / count:.0f} %)"}


def shares(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield a row for a random legal move, and one for each player."""
    groups = dict[str, Any](next(iter(results["results"].values())))
    by_chance = [groups["random_follows"], groups["random_reverts"]]
    numbers = [*by_chance, 1 - sum(by_chance)]
    names = ("follows, %", "reverts, %", "neither, %")
    yield {
        "player": "random legal move (expectation)",
        **{name: f"{100 * number:.1f}" for name, number in zip(names, numbers, strict=True)},
    }
    for player, result in results["results"].items():
        estimates = (Estimate(**result[name.removesuffix(", %")]) for name in names)
        yield {
            "player": player,
            **{name: interval(share, ".1f", 100) for name, share in zip(names, estimates, strict=True)},
        }


EXPERIMENT = Experiment("rule_pairs", __doc__, Options, measure, {"rule-pairs": positions, "rule-following": shares})


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
