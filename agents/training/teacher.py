"""Search as the critic's teacher: between two iterations of PPO the value is fitted to what alpha-beta search finds.

A return of self-play is one noisy sample of what a position is worth; a search of some plies costs a tenth of a
millisecond and knows the tactics ahead exactly. After each iteration, positions a few random plies away from those of
the rollout are valued by search, and the value takes some gradient steps on the newest of them. The random plies
matter: good players visit few positions, and a value that knows no others misjudges the moves that they avoid. A share
of the positions may come from games of mixed strength too. The positions by which agents are judged (the rules' regret
suite), and those that their moves lead to, are never taught. PPO's policy, built on the values of afterstates, gains
at once. (A separate phase for the value: Cobbe et al. 2021, Phasic Policy Gradient. The search as teacher is ours.)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO

from agents.networks.features import FeatureEncoder, Features, LookaheadFeatures, MoveFeatures, guesses_of
from agents.networks.lookahead import LookaheadNet
from agents.players.mixed_play import met_in_play, mixed_players
from agents.search.deepening import Limits, Search
from agents.support.strict_yaml import ConfigError, naming_field
from agents.training.config import TeacherConfig, TrainConfig
from agents.training.policy import network_of
from agents.training.rollout_buffer import ZeroSumRolloutBuffer
from agents.training.schedules import between
from oanquan_env import Positions, mirror
from oanquan_env.benchmark.suites import suite_keys
from oanquan_env.keys import are_among, canonical_keys, first_of_each, key_hashes
from oanquan_env.playing import play_randomly

MAX_GRADIENT = 5.0
"""Gradients of the value loss longer than this are scaled down to it."""
SPARE = 3
"""Positions drawn for each one wanted: some games end on the way, and many positions are met twice."""
POSITIONS_A_GAME = 8
"""Positions wanted for each game that is played for them."""
SCALE = 10.0
"""Points are divided by this in the loss."""


class Teacher:
    """Values positions by search and fits a network to the newest of them.

    Args:
        config: the settings; at least one depth.
        network: the network to teach.
        features: what it is fed; where they have a value net, the search has it at its leaves.
        seed: of the random moves and minibatches.
        threads: threads that search.

    Attributes:
        positions: the newest positions valued, oldest first, at most `config.replay`.
        values: (N,) int16, their values: future margin in points, from the mover's view.
        guesses: (N, A) int16, their columns of that name in `MoveFeatures`; (N, 0) without a value net.
        iterations: how often it has taught.
        optimizers: its own, apart from PPO's: Adam, and Muon for matrices if it is configured.
    """

    def __init__(
        self, config: TeacherConfig, network: LookaheadNet, features: MoveFeatures, *, seed: int, threads: int
    ) -> None:
        self.core = core = features.core
        self.config = config
        self.network = network
        self.features = features
        self.seed = seed
        self.search = Search(core, threads=threads, net=features.net)
        self.optimizers = _optimizers(network, config)
        self.positions = core.start(0)
        self.values: npt.NDArray[np.int16] = np.zeros(0, dtype=np.int16)
        self.guesses = self._guesses(self.positions)
        self.iterations = 0
        self._mirrors = core.rules.is_symmetric
        self._players = mixed_players(core, threads) if config.mixed_share else []
        self._withheld = np.sort(key_hashes(suite_keys(core)))
        self._hashes = self._hashes_of(self.positions)
        self._known = np.sort(self._hashes)

    def teach(self, visited: Positions, done: float) -> dict[str, float]:
        """Value positions, then take the gradient steps.

        Args:
            visited: running positions of the last rollout.
            done: share of the run that is done, for the schedules of depth and step size; may exceed 1.

        Returns:
            What is worth logging.
        """
        config = self.config
        rng = np.random.default_rng([self.seed, self.iterations])
        self.iterations += 1
        depth = config.depths[min(int(done * len(config.depths)), len(config.depths) - 1)]
        rate = between(config.learning_rate, config.learning_rate_end, done)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = optimizer.defaults["lr"] * rate / config.learning_rate
        with ThreadPoolExecutor(1) as pool:  # the search runs outside Python's lock, beside the gradient steps
            targets = pool.submit(self._make_targets, visited, depth, rng.spawn(1)[0])
            first = not len(self.values)
            fresh_error = self._remember(*targets.result()) if first else 0.0
            losses = [self._step(rng) for _ in range(config.minibatches)]
            if not first:
                fresh_error = self._remember(*targets.result())
        taught_error = SCALE * float(np.sqrt(np.mean(losses)))
        known = float(len(self.values))
        return {"rmse": taught_error, "fresh_rmse": fresh_error, "known": known, "learning_rate": rate, "depth": depth}

    def restore(self, positions: Positions, values: npt.NDArray[np.int16], guesses: Features, iterations: int) -> None:
        """Take over what a teacher remembered, (N,) positions and what it has of them, and how often it had taught."""
        self.positions, self.values, self.guesses, self.iterations = positions, values, guesses, iterations
        self._hashes = self._hashes_of(positions)
        self._known = np.sort(self._hashes)

    def _make_targets(
        self, visited: Positions, depth: int, rng: np.random.Generator
    ) -> tuple[Positions, npt.NDArray[np.int16], Features]:
        """New positions, all different, at most as many as are wanted, their values and their guesses."""
        mixed = round(self.config.positions * self.config.mixed_share)
        parts = [self._near(visited, self.config.positions - mixed, rng)]
        if mixed:
            met = met_in_play(self.core, self._players, 1 + mixed // POSITIONS_A_GAME, rng)
            parts.append(self._near(met, mixed, rng))
        fresh = Positions.concatenate(parts)
        fresh = fresh[first_of_each(canonical_keys(self.core, fresh))]
        if self._mirrors:  # every other one, as the network has to know both images
            fresh = Positions.concatenate([fresh[::2], mirror(fresh[1::2], self.core.rules)])
        found = self.search.best_moves(fresh, Limits(depth=depth))
        return fresh, np.array([result.value for result in found], dtype=np.int16), self._guesses(fresh)

    def _guesses(self, positions: Positions) -> Features:
        """(N, A) or (N, 0) the guesses of running positions, made once: they take longer than the rest of a step."""
        if self.features.net:
            return guesses_of(self.search, positions)
        return np.zeros((len(positions), 0), dtype=np.int16)

    def _near(self, visited: Positions, wanted: int, rng: np.random.Generator) -> Positions:
        """At most `wanted` positions that can be taught, some random plies away from visited ones."""
        drawn = visited[rng.integers(0, len(visited), SPARE * wanted)]
        play_randomly(self.core, drawn, rng.integers(0, self.config.random_plies + 1, len(drawn)), rng)
        teachable = self._teachable(drawn[~drawn.over])
        return teachable[rng.permutation(len(teachable))[:wanted]]

    def _teachable(self, positions: Positions) -> Positions:
        """One of each set of positions that play alike, without those of the suite and those remembered."""
        keys = canonical_keys(self.core, positions)
        first = first_of_each(keys)
        hashes = key_hashes(keys[first])
        return positions[first[~are_among(hashes, self._withheld) & ~are_among(hashes, self._known)]]

    def _hashes_of(self, positions: Positions) -> npt.NDArray[np.uint64]:
        return key_hashes(canonical_keys(self.core, positions))

    def _remember(self, positions: Positions, values: npt.NDArray[np.int16], guesses: Features) -> float:
        """Remember positions; returns the network's error on some of them before it is taught, in points.

        NaN if there are none.
        """
        n = min(len(values), self.config.batch_size)
        some = np.arange(n) * len(values) // n
        with torch.no_grad():
            error = SCALE * self._loss(positions[some], values[some], guesses[some]).sqrt().item()
        newest = slice(-self.config.replay, None)
        self.positions = Positions.concatenate([self.positions, positions])[newest]
        self.values = np.concatenate([self.values, values])[newest]
        self.guesses = np.concatenate([self.guesses, guesses])[newest]
        self._hashes = np.concatenate([self._hashes, self._hashes_of(positions)])[newest]
        self._known = np.sort(self._hashes)
        return error

    def _step(self, rng: np.random.Generator) -> float:
        """One gradient step on one minibatch; the loss before it."""
        rows = rng.integers(0, len(self.values), self.config.batch_size)
        loss = self._loss(self.positions[rows], self.values[rows], self.guesses[rows])
        self.network.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRADIENT)
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.item()

    def _loss(self, positions: Positions, wanted: npt.NDArray[np.int16], guesses: Features) -> torch.Tensor:
        """Mean squared error of the values of positions, in squares of `SCALE` points."""
        device = self.network.log_inverse_temperature.device
        features = torch.from_numpy(self.features.expand(positions, guesses)[0]).to(device)
        values, _ = self.network.values(features)
        points = torch.from_numpy(wanted.astype(np.float32)).to(device)[:, None]
        return ((values / self.network.reward_scale - points) / SCALE).square().mean()


def _optimizers(network: LookaheadNet, config: TeacherConfig) -> list[torch.optim.Optimizer]:
    """Adam; and, if it has a step size, Muon (Jordan et al. 2024) for the hidden layers' matrices."""
    matrices = [layer.weight for layer in network.hidden_layers()] if config.muon else []
    others = [parameter for parameter in network.parameters() if all(parameter is not matrix for matrix in matrices)]
    optimizers: list[torch.optim.Optimizer] = [torch.optim.Adam(others, lr=config.learning_rate)]
    if matrices:
        optimizers.append(torch.optim.Muon(matrices, lr=config.muon, weight_decay=0.0))
    return optimizers


class TaughtPPO(MaskablePPO):
    """MaskablePPO whose value is also trained by a `teacher` after each iteration, if there is one."""

    teacher: Teacher | None = None

    def train(self) -> None:
        """An iteration of PPO on the rollout, then the teacher's steps on its positions."""
        super().train()
        if self.teacher is None:
            return
        assert isinstance(self.rollout_buffer, ZeroSumRolloutBuffer)
        visited = Positions.concatenate(self.rollout_buffer.trail.positions)
        for name, figure in self.teacher.teach(visited, 1.0 - self._current_progress_remaining).items():
            self.logger.record(f"teacher/{name}", figure)


def make_teacher(config: TrainConfig, model: MaskablePPO, features: FeatureEncoder) -> Teacher | None:
    """The teacher of a configuration, None without depths; raises `ConfigError` for one that cannot be.

    Args:
        config: the run's configuration.
        model: the learner.
        features: what its network is fed.
    """
    settings, core = config.teacher, features.core
    if not settings.depths:
        return None
    if core.rules.players != 2:
        raise ConfigError(
            f"teacher.depths must be empty with rules for {core.rules.players} players: it searches for two"
        )
    network: Any = network_of(model)
    if not isinstance(network, LookaheadNet) or not isinstance(features, LookaheadFeatures):
        raise ConfigError("teacher.depths: only network.name=lookahead can be taught by search")
    if settings.muon and not hasattr(torch.optim, "Muon"):
        raise ConfigError(f"teacher.muon must be 0 with torch {torch.__version__}: Muon came with torch 2.9")
    with naming_field("teacher.depths"):
        Limits(depth=max(settings.depths))
    return Teacher(settings, network, features.moves, seed=config.seed, threads=config.search_threads)
