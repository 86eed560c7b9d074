"""Measure a player by games, and by regret: the points that its moves lose compared with the best ones.

Each opening is played in every seating. A player is a name, such as greedy or maxn:depth=3, or MODULE:NAME for a player
of your own, such as my_package.players:Careful. THIS IMPORTS AND RUNS THAT MODULE.
"""

import argparse
from pathlib import Path
from typing import get_args

from oanquan_env.benchmark.evaluation import evaluate, reference_players
from oanquan_env.benchmark.game_pairs import MOST_PAIRS
from oanquan_env.benchmark.regret import Part
from oanquan_env.cli.options import add_rules, whole
from oanquan_env.files import check_place, write_atomically

HELP = "evaluate a player by games and by regret"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_rules(parser)
    parser.add_argument("player", metavar="PLAYER", help="the player to evaluate")
    parser.add_argument("opponents", nargs="*", metavar="OPPONENT", help="its opponents (default: reference players)")
    parser.add_argument(
        "--pairs", type=whole(1, MOST_PAIRS), default=100, metavar="N", help="openings per opponent (default: 100)"
    )
    parser.add_argument("--openings", metavar="SOURCE", help="balanced, fair, random or a file of game records")
    parser.add_argument("--regret-suite", metavar="FILE", help="a regret suite (default: the package's)")
    parser.add_argument(
        "--part", choices=get_args(Part), default="test", help="part of the regret suite (default: test)"
    )
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="seed of all randomness (default: 0)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all numbers, as JSON")


def run(options: argparse.Namespace) -> None:
    """Measure the player, print the result, and write it to the file of --json, if one is given."""
    if options.json:
        check_place("--json", options.json)
    names = options.opponents or reference_players(options.rules)
    result = evaluate(
        options.player,
        options.rules,
        names,
        options.pairs,
        options.seed,
        openings=options.openings,
        suite=options.regret_suite,
        part=options.part,
    )
    print(result)
    if options.json:
        write_atomically(options.json, result.to_json().encode())
