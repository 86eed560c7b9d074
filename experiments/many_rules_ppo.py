"""PPO by self-play under many rule sets, for `experiments.generalisation`: a kind of run for `train.py`.

    python train.py --kind experiments.many_rules_ppo:ManyRulesRun --rule-sets 64 --network.name plain

All boards are laid out as one with five fields per side; squares that a board lacks are empty. The columns of each
board are followed by the numbers of `oanquan_env.rule_sets.vector`, which are further inputs of the networks of
`agents.networks`. Rewards are margins in points, divided by the same number under all rules.

Shapes: N games, A = 10 actions of the board with five fields, B columns of a board and of the rules' numbers.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from pydantic import Field
from safetensors.torch import load
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn
from torch import Tensor, nn

from agents.config import Count
from agents.networks.features import AfterstateFeatures, Features, PlainFeatures
from agents.networks.layers import CountTrunk
from agents.networks.nets import AfterstateNet, NetworkConfig, PlainNet
from agents.players.agent_files import weights_of
from agents.ppo import PPOConfig, PPORun, SelfPlayVecEnv, make_learner
from agents.rule_set_games import RuleSetGames, training_rule_sets
from oanquan_env import Core, Positions, Rules
from oanquan_env.array_types import Ints, Mask, Points
from oanquan_env.benchmark.generalisation import mean_loss, random_regret
from oanquan_env.benchmark.suites import rule_set_suites
from oanquan_env.files import write_atomically
from oanquan_env.observation import slices
from oanquan_env.rewards import ply_rewards
from oanquan_env.rule_sets import LENGTH, TRAIN, vector
from oanquan_env.sb3 import SharedVecEnv
from oanquan_env.search.any_rules_net import PLACES

FULL = Rules()
"""Rules with the board that all boards are laid out as, and with the number of points by which rewards are divided."""
BOARD = FULL.squares + FULL.players
SCALE = 1000
"""Features are whole numbers, so the numbers of the rules are multiplied by this and rounded."""
TOGETHER = 32
"""Number of rule sets played side by side."""
WEIGHTS_NAME = "network.safetensors"


# ---- networks --------------------------------------------------------------------------------------------------------


class RulesTrunk(nn.Module):
    """A `CountTrunk` that takes boards whose last columns are the numbers of the rules, or ignores these numbers."""

    def __init__(self, extra: int, config: NetworkConfig, *, reads_rules: bool) -> None:
        super().__init__()
        sizes = {"embed": config.embed, "width": config.width, "depth": config.depth}
        self.trunk, self.width = CountTrunk(FULL, extra + LENGTH, **sizes), config.width
        self.reads_rules = reads_rules

    def forward(self, boards: Tensor, others: Tensor) -> Tensor:
        """Return the last hidden layer for boards (B, 34) and E other numbers (B, E)."""
        rules = boards[:, BOARD:] * (self.reads_rules / SCALE)
        hidden: Tensor = self.trunk(boards[:, :BOARD], torch.cat([others.float(), rules], dim=1))
        return hidden


def make_network(config: NetworkConfig, *, reads_rules: bool) -> nn.Module:
    """Return an untrained network for rows of `encode`."""
    is_plain = config.name == "plain"
    layout = slices(stones=BOARD + LENGTH, scores=0) if is_plain else after_layout()
    extra = 0 if is_plain else FULL.actions
    features: Any = SimpleNamespace(core=Core(FULL), layout=layout, per_point=1)
    network: Any = PlainNet(features, config) if is_plain else AfterstateNet(features, config)
    network.trunk = RulesTrunk(extra, config, reads_rules=reads_rules)
    return network  # type: ignore[no-any-return]


# ---- features --------------------------------------------------------------------------------------------------------


def after_layout() -> dict[str, slice]:
    """Return the layout of `AfterstateFeatures`, with the numbers of the rules after each board."""
    board, actions = BOARD + LENGTH, FULL.actions
    return slices(board=board, gains=actions, status=actions, after=actions * board, replies=actions**2)


@functools.cache
def actions_of(fields: int) -> Ints:
    """Return the (2 * fields,) actions of the board with five fields that stand for the actions of another board."""
    return np.array([2 * place + direction for place in PLACES[fields] for direction in range(2)])


@functools.cache
def columns_of(fields: int, looks_ahead: bool) -> tuple[Ints, Ints]:
    """Return the columns in which a row holds a board's own features, and those in which it holds the rules."""
    side = np.array([*PLACES[fields], FULL.fields])
    board = np.concatenate([side, side + FULL.fields + 1, [BOARD - 2, BOARD - 1]])
    numbers = np.arange(BOARD, BOARD + LENGTH)
    if not looks_ahead:
        return board, numbers
    begins, actions = {name: part.start for name, part in after_layout().items()}, actions_of(fields)
    blocks = begins["after"] + (BOARD + LENGTH) * actions[:, None]
    own = [board, begins["gains"] + actions, begins["status"] + actions, (blocks + board).ravel()]
    own.append(begins["replies"] + (FULL.actions * actions[:, None] + actions).ravel())
    return np.concatenate(own), np.concatenate([numbers, (blocks + numbers).ravel()])


@functools.lru_cache(maxsize=2 * TOGETHER)
def own_features(core: Core, looks_ahead: bool) -> AfterstateFeatures | PlainFeatures:
    """Return the encoder of the features of a board, without the rules."""
    return AfterstateFeatures(core) if looks_ahead else PlainFeatures(core)


def encode(core: Core, positions: Positions, *, looks_ahead: bool) -> Features:
    """Return (N, D) rows for N positions under the rules of `core`."""
    columns, of_rules = columns_of(core.rules.fields, looks_ahead)
    own = own_features(core, looks_ahead).encode(positions)
    rows = np.zeros((len(positions), after_layout()["replies"].stop if looks_ahead else BOARD + LENGTH), np.int16)
    rows[:, columns] = own[:, : len(columns)]
    numbers = np.rint(SCALE * vector(core.rules)).astype(np.int16)
    rows[:, of_rules] = np.tile(numbers, len(of_rules) // LENGTH)
    return rows


def legal(core: Core, positions: Positions) -> Mask:
    """Return the (N, A) mask of legal actions on the board with five fields."""
    mask = np.zeros((len(positions), FULL.actions), np.bool_)
    mask[:, actions_of(core.rules.fields)] = core.legal_mask(positions)
    return mask


# ---- games -----------------------------------------------------------------------------------------------------------


class ManyRulesVecEnv(SelfPlayVecEnv):
    """N games under a few rule sets at a time, as `SelfPlayVecEnv` has them under one."""

    def __init__(self, games: RuleSetGames, *, looks_ahead: bool) -> None:
        self.core, self.looks_ahead = Core(FULL), looks_ahead
        self.games: Any = games
        observations = self.observe()
        space = spaces.Box(-np.inf, np.inf, observations.shape[1:], observations.dtype.type)
        SharedVecEnv.__init__(self, len(observations), space, spaces.Discrete(FULL.actions))

    def observe(self) -> Features:
        """Return the (N, D) rows of all games."""
        parts = [part.games for part in self.games.played]
        return np.concatenate([encode(part.core, part.positions, looks_ahead=self.looks_ahead) for part in parts])

    def action_masks(self) -> Mask:
        """Return the (N, A) mask of legal actions."""
        parts = [part.games for part in self.games.played]
        return np.concatenate([legal(part.core, part.positions) for part in parts])

    def step_wait(self) -> VecEnvStepReturn:
        """Play one ply in every game, as in `SelfPlayVecEnv`."""
        parts, begin = list[tuple[npt.NDArray[np.float32], Mask]](), 0
        for _, games, _ in self.games.played:
            actions = self._actions[begin : begin + len(games.positions)]
            parts.append(games.play(np.searchsorted(actions_of(games.core.rules.fields), actions), margin))
            begin += len(games.positions)
        rewards, dones = (np.concatenate(column) for column in zip(*parts, strict=True))
        return self.observe(), rewards, dones, [{} for _ in range(self.num_envs)]


def margin(core: Core, before: Points, positions: Positions) -> npt.NDArray[np.float64]:
    """Return the (N, P) margins that a ply won, by seat, divided by the points of `FULL`."""
    return ply_rewards("margin", core, before, positions) * (core.rules.total / FULL.total)


# ---- run -------------------------------------------------------------------------------------------------------------


class ManyRulesConfig(PPOConfig):
    """All settings of a run."""

    kind: Any = "experiments.many_rules_ppo:ManyRulesRun"
    rule_sets: Count = Field(TRAIN, le=TRAIN, description="number of rule sets to train on, from the split `train`")
    reads_rules: bool = Field(True, description="whether the network reads the rules, or plays all rules alike")


class ManyRulesRun(PPORun):
    """A PPO run under many rule sets; its folder holds the weights."""

    config_type = ManyRulesConfig
    config: ManyRulesConfig

    def __init__(self, folder: Path, config: ManyRulesConfig, report: Callable[[str], None]) -> None:
        super().__init__(folder, config, report)
        self.usage = f"the weights are in {folder}"

    def build(self, config: PPOConfig) -> tuple[SelfPlayVecEnv, MaskablePPO]:
        """Make the games under the training rule sets, and the learner."""
        rule_sets = training_rule_sets(self.config.rule_sets, config.seed)
        games = RuleSetGames(rule_sets, TOGETHER, config.ppo.n_envs, config.starts, config.seed, 1)
        self.many = ManyRulesVecEnv(games, looks_ahead=config.network.name != "plain")
        network = make_network(config.network, reads_rules=self.config.reads_rules)
        return self.many, make_learner(config, self.many, network)

    def iterate(self) -> None:
        """Collect a rollout, take the gradient steps on it, and go on to other rule sets."""
        super().iterate()
        self.many.games.renew()

    def export(self) -> None:
        """Write the weights into the run's folder."""
        write_atomically(self.folder / WEIGHTS_NAME, weights_of(self.network))

    def measure(self) -> tuple[dict[str, Any], str]:
        """Measure regret under the development rule sets, in percent of a random move's; see `Run.measure`."""
        suites, rng = rule_set_suites("development"), np.random.default_rng(self.config.seed)
        player = functools.partial(ManyRulesPlayer, self.network, self.config.network.name)
        percent = [100 * mean_loss(player, suite, rng, 1) / random_regret(suite) for suite in suites]
        self.log("evaluation/regret_percent", float(np.mean(percent)))
        return {"results": {}, "percent": percent}, f"mean regret {np.mean(percent):.1f} % of random"


class ManyRulesPlayer:
    """A player of any rules for two players with a trained network."""

    def __init__(self, network: nn.Module, name: str, rules: Rules) -> None:
        self.network, self.looks_ahead, self.core = network, name != "plain", Core(rules)

    @torch.no_grad()
    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        rows = torch.from_numpy(encode(self.core, positions, looks_ahead=self.looks_ahead))
        logits, _ = self.network(rows, torch.from_numpy(legal(self.core, positions)))
        own: Ints = logits.numpy()[:, actions_of(self.core.rules.fields)].argmax(axis=1)
        return own


def player_in(folder: Path, config: ManyRulesConfig) -> Callable[[Rules], ManyRulesPlayer]:
    """Return a function from rules to the player with the weights in a run's folder."""
    network = make_network(config.network, reads_rules=config.reads_rules)
    network.load_state_dict(load((folder / WEIGHTS_NAME).read_bytes()))
    return functools.partial(ManyRulesPlayer, network.eval(), config.network.name)
