"""Ô Ăn Quan, Vietnam's mandarin square capturing: rules, vectorised core, environments."""

from oanquan_env.core import Core, IllegalActionError, RunawayGameError
from oanquan_env.positions import Positions, Termination
from oanquan_env.rules import PRESETS, Rules, RulesError
from oanquan_env.setup import PositionError
from oanquan_env.symmetry import mirror, mirror_actions, rotate_seats

__version__ = "0.1.0"

__all__ = [
    "PRESETS",
    "Core",
    "IllegalActionError",
    "PositionError",
    "Positions",
    "Rules",
    "RulesError",
    "RunawayGameError",
    "Termination",
    "mirror",
    "mirror_actions",
    "rotate_seats",
]
