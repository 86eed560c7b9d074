"""Hypothesis strategies shared by the tests: every valid `Rules`, and seeds of random games."""

from hypothesis import strategies as st

from oanquan_env import PRESETS, Rules, RulesError

PRESET_NAMES = sorted(PRESETS)
TWO_PLAYER_PRESETS = [name for name in PRESET_NAMES if PRESETS[name].rules.players == 2]

_FIELDS = {
    "players": st.integers(2, 4),
    "fields": st.integers(2, 5),
    "seeds": st.integers(1, 7),
    "stones": st.booleans(),
    "stone_value": st.integers(1, 12),
    "mandarin_seeds": st.integers(0, 10),
    "sowing": st.sampled_from(["either", "counterclockwise", "clockwise"]),
    "mandarin_ahead": st.sampled_from(["stop", "take_one"]),
    "empty_mandarin": st.sampled_from(["stop", "gap"]),
    "capture": st.sampled_from(["chain", "single"]),
    "quan_non": st.integers(0, 6),
    "mandarin_seeds_capturable": st.booleans(),
    "refill": st.sampled_from(["borrow", "forfeit"]),
    "refill_when": st.sampled_from(["turn", "at_once"]),
    "end": st.sampled_from(["stones_captured", "squares_empty"]),
    "leftovers": st.sampled_from(["owner", "split"]),
    "mandarin_leftovers": st.sampled_from(["nobody", "split"]),
    "max_plies": st.integers(1, 120),
}


@st.composite
def rules(draw: st.DrawFn, players: int | None = None) -> Rules:
    """Any valid `Rules`; combinations that it refuses are mended by the fields that it names, or drawn anew."""
    values = {name: draw(strategy) for name, strategy in _FIELDS.items()}
    values["players"] = players or values["players"]
    if values["players"] > 2:
        values["mandarin_ahead"] = "stop"
    if not values["stones"]:
        values.update(end="squares_empty", mandarin_seeds_capturable=True)
        values["mandarin_seeds"] = max(1, values["mandarin_seeds"])
    if not values["mandarin_seeds_capturable"]:
        values["end"] = "stones_captured"
    try:
        return Rules(**values)
    except RulesError:  # too many seeds
        return Rules(**{**values, "seeds": 3, "mandarin_seeds": 2})


seeds = st.integers(0, 2**32 - 1)
