"""Evaluations during training: their schedule, and an agent's games against fixed opponents."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from pydantic import Field

from agents.config import Count, OpeningPlies, Pairs, Strict
from oanquan_env import Core, Positions
from oanquan_env.benchmark.game_pairs import play_pairs, score_interval
from oanquan_env.files import FileError
from oanquan_env.players import Policy
from oanquan_env.players.adapters import as_policy
from oanquan_env.rollouts import random_openings


class EvaluationSchedule(Strict):
    """The interval between evaluations of a run, and the suite over which they measure regret."""

    every_plies: Count = Field(1_000_000, description="plies between evaluations")
    regret_suite: str | None = Field(None, description="file of a regret suite instead of the package's")


class TrainingEvaluation(EvaluationSchedule):
    """Periodic games against fixed opponents, and measurements of regret if there is a suite for the rules.

    The agent takes each seat in turn, and an opponent takes all other seats.
    """

    opponents: list[str] = Field(["random", "greedy"], description="opponents: names of players, or MODULE:NAME")
    pairs: Pairs = Field(200, description="number of openings against each opponent; each is played in every seat")
    opening_plies: OpeningPlies = Field(4, description="random plies per opening")

    def check(self, core: Core) -> None:
        """Raise `FileError` if the opponents or openings are invalid."""
        for field, make in (("opponents", self._opponents), ("opening_plies", self._openings)):
            try:
                make(core)
            except ValueError as error:
                raise FileError(f"evaluation.{field}: {error}") from None

    def measure(
        self, core: Core, player: Policy, seed: int, log: Callable[[str, float], None]
    ) -> tuple[dict[str, Any], str]:
        """Play each opponent; log the shares of wins (0 to 1, ties split), and return them as JSON and as text."""
        scores = {}
        for name, opponent in self._opponents(core).items():
            openings, rng = self._openings(core, seed)
            scores[name] = asdict(score_interval(play_pairs(core, player, opponent, openings, rng)))
            scores[name]["score"] = scores[name].pop("mean")
            log(f"evaluation/{name}", scores[name]["score"])
        players = core.rules.players
        counted = "score" if players == 2 else f"share of wins (fair: {100 / players:.1f} %)"
        summary = ", ".join(f"{name} {100 * result['score']:.1f} %" for name, result in scores.items())
        return {"results": scores}, f"{counted} against {summary}"

    def _opponents(self, core: Core) -> dict[str, Policy]:
        return {name: as_policy(name, core) for name in self.opponents}

    def _openings(self, core: Core, seed: int = 0) -> tuple[Positions, np.random.Generator]:
        rng = np.random.default_rng(seed)
        return random_openings(core, self.pairs, self.opening_plies, rng), rng
