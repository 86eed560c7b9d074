"""Copy agents and value nets from their runs into the project, and render the README.md of each agent.

    python -m agents.reports.cards runs/ppo        copies the agent of a run, or its value net

A README.md shows each committed report with the same rules that measured an agent with the same files. It also shows
settings of the agent's run; these are not validated, because an older version may have written them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from agents.checkpoint import CONFIG_NAME
from agents.config import command, dump_yaml, read_yaml
from agents.evaluation.evaluation_run import hash_of_files
from agents.players.agent_files import (
    PRETRAINED,
    PRETRAINED_FOLDER,
    AgentCard,
    pretrained_folders,
    read_card,
    save_agent,
    weights_of,
)
from agents.players.network_player import PPOPlayer
from agents.reports.tournaments import read_report
from agents.run import load_config
from oanquan_env import Rules
from oanquan_env.benchmark.regret import PHASES
from oanquan_env.benchmark.report import explanation, openings_phrase, origin_phrase, summary
from oanquan_env.benchmark.results import Evaluation
from oanquan_env.benchmark.tables import table
from oanquan_env.files import write_atomically
from oanquan_env.search.any_rules_net import ANY, PRETRAINED_PATH, read_any_rules_net
from oanquan_env.search.value_net import pretrained_path, read_value_net

PROG = "python -m agents.reports.cards"
RESULTS = Path(__file__).parents[2] / "experiments" / "results"
README_NAME = "README.md"
LOG = "../../../docs/training-log.md"  # relative to an agent's folder
LARGEST = 5_000_000  # maximum size of weights in the repository, bytes


def publish(run: Path) -> Path:
    """Copy a run's agent and configuration, or its value net, into the project; return the path of the copy.

    An agent's weights are stored in half precision. Raises `ValueError` if they take more than `LARGEST` bytes.
    """
    config = load_config(run / CONFIG_NAME)
    if config.kind == "td" and config.rules == ANY:
        write_atomically(PRETRAINED_PATH, read_any_rules_net(run).to_bytes())
        return PRETRAINED_PATH
    if config.kind == "td":
        net = read_value_net(run, config.rules)
        write_atomically(pretrained_path(net.rules), net.to_bytes())
        return pretrained_path(net.rules)
    player = PPOPlayer(run)
    network = player.network.half()
    if (size := len(weights_of(network))) > LARGEST:
        raise ValueError(f"weights of {run} have {size:,} bytes; at most {LARGEST:,} go into the repository")
    folder = PRETRAINED_FOLDER / Rules.parse(player.card.rules).slug
    folder.mkdir(parents=True, exist_ok=True)
    save_agent(folder, network, player.card)
    write_atomically(folder / CONFIG_NAME, dump_yaml(config))
    return folder


def render(folder: Path) -> str:
    """Return the README.md of the agent in `folder`."""
    card, config = read_card(folder), read_yaml(folder / CONFIG_NAME)
    parts = [f"# An agent for the rules `{card.rules}`", _introduction(card), _origin(card, config)]
    strength = [part for report, label in _reports(folder, card.rules) for part in _strength(report, label)]
    parts += strength or ["No report of the strength of these weights is committed yet."]
    parts.append(
        "## Licence\n\nThe weights and this card are under the project's MIT licence. Loading them runs no code, "
        "because they are arrays of numbers and YAML."
    )
    return "\n\n".join(parts) + "\n"


def _introduction(card: AgentCard) -> str:
    option = "" if card.rules == str(Rules()) else f" --rules '{card.rules}'"
    other = "minimax:depth=4" if Rules.parse(card.rules).players == 2 else "maxn:depth=3"
    return (
        f"`ppo:{PRETRAINED}` is the name of this agent{' under these rules' if option else ''}. Evaluate it with:\n\n"
        f"```sh\npython evaluate.py ppo:{PRETRAINED} {other}{option}\n```"
    )


def _origin(card: AgentCard, config: dict[str, Any]) -> str:
    history, network = card.training, card.network
    layers = f"`{network.name}`, {network.depth} layers of {network.width} units"
    if network.name == "two_ply":
        layers += f", and {network.leaf_depth} of {network.leaf_width} for the leaves"
    rows = [
        ["network", layers],
        ["trained by", "self-play PPO (MaskablePPO), all seats"],
        ["reward", card.reward],
        ["plies", f"{history['plies']:,}"],
        ["hours", f"{history['seconds'] / 3600:.1f}"],
        ["machine", f"{history['processor']}, {config['device']}, number of threads: {config['threads']}"],
        ["started at commit", f"`{history['commit']}`"],
        ["seed", str(history["seed"])],
        ["versions", ", ".join(f"{name} {version}" for name, version in history["versions"].items())],
    ]
    where = f"All settings are in [{CONFIG_NAME}]({CONFIG_NAME}). The [training log]({LOG}) describes the method."
    return "\n\n".join(["## Recipe", where, table(["", ""], rows, left=None)])


def _reports(folder: Path, rules: str) -> Iterator[tuple[Evaluation, str]]:
    """Yield the committed reports for `rules` in which the agent in `folder` played, each with the agent's label.

    Reports of earlier weights are skipped; of several reports with the same openings, only the first is yielded.
    """
    now, shown = hash_of_files(f"ppo:{folder}", Rules.parse(rules)), set()
    for report in map(read_report, sorted(RESULTS.glob("**/report.json"))):
        own = next((player for player in report.players if player.name == f"ppo:{PRETRAINED}"), None)
        games = report.openings
        if own and report.rules == rules and own.files == now and games not in shown:
            shown.add(games)
            yield report, own.label


def _strength(report: Evaluation, label: str) -> list[str]:
    where = f" from {openings_phrase(report)}" if report.openings else ""
    title = f"## Strength of `{label}`{where}"
    parts = [title, f"Measured {origin_phrase(report)}.", summary(report), explanation(report)]
    if regret := report.player(label).regret:
        phases = regret.phases
        cells = [[phase, f"{phases[phase].mean:.2f}", f"{100 * phases[phase].blunders.mean:.1f}"] for phase in PHASES]
        parts.append(table(["phase", "regret", "blunders, %"], cells))
    return parts


def cards() -> dict[Path, str]:
    """Return the paths of all agents' README.md files, each with its up-to-date content."""
    return {folder / README_NAME: render(folder) for folder in pretrained_folders().values()}


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]  # the run's folder


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Copy an agent or a value net, and print the path of the copy."""
    print(publish(options.run))


if __name__ == "__main__":
    raise SystemExit(main())
