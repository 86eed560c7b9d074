"""A run that makes a value net: generations of positions, their values by search, and a net fitted to them.

The folder holds one of each generation's stages a file, written as soon as it is there; what exists is not made again.
All chance of a stage depends on the seed, the generation and the stage, so a run that was killed at any moment comes to
the same net as one that was not.
"""

from __future__ import annotations

import dataclasses
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.networks.value_net import ValueModule
from agents.players.minimax import MinimaxPlayer
from agents.search.deepening import Limits
from agents.support.folder_lock import FolderLock
from agents.support.npz import naming_damage, read_npz, write_npz
from agents.support.strict_yaml import dump_yaml, read_yaml
from agents.training.run_folder import (
    CONFIG_NAME,
    RUN_NAME,
    StopTrainingError,
    describe_run,
    read_evaluations,
    refuse_run,
    write_evaluations,
)
from agents.training.value_net.config import ValueConfig
from agents.training.value_net.fit import fit, net_inputs
from agents.training.value_net.labels import Values, draw_positions, value_positions
from oanquan_env import Core, Positions
from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.pairs import play_pairs, score_interval
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.files import write_atomically
from oanquan_env.players import FullWidthPolicy
from oanquan_env.players.value_net import VALUE_NET_NAME, ValueNet, read_value_net
from oanquan_env.playing import random_openings

POSITIONS_NAME = "positions.npz"
VALUES_NAME = "values.npy"
SAVE_SECONDS = 10.0
"""Values that took less time are not written by themselves."""
EVALUATION_OPENINGS = 100
"""Openings of the games by which a net for more than two players is judged, each played in every seating."""
RIVALRY = "maxn:depth=2 with the net among maxn:depth=3"
DRAWING, FITTING = range(2)
"""Stages with chance of their own."""

Progress = Callable[[str, float], None]
"""Hears what is being done, and what share of it is done."""


class ValueRun:
    """One run in one folder; `report` is called with lines of text worth showing."""

    def __init__(self, folder: Path, config: ValueConfig, report: Callable[[str], None]) -> None:
        self.folder = folder
        self.config = config
        self.report = report
        self.core = Core(config.rules)

    @classmethod
    def create(cls, folder: Path, config: ValueConfig, command: str, report: Callable[[str], None]) -> ValueRun:
        """Begin a run in a new folder; raises `RunError` if one is there, `FolderInUseError` if one is made there."""
        config = config.resolved()
        folder.mkdir(parents=True, exist_ok=True)
        with FolderLock(folder):
            refuse_run(folder)
            write_atomically(folder / RUN_NAME, dump_yaml(describe_run(command)).encode())
            write_atomically(folder / CONFIG_NAME, config.to_yaml().encode())
        return cls(folder, config, report)

    def learn(self, progress: Progress, stopping: Callable[[], bool], ray: str | None = None) -> None:
        """Make what is not there yet; the net is then in the folder. `ray` is the address of a cluster that searches.

        Raises:
            StopTrainingError: once `stopping`, which is asked now and then, is true; what was done is kept.
            FolderInUseError: if another program works in the folder.
            DamagedFileError: for a file in the folder that is damaged.
        """
        self._progress, self._stopping, self._ray = progress, stopping, ray
        net: ValueNet | None = None
        with FolderLock(self.folder):
            for generation in range(len(self.config.depths)):
                path = self._folder(generation) / VALUE_NET_NAME
                if not path.exists():
                    self._make(generation, net)
                net = read_value_net(path, self.core.rules)
                if generation == len(self.evaluations()):
                    self._evaluate(generation, net)
            assert net is not None
            rows = self.evaluations()
            origin = {"config": self.config.model_dump(), **read_yaml(self.folder / RUN_NAME), "generations": rows}
            write_atomically(self.folder / VALUE_NET_NAME, net.with_origin(origin).to_bytes())

    def evaluations(self) -> list[dict[str, Any]]:
        """What was measured of each generation so far; raises `RunError` for a damaged file."""
        return read_evaluations(self.folder, _check_evaluation)

    def _folder(self, generation: int) -> Path:
        return self.folder / f"generation-{generation}"

    def _make(self, generation: int, net: ValueNet | None) -> None:
        """Positions, values and net of a generation; `net` is the one before."""
        folder = self._folder(generation)
        folder.mkdir(exist_ok=True)
        name = f"generation {generation + 1} of {len(self.config.depths)}"
        positions = self._positions(generation, net, name)
        began = time.monotonic()
        values = self._values(generation, positions, net, name)
        valued = time.monotonic()
        rng = np.random.default_rng(self._seed(generation, FITTING))
        torch.set_num_threads(1)  # such small layers are no faster with two
        torch.manual_seed(int(rng.integers(1 << 31)))
        module = ValueModule(self.core.rules)

        def fitting(done: float) -> None:
            self._progress(f"{name}: fit", done)
            if self._stopping():
                raise StopTrainingError

        rmse = fit(module, net_inputs(self.core.rules, positions), values, self.config.fit, rng, fitting)
        seconds = {"values": round(valued - began, 1), "fit": round(time.monotonic() - valued, 1)}
        made = {"positions": len(positions), "rmse": round(rmse, 3), "seconds": seconds}
        write_atomically(folder / VALUE_NET_NAME, module.export(made).to_bytes())

    def _seed(self, generation: int, stage: int) -> list[int]:
        return [self.config.seed, generation, stage]

    def _positions(self, generation: int, net: ValueNet | None, name: str) -> Positions:
        path = self._folder(generation) / POSITIONS_NAME
        if not path.exists():
            self._progress(f"{name}: games", 0.0)
            config, rng = self.config, np.random.default_rng(self._seed(generation, DRAWING))
            wanted = config.positions[generation]
            write_npz(path, *draw_positions(self.core, wanted, config.random_plies, net, rng, config.threads).arrays())
        with naming_damage(path, "positions"):
            return Positions(*read_npz(path).values())

    def _values(self, generation: int, positions: Positions, net: ValueNet | None, name: str) -> Values:
        """The values of all positions, those known from an earlier sitting among them."""
        path, depth = self._folder(generation) / VALUES_NAME, self.config.depths[generation]
        values: Values = np.zeros(0, dtype=np.int16)
        if path.exists():
            with naming_damage(path, "values"):
                values = np.load(path, allow_pickle=False)
        saved = time.monotonic()
        for more in value_positions(self.core, positions[len(values) :], depth, net, self.config.threads, self._ray):
            values = np.concatenate([values, more]) if len(values) else more
            self._progress(f"{name}: values", len(values) / len(positions))
            stop = self._stopping()
            if stop or len(values) == len(positions) or time.monotonic() - saved >= SAVE_SECONDS:
                file = io.BytesIO()
                np.save(file, values)
                write_atomically(path, file.getvalue())
                saved = time.monotonic()
            if stop:
                raise StopTrainingError
        return values

    def _evaluate(self, generation: int, net: ValueNet) -> None:
        """Regret at fixed nodes on the development part of the rules' suite, where there is one.

        With more than two players the share of wins of a search with the net among two that look one ply further.
        """
        row: dict[str, Any] = {"generation": generation + 1, "depth": self.config.depths[generation], **net.origin}
        said = f"generation {generation + 1}: error {row['rmse']:.2f} points"
        suite = find_suite(self.core.rules)
        if self.core.rules.players > 2:
            share = self._share(net)
            row["share"] = dataclasses.asdict(share)
            said += (
                f"; {100 * share.mean:.1f} % of wins ({100 * share.low:.1f} to {100 * share.high:.1f}) for {RIVALRY}"
            )
        elif suite:  # the test part stays unseen
            part, row["regret"] = suite.part("development"), {}
            for nodes in self.config.evaluation_nodes:
                player = MinimaxPlayer(self.core, Limits(nodes=nodes), threads=self.config.threads, net=net)
                rng = np.random.default_rng(self.config.seed)
                found = regret(player, part, rng, by_phase=False).overall.regret
                row["regret"][str(nodes)] = dataclasses.asdict(found)
                said += f"; regret at {nodes:,} nodes {found.mean:.3f}"
        write_evaluations(self.folder, [*self.evaluations(), row])
        self.report(said)

    def _share(self, net: ValueNet) -> Estimate:
        rng = np.random.default_rng(self.config.seed)
        openings = random_openings(self.core, EVALUATION_OPENINGS, 4, rng)
        one, field = FullWidthPolicy(self.core, 2, "maxn", net=net), FullWidthPolicy(self.core, 3, "maxn")
        return score_interval(play_pairs(self.core, one, field, openings, rng))


def _check_evaluation(number: int, row: Any) -> None:
    if row["generation"] != number:
        raise ValueError(f"expected generation {number}")
