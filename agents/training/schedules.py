"""Settings that change in the course of a run."""

from __future__ import annotations


def between(begin: float, end: float, done: float) -> float:
    """From `begin` to `end` in a straight line; beyond 1, as after the last rollout, the value stays at `end`.

    `done` is the share of the run that is done.
    """
    done = min(max(done, 0.0), 1.0)
    return begin * (1.0 - done) + end * done
