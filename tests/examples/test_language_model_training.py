"""Test the examples that train and evaluate language models, with random weights or a local endpoint."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oanquan_env import Board
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.text import prompt
from oanquan_env.text.game import share_of_best
from tests import ROOT
from tests.helpers import Patch
from tests.helpers.endpoint import completion, served

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def tiny_model() -> tuple[Any, Any]:
    """Return a Qwen3 model with random weights, and a tokenizer of bytes with TRL's copy of Qwen3's chat template."""
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    from trl.chat_template_utils import qwen3_chat_template

    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>"]
    names += ["<tool_response>", "</tool_response>", *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    raw = tokenizers.Tokenizer(tokenizers.models.BPE({name: number for number, name in enumerate(names)}, []))
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    raw.add_special_tokens(names[:3])
    raw.add_tokens(names[3:9])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=qwen3_chat_template
    )
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "head_dim": 8}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 32_768}
    special = {"pad_token_id": 0, "eos_token_id": 2, "bos_token_id": None}
    config = transformers.Qwen3Config(vocab_size=len(tokenizer), **sizes, **heads, **special)
    return transformers.Qwen3ForCausalLM(config), tokenizer


@pytest.mark.parametrize("games", [False, True], ids=["positions", "games"])
def test_grpo_rewards_the_moves_that_the_model_plays(tmp_path: Path, monkeypatch: Patch, games: bool) -> None:
    """The stub calls `play` with one move in half of the rollouts, and with an illegal one in the others."""
    pytest.importorskip("trl")
    from examples.trl_grpo import parse_options, trainer

    model, tokenizer = tiny_model()
    options = ["--model", "tiny", "--steps", "1", "--generations", "4", "--output", str(tmp_path)]
    training = trainer(
        model, parse_options([*options, "--max-tokens", "20000", *["--games"] * games]), processing_class=tokenizer
    )
    asked, calling = list[str](), list(range(4))

    def generate(prompts: list[list[int]], *_: Any, **__: Any) -> tuple[list[list[int]], None]:
        """Continue the rollouts `calling`, whose last messages called the tool."""
        texts = list[str]()
        for number in calling.copy():
            game = training.environments[number]
            tried = sum(f"rollout {number}" in text for text in asked)
            move = "9A" if number % 2 else "" if game.done else str(game.board.legal_moves[0])
            if game.done or (number % 2 and tried == 3):
                calling.remove(number)
            call = json.dumps({"name": "play", "arguments": {"move": move}})
            texts.append(f"<tool_call>\n{call}\n</tool_call><|im_end|>" if number in calling else "Done.<|im_end|>")
            asked.append(f"rollout {number}: {tokenizer.decode(prompts[len(texts) - 1])}")
        return [tokenizer.encode(text, add_special_tokens=False) for text in texts], None

    monkeypatch.setattr(training, "_generate_single_turn", generate)
    training.train()
    assert '"name": "play"' in asked[0]
    assert "The move: the number of a square" in asked[0]
    assert "This game of Ô Ăn Quan has 2 players" in asked[0]
    rewards = [game.reward for game in training.environments]
    assert rewards[1] == rewards[3] == 0
    assert 0 <= rewards[0] == rewards[2] <= 1
    assert [game.done for game in training.environments] == [True, False, True, False]
    logged = [entry["rewards/reward/mean"] for entry in training.state.log_history if "rewards/reward/mean" in entry]
    assert logged == [pytest.approx(sum(rewards) / 4)]
    assert "legal:" in "".join(asked)  # the error of the illegal move is in the conversation


def test_verifiers_scores_the_replies_of_an_endpoint(tmp_path: Path) -> None:
    pytest.importorskip("verifiers")
    rows = load_suite("ludii").part("development").rows()[:3]
    boards = [Board.parse(row["position"], row["rules"]) for row in rows]
    moves = {prompt(board): board.legal_moves[number] for number, board in enumerate(boards[:2])}

    def answer(asked: str, _: int) -> tuple[int, Any]:
        return completion(f"I play {moves[asked]}." if asked in moves else "no idea")

    options = ["-n", "3", "--no-push", "--no-rich", "--env.taskset.rules", "ludii", "--model", "m", "-o", str(tmp_path)]
    with served(answer) as (url, _):
        options += ["--client.base-url", url, "--client.api-key-var", "OANQUAN_TEST_KEY"]
        script, variables = ROOT / "examples" / "verifiers_positions.py", {**os.environ, "OANQUAN_TEST_KEY": "secret"}
        subprocess.run([sys.executable, script, *options], env=variables, check=True, cwd=tmp_path)
    (traces,) = tmp_path.glob("*/traces.jsonl")
    episodes = [json.loads(line) for line in traces.read_text(encoding="utf-8").splitlines()]
    scores = {
        trace["task"]["data"]["idx"]: trace["rewards"]["share_of_best"]["score"]
        for episode in episodes
        for trace in episode["traces"]
    }
    expected = [share_of_best(row["values"], move.action) for row, move in zip(rows, moves.values(), strict=False)]
    assert scores == {0: expected[0], 1: expected[1], 2: 0}
