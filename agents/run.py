"""Training runs: each has a folder with a lock, checkpoint and evaluations, and can be stopped cleanly.

Each kind of training has a subclass of `Run`, such as `agents.ppo.PPORun`, and a subclass of `RunConfig`. Checkpoints
are written between two iterations, so a resumed run is bit-identical to an uninterrupted one.
"""

import contextlib
import random
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import torch
import tyro
from filelock import FileLock
from pydantic import Field
from torch.utils.tensorboard import SummaryWriter

from agents import checkpoint, workers
from agents.checkpoint import CONFIG_NAME
from agents.config import (
    AUTO,
    Count,
    Positive,
    RulesName,
    Seed,
    Strict,
    TorchThreads,
    Workers,
    dump_yaml,
    imported,
    read_yaml,
    validated,
)
from agents.evaluation.training_evaluation import EvaluationSchedule
from agents.folders import lock_folder
from agents.self_play import StartsConfig
from oanquan_env import Core
from oanquan_env.benchmark.beams import positions_of_beams
from oanquan_env.benchmark.regret import Regret, regret
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError, write_atomically
from oanquan_env.players import Policy

KINDS = {"ppo": "agents.ppo:PPORun", "td": "agents.td:TDRun"}
"""The classes of the built-in kinds of training; any other kind is given as MODULE:NAME."""
KIND = tyro.conf.arg(metavar=f"{{{','.join(KINDS)}}}")
"""How help shows the values of `kind`; the type of each kind's field allows its own name alone."""


BEAMS, BEAM_WIDTH = 16, 150
"""Number of times that a run searches for lines that beat its network, and positions per ply in these searches."""


class RunConfig(Strict):
    """The settings that every kind of run has."""

    kind: str
    rules: RulesName = Field("mancala-world", description="rules by name, such as 'vietnamese refill=forfeit'")
    total_plies: Count = Field(10_000_000, description="plies to train for")
    seed: Seed = Field(0, description="seed of all randomness")
    threads: TorchThreads = Field(AUTO, description="number of torch threads; auto: fastest, or 1 for several workers")
    workers: Workers = Field(1, description="number of processes that play and learn; auto takes one per processor")
    checkpoint_seconds: Positive = Field(60.0, description="seconds between checkpoints")
    starts: StartsConfig = Field(StartsConfig(), description="start positions")
    evaluation: EvaluationSchedule = Field(EvaluationSchedule(), description="evaluation during training")

    @classmethod
    def with_network(cls, name: str) -> type[Self]:
        """Return the configuration class with the options of the network `name`; most kinds have no such options."""
        return cls

    @property
    def core_rules(self) -> str:
        """The rules of `Run.core`."""
        return self.rules


def run_type(kind: str, where: str = "") -> type["Run[Any]"]:
    """Return the `Run` class for `kind`, which is a name in `KINDS` or MODULE:NAME.

    Raises `FileError`, whose message begins with `where`, if the kind is unknown or cannot be imported.
    """
    field = f"{where}: kind" if where else "kind"
    if (kind := str(kind)) not in KINDS and ":" not in kind:
        raise FileError(f"{field} must be {', '.join(KINDS)} or MODULE:NAME; got {kind!r}")
    training: type[Run[Any]] = imported(KINDS.get(kind, kind), field)
    return training


def config_type(values: Mapping[str, Any], where: str = "") -> type[RunConfig]:
    """Return the configuration class for the kind and network in `values`. Raises `FileError` if one does not exist."""
    network = values.get("network")
    name = network.get("name", "") if isinstance(network, dict) else ""
    return run_type(values.get("kind", "ppo"), where).config_type.with_network(str(name))


def load_config(path: Path) -> RunConfig:
    """Read a configuration. Raises `FileError`, naming file, field, value and requirement, if it is invalid."""
    values = read_yaml(path)
    return validated(config_type(values, str(path)), values, str(path))


def between(begin: float, end: float, done: float) -> float:
    """Interpolate linearly from `begin` to `end`; `done` is the finished share of the run, clipped to 0 … 1."""
    done = min(max(done, 0.0), 1.0)
    return begin * (1.0 - done) + end * done


class StopTrainingError(Exception):
    """Raised between two iterations, after the checkpoint is written, if the run must stop."""


ConfigT = TypeVar("ConfigT", bound=RunConfig)


def with_threads(config: ConfigT) -> ConfigT:
    """Return `config` with `AUTO` threads replaced: by 1 if there are several workers, else by the fastest number."""
    if config.threads != AUTO:
        return config
    return config.model_copy(update={"threads": workers.fastest_threads() if config.workers == 1 else 1})


SettingsT = TypeVar("SettingsT", bound=Strict)


class Run(ABC, Generic[ConfigT]):
    """One run in one folder; `report` is called with lines of text to show, such as an evaluation.

    A subclass sets `config_type`, `network`, `parts`, `iteration` and `usage`, and implements the abstract methods.

    Attributes:
        config_type: the class of its configuration.
        network: the module that is trained.
        parts: by name, everything that the next iteration needs, except `plies` and the random generators of torch,
            NumPy and Python; each has `state_dict` and `load_state_dict`. Workers have equal `network` and `optimizer`.
        iteration: plies of one iteration, summed over all workers.
        suite: development part of the regret suite; None if the rules have none.
        usage: a message that says where the result is, with a command that evaluates it.
        plies: plies trained so far, summed over all workers.
    """

    config_type: ClassVar[type[RunConfig]]
    network: torch.nn.Module
    parts: Mapping[str, Any]
    iteration: int
    usage: str
    board: SummaryWriter | None = None
    _lock: FileLock | None = None

    def __init__(self, folder: Path, config: ConfigT, report: Callable[[str], None]) -> None:
        self.folder, self.config, self.report = folder, config, report
        self.core = Core(config.core_rules)
        suite = find_suite(self.core.rules, config.evaluation.regret_suite)
        self.suite = suite and suite.part("development")
        if config.starts.beam_share and self.core.rules.players != 2:
            raise UsageError("starts.beam_share: lines that beat the network need rules for two players")
        self.plies, self._seconds, self._since = 0, 0.0, time.monotonic()
        self._logged = list[tuple[str, float]]()
        torch.set_num_threads(config.threads)
        random.seed(workers.own_seed(config.seed))
        np.random.seed(workers.own_seed(config.seed))  # noqa: NPY002  (stable-baselines3 draws minibatches from it)
        torch.manual_seed(config.seed)  # all workers begin with the same weights

    @abstractmethod
    def iterate(self) -> None:
        """Collect this worker's share of a rollout of `iteration` plies, and learn from it."""

    @abstractmethod
    def export(self) -> None:
        """Write the agent or value net into the folder, for players to use."""

    @abstractmethod
    def measure(self) -> tuple[dict[str, Any], str]:
        """Evaluate the network; return the evaluation as JSON, with `results` by opponent, and as a line of text."""

    @classmethod
    def _make(cls, folder: Path, config: ConfigT, report: Callable[[str], None]) -> Self:
        """Make the run. Raises `UsageError` if its class does not set a required attribute."""
        run = cls(folder, config, report)
        for name in ("network", "parts", "iteration", "usage"):
            if not hasattr(run, name):
                raise UsageError(f"{config.kind}: {cls.__name__}.__init__ must set self.{name}; see agents.run.Run")
        if not isinstance(run.network, torch.nn.Module):
            wrong = type(run.network).__name__
            raise UsageError(f"{config.kind}: self.network must be the torch.nn.Module that it trains; got {wrong}")
        return run

    @classmethod
    def create(cls, folder: Path, config: ConfigT, command: str, report: Callable[[str], None]) -> Self:
        """Begin a run, and record `command`. Raises `UsageError` if `folder` holds a run or `config` is invalid."""
        config = with_threads(config)
        run = cls._make(folder, config, report)
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            run._lock = stack.enter_context(lock_folder(folder))
            if (folder / CONFIG_NAME).exists():
                raise FileError(
                    f"{folder} already holds a run: continue it with --resume {shlex.quote(str(folder))}, or choose "
                    "another --output"
                )
            checkpoint.write_origin(folder, config, command)
            write_atomically(folder / CONFIG_NAME, dump_yaml(config))
            stack.pop_all()  # the run keeps the lock
        return run

    @classmethod
    def resume(
        cls,
        folder: Path,
        report: Callable[[str], None],
        changes: Mapping[str, Any] | None = None,
        command: str | None = None,
    ) -> Self:
        """Resume the run in `folder` from its checkpoint, or from its start if it has none yet, and record `command`.

        `changes` are new values of configuration fields. A new `total_plies` makes the run and its schedules longer or
        shorter. With a new number of `workers`, the run starts new games. Both are written to the run's configuration.
        New values of `threads` and `device` are not, because they change results by rounding only.

        Raises `UsageError` if there is no run, another program is using it, its checkpoint is damaged, it has already
        played more plies than a new `total_plies`, or a value is invalid.
        """
        path = folder / CONFIG_NAME
        if not path.exists():
            raise FileError(f"{folder} holds no run, as it has no {CONFIG_NAME}")
        stored: Any = load_config(path)
        config: Any = with_threads(validated(type(stored), {**stored.model_dump(), **(changes or {})}, "command line"))
        with contextlib.ExitStack() as stack:
            lock = stack.enter_context(lock_folder(folder))
            run = cls._make(folder, config, report)
            run._lock = lock
            run._restore()
            if config.total_plies != stored.total_plies and config.total_plies < run.plies:
                raise FileError(f"{folder} has already played {run.plies:,} plies; --total-plies must not be less")
            lasting = {name: getattr(config, name) for name in ("total_plies", "workers")}
            if (changed := stored.model_copy(update=lasting)) != stored:
                write_atomically(path, dump_yaml(changed))
            if differ := checkpoint.write_origin(folder, config, command, run.plies):
                report(f"changed since the run began, or not recorded then: {', '.join(differ)}; results may differ")
            rows = [row for row in checkpoint.read_evaluations(folder) if row["plies"] <= run.plies]
            checkpoint.write_evaluations(folder, rows)
            stack.pop_all()  # the run keeps the lock
        return run

    @classmethod
    def join(cls, folder: Path, config: ConfigT) -> Self:
        """Return the run in `folder` for a worker other than worker 0, after worker 0 has begun or resumed it."""
        run = cls._make(folder, with_threads(config), lambda _: None)
        torch.manual_seed(workers.own_seed(config.seed))
        run._restore()
        return run

    def of_worker(self, settings: SettingsT, games: str) -> SettingsT:
        """Return settings with this worker's share of the field named `games`. Raises `FileError` if it is invalid."""
        each, rest = divmod(getattr(settings, games), self.config.workers)
        least = {**settings.model_dump(), games: each}
        validated(type(settings), least, f"workers: {self.config.workers}")
        return settings.model_copy(update={games: each + (workers.rank() < rest)})

    def _restore(self) -> None:
        """Restore the checkpoint, if there is one."""
        if numbers := checkpoint.read_checkpoint(self.folder, self.parts, self.config.workers):
            self.plies, self._seconds = numbers["plies"], numbers["seconds"]
            self._check_finite()
            if numbers["workers"] != self.config.workers:
                change = f"workers: {self.config.workers} instead of {numbers['workers']}"
                self.report(f"{change}; the run starts new games")

    @property
    def planned_plies(self) -> int:
        """Plies at the end of the run: `total_plies` rounded up to whole iterations, but at least `plies`."""
        return max(self.plies, -(-self.config.total_plies // self.iteration) * self.iteration)

    @property
    def seconds(self) -> float:
        """Seconds trained so far, including earlier sessions and evaluations."""
        return self._seconds + time.monotonic() - self._since

    def try_out(self, *players: str) -> str:
        """Return a hint with the command that evaluates `players` against each other under the run's rules."""
        rules = [] if self.config.rules == DEFAULT_PRESET else ["--rules", self.config.rules]
        return f"try: {shlex.join(['python', 'evaluate.py', *players, *rules])}"

    def learn(self, progress: Callable[[int], None], stopping: Callable[[], bool]) -> None:
        """Train to `planned_plies`, calling `progress` with the plies so far; release the folder's lock at the end.

        Raises `StopTrainingError`, after writing a checkpoint, once `stopping()` returns True in any worker.
        """
        every, self._since = self.config.evaluation.every_plies, time.monotonic()
        saved, first = self._since, workers.rank() == 0
        with contextlib.ExitStack() as stack:
            stack.callback(self.close)
            if first:
                log = str(self.folder / "tensorboard")  # `purge_step` hides later entries of a killed process
                self.board = stack.enter_context(SummaryWriter(log, purge_step=self.plies + 1))
            while True:
                self._check_finite()
                progress(self.plies)
                done = self.plies >= self.planned_plies
                due = self.plies // every > (self.plies - self.iteration) // every  # also before the first iteration
                if first and (done or due):
                    self._evaluate()
                due = time.monotonic() - saved >= self.config.checkpoint_seconds
                stop, due = workers.any_of(not done and stopping(), due)
                if done or stop or due:
                    self.save()
                    saved = time.monotonic()
                if done:
                    return
                if stop:
                    raise StopTrainingError
                self._renew_beams()
                self.iterate()
                if self.config.workers > 1:
                    workers.average(self.network, self.parts["optimizer"])
                self.plies += self.iteration
                self._write_logged()

    def _renew_beams(self) -> None:
        """Search for lines that beat the network, about `BEAMS` times in a run, if some games start from such lines."""
        every = max(self.iteration, self.config.total_plies // BEAMS)
        if self.config.starts.beam_share and self.plies // every > (self.plies - self.iteration) // every:
            rng = np.random.default_rng([workers.own_seed(self.config.seed), self.plies])
            self.parts["games"].use(positions_of_beams(self.player(), self.core, BEAM_WIDTH, rng))

    def player(self) -> Policy:
        """Return the network as a player; a subclass must define this method only for `starts.beam_share`."""
        raise UsageError(f"starts.beam_share: {type(self).__name__} must define the method `player`")

    def log(self, name: str, value: float) -> None:
        """Log a number to TensorBoard, at the last ply of the iteration or at the ply of the evaluation."""
        self._logged.append((name, value))

    def _write_logged(self) -> None:
        """Write the logged numbers at the current ply, and flush them, so that a kill loses none of them."""
        if self.board:
            for name, value in self._logged:
                self.board.add_scalar(name, value, self.plies)
            self.board.flush()
        self._logged.clear()

    def close(self) -> None:
        """Release the folder's lock, as `learn` does at its end."""
        if self._lock:
            self._lock.release()

    def save(self) -> None:
        """Write the checkpoint, and the agent or value net."""
        checkpoint.write_checkpoint(self.folder, {"plies": self.plies, "seconds": self.seconds}, self.parts)
        if workers.rank() == 0:
            self.export()

    def _evaluate(self) -> None:
        """Evaluate the agent or value net, unless that was already done at this ply."""
        rows = checkpoint.read_evaluations(self.folder)
        if rows and rows[-1]["plies"] == self.plies:
            return
        self.export()
        with torch.random.fork_rng(devices=[]):  # evaluation must not change the run
            row, text = self.measure()
        rows.append({"plies": self.plies, "seconds": round(self.seconds, 1), **row})
        checkpoint.write_evaluations(self.folder, rows)
        self._write_logged()  # after the row, because an evaluation without a row is repeated
        self.report(f"{self.plies:>12,} plies: {text}")

    def regret_of(self, player: Policy, name: str) -> Regret | None:
        """Measure, log and return regret over `suite`; return None without a suite."""
        if self.suite is None:
            return None
        rng = np.random.default_rng(self.config.seed)
        result = regret(player, self.suite, rng, by_phase=False)
        self.log(f"evaluation/{name}", result.mean)
        return result

    def _check_finite(self) -> None:
        for name, parameter in self.network.named_parameters():
            if not torch.isfinite(parameter).all():
                raise self.diverged(f"{name} is not finite")

    def diverged(self, what: str) -> UsageError:
        """Return the error for a run with unusable weights. Weights that are not finite never reach a checkpoint."""
        when = f"after {self.plies:,} plies"
        return UsageError(f"training diverged: {what} {when}; start again with a smaller learning rate")
