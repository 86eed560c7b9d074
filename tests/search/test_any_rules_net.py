"""Test the net for any rules in its NumPy form: folding, missing squares, mirror images, rounding, and files."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from oanquan_env import Core, Rules, mirror
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import rule_set_suites
from oanquan_env.engine.positions import MANDARIN_BYTE
from oanquan_env.errors import UnavailableError
from oanquan_env.files import FileError
from oanquan_env.players import make
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.rule_sets import SPLITS, split
from oanquan_env.search.any_rules_net import (
    ANY_RULES_NAME,
    MISSING,
    PLACES,
    SHAPES,
    AnyRulesNet,
    any_rules_rows,
    inputs_of,
    read_any_rules_net,
    read_net,
    table_rows,
)
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.value_net import FIELD_ROWS, MANDARIN_ROWS, read_value_net, side_rows
from tests.helpers.boards import random_positions
from tests.helpers.nets import leaf_values


def random_any_rules_net(seed: int = 0) -> AnyRulesNet:
    """Return a net with random weights whose values differ between rule sets by about as much as between positions."""
    rng = np.random.default_rng(seed)
    arrays = {name: (rng.normal(size=shape) * 0.15).astype(np.float32) for name, shape in SHAPES.items()}
    return AnyRulesNet(**arrays, origin={"seed": seed})


NET = random_any_rules_net()


def test_players_use_the_net_for_any_rules_where_rules_have_no_net_of_their_own(tmp_path: Path) -> None:
    positions, custom = random_positions(Core("vietnamese"), 20, seed=1), Rules.parse("vietnamese stone_value=5")
    (tmp_path / ANY_RULES_NAME).write_bytes(NET.to_bytes())
    package, mine = read_any_rules_net(), read_any_rules_net(tmp_path)
    for name, rules, wanted in (
        ("pretrained", custom, package.for_rules(custom)),
        ("any", custom, package.for_rules(custom)),
        ("any", "vietnamese", package.for_rules("vietnamese")),
        ("pretrained", "vietnamese", read_value_net("pretrained", "vietnamese")),
        (tmp_path, custom, mine.for_rules(custom)),
        (tmp_path / ANY_RULES_NAME, custom, mine.for_rules(custom)),
    ):
        net = read_net(name, rules)
        assert (net.values(positions) == wanted.values(positions)).all()
        assert str(net.rules) == str(rules)
    make("minimax:nodes=100,net=any", custom).choose(positions, np.random.default_rng(0))
    for name, text, message in (
        ("any", "three-player", "needs two players and refill=borrow; got the rules 'three-player'"),
        ("any", "app refill=forfeit", "needs two players and refill=borrow; got the rules 'app refill=forfeit'"),
        ("pretrained", "three-player seeds=3", "no value net for the rules"),
        ("pretrained", "app fields=4", "no value net for the rules"),
    ):
        with pytest.raises(UnavailableError, match=message):
            read_net(name, text)


def test_squares_that_a_smaller_board_lacks_contribute_nothing() -> None:
    for fields, places in PLACES.items():
        rules = Rules(fields=fields)
        rows = any_rules_rows(rules, Core(rules).start(1))[0].tolist()
        own = [place * FIELD_ROWS + 5 for place in places] + [MANDARIN_BYTE * FIELD_ROWS + MANDARIN_ROWS]
        other = [side_rows(MANDARIN_BYTE) + row for row in own]
        assert rows == own + other + [MISSING] * 2 * (MANDARIN_BYTE - fields)
        assert len(set(table_rows(rules).tolist())) == 2 * side_rows(fields)


def test_clockwise_rules_value_the_mirrored_board() -> None:
    for text in ("tonkin", "ludii fields=4 sowing=counterclockwise quan_non=5", "app fields=2 sowing=counterclockwise"):
        rules = Rules.parse(text)
        positions = random_positions(Core(rules), 30, seed=1)
        values = NET.for_rules(rules).values(positions)
        clockwise = NET.for_rules(rules.mirrored()).values(mirror(positions, rules))
        np.testing.assert_allclose(clockwise, values, atol=1e-4 * values.std())
        assert np.abs(NET.for_rules(rules.mirrored()).values(positions) - values).max() > 0.1 * values.std()


def test_equivalent_rules_have_one_net_and_other_rules_another() -> None:
    positions = random_positions(Core("vietnamese"), 30, seed=1)
    values = NET.for_rules("vietnamese").values(positions)
    same, other = "vietnamese mandarin_leftovers=split max_plies=90", "vietnamese stone_value=5"
    assert (NET.for_rules(same).values(positions) == values).all()
    assert np.abs(NET.for_rules(other).values(positions) - values).mean() > 0.01 * values.std()
    rule_sets = [rules for name in SPLITS[1:] for rules in split(name)]
    assert len(np.unique([inputs_of(rules) for rules in rule_sets], axis=0)) == len(rule_sets)


def test_rounded_leaves_agree_under_many_rules() -> None:
    """Compiled leaves have int16 weights with one scale for all units, although the rules change units differently."""
    for number, rules in enumerate([*split("development")[::3], *split("test: new values")[::3], *split("presets")]):
        core, net = Core(rules), NET.for_rules(rules)
        positions = random_positions(core, 20, seed=number)
        values = net.values(positions)
        np.testing.assert_allclose(leaf_values(core, net, positions), values, atol=0.02 * np.abs(values).max())


def test_a_file_reads_back_or_is_refused_by_name(tmp_path: Path) -> None:
    path, whole = tmp_path / ANY_RULES_NAME, NET.to_bytes()
    with pytest.raises(FileError, match=r"\.npz: .*No such file"):
        read_any_rules_net(path)
    path.write_bytes(whole)
    assert path.stat().st_size < 300_000
    for name in (path, str(path), tmp_path):
        read = read_any_rules_net(name)
        assert read.origin == {"seed": 0}
        for array in SHAPES:
            np.testing.assert_allclose(getattr(read, array), getattr(NET, array), rtol=2**-11, atol=1e-7)
    for content in (b"nonsense", whole[:-100], whole.replace(b"hidden_bias", b"hidden_bios")):
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"\.npz: not a net for any rules"):
            read_any_rules_net(path)
    for name, value in (("hidden_bias", np.zeros(17, np.float32)), ("output_bias", np.array([np.nan], np.float32))):
        with pytest.raises(ValueError, match=f"{name} must "):
            dataclasses.replace(NET, **{name: value})


def test_a_folded_net_searches_better_than_none_under_rules_that_it_was_not_trained_on() -> None:
    net, regrets = read_any_rules_net(), list[list[float]]()
    for suite in rule_set_suites("development")[::4]:
        searches = Search(suite.core), Search(suite.core, net=net.for_rules(suite.core.rules))
        players = [SearchPlayer(search, Limits(nodes=200)) for search in searches]
        regrets.append([regret(player, suite, np.random.default_rng(0), by_phase=False).mean for player in players])
    without, with_net = np.mean(regrets, axis=0)
    assert with_net < 0.6 * without
