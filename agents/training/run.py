"""A training run: its folder, its model, and what happens between two iterations."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from torch.utils.tensorboard import SummaryWriter

import agents
from agents.networks.agent_files import AgentCard, AgentFileError, save_agent
from agents.players.network_player import NetworkError, PPOPlayer
from agents.support.folder_lock import FolderLock
from agents.support.strict_yaml import dump_yaml, naming_field, read_yaml
from agents.training.checkpoint import load_checkpoint, save_checkpoint
from agents.training.config import TrainConfig, load_config, parse_config
from agents.training.model import build_model
from agents.training.policy import network_of
from agents.training.run_folder import (
    CHECKPOINT_NAME,
    CONFIG_NAME,
    RUN_NAME,
    RunError,
    StopTrainingError,
    describe_run,
    read_evaluations,
    refuse_run,
    write_evaluations,
)
from agents.training.schedules import between
from agents.training.warm_start import keep_warm_start, restore_warm_start, warm_start
from oanquan_env import Core, IllegalActionError, Positions
from oanquan_env.benchmark.pairs import play_pairs, score_interval
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.files import write_atomically
from oanquan_env.playing import random_openings


class TrainingRun:
    """One run in one folder; `report` is called with lines of text worth showing, such as an evaluation."""

    def __init__(self, folder: Path, config: TrainConfig, report: Callable[[str], None]) -> None:
        self.folder = folder
        self.config = config
        self.report = report
        torch.set_num_threads(config.threads)
        self.core = Core(config.rules)
        with naming_field("evaluation.opponents"):
            for name in config.evaluation.opponents:
                agents.make(name, self.core.rules)
        with naming_field("evaluation.opening_plies"):
            self._openings(np.random.default_rng(config.seed))
        random.seed(config.seed)
        np.random.seed(config.seed)  # noqa: NPY002  (stable-baselines3 draws minibatches from it)
        torch.manual_seed(config.seed)
        self.env, self.model = build_model(self._with_own_net(), self.core)
        self._seconds, self._since = 0.0, time.monotonic()
        self._lock: FolderLock | None = None

    @classmethod
    def create(cls, folder: Path, config: TrainConfig, command: str, report: Callable[[str], None]) -> TrainingRun:
        """Begin a run in a new folder.

        Raises:
            RunError, FolderInUseError: if one is there already, or if another program makes one there.
            ConfigError: for a configuration that cannot be, such as one whose `network.net` is not there.
            AgentFileError: if there is no such agent as `init_from`.
        """
        refuse_run(folder)
        run = cls(folder, config, report)
        made = {**describe_run(command), **warm_start(config, run.model)}
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as held:
            run._lock = held.enter_context(FolderLock(folder))
            refuse_run(folder)  # one that another program has made meanwhile
            keep_warm_start(folder, config, run.model)
            write_atomically(folder / RUN_NAME, dump_yaml(made).encode())
            write_atomically(folder / CONFIG_NAME, config.to_yaml().encode())
            held.pop_all()  # the run keeps the lock
        return run

    @classmethod
    def resume(
        cls, folder: Path, report: Callable[[str], None], changes: Mapping[str, Any] | None = None
    ) -> TrainingRun:
        """Go on with the run in `folder` from its checkpoint, or from its start if it was killed before the first.

        `changes` are fields of the configuration that are changed from here on. `threads` and `device` stay in the file
        as they are; numbers then agree with an unchanged run's up to rounding, not to the bit. `total_plies` makes the
        run longer or shorter, and what depends on its share that is done; the file is changed.

        Raises:
            RunError: if there is no run, or if it has more plies than `total_plies` already.
            FolderInUseError: if another program works on it.
            CheckpointError: if its checkpoint is damaged.
            AgentFileError: if there is no checkpoint yet, and the weights that it starts from are damaged.
            ConfigError: for values that cannot be, and if its value net is damaged.
        """
        if not (folder / CONFIG_NAME).exists():
            raise RunError(f"{folder} holds no run: there is no {CONFIG_NAME} in it")
        with contextlib.ExitStack() as held:
            lock = held.enter_context(FolderLock(folder))
            kept = load_config(folder / CONFIG_NAME)
            config = parse_config({**kept.model_dump(), **(changes or {})}, "command line")
            run = cls(folder, config, report)
            run._lock = lock
            checkpoint = folder / CHECKPOINT_NAME
            if checkpoint.exists():
                run._seconds = load_checkpoint(checkpoint, run.model, run.env)
            else:
                restore_warm_start(folder, config, run.model)
            if config.total_plies != kept.total_plies:
                if config.total_plies < run.plies:
                    raise RunError(f"{folder} has {run.plies:,} plies already; --total-plies must be more")
                longer = kept.model_copy(update={"total_plies": config.total_plies})
                write_atomically(folder / CONFIG_NAME, longer.to_yaml().encode())
            write_evaluations(folder, [row for row in run.evaluations() if row["plies"] <= run.plies])
            held.pop_all()  # the run keeps the lock
        return run

    def _with_own_net(self) -> TrainConfig:
        """The configuration; of a run that has begun, with the value net in its folder."""
        if not (self.folder / CONFIG_NAME).exists():
            return self.config
        return self.config.model_copy(update={"network": self.config.network.with_net_in(self.folder)})

    @property
    def plies(self) -> int:
        """Plies trained so far."""
        return int(self.model.num_timesteps)

    @property
    def planned_plies(self) -> int:
        """Plies at the end: `total_plies`, rounded up to whole iterations."""
        iteration = self.config.ppo.n_envs * self.config.ppo.n_steps
        return max(self.plies, -(-self.config.total_plies // iteration) * iteration)

    @property
    def seconds(self) -> float:
        """Seconds trained so far, before any stop too, evaluations included."""
        return self._seconds + time.monotonic() - self._since

    def learn(self, progress: Callable[[int], None], stopping: Callable[[], bool]) -> None:
        """Train to `planned_plies`; `progress` is told the plies done. The folder is then free for others.

        Raises `StopTrainingError` after a checkpoint once `stopping` is true.
        """
        log = self.folder / "tensorboard"
        logger = Logger(str(log), [_TensorBoard(log, self.plies)])
        self.model.set_logger(logger)
        with contextlib.closing(self), contextlib.closing(logger):
            self._since = time.monotonic()
            remaining = self.config.total_plies - self.plies
            if remaining > 0:
                callback = _BetweenIterations(self, progress, stopping)
                try:
                    self.model.learn(remaining, callback=callback, reset_num_timesteps=False)
                except (NetworkError, AgentFileError) as error:  # weights too large to play with
                    raise _diverged(self, str(error)) from None
                except IllegalActionError:  # logits above the one that stands for an illegal action
                    raise _diverged(self, "the policy plays illegal actions") from None
                progress(self.plies)
            _check_finite(self)
            self.evaluate()
            self.model.logger.dump(self.plies)
            self.save()

    def close(self) -> None:
        """Free the folder for other programs, as `learn` does at its end."""
        if self._lock:
            self._lock.release()

    def save(self) -> None:
        """Write checkpoint and agent."""
        save_checkpoint(self.folder / CHECKPOINT_NAME, self.model, self.env, self.seconds)
        self._export()

    def evaluations(self) -> list[dict[str, Any]]:
        """The evaluations so far, oldest first; raises `RunError` for a damaged file."""
        return read_evaluations(self.folder, _check_evaluation)

    def evaluate(self) -> None:
        """Play the configured opponents and measure regret, unless that was done at this very ply."""
        rows = self.evaluations()
        if rows and rows[-1]["plies"] == self.plies:
            return
        self._export()
        with torch.random.fork_rng(devices=[]):  # evaluating does not change the run
            row, said = self._measure()
        write_evaluations(self.folder, [*rows, row])
        self.report(f"{self.plies:>12,} plies: {said}")

    def _measure(self) -> tuple[dict[str, Any], str]:
        """An evaluation, and a line about it."""
        player = PPOPlayer(self.folder, self.core.rules)
        row: dict[str, Any] = {"plies": self.plies, "seconds": round(self.seconds, 1)}
        row["results"] = {name: self._score(player, name) for name in self.config.evaluation.opponents}
        players = self.core.rules.players
        counted = "score" if players == 2 else f"share of wins (fair: {100 / players:.1f} %)"
        scores = ", ".join(f"{name} {100 * result['score']:.1f} %" for name, result in row["results"].items())
        said = f"{counted} against {scores}"
        suite = find_suite(self.core.rules)
        if suite:  # the test part is for finished agents
            rng = np.random.default_rng(self.config.seed)
            found = regret(player, suite.part("development"), rng, by_phase=False).overall
            row["regret"] = dataclasses.asdict(found)
            self.model.logger.record("evaluation/regret", found.regret.mean)
            said += f"; regret {found.regret.mean:.2f} points, best moves {100 * found.optimal.mean:.1f} %"
        return row, said

    def _score(self, player: PPOPlayer, opponent: str) -> dict[str, float]:
        """Score of a match with its interval, 0 to 1: the share of wins over all seats, a tied win shared."""
        rng = np.random.default_rng(self.config.seed)
        openings = self._openings(rng)
        played = play_pairs(self.core, player, agents.make(opponent, self.core.rules), openings, rng)
        score = score_interval(played)
        self.model.logger.record(f"evaluation/{opponent}", score.mean)
        return {"score": score.mean, "low": score.low, "high": score.high}

    def _openings(self, rng: np.random.Generator) -> Positions:
        settings = self.config.evaluation
        return random_openings(self.core, settings.pairs, settings.opening_plies, rng)

    def _export(self) -> None:
        made = read_yaml(self.folder / RUN_NAME)
        history = {"plies": self.plies, "seconds": round(self.seconds), "seed": self.config.seed, **made}
        card = AgentCard(
            rules=self.config.rules, reward=self.config.reward, network=self.config.network, training=history
        )
        save_agent(self.folder, network_of(self.model), card)


class _BetweenIterations(BaseCallback):
    """Schedules, evaluation, checkpoints and a clean stop, at points from which a run can be repeated."""

    def __init__(self, run: TrainingRun, progress: Callable[[int], None], stopping: Callable[[], bool]) -> None:
        super().__init__()
        self.run = run
        self.progress = progress
        self.stopping = stopping
        self.saved_at = time.monotonic()

    def _on_rollout_start(self) -> None:
        run, config = self.run, self.run.config
        _check_finite(run)
        self.progress(run.plies)
        iteration = config.ppo.n_envs * config.ppo.n_steps
        every = config.evaluation.every_plies
        if run.plies // every > (run.plies - iteration) // every:  # also before the first, of the untrained network
            run.evaluate()
        if run.env.opponents and run.plies // config.opponents.every_plies > run.env.opponents.kept:
            run.env.opponents.keep(network_of(run.model))
        stop = self.stopping()
        if stop or time.monotonic() - self.saved_at >= config.checkpoint_seconds:
            run.save()
            self.saved_at = time.monotonic()
        if stop:
            raise StopTrainingError

    def _on_rollout_end(self) -> None:
        ppo, done = self.run.config.ppo, self.run.plies / self.run.config.total_plies
        self.run.model.ent_coef = between(ppo.ent_coef, ppo.ent_coef_end, done)
        self.logger.record("train/ent_coef", self.run.model.ent_coef)

    def _on_step(self) -> bool:
        return True


class _TensorBoard(TensorBoardOutputFormat):
    """TensorBoard's files; what an earlier sitting wrote of plies after `plies`, and lost, is not shown."""

    def __init__(self, folder: Path, plies: int) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=plies + 1)
        self._is_closed = False


def _check_evaluation(_: int, row: Any) -> None:
    if type(row["plies"]) is not int or not all(0 <= result["score"] <= 1 for result in row["results"].values()):
        raise ValueError("plies or a score is no number that it can be")


def _check_finite(run: TrainingRun) -> None:
    for name, parameter in network_of(run.model).named_parameters():
        if not torch.isfinite(parameter).all():
            good = (run.folder / CHECKPOINT_NAME).exists()  # none is written of such weights
            raise _diverged(
                run, f"{name} is not finite", f"; the last checkpoint in {run.folder} is good" if good else ""
            )


def _diverged(run: TrainingRun, what: str, besides: str = "") -> RunError:
    sizes = "ppo.learning_rate" + (", teacher.learning_rate, teacher.muon" if run.config.teacher.depths else "")
    return RunError(
        f"training diverged: {what} after {run.plies:,} plies{besides}. Start again with a smaller {sizes} or "
        "ppo.max_grad_norm"
    )
