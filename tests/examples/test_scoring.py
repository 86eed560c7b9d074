"""What the examples share, which needs no framework."""

import json
from pathlib import Path

import pytest

from examples.scoring import COUNTS, Curve, Features, make_parser
from oanquan_env import Core
from oanquan_env.observation import Encoder


def test_counts_are_one_hot_and_stones_follow() -> None:
    core = Core()
    features = Features(core)
    position = Encoder(core).encode(core.start(1))
    position[0, 0] = 40
    found = features(position)
    assert found.shape == (1, features.size)
    counts = found[0, : 12 * COUNTS].reshape(12, COUNTS)
    assert (counts.sum(axis=1) == 1).all()
    assert counts.argmax(axis=1).tolist() == [COUNTS - 1, 5, 5, 5, 5, 0, 5, 5, 5, 5, 5, 0]
    assert found[0, 12 * COUNTS : 12 * COUNTS + 6] == pytest.approx([4.0, 0.5, 0.5, 0.5, 0.5, 0.0])
    assert found[0, -3:].tolist() == [1.0, 1.0, 1.0]


def test_the_curve_tells_a_strong_agent_from_a_weak_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output, result = tmp_path / "curve.jsonl", tmp_path / "new" / "result.json"
    arguments = ["--steps", "20", "--every", "10", "--pairs", "40", "--output", str(output), "--result", str(result)]
    monkeypatch.setattr("sys.argv", ["somewhere/some_example.py", *arguments])
    options = make_parser("An example.", steps=5, every=5).parse_args(arguments)
    curve = Curve(options, ("numpy",))
    for steps in (0, 4, 11, 20):
        curve.update(steps, lambda observations, masks: masks.argmax(axis=1))
    curve.finish()
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["steps"] for row in rows] == [0, 11, 20]
    assert rows[0]["greedy"]["score"] < 0.3 < rows[0]["random"]["score"]
    assert rows[0]["greedy"] == rows[1]["greedy"]
    kept = json.loads(result.read_text())
    assert kept["curve"] == rows
    assert kept["command"].startswith("python -m examples.some_example --steps 20")
    assert "numpy" in kept["versions"]
    assert capsys.readouterr().out.count("score against random") == 3
