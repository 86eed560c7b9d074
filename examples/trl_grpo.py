"""Train a language model to play, by GRPO with TRL: the model calls the tool `play` of `oanquan_env.text.TextGame`.

    python -m venv .venv-trl && .venv-trl/bin/pip install -e ".[trl]"
    .venv-trl/bin/python -m examples.trl_grpo --model Qwen/Qwen3-0.6B --steps 500
    .venv-trl/bin/python -m examples.trl_grpo --model Qwen/Qwen3-0.6B --rules ludii --games --opponent random

Each task is one move in a position of the regret suite's development part, or with --games a whole game. Measure the
trained model by `examples.llm_player`, behind any server that speaks the chat-completions protocol.
"""

import argparse
import os
import sys
from typing import Any

from oanquan_env import Rules
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.errors import needing_extra
from oanquan_env.text import TextGame

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # it warns that environment_factory may change
with needing_extra("trl", "examples.trl_grpo" if __name__ == "__main__" else None):
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer


def rows(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the tasks; the environment writes the prompt, so the user's message is empty."""
    tasks = load_suite(options.rules).part("development").rows()
    if options.games:
        tasks = [{"rules": options.rules, "opponent": options.opponent, "seat": number % 2} for number in range(1000)]
    return [{"prompt": [{"role": "user", "content": ""}], **task} for task in tasks]


def reward(environments: list[TextGame], **_: Any) -> list[float]:
    """Return the reward of each finished rollout."""
    return [game.reward for game in environments]


def trainer(model: Any, options: argparse.Namespace, **others: Any) -> GRPOTrainer:
    """Return the trainer. `others` are arguments of `GRPOTrainer`, such as `processing_class`."""
    config = GRPOConfig(
        output_dir=options.output,
        max_steps=options.steps,
        seed=options.seed,
        per_device_train_batch_size=options.generations,
        num_generations=options.generations,
        max_completion_length=options.max_tokens,
        logging_steps=1,
        bf16=torch.cuda.is_available(),
        report_to=[],
    )
    return GRPOTrainer(
        model,
        reward_funcs=reward,
        args=config,
        train_dataset=Dataset.from_list(rows(options)),
        environment_factory=TextGame,
        **others,
    )


def parse_options(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a model of the Hugging Face Hub, or its folder")
    parser.add_argument("--games", action="store_true", help="play whole games from the set-up")
    for name, value, text in (
        ("rules", str(Rules()), "rules of the tasks"),
        ("opponent", "greedy", "opponent in games"),
        ("steps", 500, "number of updates"),
        ("generations", 8, "number of rollouts of each task"),
        ("max-tokens", 2048, "limit on the tokens of a rollout"),
        ("seed", 0, "seed of all randomness"),
        ("output", "runs/grpo", "folder of checkpoints"),
    ):
        parser.add_argument(f"--{name}", type=type(value), default=value, help=f"{text} (default: %(default)s)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    options = parse_options(sys.argv[1:])
    training = trainer(options.model, options)
    training.train()
    training.save_model()
