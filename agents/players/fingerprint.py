"""Fingerprints, which tell players of the same name apart: by the version of play, and by their files."""

import hashlib

from oanquan_env import Rules
from oanquan_env.players.adapters import module_source
from oanquan_env.players.making import kinds
from oanquan_env.players.names import parse
from oanquan_env.search.certificates import certificate_path
from oanquan_env.search.value_net import value_net_path

PLAY_VERSION = 5
"""To be raised when the same names and files come to play otherwise: results kept of them are then told apart."""
KIND_VERSIONS = {"minimax": 1, "mcts": 1}  # the same for the players of one kind; 0 if left out


def fingerprint(name: str, rules: Rules) -> str:
    """A hash of how players play (the versions above) and of the files that a player's name mentions.

    These are an agent's, a value net's or a certificate, or the module of somebody's own player, but not what that
    module imports. It tells a retrained agent from the earlier one, and a player from that of the same name in an
    older version. Raises `UnknownAgentError`, and `FileError` for an agent or a value net that there is not.
    """
    digest = hashlib.sha256(bytes([PLAY_VERSION]))
    known = kinds()
    elsewhere = None if name.partition(":")[0] in known else module_source(name)
    if elsewhere is not None:
        digest.update(elsewhere)
        return digest.hexdigest()[:16]
    parsed = parse(name, known)
    if parsed.kind in KIND_VERSIONS:
        digest.update(bytes([KIND_VERSIONS[parsed.kind]]))
    if parsed.agent:
        from agents.networks.agent_files import agent_folder  # torch takes a second to import

        for file in sorted(agent_folder(parsed.agent, rules).glob("agent.*")):
            digest.update(file.read_bytes())
    if parsed.net:
        digest.update(value_net_path(parsed.net, rules).read_bytes())
    if parsed.beyond:
        digest.update(fingerprint(parsed.beyond, rules).encode())
        if certificate_path(rules).is_file():
            digest.update(certificate_path(rules).read_bytes())
    return digest.hexdigest()[:16]
