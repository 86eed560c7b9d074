"""What tells a player from another one of the same name: the version of how players play, and its files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from agents.networks.agent_files import PRETRAINED
from oanquan_env import Rules

PLAY_VERSION = 4
"""To be raised when players come to play otherwise by the same names and files: results kept of them are then told
apart."""


def fingerprint(name: str, rules: Rules) -> str:
    """A hash of how players play (`PLAY_VERSION`) and of the agent files that a player's name mentions.

    It tells a retrained agent from what it was, and a player from what the same name meant in an older version.
    """
    digest = hashlib.sha256(bytes([PLAY_VERSION]))
    for option in name.partition(":")[2].split(","):
        for word in (option, option.partition("=")[2]):  # `ppo:FOLDER` and `net=FOLDER`
            for path in _agent_files(word, rules):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _agent_files(word: str, rules: Rules) -> list[Path]:
    if not word:
        return []
    folder = Path(word)
    if word == PRETRAINED:
        from agents.networks.agent_files import agent_folder  # torch takes a second to import

        folder = agent_folder(word, rules)
    return sorted(folder.glob("agent.*")) if folder.is_dir() else [folder] if folder.is_file() else []
