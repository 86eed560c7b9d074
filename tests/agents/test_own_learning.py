"""Test the code and commands of docs/how-to/learning.md: networks, rewards, losses and algorithms, with fewer plies."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

import agents
import train
from agents.checkpoint import CHECKPOINT_NAME
from agents.players.agent_files import CARD_NAME
from oanquan_env import Core
from oanquan_env.files import FileError
from tests import ROOT
from tests.helpers import Capture, Patch
from tests.helpers.runs import PLAIN, PPO, begin, same

PAGE = (ROOT / "docs" / "how-to" / "learning.md").read_text()
COMMANDS = [
    shlex.split(line)[2:]
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("python train.py")
]
PLIES = {"1e5": "1024", "100000": "2048", "200000": "4096"}
SMALL = ["--evaluation.every-plies", "1000000000"]
SMALL_PPO = ["--ppo.n-envs", "64", "--ppo.n-steps", "16", "--ppo.batch-size", "256", "--evaluation.pairs", "4"]


MISTAKES = """
def generous(core, before, positions):
    return 1 + 0 * before

def undefined(core, before, positions):
    return np.nan * before

class Unmasked(MyNet):
    def forward(self, features, mask):
        return super().forward(features, torch.ones_like(mask))

class Undefined(MyNet):
    def forward(self, features, mask):
        logits, values = super().forward(features, mask)
        return logits, values / 0

class Short(MyNet):
    def forward(self, features, mask):
        logits, values = super().forward(features, mask)
        return logits, values[:, 0]

class Raw(MyNet):
    def forward(self, features, mask):
        return self.policy(self.hidden(features)), mask

class Odd(MyNet):
    config_type = dict

class Bare(torch.nn.Module):
    def __init__(self):
        super().__init__()

class Halfway(MyRun):
    def __init__(self, folder, config, report):
        Run.__init__(self, folder, config, report)

class Wrong(MyRun):
    def __init__(self, folder, config, report):
        super().__init__(folder, config, report)
        self.network = "plain"
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: Patch) -> Path:
    """Write the page's code to a module in a new working directory, and return the directory."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "my_learning.py").write_text("\n".join(blocks))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "my_learning", raising=False)
    return tmp_path


def run(arguments: list[str], *more: str) -> int:
    return train.main([*(PLIES.get(word, word) for word in arguments), *more])


@pytest.mark.slow
def test_the_page_s_commands_run(own: Path, capsys: Capture) -> None:
    network, options, reward, penalty, begun, resumed = COMMANDS
    assert run(network, *SMALL, *SMALL_PPO) == 0
    assert "try: python evaluate.py ppo:runs/mine,network=my_learning:MyNet greedy random" in capsys.readouterr().out
    player = agents.make("ppo:runs/mine,network=my_learning:MyNet")
    core = Core()
    assert core.legal_mask(core.start())[0, player.choose(core.start(), np.random.default_rng(0))[0]]
    with pytest.raises(FileError, match="its network is custom code; to run it, add network=my"):
        agents.make("ppo:runs/mine")
    assert run(options, *SMALL, *SMALL_PPO) == 0
    assert len(agents.make("ppo:runs/heads,network=my_learning:HeadsNet").network.heads) == 4
    card = Path("runs/mine/agent.yaml")
    card.write_text(card.read_text().replace("width:", "wide:"))
    with pytest.raises(FileError, match="network: wide: unknown field; did you mean width"):
        agents.make("ppo:runs/mine,network=my_learning:MyNet")
    assert run(["--resume", "runs/heads", "--total-plies", "2e3"]) == 0
    assert run(reward, *SMALL, *SMALL_PPO) == 0
    assert yaml.safe_load((own / "runs" / "captures" / CARD_NAME).read_text())["reward"] == "my_learning:captures"
    assert run(penalty, *SMALL, *SMALL_PPO) == 0
    agents.make("ppo:runs/penalty")
    assert run(begun, *SMALL) == 0
    assert "try: python evaluate.py ppo:runs/own greedy" in capsys.readouterr().out
    assert run(resumed) == 0
    state = torch.load(own / "runs" / "own" / CHECKPOINT_NAME, weights_only=True)
    assert state["plies"] == 4096


def test_the_page_s_loss_is_ppo_s_with_a_penalty(own: Path, monkeypatch: Patch) -> None:
    weights: list[dict[str, torch.Tensor]] = []
    logged: list[dict[str, float]] = []
    own_kind: dict[str, Any] = {"kind": "my_learning:PenaltyRun"}
    for changes in ({}, {**own_kind, "kl_coef": 0}, {**own_kind, "kl_coef": 100}):
        numbers: dict[str, float] = {}
        one = begin(own / str(len(logged)), {**PPO, "rules": "three-player", "network": PLAIN, **changes})
        monkeypatch.setattr(one, "log", numbers.__setitem__)
        for _ in range(3):
            one.iterate()
        one.close()
        weights.append(one.network.state_dict())
        logged.append(numbers)
    assert same(weights[0], weights[1])
    assert 0 < logged[2]["train/kl"] < logged[1]["train/kl"] / 2


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--network.name nowhere:Net", "network.name: 'nowhere:Net' cannot be imported: No module named"),
        ("--kind my_learning:Missing", "kind: 'my_learning:Missing' cannot be imported: "),
        ("--reward my_learning:captures", "network.name must be plain with reward=my_learning:captures"),
        ("--reward points", "reward must be outcome, margin, mixed or MODULE:NAME; got 'points'"),
        ("--kind my_learning:Halfway", "my_learning:Halfway: Halfway.__init__ must set self.network"),
        ("--kind my_learning:Wrong", "self.network must be the torch.nn.Module that it trains; got str"),
        ("--network.name my_learning:Odd", "my_learning:Odd.config_type must be a subclass of NetworkConfig"),
        ("--network.name my_learning:Bare", "my_learning:Bare must be constructed from (features, config)"),
        ("--network.name my_learning:Unmasked", "agents.networks.layers.FORBIDDEN for illegal actions"),
        ("--network.name my_learning:Undefined", "for B = 2, some numbers are not finite"),
        ("--network.name my_learning:Short", "for B = 2, the shapes are (2, 10) and (2,)"),
        ("--network.name my_learning:Raw", "for B = 2, mat1 and mat2 must have the same dtype"),
        (
            "--network.name plain --reward my_learning:generous",
            "generous must return (64, 2) finite rewards that sum to zero",
        ),
        ("--network.name plain --reward my_learning:undefined", "undefined must return (64, 2) finite rewards"),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error(own: Path, option: str, message: str, capsys: Capture) -> None:
    with (own / "my_learning.py").open("a") as file:
        file.write(MISTAKES)
    played = "generous" in option or "undefined" in option
    more = [*SMALL, *SMALL_PPO] if played else []
    assert train.main([*option.split(), "--output", "runs/x", *more]) == 2
    assert message in capsys.readouterr().err
    assert (own / "runs").exists() == played
