"""Test `oanquan_env.evaluate`: the kinds of players, agreement with evaluate.py and the displayed results."""

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import evaluate as evaluate_script
from agents.reports.tournaments import read_report
from oanquan_env import Core, IllegalActionError, Rules, evaluate, progress, sample_actions
from oanquan_env.array_types import Ints, Mask
from oanquan_env.benchmark.evaluation import REFERENCES, STRONGEST, name_of, reference_players
from oanquan_env.benchmark.statistics import elo_of_score
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.errors import UsageError
from oanquan_env.observation import Encoder, Observation
from oanquan_env.players import RandomPolicy, as_policy
from tests.helpers.boards import random_positions
from tests.helpers.players import FirstMove, rng


def first_legal(observations: Observation, masks: Mask) -> Ints:
    return masks.argmax(axis=1)


@pytest.mark.parametrize("rules", ["mancala-world", "three-player"])
def test_it_agrees_with_the_script_to_the_digit(rules: str, tmp_path: Path) -> None:
    names = ["greedy:epsilon=0.2", "random", "maxn:depth=2"]
    path = tmp_path / "report.json"
    options = ["--pairs", "15", "--seed", "5", "--suite", "arena,regret", "--rules", rules]
    assert evaluate_script.main([*names, *options, "--part", "development", "--json", str(path)]) == 0
    report = read_report(path)
    found = evaluate(names[0], rules, names[1:], pairs=15, seed=5, part="development")
    assert (found.openings, found.openings_digest) == (report.openings, report.openings_digest)
    assert found.suite == report.suite
    assert dataclasses.replace(found.regret, losses=[]) == report.player(names[0]).regret
    assert found.pairings == [row for row in report.pairings if row.agent == names[0]]


def test_a_label_changes_no_result_and_the_interval_is_over_runs() -> None:
    one, other = (evaluate("greedy", opponents=(), label=label) for label in ("one", "other"))
    assert one.regret == other.regret
    assert one.regret.runs == 8
    assert evaluate("greedy", opponents=(), runs=1).regret.runs == 1
    table = one.to_latex().splitlines()  # for a paper
    assert table[:2] == [r"\begin{tabular}{lrrr}", r"\toprule"]
    assert table[2] == r"agent & regret, points (95 \%) & best moves, \% & blunders, \% \\"
    assert table[4].startswith("one & 11.")


def test_the_same_player_in_any_form_has_the_same_results() -> None:
    settings: dict[str, Any] = {"opponents": ["greedy"], "pairs": 10, "label": "first"}
    found = [evaluate(one, **settings) for one in (first_legal, "tests.helpers.players:FirstMove", FirstMove(Core()))]
    assert found[0].regret == found[1].regret == found[2].regret
    assert found[0].pairings == found[1].pairings == found[2].pairings
    assert found[0].pairings != evaluate(first_legal, **settings, seed=1).pairings
    (exact,) = evaluate(first_legal, opponents=[FirstMove(Core())], pairs=20).pairings
    assert (exact.score.mean, exact.margin.mean) == (0.5, 0)  # both are deterministic, so every pair is even


def test_a_torch_module_plays_its_best_legal_logit() -> None:
    torch = pytest.importorskip("torch")

    class Masked(torch.nn.Linear):  # type: ignore[misc]
        def forward(self, observations: Any, masks: Any) -> Any:
            assert masks.dtype == torch.bool
            return super().forward(observations).masked_fill(~masks, -1e9), None

    core, module, masked = Core(), torch.nn.Linear(18, 10), Masked(18, 10)
    masked.load_state_dict(module.state_dict())
    positions = random_positions(core, 50, seed=0)
    with torch.no_grad():
        logits = module(torch.as_tensor(Encoder(core).encode(positions), dtype=torch.float32)).numpy()
    best = np.where(core.legal_mask(positions), logits, -np.inf).argmax(axis=1)
    for one in (module, masked):
        assert (as_policy(one.train(), core).choose(positions, rng()) == best).all()
        assert one.training
    module = torch.nn.Linear(Encoder(core, "moves").size, 10)
    module.observation = "moves"
    assert core.legal_mask(positions)[np.arange(len(positions)), as_policy(module, core).choose(positions, rng())].all()
    assert evaluate("greedy", opponents={"net": module}, pairs=1).pairings[0].opponent == "net"
    for layers, error, message in (
        ([(18, 3)], ValueError, r"logits of shape \(\d+, 10\); got \(\d+, 3\)"),
        ([(207, 10)], ValueError, r"Sequential takes shape \(N, 207\), .* 'counts' of shape \(\d+, 18\); .* planes"),
        ([(18, 10), (3, 10)], RuntimeError, "x10 and 3x10"),  # the module's own fault
    ):
        with pytest.raises(error, match=message):
            as_policy(torch.nn.Sequential(*(torch.nn.Linear(*size) for size in layers)), core).choose(positions, rng())


def test_models_of_sb3_play_with_masks_or_have_illegal_actions_replaced() -> None:
    sb3, contrib = pytest.importorskip("stable_baselines3"), pytest.importorskip("sb3_contrib")
    core, game = Core(), OAnQuanEnv()
    positions = random_positions(core, 60, seed=1)
    legal = core.legal_mask(positions)
    masked: Any = as_policy(contrib.MaskablePPO("MlpPolicy", game, n_steps=8, batch_size=8, seed=0), core)
    blind: Any = as_policy(sb3.DQN("MlpPolicy", game, buffer_size=10, seed=0), core)
    for player in (masked, blind):
        assert legal[np.arange(len(positions)), player.choose(positions, rng())].all()
    assert 0 == masked.illegal < blind.illegal < len(positions)
    with pytest.raises(ValueError, match=r"the model needs observations of shape \(18,\);"):
        as_policy(sb3.DQN("MlpPolicy", game, buffer_size=10, seed=0), Core("three-player"))


def test_replaced_actions_are_reported() -> None:
    class Blind:
        """A model with stable-baselines3's interface that sees no masks and always chooses action 0."""

        observation_space = OAnQuanEnv().observation_space

        def predict(self, observations: Observation, deterministic: bool = False) -> tuple[Ints, None]:
            return np.zeros(len(observations), dtype=np.intp), None

    found, again = (evaluate(Blind(), opponents=["greedy"], pairs=5) for _ in range(2))
    assert found.illegal > 0
    assert found == again
    assert f"{found.illegal} illegal actions were replaced by random legal ones" in str(found)


@pytest.mark.parametrize(
    ("player", "options", "error", "message"),
    [
        (lambda seen, masks: masks.argmin(axis=1), {}, IllegalActionError, r"row \d+: the player chose action \d"),
        (lambda seen, masks: -masks.argmax(axis=1) - 1, {}, IllegalActionError, r"the player chose action -\d"),
        (lambda seen, masks: masks.argmax(axis=1) / 2, {}, IllegalActionError, "must return integer actions .* got fl"),
        (lambda seen, masks: 3, {}, IllegalActionError, r"must return .*; got int64 of shape \(\)"),
        (FirstMove, {}, ValueError, r"FirstMove is a class: pass an instance, such as FirstMove\(\)"),
        (7, {}, ValueError, "a player is a name, an object with a method choose"),
        ("random", {"pairs": "3"}, UsageError, "^pairs must be a whole number from 1 to 1,000,000; got '3'$"),
        ("random", {"seed": True}, UsageError, "^seed must be a whole number of 0 or more; got True$"),
        ("random", {"label": ""}, UsageError, "^label must be a non-empty string; got ''$"),
        ("random", {"openings": 5}, UsageError, "^openings must be balanced, fair, random or a file of .*; got 5$"),
        ("random", {"part": "tests"}, ValueError, "^part must be one of development, test, all; got"),
        ("random", {"opponents": {5: "greedy"}}, UsageError, "a label in opponents must be a non-empty string; got 5"),
        ("random", {"pairs": 10_000}, ValueError, "10000 openings are needed, but there are 600"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    player: object, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        evaluate(player, **{"opponents": ["random"], "pairs": 3, **options})


def test_a_single_opponent_means_a_list_of_one() -> None:
    listed = evaluate("greedy", opponents=["random"], pairs=np.int64(2))
    assert evaluate("greedy", opponents="random", pairs=2).to_json() == listed.to_json()
    one = evaluate("greedy", opponents=RandomPolicy(Core()), pairs=2)
    assert [pairing.opponent for pairing in one.pairings] == ["RandomPolicy"]


def test_everything_is_shown_and_written() -> None:
    found = evaluate("greedy", opponents=["random"], pairs=10, part="development", label="<b>`me")
    text, page = str(found), found._repr_markdown_()
    assert text.startswith("Made by `")
    assert found.versions["numpy"] in text.partition("\n")[0]
    assert "10 openings of `openings-mancala-world.txt`, each in every seating." in text
    assert "over the 1170 positions of the development part of `regret-mancala-world`, version 2 (" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(line) for line in tables[:3]}) == len({len(line) for line in tables[3:]}) == 1  # columns aligned
    assert re.sub(" +", " ", text).replace("-", "") == page.replace("-", "")
    assert f"| `<b>me` | all | 1170 | {found.regret.mean:.2f} ({found.regret.low:.2f} to " in page
    written, (pairing,) = json.loads(found.to_json()), found.pairings
    assert (written["format"], written["pairings"][0]["score"]["mean"]) == (4, pairing.score.mean)
    assert written["players"][0]["regret"]["phases"]["end"]["mean"] == found.regret.phases["end"].mean > 0
    assert (pairing.elo.mean, pairing.elo.low) == (elo_of_score(pairing.score.mean), elo_of_score(pairing.score.low))


def test_rules_without_suite_or_pairs_of_two() -> None:
    bare, found = (evaluate("greedy", f"four-player{rules}", ["random"], pairs=6) for rules in (" seeds=4", ""))
    assert (bare.suite, bare.players[0].regret) == (None, None)
    assert found.suite
    assert (found.openings, found.suite.name) == ("openings-four-player.txt", "regret-four-player")
    (games,) = found.pairings
    assert (games.wins + games.draws + games.losses, games.pentanomial, len(games.orders)) == (24, None, 4)
    assert games.score.mean > 1 / 4
    for rules, players in (("three-player", REFERENCES), ("mancala-world", [*REFERENCES, STRONGEST])):
        assert reference_players(Rules.parse(rules)) == list(players)


def test_progress_is_shown_only_if_requested(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for requested in (None, True, False):
        evaluate("random", opponents=["greedy"], pairs=2, progress=requested)
        err = capsys.readouterr().err
        assert ("\rrandom, games: 4 of 4" in err and err.endswith("\r")) if requested else not err
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        monkeypatch.setattr(progress, "EVERY", 0.0)


def outputs(observations: Observation, masks: Mask) -> npt.ArrayLike:
    """Return logits with which action 0 of field 0 is three times as likely as each other legal action."""
    return np.where(np.arange(masks.shape[1]) == 0, math.log(3), 0.0) - 99 * ~masks


def test_outputs_are_played_greedily_or_drawn_at_a_temperature() -> None:
    starts = Core().start(20_000)
    assert (as_policy(outputs).choose(starts, rng()) == 0).all()
    for temperature, share in ((1.0, 3 / 12), (0.5, 9 / 18), (1e-300, 1.0)):
        sampled = as_policy(outputs, temperature=temperature)
        assert name_of(sampled) == f"outputs,temperature={temperature:g}"
        actions = sampled.choose(starts, rng())
        assert (actions == 0).mean() == pytest.approx(share, abs=0.01)
        assert (actions == sampled.choose(starts, rng())).all()
    with pytest.raises(ValueError, match=r"temperature needs logits of shape \(1, 10\), .* returned shape \(1,\)"):
        as_policy(first_legal, temperature=1.0).choose(starts[:1], rng())


@pytest.mark.parametrize(
    ("player", "arguments", "message"),
    [
        ("greedy", {"temperature": 1.0}, "temperature needs a function, a torch module or a model, .*; a name chooses"),
        (FirstMove(Core()), {"observation": "planes"}, "this FirstMove chooses its moves and its input itself"),
        (outputs, {"temperature": -1}, "temperature must be a number of 0 or more; got -1"),
        (outputs, {"observation": "pixels"}, "observation must be one of counts, planes, moves"),
        (lambda seen, masks, heat: masks, {}, "may have only rng and rules as further arguments; got heat"),
        ("mine:soft,temperature=0.5", {}, "MODULE:NAME takes no options; got 'mine:soft,temperature=0.5'"),
        (
            "minmax:depth=4,net=pretrained",
            {},
            r"unknown player 'minmax:depth=4,net=pretrained' \(did you mean minimax\?",
        ),
    ],
)
def test_settings_that_a_player_does_not_take_are_refused(player: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_policy(player, **arguments)


def test_a_function_receives_the_generator_and_the_rules_by_name_and_the_observation_that_is_asked_for() -> None:
    seen = []

    def function(observations: Observation, masks: Mask, *, rules: Rules, rng: np.random.Generator) -> npt.ArrayLike:
        seen.append((observations.shape, rules))
        return sample_actions(masks, rng)

    starts = Core("tonkin").start(50)
    chosen = as_policy(function, "tonkin", observation="planes").choose(starts, rng(3))
    assert (chosen == sample_actions(Core("tonkin").legal_mask(starts), rng(3))).all()
    assert seen == [((50, 209), Rules.parse("tonkin"))]
    games = OAnQuanVectorEnv(2, ["tonkin", "ludii"], opponent=lambda seen, masks, rng: sample_actions(masks, rng))
    games.step(games.reset(seed=0)[1]["action_mask"].argmax(axis=1))
    with pytest.raises(ValueError, match="under a list of rule sets, a function cannot take rules"):
        OAnQuanVectorEnv(2, ["tonkin"], opponent=function)


def test_models_draw_their_moves_at_a_temperature() -> None:
    sb3, contrib = pytest.importorskip("stable_baselines3"), pytest.importorskip("sb3_contrib")
    core, game = Core(), OAnQuanEnv(observation="planes")
    model = contrib.MaskablePPO("MlpPolicy", game, n_steps=8, batch_size=8, seed=0, device="cpu")
    starts = core.start(20_000)
    observation, _ = model.policy.obs_to_tensor(Encoder(core, "planes").encode(starts[:1]))
    wanted = model.policy.get_distribution(observation, core.legal_mask(starts[:1])).distribution.probs[0].tolist()
    actions = as_policy(model, temperature=1.0).choose(starts, rng())
    assert np.bincount(actions, minlength=10) / len(starts) == pytest.approx(np.array(wanted), abs=0.01)
    with pytest.raises(ValueError, match="temperature needs a model with a distribution over actions; DQN has none"):
        as_policy(sb3.DQN("MlpPolicy", game, buffer_size=10, seed=0, device="cpu"), temperature=1.0)


def test_a_player_with_randomness_of_its_own_is_named() -> None:
    own, message = rng(), "Asked again with the same seed, `own` chose other moves"
    for player, named in (
        (lambda seen, masks: sample_actions(masks, own), True),
        (as_policy(outputs, temperature=1.0), False),
    ):
        found = evaluate(player, opponents=["greedy"], pairs=1, label="own")
        assert (found.players[0].repeats, message in str(found)) == (not named, named)
