"""Test agent files, training configurations, and the creation of players by name."""

import copy
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file

import agents
from agents.config import dump_yaml, read_yaml
from agents.evaluation.evaluation_run import hash_of_files
from agents.networks.nets import make_network
from agents.players.agent_files import (
    CARD_NAME,
    WEIGHTS_NAME,
    agent_folder,
    weights_of,
)
from agents.players.network_player import PPOPlayer
from agents.ppo import PPOConfig
from agents.run import load_config
from agents.self_play import SelfPlayGames, StartsConfig
from agents.td import TDConfig
from oanquan_env import Core, Rules, mirror
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.players import EpsilonPolicy
from oanquan_env.search.value_net import pretrained_path
from tests import ROOT
from tests.helpers import Patch
from tests.helpers.boards import random_positions
from tests.helpers.untrained import NETWORK, renew_checksum, save_untrained

CONFIGS = sorted((ROOT / "configs").glob("[!e]*.yaml"))  # without evaluate*.yaml, which train nothing


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    return save_untrained(tmp_path / "agent")


POSITIONS = SelfPlayGames(Core(compiled=False), 50, StartsConfig(set_up_share=0, max_plies=8), seed=0).positions


def test_an_agent_survives_its_files(agent: Path) -> None:
    torch.manual_seed(0)
    features, network = make_network(Core(), NETWORK)
    player = PPOPlayer(agent, mirror_average=False)
    mask = torch.from_numpy(Core().legal_mask(POSITIONS))
    logits = network(torch.from_numpy(features.encode(POSITIONS)), mask)[0].detach().numpy()
    assert np.allclose(player.evaluate(POSITIONS)[0], logits)
    assert (player.choose(POSITIONS, np.random.default_rng(0)) == logits.argmax(axis=1)).all()
    assert {agent_folder(str(path), player.core.rules) for path in (agent, agent / WEIGHTS_NAME)} == {agent}


def test_layers_that_share_weights_survive_their_file(tmp_path: Path) -> None:
    first, second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    second.weight = first.weight
    (tmp_path / "x.safetensors").write_bytes(weights_of(torch.nn.Sequential(first, second, first)))
    fresh = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(3)))
    fresh.load_state_dict(load_file(tmp_path / "x.safetensors"))
    assert torch.equal(fresh[1].weight, first.weight)
    assert torch.equal(fresh[2].bias, first.bias)


def test_the_mean_with_the_mirror_image_gives_the_same_answer_in_a_mirror(agent: Path) -> None:
    both = POSITIONS, mirror(POSITIONS, Rules())
    (logits, values), (mirrored_logits, mirrored_values) = map(PPOPlayer(agent).evaluate, both)
    alone = [PPOPlayer(agent, mirror_average=False).evaluate(positions)[1] for positions in both]
    assert np.allclose(values, mirrored_values)
    assert np.allclose(logits, mirrored_logits[:, ::-1])
    assert np.allclose(values, sum(alone) / 2)
    assert not np.allclose(values, alone[0])
    one_way = save_untrained(agent.parent / "one-way", "mancala-world sowing=counterclockwise")  # not symmetric
    assert not PPOPlayer(one_way).mirror_average
    with pytest.raises(ValueError, match="mirror_average must be no for 'mancala-world sowing=counterclockwise'"):
        PPOPlayer(one_way, mirror_average=True)


def test_temperature_draws_from_the_softmax(agent: Path) -> None:
    positions = Core().start(20_000)
    drawn = PPOPlayer(agent, temperature=0.5).choose(positions, np.random.default_rng(0))
    logits = PPOPlayer(agent).evaluate(Core().start())[0][0] / 0.5
    expected = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert np.bincount(drawn, minlength=10) / 20_000 == pytest.approx(expected, abs=0.02)
    for temperature in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match=f"temperature must be 0 or more; got {temperature}"):
            PPOPlayer(agent, temperature=temperature)


def test_the_project_s_own_agent_is_found_by_the_rules(agent: Path, monkeypatch: Patch) -> None:
    shelf, mine = agent.parent / "pretrained", agent.parent / "pretrained" / "mancala-world"
    shelf.mkdir()
    agent.rename(mine)
    monkeypatch.setattr("agents.players.agent_files.PRETRAINED_FOLDER", shelf)
    assert agent_folder("pretrained", "mancala-world") == mine
    assert agent_folder("runs/quick", "mancala-world") == Path("runs/quick")
    assert isinstance(agents.make("ppo:pretrained,temperature=0.5"), PPOPlayer)
    before = hash_of_files("ppo:pretrained", Rules())
    assert before == hash_of_files(f"ppo:{mine}", Rules()) != ""
    save_untrained(shelf / "other", "vietnamese")
    hashes = [hash_of_files("ppo:pretrained", Rules.parse(rules)) for rules in ("mancala-world", "vietnamese")]
    assert hashes[0] == before != hashes[1]
    with pytest.raises(ValueError, match="trained for the rules 'mancala-world', not for 'tonkin'"):
        PPOPlayer(mine, "tonkin")
    with pytest.raises(FileError, match=r"for the rules 'tonkin'; it has agents for: 'mancala-world', 'vietnamese'"):
        agents.make("ppo:pretrained", "tonkin")


def test_names_take_folders_with_commas(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("lr=1", "lr=1,temperature=0.5")):
        save_untrained(tmp_path / name, seed=seed)
    for name, folder, temperature in (
        ("ppo:lr=1,temperature=2", "lr=1", 2),
        ("ppo:lr=1,temperature=0.5", "lr=1,temperature=0.5", 0),
        ("ppo:lr=1,temperature=0.5,temperature=2", "lr=1,temperature=0.5", 2),
    ):
        player = agents.make(name)
        assert weights_of(player.network) == (tmp_path / folder / WEIGHTS_NAME).read_bytes()
        assert player.temperature == temperature
    with pytest.raises(agents.UnknownAgentError, match="got 'bs=65'; there is no folder 'lr=1,bs=65,temperature=9'"):
        agents.make("ppo:lr=1,bs=65,temperature=9")
    shutil.copy(pretrained_path(Rules()), tmp_path / "a,nodes=5,b.npz")
    assert isinstance(agents.make("minimax:net=a,nodes=5,b.npz,nodes=300,epsilon=0"), EpsilonPolicy)


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch exploded",)


MISFIT = "not the weights of the network on the card"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (WEIGHTS_NAME, pickle.dumps(Bomb()), MISFIT),
        (WEIGHTS_NAME, None, r"agent\.safetensors: no such file"),
        (CARD_NAME, b"!!python/object/apply:os.system ['touch exploded']", "not readable as YAML"),
        (CARD_NAME, {"rules": "chess"}, "unknown preset 'chess'"),
        (CARD_NAME, {"network": {"width": 16}}, MISFIT),
        (CARD_NAME, {"colour": "red"}, "colour: unknown field"),
        (CARD_NAME, {"format": 2}, "format"),
        (CARD_NAME, None, r"has no agent\.yaml"),
    ],
)
def test_misfits_are_refused_by_name_and_never_run(
    agent: Path, monkeypatch: Patch, name: str, content: Any, message: str
) -> None:
    monkeypatch.chdir(agent)
    card = yaml.safe_load((agent / CARD_NAME).read_text())
    (agent / name).unlink()
    if content:
        changed = yaml.safe_dump({**card, **content}).encode() if isinstance(content, dict) else content
        (agent / name).write_bytes(changed)
        if name == WEIGHTS_NAME:
            renew_checksum(agent)
    with pytest.raises(FileError, match=message):
        PPOPlayer(agent)
    assert not (agent / "exploded").exists()


def test_every_changed_byte_of_the_weights_is_noticed(agent: Path) -> None:
    path, different = agent / WEIGHTS_NAME, "agent.safetensors: .* their SHA-256 differs from the card's; resume"
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 100):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(FileError, match=different):
            PPOPlayer(agent)
    path.write_bytes(whole)
    card = yaml.safe_load((agent / CARD_NAME).read_text())
    (agent / CARD_NAME).write_text(yaml.safe_dump({**card, "weights": "0" * 63}))
    with pytest.raises(FileError, match=r"weights: .* should match pattern"):
        PPOPlayer(agent)
    (agent / CARD_NAME).write_text(yaml.safe_dump({name: value for name, value in card.items() if name != "weights"}))
    with pytest.warns(UserWarning, match=r"agent\.yaml has no checksum, so damaged weights"):
        assert weights_of(PPOPlayer(agent).network) == whole


@pytest.mark.parametrize(
    "name",
    ["greedy:epsilon=0.5", "minimax:nodes=200,net=pretrained", "mcts:simulations=8", "ppo:{},temperature=1"],
)
def test_every_player_is_a_good_citizen(agent: Path, name: str) -> None:
    """A player leaves positions unchanged and chooses legal moves; with the same seed, its copies choose the same."""
    core, player = Core(), agents.make(name.format(agent))
    positions = random_positions(core, 24, seed=8)
    before = positions.copy()
    actions = player.choose(positions, np.random.default_rng(5))
    assert positions.same(before).all()
    assert core.legal_mask(positions)[np.arange(len(positions)), actions].all()
    for twin in (agents.make(name.format(agent)), copy.deepcopy(player), pickle.loads(pickle.dumps(player))):
        assert (twin.choose(positions, np.random.default_rng(5)) == actions).all()
    assert player.choose(core.start(0), np.random.default_rng(5)).shape == (0,)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gredy", r"did you mean greedy\?"),
        ("nobody", "the players are:\n  random"),
        ("ppo", "ppo needs"),
        ("ppo:x,nodes=9", "ppo has the options temperature=…, mirror_average=…, network=…, epsilon=…; got 'nodes=9'"),
        ("greedy:epsilon=0.1,epsilon=0.2", "greedy has the option epsilon twice in 'epsilon=0.1,epsilon=0.2'"),
        ("minimax", "minimax needs a limit, as in minimax:depth=6"),
        ("minimax:deep=6", "minimax has the options depth=…, nodes=…, ms=…, net=…, epsilon=…; got 'deep=6'"),
        ("minimax:ms=nan", "ms of minimax must be a number; got 'nan'"),
        ("minimax:nodes=" + "9" * 5000, "nodes of minimax must be a whole number; got '999"),
        ("minimax:depth=٥", "depth of minimax must be a whole number; got '٥'"),
        ("x" * 10**7, "unknown player 'xxx"),
        ("ppo:x,mirror_average=1", "mirror_average of ppo must be yes or no; got '1'"),
    ],
)
def test_unknown_names_and_options_list_what_exists(name: str, message: str) -> None:
    with pytest.raises(agents.UnknownAgentError, match=message) as refused:
        agents.make(name)
    assert len(str(refused.value)) < 2000
    with pytest.raises(TypeError, match="a player's name must be a string, such as 'minimax:depth=6'; got int"):
        agents.make(len(name))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "rules", "message"),
    [
        ("minimax:depth=2", "three-player", "two players"),
        ("minimax:depth=2", "mancala-world refill=forfeit", "refill=borrow"),
        ("minimax:net=pretrained", "tonkin", "needs a limit"),
        ("greedy:epsilon=1.5", "mancala-world", "epsilon must be a probability, 0 to 1; got 1.5"),
        ("maxn:net=pretrained", "three-player", "maxn needs a limit, as in maxn:depth=6, maxn:nodes=20000"),
        ("maxn:depth=128,nodes=9", "three-player", "depth must be 127 or less; got 128"),
        ("mcts:simulations=1000001", "tonkin", "^simulations must be 1 to 1,000,000; got 1000001$"),
    ],
)
def test_players_refuse_rules_and_numbers_that_they_cannot_play(name: str, rules: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agents.make(name, rules)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_committed_training_configurations_load(path: Path, tmp_path: Path) -> None:
    config = load_config(path)
    (tmp_path / "again.yaml").write_bytes(dump_yaml(config))
    assert load_config(tmp_path / "again.yaml") == config
    assert path.stem != "value" or config == TDConfig()  # it lists the defaults


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sead": 3}, r"run\.yaml: sead: unknown field; did you mean seed\? \(got 3\)"),
        *(
            (f"total_plies: {text}", rf"total_plies: must be a whole number, such as 200 or 1e6 \(got '?{text}'?\)")
            for text in ("many", "yes", "010", "1:30", "2.5")
        ),
        ("threads: true", r"threads: must be a whole number, such as 200 or 1e6 \(got True\)"),
        ("seed: 1\n<<: {seed: 2}", r"run\.yaml: not readable as YAML: line 2: the merge key << is not supp"),
        ("network:\n  1: a\n  +1: b", r"run\.yaml: line 3: '?1'? is already in line 2"),
        ("ppo:\n  gamma: 1\n  'gamma': 0.9", r"run\.yaml: line 3: 'gamma' is already in line 2"),
        ({"seed": 2**32}, r"seed: must be less than 4294967296 \(got 4294967296\)"),
        ({"threads": 1025}, r"threads: must be less than or equal to 1024 \(got 1025\)"),
        ({"network": {"width": 65_536, "depth": 64}}, r"network: embed, .* give a network of .* at most 268,435,456"),
        ({"kind": "td", "td": {"games": 10**12}}, r"td: games \* steps \* replay must be 16,777,216 or less; got"),
        ({"ppo": {"learning_rate": float("nan")}}, r"ppo\.learning_rate: must be a finite number"),
        ({"ppo": {"n_envs": 10**12}}, r"ppo: n_envs \* n_steps must be 16,777,216 or less"),
        (
            {"ppo": {"n_envs": 13, "n_steps": 5, "batch_size": 64}},
            "ppo: batch_size must be 2 to .* = 65, and leave no minibatch of one ply; got 64: set --ppo.batch-size",
        ),
        ({"rules": "vietnamise"}, r"did you mean vietnamese\?"),
        ({"network": {"name": "resnet"}}, r"network\.name"),
        ({"kind": ["td"]}, "kind must be ppo, td or MODULE:NAME"),
        ({"kind": "td", "rules": "ludii refill=forfeit"}, "rules: value nets need refill=borrow"),
        ({"kind": "td", "td": {"lambda": 0.3}}, r"td\.lambda: unknown field"),
        ("a: [", "not readable as YAML"),
        ("", "lines, got None"),
    ],
)
def test_configuration_errors_name_file_field_and_value(tmp_path: Path, values: Any, message: str) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(values if isinstance(values, str) else yaml.safe_dump(values))
    with pytest.raises(UsageError, match=message):
        load_config(path)


def test_numbers_and_rules_of_a_configuration_are_read_in_any_form(tmp_path: Path) -> None:
    rules = "mancala-world empty_mandarin=gap end=squares_empty"
    (tmp_path / "run.yaml").write_text(f"rules: {rules}\nppo: {{learning_rate: 1e-3}}\n")
    config = load_config(tmp_path / "run.yaml")
    assert (config, config.rules) == (PPOConfig(rules="vietnamese"), "vietnamese")
    (tmp_path / "run.yaml").write_text("total_plies: 1e6\nseed: 5_000\nthreads: '3'\n")
    config = load_config(tmp_path / "run.yaml")
    assert config == PPOConfig(total_plies=1_000_000, seed=5000, threads=3)
    assert type(config.total_plies) is int


def test_texts_that_look_like_numbers_survive_a_yaml_file(tmp_path: Path) -> None:
    texts = ["12e4567", "1e6", "010", "1:30", "yes", "no", "null", "", "2026-01-01", "5_000", "0x10", "<<", "true"]
    values = {text: text for text in texts} | {"numbers": [1e-5, 10**9, None, True]}
    (tmp_path / "run.yaml").write_bytes(dump_yaml(values))
    assert read_yaml(tmp_path / "run.yaml") == yaml.safe_load((tmp_path / "run.yaml").read_bytes()) == values
