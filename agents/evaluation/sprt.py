"""Is one player stronger than another? Pairs of games from random openings, until a sequential test can tell.

    python -m agents.evaluation.sprt ppo:runs/new ppo:runs/old --elo0 0 --elo1 20

The test ends when the log-likelihood ratio (LLR) of "stronger by elo1" against "no stronger than elo0" leaves its
bounds. A clear difference takes a hundred pairs, a small one thousands: on average far fewer than a test with a fixed
number of pairs.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console

from agents.config import command
from oanquan_env import Core, Rules
from oanquan_env.benchmark.elo import PENTANOMIAL, elo_of_pairs, expected_score, five_counts, moments, pentanomial
from oanquan_env.benchmark.pairs import play_pairs
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.players import Policy, make, usage
from oanquan_env.playing import random_openings

PROG = "python -m agents.evaluation.sprt"


@dataclass(frozen=True)
class Trial:
    """Parameters of a sequential test, the options of the command; its `--help` explains them."""

    elo0: float = 0.0  # Elo difference of "no stronger"
    elo1: float = 20.0  # Elo difference of "stronger"
    alpha: float = 0.05  # probability of a wrong "stronger"
    beta: float = 0.05  # probability of a wrong "not stronger"
    batch: int = 100  # pairs between two looks at the test
    max_pairs: int = 10_000  # pairs after which the test gives up
    opening_plies: int = 4  # random plies of an opening
    seed: int = 0  # seed of all chance


class Sprt(NamedTuple):
    """State of a sequential probability ratio test."""

    llr: float
    """Log-likelihood ratio of the two hypotheses."""
    lower: float
    """At or below it, "no stronger than elo0" is accepted."""
    upper: float
    """At or above it, "stronger by elo1" is accepted."""
    verdict: Literal["stronger", "not stronger", "undecided"]


def sprt(outcomes: npt.ArrayLike, trial: Trial) -> Sprt:
    """Is a player stronger by `elo1` rather than by `elo0` only? Wald's test, repeated after every few pairs.

    The log-likelihood ratio is that of the normal approximation, n (s1 - s0) (2 m - s0 - s1) / (2 v), with m the mean
    and v the variance of n pairs' scores and s0, s1 the expected scores of the two hypotheses (M. Van den Bergh, "A
    practical introduction to the GSPRT", fishtest's notes, 2019). An outcome that never occurred counts as a thousandth
    of a pair, so that v is positive.

    `outcomes` are (5,) counts of pairs, as `PENTANOMIAL` orders them. Raises `ValueError` unless there are five, for
    hypotheses in the wrong order, and for error probabilities outside (0, 0.5).
    """
    alpha, beta = trial.alpha, trial.beta
    if not trial.elo0 < trial.elo1:
        raise ValueError(f"elo0 must be less than elo1; got {trial.elo0} and {trial.elo1}")
    if not (0 < alpha < 0.5 and 0 < beta < 0.5):
        raise ValueError(f"alpha and beta must lie between 0 and 0.5; got {alpha} and {beta}")
    counts = five_counts(outcomes)
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    if not counts.any():
        return Sprt(0.0, lower, upper, "undecided")
    mean, variance, n = moments(np.maximum(counts, 1e-3), np.linspace(0, 1, 5))
    s0, s1 = expected_score(trial.elo0), expected_score(trial.elo1)
    llr = n * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)
    return Sprt(llr, lower, upper, "stronger" if llr >= upper else "not stronger" if llr <= lower else "undecided")


def sequential(core: Core, a: Policy, b: Policy, trial: Trial) -> Iterator[tuple[npt.NDArray[np.int64], Sprt]]:
    """Play until the test says whether `a` is stronger than `b`, or the pairs run out.

    Yields the (5,) counts of pairs so far and the state of the test after each batch; the last one has the verdict.
    Raises `ValueError` for parameters that make no test, and for rules of more than two players.
    """
    if core.rules.players != 2:
        raise ValueError(f"a test of pairs is for two players; '{core.rules}' has {core.rules.players}")
    if trial.batch < 1 or trial.max_pairs < 1:
        raise ValueError("batch and max_pairs must be 1 or more")
    counts = np.zeros(5, dtype=np.int64)
    rng = np.random.default_rng(trial.seed)
    while (left := trial.max_pairs - int(counts.sum())) > 0:
        openings = random_openings(core, min(trial.batch, left), trial.opening_plies, rng)
        counts = counts + pentanomial(play_pairs(core, a, b, openings, rng).score)
        state = sprt(counts, trial)
        yield counts, state
        if state.verdict != "undecided":
            return


@dataclass(frozen=True)
class Options:
    """The command line."""

    a: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="A")]  # the player that may be stronger
    b: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="B")]  # the player that it is compared with
    rules: str = DEFAULT_PRESET  # rules by name
    trial: tyro.conf.OmitArgPrefixes[Trial] = field(default_factory=Trial)


@command(Options, PROG, __doc__, f"agents:\n{usage()}")
def main(options: Options) -> None:
    """Run the test."""
    console = Console(highlight=False, soft_wrap=True)
    rules = Rules.parse(options.rules)
    a, b = (make(name, rules) for name in (options.a, options.b))
    for counts, state in sequential(Core(rules), a, b, options.trial):
        console.print(describe(counts, state), markup=False)


def describe(counts: npt.NDArray[np.int64], state: Sprt) -> str:
    """One line about a test: pairs and their outcomes, Elo, LLR between its bounds, verdict."""
    elo = elo_of_pairs(counts)
    outcomes = ", ".join(f"{name} {count}" for name, count in zip(PENTANOMIAL, counts.tolist(), strict=True))
    return (
        f"{int(counts.sum())} pairs ({outcomes}), Elo {elo.elo:+.1f} ± {elo.error:.1f}, "
        f"LLR {state.llr:.2f} [{state.lower:.2f}, {state.upper:.2f}]: {state.verdict}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
