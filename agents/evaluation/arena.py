"""The former name of `oanquan_env.benchmark.pairs`, kept for code that imports it."""

from oanquan_env.benchmark.pairs import *  # noqa: F403
