"""The base of all training runs: the folder, its lock, the checkpoint, evaluations, and a clean stop."""

import contextlib
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import torch
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from torch.utils.tensorboard import SummaryWriter

from agents.support.folder_lock import FolderLock
from agents.support.strict_yaml import dump_yaml, read_yaml, validated
from agents.training.checkpoint import State, read_checkpoint, write_checkpoint
from agents.training.config import RunConfig
from agents.training.run_folder import (
    CHECKPOINT_NAME,
    CONFIG_NAME,
    RUN_NAME,
    StopTrainingError,
    describe_run,
    read_evaluations,
    refuse_run,
    write_evaluations,
)
from oanquan_env import Core
from oanquan_env.benchmark.regret import Regret, regret
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError, write_atomically
from oanquan_env.players import Policy

Config = TypeVar("Config", bound=RunConfig)


class Run(ABC, Generic[Config]):
    """One run in one folder; `report` is called with lines of text worth showing, such as an evaluation."""

    config_type: ClassVar[type[RunConfig]]
    network: torch.nn.Module
    """What learns."""
    iteration: int
    """Plies of one rollout."""

    def __init__(self, folder: Path, config: Config, report: Callable[[str], None]) -> None:
        self.folder = folder
        self.config = config
        self.report = report
        torch.set_num_threads(config.threads)
        self.core = Core(config.rules)
        self.logger: Logger | None = None
        self._seconds, self._since = 0.0, time.monotonic()
        self._lock: FolderLock | None = None

    @classmethod
    def create(cls, folder: Path, config: Config, command: str, report: Callable[[str], None]) -> Self:
        """Begin a run; raises `UsageError` if the folder holds one, and for a configuration that cannot be."""
        refuse_run(folder)
        run = cls(folder, config, report)
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as held:
            run._lock = held.enter_context(FolderLock(folder))
            refuse_run(folder)  # one that another program has made meanwhile
            write_atomically(folder / RUN_NAME, dump_yaml(describe_run(command)).encode())
            write_atomically(folder / CONFIG_NAME, config.to_yaml().encode())
            held.pop_all()  # the run keeps the lock
        return run

    @classmethod
    def resume(cls, folder: Path, report: Callable[[str], None], changes: Mapping[str, Any] | None = None) -> Self:
        """Resume the run in `folder` from its checkpoint, or from its start if it was killed before the first.

        `changes` are fields of the configuration that are changed from here on. `threads` and `device` stay in the file
        as they are; numbers then agree with an unchanged run's up to rounding, not to the bit. `total_plies` makes the
        run longer or shorter, and with it the schedules; the file is changed.

        Raises `UsageError` if there is no run, if another program works on it, if its checkpoint is damaged, if it has
        more plies than `total_plies` already, and for values that cannot be.
        """
        path = folder / CONFIG_NAME
        if not path.exists():
            raise FileError(f"{folder} holds no run: there is no {CONFIG_NAME} in it")
        with contextlib.ExitStack() as held:
            lock = held.enter_context(FolderLock(folder))
            kept: Any = validated(cls.config_type, read_yaml(path), str(path))
            config: Any = validated(cls.config_type, {**kept.model_dump(), **(changes or {})}, "command line")
            run = cls(folder, config, report)
            run._lock = lock
            if (folder / CHECKPOINT_NAME).exists():
                run._seconds = read_checkpoint(folder / CHECKPOINT_NAME, run.restore)
            if config.total_plies != kept.total_plies:
                if config.total_plies < run.plies:
                    raise FileError(f"{folder} has {run.plies:,} plies already; --total-plies must be more")
                longer = kept.model_copy(update={"total_plies": config.total_plies})
                write_atomically(path, longer.to_yaml().encode())
            write_evaluations(folder, [row for row in run.evaluations() if row["plies"] <= run.plies])
            held.pop_all()  # the run keeps the lock
        return run

    # ---- methods of each kind of run ---------------------------------------------------------------------------------

    @property
    @abstractmethod
    def plies(self) -> int:
        """Plies trained so far."""

    @abstractmethod
    def train(self, between_iterations: Callable[[], None]) -> None:
        """Train to `planned_plies`, calling `between_iterations` before each rollout."""

    @abstractmethod
    def state(self) -> State:
        """Everything that the next rollout depends on."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Take over what `state` gave; raises as `State` does for what it did not give."""

    @abstractmethod
    def export(self) -> None:
        """Write the agent or value net into the folder, for players to use."""

    @abstractmethod
    def measure(self) -> tuple[dict[str, Any], str]:
        """An evaluation, and a line about it."""

    @property
    @abstractmethod
    def usage(self) -> str:
        """Where the result is, and a command that plays it."""

    def try_out(self, players: str) -> str:
        """A command that lets these players meet under the run's rules."""
        rules = "" if self.config.rules == DEFAULT_PRESET else f" --rules {shlex.quote(self.config.rules)}"
        return f"try: python evaluate.py {players}{rules}"

    # ---- methods of all runs -----------------------------------------------------------------------------------------

    @property
    def planned_plies(self) -> int:
        """Plies at the end: `total_plies`, rounded up to whole iterations."""
        return max(self.plies, -(-self.config.total_plies // self.iteration) * self.iteration)

    @property
    def seconds(self) -> float:
        """Seconds trained so far, before any stop too, evaluations included."""
        return self._seconds + time.monotonic() - self._since

    def learn(self, progress: Callable[[int], None], stopping: Callable[[], bool]) -> None:
        """Train to `planned_plies`; `progress` is called with the plies done. The folder is then free for others.

        Raises `StopTrainingError` after a checkpoint once `stopping` is true.
        """
        log = self.folder / "tensorboard"
        self.logger = Logger(str(log), [_TensorBoard(log, self.plies)])
        self._since = self._saved_at = time.monotonic()
        with contextlib.closing(self), contextlib.closing(self.logger):
            self.train(lambda: self._between_iterations(progress, stopping))
            progress(self.plies)
            self.check_finite()
            self.evaluate()
            self.logger.dump(self.plies)
            self.save()

    def _between_iterations(self, progress: Callable[[int], None], stopping: Callable[[], bool]) -> None:
        """Evaluation, checkpoint and a clean stop, at a point from which a run can be repeated."""
        self.check_finite()
        progress(self.plies)
        every = self.config.evaluation.every_plies
        if self.plies // every > (self.plies - self.iteration) // every:  # also before the first
            self.evaluate()
        stop = stopping()
        if stop or time.monotonic() - self._saved_at >= self.config.checkpoint_seconds:
            self.save()
            self._saved_at = time.monotonic()
        if stop:
            raise StopTrainingError

    def log(self, name: str, value: float) -> None:
        """A figure for TensorBoard."""
        if self.logger:
            self.logger.record(name, value)

    def close(self) -> None:
        """Free the folder for other programs, as `learn` does at its end."""
        if self._lock:
            self._lock.release()

    def save(self) -> None:
        """Write the checkpoint, and the agent or value net."""
        write_checkpoint(self.folder / CHECKPOINT_NAME, self.state(), self.seconds)
        self.export()

    def evaluations(self) -> list[dict[str, Any]]:
        """The evaluations so far, oldest first; raises `FileError` for a damaged file."""
        return read_evaluations(self.folder, _check_evaluation)

    def evaluate(self) -> None:
        """Evaluate the agent or value net, unless that was done at this very ply."""
        rows = self.evaluations()
        if rows and rows[-1]["plies"] == self.plies:
            return
        self.export()
        with torch.random.fork_rng(devices=[]):  # evaluating does not change the run
            row, said = self.measure()
        row = {"plies": self.plies, "seconds": round(self.seconds, 1), **row}
        write_evaluations(self.folder, [*rows, row])
        self.report(f"{self.plies:>12,} plies: {said}")

    def regret_of(self, player: Policy, name: str) -> Regret | None:
        """Regret on the suite's development part (the test part stays unseen), logged by name; None without a suite."""
        suite = find_suite(self.core.rules)
        if suite is None:
            return None
        rng = np.random.default_rng(self.config.seed)
        found = regret(player, suite.part("development"), rng, by_phase=False)
        self.log(f"evaluation/{name}", found.mean)
        return found

    def check_finite(self) -> None:
        """Raises `UsageError` once a weight is no finite number."""
        for name, parameter in self.network.named_parameters():
            if not torch.isfinite(parameter).all():
                good = (self.folder / CHECKPOINT_NAME).exists()  # none is written of such weights
                raise self.diverged(
                    f"{name} is not finite", f"; the last checkpoint in {self.folder} is good" if good else ""
                )

    def diverged(self, what: str, besides: str = "") -> UsageError:
        """The error of a run whose weights are of no use any more."""
        return UsageError(
            f"training diverged: {what} after {self.plies:,} plies{besides}. Start again with a smaller "
            f"{self.config.STEP_SIZES}"
        )


class _TensorBoard(TensorBoardOutputFormat):
    """TensorBoard's files; entries of an interrupted process after `plies` are hidden."""

    def __init__(self, folder: Path, plies: int) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=plies + 1)
        self._is_closed = False


def _check_evaluation(row: Any) -> None:
    if type(row["plies"]) is not int or not all(0 <= result["score"] <= 1 for result in row["results"].values()):
        raise ValueError("plies or a score is not a number in range")
