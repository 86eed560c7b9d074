"""The agents that come with the project: taking one in from its run, and the cards that say what they are.

    python -m agents.reports.cards take runs/ppo        copies a run's agent and configuration here
    python -m agents.reports.cards write                writes each agent's README.md from files and reports
    python -m agents.reports.cards write --check        fails if a README.md does not say what the files say

A report counts for an agent if it is of the same rules and has a player made from `ppo:pretrained` that had the same
files and played as it does now.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from agents.evaluation.regret import PHASES
from agents.evaluation.results import RegretRow, Report, origin, read_report
from agents.networks.agent_files import (
    CARD_NAME,
    PRETRAINED,
    PRETRAINED_FOLDER,
    WEIGHTS_NAME,
    AgentCard,
    read_card,
    weights_of,
)
from agents.players.fingerprint import fingerprint
from agents.players.network_player import PPOPlayer
from agents.reports.report import explanation, openings, summary, table
from agents.support.files import write_atomically
from agents.training.config import TrainConfig, load_config
from agents.training.run_folder import CONFIG_NAME
from oanquan_env import Rules

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
README_NAME = "README.md"
LOG = "../../../docs/training-log.md"
"""As seen from a card."""
LARGEST = 5_000_000
"""Bytes that weights in the repository may have."""


def take(run: Path) -> Path:
    """Copy the agent and the configuration of a run to the shelf of its rules; returns the folder.

    Weights are stored in half precision: numbers of eleven bits where float32's have 24, and half of the file.

    Raises `ValueError` for weights that are too large, and what reading the files raises.
    """
    player, config = PPOPlayer(run), load_config(run / CONFIG_NAME)
    weights = weights_of(player.network.half())
    if len(weights) > LARGEST:
        raise ValueError(f"weights of {run} have {len(weights):,} bytes; at most {LARGEST:,} go into the repository")
    folder = PRETRAINED_FOLDER / str(Rules.parse(player.card.rules)).replace(" ", "-").replace("=", "-")
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / WEIGHTS_NAME, weights)
    write_atomically(folder / CARD_NAME, (run / CARD_NAME).read_bytes())
    write_atomically(folder / CONFIG_NAME, config.to_yaml().encode())
    return folder


def render(folder: Path) -> str:
    """The README.md of the agent in `folder`."""
    card, config = read_card(folder), load_config(folder / CONFIG_NAME)
    parts = [f"# An agent for the rules `{card.rules}`", _introduction(card), _origin(card, config)]
    reports = [report for report in _reports() if report.rules == card.rules and _is_of(report, folder)]
    for report in reports:
        parts += _strength(report)
    if not reports:
        parts.append("No report of the strength of these weights is committed yet.")
    parts.append(
        "## Licence\n\nWeights and card are under the licence of the project, MIT. Loading them runs no code: they are "
        "a `safetensors` file and YAML."
    )
    return "\n\n".join(parts) + "\n"


def _introduction(card: AgentCard) -> str:
    option = "" if card.rules == str(Rules()) else f" --rules '{card.rules}'"
    return (
        f"`ppo:{PRETRAINED}` plays by it{' under these rules' if option else ''}:\n\n"
        f"```sh\npython evaluate.py ppo:{PRETRAINED} minimax:depth=4{option}\n```"
    )


def _origin(card: AgentCard, config: TrainConfig) -> str:
    made, network = card.training, card.network
    depths = ", ".join(map(str, config.teacher.depths))
    taught = f"regression on alpha-beta search of {depths} plies" if depths else "returns of self-play"
    layers = f"`{network.name}`, {network.depth} layers of {network.width}"
    if network.name == "lookahead":
        layers += f", for leaves {network.leaf_depth} of {network.leaf_width}"
    rows = [
        ["network", layers],
        ["policy", "self-play PPO (MaskablePPO), both seats"],
        ["value", taught],
        ["reward", card.reward],
        ["plies of PPO", f"{made['plies']:,}"],
        ["hours", _hours(made)],
        ["machine", f"{made['processor']}, {config.device}"],
        ["begun at commit", f"`{made['commit']}`"],
        ["seed", str(made["seed"])],
        ["versions", ", ".join(f"{name} {version}" for name, version in made["versions"].items())],
    ]
    if "init_from" in made:
        rows.insert(0, ["begun with", ", which began with ".join(_ancestors(made))])
    if "targets" in made:
        taken, searched = made["targets"]["positions"], ", ".join(map(str, made["targets"]["depths"]))
        rows.append(["initial targets", f"{taken:,} positions of another run, searched to {searched} plies"])
    where = f"All settings are in [{CONFIG_NAME}]({CONFIG_NAME}), the history in the [training log]({LOG})."
    return f"## Recipe\n\n{where}\n\n{table(['', ''], rows, left=2)}"


def _hours(made: dict[str, Any]) -> str:
    return f"{made['seconds'] / 3600:.1f}" if made.get("seconds") else "not recorded"


def _ancestors(made: dict[str, Any]) -> list[str]:
    """Whose weights a run began with, whose that one had begun with, and so on."""
    found = []
    while "init_from" in made:
        rules, made = made["init_from"]["rules"], made["init_from"]["training"]
        found.append(f"the weights of an agent for `{rules}` after {made['plies']:,} plies (hours: {_hours(made)})")
    return found


def _reports() -> list[Report]:
    """The committed reports in which an agent of the project plays."""
    reports = [read_report(path) for path in sorted(RESULTS.glob("**/report.json"))]
    return [report for report in reports if _labels(report)]


def _labels(report: Report) -> list[str]:
    return [agent.label for agent in report.agents if agent.name.startswith(f"ppo:{PRETRAINED}")]


def _is_of(report: Report, folder: Path) -> bool:
    """Whether the files of the agent in `folder` are those that took part."""
    taking_part = [agent for agent in report.agents if agent.label in _labels(report)]
    names = [agent.name.replace(PRETRAINED, str(folder), 1) for agent in taking_part]
    now = [fingerprint(name, Rules.parse(report.rules)) for name in names]
    return now == [agent.fingerprint for agent in taking_part]


def _strength(report: Report) -> list[str]:
    about = f"Measured {origin(report)}."
    where = f" from {openings(report.arena)}" if report.arena else ""
    who = ", ".join(f"`{label}`" for label in _labels(report))
    parts = [f"## Strength of {who}{where}", about, summary(report), explanation(report)]
    if report.regret:
        rows = [row for row in report.regret.agents if row.agent in _labels(report)]
        heads = ["agent", *(f"{phase}: regret" for phase in PHASES), *(f"{phase}: blunders, %" for phase in PHASES)]
        parts += [_weakness(rows[0], report), table(heads, [_by_phase(row) for row in rows])]
    return parts


def _weakness(row: RegretRow, report: Report) -> str:
    alone = any(agent.label == row.agent and agent.name == f"ppo:{PRETRAINED}" for agent in report.agents)
    worst = max(row.phases, key=lambda phase: row.phases[phase].regret.mean)
    best = min(row.phases, key=lambda phase: row.phases[phase].regret.mean)
    said = (
        f"`{row.agent}` errs most in the {worst} ({row.phases[worst].regret.mean:.2f} points a move) and least in the "
        f"{best} ({row.phases[best].regret.mean:.2f}). {100 * row.overall.blunders.mean:.1f} % of its moves change the "
        "final result."
    )
    if alone:
        said += " It looks two plies ahead and no further, so it misses longer combinations that search sees."
    return said


def _by_phase(row: RegretRow) -> list[str]:
    found = [row.phases[phase] for phase in PHASES]
    regrets = [f"{one.regret.mean:.2f}" for one in found]
    return [f"`{row.agent}`", *regrets, *(f"{100 * one.blunders.mean:.1f}" for one in found)]


def write(*, check: bool) -> list[Path]:
    """Write every card, or with `check` only compare; returns the files that were not as they should be."""
    wrong = []
    for folder in sorted(path.parent for path in PRETRAINED_FOLDER.glob(f"*/{CARD_NAME}")):
        path, text = folder / README_NAME, render(folder)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            wrong.append(path)
            if not check:
                write_atomically(path, text.encode())
    return wrong


def main(arguments: list[str]) -> int:
    """Take an agent in, or write the cards; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.reports.cards", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("take", help="take in a run's agent").add_argument("run", type=Path, help="the run folder")
    commands.add_parser("write", help="write the cards").add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    try:
        if options.command == "take":
            print(take(options.run))
            return 0
        wrong = write(check=options.check)
    except (ValueError, OSError) as error:
        print(f"python -m agents.reports.cards: {error}", file=sys.stderr)
        return 2
    for path in wrong:
        said = "out of date; renew it with: python -m agents.reports.cards write" if options.check else "written"
        print(f"{path}: {said}")
    return int(options.check and bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
