"""Positions with known values as a single-turn taskset of verifiers, for evaluation and for training with prime-rl.

    python -m venv .venv-verifiers && .venv-verifiers/bin/pip install -e ".[verifiers]"
    .venv-verifiers/bin/python examples/verifiers_positions.py -n 100 --no-push --model MODEL --client.base-url URL \
        --client.api-key-var OPENAI_API_KEY

These are options of `vf-eval`, which finds a taskset by the name of its module. The harnesses of verifiers download the
packages of a program that calls the model; the harness below calls it in this process instead.
"""

import sys
from collections.abc import Iterator
from typing import Any

from oanquan_env import Rules
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.errors import needing_extra
from oanquan_env.text import TextDataset

with needing_extra("verifiers", "examples.verifiers_positions" if __name__ == "__main__" else None):
    import verifiers.v1 as vf

__all__ = ["PositionsTaskset", "SingleTurnHarness"]


class PositionData(vf.TaskData):
    """A position: its prompt, and its entry of `TextDataset`."""

    entry: dict[str, Any]


class PositionTask(vf.Task[PositionData]):
    """A single move, scored by its value between the worst and the best move."""

    @vf.reward(weight=1.0)
    async def share_of_best(self, trace: vf.Trace) -> float:
        """Return the score of the reply, 0 to 1."""
        return TextDataset([]).score_answer(trace.last_reply, self.data.entry)


class PositionsConfig(vf.TasksetConfig):
    """The options of the taskset, such as `--env.taskset.rules vietnamese`."""

    rules: str = str(Rules())


class PositionsTaskset(vf.Taskset[PositionTask, PositionsConfig]):
    """The positions of a regret suite's development part."""

    def load(self) -> Iterator[PositionTask]:
        """Yield a task for each position."""
        dataset = TextDataset(load_suite(self.config.rules).part("development").rows())
        for number in range(len(dataset)):
            entry = dataset[number]
            yield PositionTask(PositionData(prompt=entry["question"], entry=entry), self.config.task)


class SingleTurnHarness(vf.Harness[vf.HarnessConfig]):
    """Send the prompt to the model once."""

    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Call the model through verifiers' server, which records the reply in the trace."""
        from openai import AsyncOpenAI  # verifiers needs it

        async with AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            messages: Any = [{"role": "user", "content": data.prompt}]
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


if __name__ == "__main__":
    from verifiers.v1.cli.eval.main import main

    main(["verifiers_positions", "--env.agent.runtime.type", "subprocess", *sys.argv[1:]])
