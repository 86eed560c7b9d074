"""Test rule sets as data: equivalences by games, vectors, sampling, and the fixed splits."""

import hashlib
import itertools

import numpy as np
import pytest

from oanquan_env import Core, Rules, mirror, mirror_actions
from oanquan_env.engine.rules import PRESETS, RulesError
from oanquan_env.errors import UsageError
from oanquan_env.rule_sets import (
    LENGTH,
    NEW_COMBINATIONS,
    SPLITS,
    VALUES,
    canonical,
    has_values,
    layout,
    sample,
    simplified,
    split,
    vector,
)
from tests.helpers.players import random_legal

INTERACTING = "mandarin_ahead", "empty_mandarin", "end", "mandarin_leftovers", "stones", "stone_value", "quan_non"
"""Fields on which the validity or the effect of other fields depends, together with those in `PROTECTING`."""
PROTECTING = "mandarin_seeds", "first_move_captures_mandarin", "mandarin_seeds_capturable"
CHECKSUMS = {
    "train": "7e48a29261d34f3f",
    "development": "43cb9b8225f21bfc",
    "test: interpolation": "c0ab5f2c992a336f",
    "test: new combinations": "e949d59bba6a365a",
    "test: new values": "158949bb6225bcf6",
    "presets": "a7eba9b6867ae398",
}


def play_the_same(rules: Rules, others: Rules, games: int = 64) -> bool:
    """Return whether random games have the same moves, positions and standings under both, mirrored if necessary."""
    one, other, rng = Core(rules), Core(others), np.random.default_rng(0)
    mirrored = rules.sowing != others.sowing
    positions, images = one.start(games), other.start(games)
    while (rows := (~positions.over).nonzero()[0]).size:
        mask = one.legal_mask(positions)
        if not (mask == (other.legal_mask(images)[:, ::-1] if mirrored else other.legal_mask(images))).all():
            return False
        actions = random_legal(mask, rng)[rows]
        one.play(positions, actions, rows=rows)
        other.play(images, mirror_actions(actions, rules) if mirrored else actions, rows=rows)
        expected = mirror(positions, rules) if mirrored else positions
        if not (expected.same(images).all() and (one.standings(positions) == other.standings(images)).all()):
            return False
    return True


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("tonkin", "tonkin stone_value=5 quan_non=3 sowing=clockwise"),
        ("vietnamese", "vietnamese mandarin_leftovers=split"),
        ("ludii mandarin_seeds=5", "ludii mandarin_seeds=5 quan_non=5"),
        ("mandarin_seeds_capturable=False quan_non=1", "mandarin_seeds_capturable=False quan_non=1 empty_mandarin=gap"),
        ("players=3 mandarin_seeds=3", "players=3 mandarin_seeds=3 quan_non=2"),
        ("app sowing=anticlockwise", "app sowing=clockwise"),
    ],
)
def test_equivalent_rules_have_one_canonical_form(text: str, other: str) -> None:
    rules, others = Rules.parse(text), Rules.parse(other)
    assert canonical(others) == canonical(rules) == rules
    assert rules != others
    assert play_the_same(rules, others)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("mandarin_ahead=take_one mandarin_seeds=5", {"quan_non": 5}),
        ("mandarin_seeds=3", {"quan_non": 5}),
        ("fields=4 seeds=1 mandarin_seeds_capturable=False", {"empty_mandarin": "gap"}),
        ("mandarin_seeds_capturable=False mandarin_ahead=take_one mandarin_seeds=1", {"empty_mandarin": "gap"}),
        ("mandarin_seeds=3", {"empty_mandarin": "gap"}),
        ("mandarin_seeds=3", {"mandarin_leftovers": "split"}),
        ("vietnamese refill=forfeit", {"mandarin_leftovers": "split"}),
        ("mandarin_seeds=3", {"stone_value": 5}),
        ("players=3 sowing=counterclockwise", {"sowing": "clockwise"}),
    ],
)
def test_fields_with_an_effect_are_kept(text: str, change: dict[str, object]) -> None:
    rules = Rules.parse(text)
    others = rules.replace(**change)
    assert canonical(rules) != canonical(others)
    if rules.players == 2:
        assert not play_the_same(rules, others, games=2000)


def test_sampled_rules_play_like_their_canonical_form() -> None:
    rng, found = np.random.default_rng(0), 0
    while found < 40:
        try:
            rules = Rules(**{name: values[rng.integers(len(values))] for name, values in VALUES.items()})
        except RulesError:
            continue
        if rules != canonical(rules):
            found += 1
            assert play_the_same(rules, canonical(rules)), rules
            assert (vector(rules) == vector(simplified(rules))).all()


def test_the_size_of_the_space() -> None:
    together = INTERACTING + PROTECTING
    playable, distinct = 0, set()
    for values in itertools.product(*(dict.fromkeys(VALUES[name]) for name in together)):
        try:
            rules = Rules(**dict(zip(together, values, strict=True)))
        except RulesError:
            continue
        playable += 1
        distinct.add(canonical(rules))
    others = int(np.prod([len(set(values)) for name, values in VALUES.items() if name not in together]))
    assert (playable * others, len(distinct) * others * 2 // 3) == (552_960, 204_288)  # two of three sowings differ


def test_vectors_hold_each_field_at_its_place() -> None:
    rules = Rules.parse("players=3 fields=4 seeds=6 stone_value=5 mandarin_seeds=3 sowing=clockwise max_plies=500")
    found, default = vector(rules.replace(quan_non=10, refill="forfeit", leftovers="split")), vector(Rules())
    wanted = {"players": [0.75], "fields": [0.8], "seeds": [1.2], "stones": [1], "stone_value": [0.5]}
    wanted |= {"mandarin_seeds": [0.3], "sowing": [0, 1], "quan_non": [2], "refill": [1], "leftovers": [1]}
    wanted |= {"first_move_captures_mandarin": [1], "mandarin_seeds_capturable": [1], "max_plies": [0.5]}
    assert found.dtype == np.float32
    assert found.shape == (LENGTH,)
    for name, place in layout.items():
        assert found[place].tolist() == pytest.approx(wanted.get(name, default[place])), name
    assert vector("tonkin")[layout["stone_value"]] == 0


@pytest.fixture(scope="module")
def every_split() -> dict[str, tuple[Rules, ...]]:
    return {name: split(name) for name in SPLITS}


def test_the_splits_are_fixed(every_split: dict[str, tuple[Rules, ...]]) -> None:
    texts = {name: "\n".join(map(str, rule_sets)) for name, rule_sets in every_split.items()}
    assert {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()} == CHECKSUMS
    assert [len(every_split[name]) for name in SPLITS] == [16_384, 24, 48, 48, 48, 5]


def test_no_rule_set_is_in_two_splits_and_every_rule_set_has_its_own_vector(
    every_split: dict[str, tuple[Rules, ...]],
) -> None:
    everything = [rules for rule_sets in every_split.values() for rules in rule_sets]
    assert len({canonical(rules) for rules in everything}) == len(everything)
    assert [rules for rules in everything if canonical(rules) != rules] == []
    assert len(np.unique([vector(rules) for rules in everything], axis=0)) == len(everything)
    assert {preset.rules for preset in PRESETS.values() if preset.rules.players == 2} == set(every_split["presets"])


def test_test_splits_hold_what_training_never_shows(every_split: dict[str, tuple[Rules, ...]]) -> None:
    train, new = every_split["train"], every_split["test: new values"]
    for name, values in VALUES.items():
        assert {getattr(rules, name) for rules in train} == set(values) - {"clockwise"}, name
    for pair in NEW_COMBINATIONS:
        shown = [sum(has_values(rules, pair) for rules in every_split[name]) for name in SPLITS[:5]]
        assert shown == [0, 0, 0, 12, 0]
    unknown = [[name for name, values in VALUES.items() if getattr(rules, name) not in values] for rules in new]
    kinds = [["fields"], ["seeds"], ["stone_value"], ["fields", "seeds", "stone_value"]]
    assert unknown == [kind for kind in kinds for _ in range(12)]


def test_distances_from_the_training_rules(every_split: dict[str, tuple[Rules, ...]]) -> None:
    numbers = {
        name: np.array([list(canonical(rules).numbers.values()) for rules in rule_sets])
        for name, rule_sets in every_split.items()
    }
    nearest = {name: [int((numbers["train"] != row).sum(axis=1).min()) for row in numbers[name]] for name in SPLITS[1:]}
    means = {name: round(float(np.mean(distances)), 2) for name, distances in nearest.items()}
    tests = {"test: interpolation": 1.04, "test: new combinations": 1.35, "test: new values": 1.67}
    assert means == {"development": 1, **tests, "presets": 1}


def test_samples_are_reproducible_and_refuse_the_impossible() -> None:
    four = sample(6, 3, players=4, stones=True)
    assert four[:4] == sample(4, 3, players=4, stones=True)
    assert len(set(four)) == 6
    assert all((rules.players, rules.stones, rules.mandarin_ahead) == (4, True, "stop") for rules in four)
    assert sample(1, 4, players=4) != four[:1]
    with pytest.raises(UsageError, match=r"only 0 such .*stones=False needs mandarin_seeds_capturable=True"):
        sample(1, 0, stones=False, end="squares_empty", mandarin_seeds_capturable=False)
    everything = {name: values[0] for name, values in VALUES.items()}
    with pytest.raises(UsageError, match=r"only 1 such .*equivalent"):
        sample(2, 0, **everything)
    with pytest.raises(UsageError, match=r"unknown split 'dev'; known: train, "):
        split("dev")
