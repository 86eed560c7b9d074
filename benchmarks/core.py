"""Moves a second of our core on one processor: random play with legal moves, refills, the test for the end and resets.

The time to draw random actions is not counted. Run it on an idle machine: `python -m benchmarks.core`.
"""

import time
from dataclasses import dataclass

import numpy as np

from benchmarks import report
from oanquan_env import PRESETS, Core

BATCH_SIZES = (1, 16, 256, 1024, 4096, 16384, 65536)
WARM_UP_STEPS = 60
"""Steps before the clock starts: the games are then of all ages, as in a long run."""
REPEATS = 3


def moves_per_second(rules: str, batch: int, seconds: float) -> float:
    """Median of `REPEATS` runs of `seconds` each."""
    core = Core(rules)
    set_up, positions = core.start(1), core.start(batch)
    rng = np.random.default_rng(0)
    mask = core.legal_mask(positions)
    speeds = []
    for repeat in range(REPEATS):
        spent, moves, steps = 0.0, 0, 0
        while spent < seconds or steps < WARM_UP_STEPS:
            actions = (rng.random(mask.shape, dtype=np.float32) * mask).argmax(axis=1)
            begin = time.perf_counter()
            core.play(positions, actions, checked=False)
            finished = positions.ended.nonzero()[0]
            if finished.size:
                positions[finished] = set_up
            mask = core.legal_mask(positions)
            elapsed = time.perf_counter() - begin
            steps += 1
            if repeat or steps > WARM_UP_STEPS:
                spent, moves = spent + elapsed, moves + batch
        speeds.append(moves / spent)
    return float(np.median(speeds))


@dataclass(frozen=True)
class Options(report.Options):
    """The command line."""

    seconds: float = 0.5
    """seconds of each of the three runs"""


def main() -> None:
    """Measure every preset at every batch size."""
    options = report.read_options(Options, __doc__, "core")
    speeds = {
        rules: {batch: moves_per_second(rules, batch, options.seconds) for batch in BATCH_SIZES} for rules in PRESETS
    }
    rows = [[rules, *(f"{speed / 1e6:.2f}" for speed in by_batch.values())] for rules, by_batch in speeds.items()]
    report.show("millions of moves a second, one core", ["rules", *(f"{size:,}" for size in BATCH_SIZES)], rows)
    report.write(options, "core", {"unit": "moves/s", "speeds": speeds})


if __name__ == "__main__":
    main()
