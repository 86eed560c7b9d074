"""The former name of `oanquan_env.benchmark.regret` and `.suites`, kept for code that imports it."""

from oanquan_env.benchmark.regret import *  # noqa: F403
from oanquan_env.benchmark.suites import *  # noqa: F403
