"""A run that trains a value net by TD(lambda) self-play."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.networks.value_net import ValueModule
from agents.support.strict_yaml import read_yaml
from agents.training.checkpoint import State
from agents.training.run import Run
from agents.training.run_folder import RUN_NAME
from agents.training.starts import RandomStarts
from agents.training.td.config import ValueConfig
from agents.training.td.games import Games
from agents.training.td.learner import Learner
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.files import write_atomically
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.maxn import ManySearch
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.value_net import VALUE_NET_NAME


class TDRun(Run[ValueConfig]):
    """One run in one folder, whose net is in its `value.npz`."""

    config_type = ValueConfig
    network: ValueModule

    def __init__(self, folder: Path, config: ValueConfig, report: Callable[[str], None]) -> None:
        super().__init__(folder, config, report)
        self.iteration = config.td.games * config.td.steps
        torch.manual_seed(config.seed)
        starts = RandomStarts(self.core, seed=config.seed, **config.starts.model_dump())
        self.games = Games(self.core, config.td, starts)
        self.learner = Learner(self.core, config.td)
        self.network = self.learner.module
        self.search = MoveValues(self.core, config.depth, self.network.export({}), config.threads)

    @property
    def plies(self) -> int:
        """Plies trained so far."""
        return self.learner.rollouts * self.iteration

    @property
    def usage(self) -> str:
        """The net, and a command that plays with it."""
        player = f"{self._searching()[0]}:nodes=2000"
        return f"the net is in {self.folder}; {self.try_out(f'{player},net={self.folder} {player}')}"

    def _searching(self) -> tuple[str, type[Search | ManySearch]]:
        return ("minimax", Search) if self.core.rules.players == 2 else ("maxn", ManySearch)

    def train(self, between_iterations: Callable[[], None]) -> None:
        """Play and learn to `planned_plies`."""
        while self.plies < self.planned_plies:
            between_iterations()
            done = self.plies / self.config.total_plies
            rng = np.random.default_rng([self.config.seed, self.learner.rollouts])
            self.search.use(self.network.export({}))
            positions, returns = self.games.play(self.search, done, rng)
            error = self.learner.learn(positions, returns, done, rng)
            self.log("train/error", error)

    def state(self) -> State:
        """Everything that the next rollout depends on."""
        learner, state = self.learner, State()
        state.put_learner("module", self.network, learner.optimizer)
        state.put_games(self.games.positions)
        for part, rollouts in (("inputs", learner.inputs), ("targets", learner.targets)):
            state.put(part, {str(number): rows for number, rows in enumerate(rollouts)})
        state.texts |= {"rollouts": str(learner.rollouts), "starts": str(self.games.starts.drawn)}
        return state

    def restore(self, state: State) -> None:
        """Take over what `state` gave."""
        learner = self.learner
        state.restore_learner("module", self.network, learner.optimizer)
        self.games.positions = state.games(self.core, self.config.td.games)
        self.games.starts.drawn = state.count("starts")
        learner.rollouts = state.count("rollouts")
        self._restore_replay(state)

    def _restore_replay(self, state: State) -> None:
        rules, size = self.core.rules, self.iteration
        rows, squares = len(self.network.embedding), rules.players * (rules.fields + 1)
        shape = (size,) if rules.players == 2 else (size, rules.players)
        for number in range(len(state.part("inputs"))):
            inputs = state.array(f"inputs.{number}", np.int16, (size, squares))
            targets = state.array(f"targets.{number}", np.float32, shape)
            if not (((inputs >= 0) & (inputs < rows)).all() and np.isfinite(targets).all()):
                raise ValueError(f"rollout {number} holds what no position has")
            self.learner.inputs.append(torch.from_numpy(inputs))
            self.learner.targets.append(torch.from_numpy(targets))

    def export(self) -> None:
        """Write the net, with where it comes from."""
        origin = {"plies": self.plies, "config": self.config.model_dump(), **read_yaml(self.folder / RUN_NAME)}
        write_atomically(self.folder / VALUE_NET_NAME, self.network.export(origin).to_bytes())

    def measure(self) -> tuple[dict[str, Any], str]:
        """Regret of a search with the net on the development part of the suite."""
        said, row = list[str](), {"results": {}, "regrets": dict[str, Any]()}
        if find_suite(self.core.rules) is None:
            return row, "no suite of these rules"
        kind, searching = self._searching()
        search = searching(self.core, threads=self.config.threads, net=self.network.export({}))
        for nodes in self.config.evaluation.nodes:
            found = self.regret_of(SearchPlayer(search, Limits(nodes=nodes)), f"regret_{nodes}")
            assert found
            row["regrets"][f"{kind}:nodes={nodes}"] = dataclasses.asdict(found)
            row.setdefault("regret", dataclasses.asdict(found))
            said.append(f"{found.regret.mean:.2f} at {nodes:,} nodes")
        return row, f"regret {', '.join(said)}"
