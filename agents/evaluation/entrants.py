"""Entrants of an evaluation: players made from names, each with a hash of the files that its name refers to."""

import re
import shlex
from collections.abc import Sequence

from agents.support.code_hash import code_hashes, custom_code
from oanquan_env import Rules
from oanquan_env.benchmark.tournament import Entrant
from oanquan_env.errors import UsageError
from oanquan_env.files import short_hash
from oanquan_env.players import as_policy
from oanquan_env.players.making import kinds
from oanquan_env.players.names import parse
from oanquan_env.proofs.certificates import certificate_path
from oanquan_env.search.any_rules_net import net_path

_LABEL = re.compile(r"\s*([^\s:=,][^:=,]*?)\s*=\s*(.+)", re.DOTALL)


def make_entrants(players: Sequence[str], rules: Rules) -> list[Entrant]:
    """Make an entrant from each `NAME` or `LABEL=NAME`, as in `quick=ppo:runs/quick`; a label has no `:`, `=` or `,`.

    Raises `UsageError` if two players share a label, and `ValueError` if a player cannot be made.
    """
    entrants: list[Entrant] = []
    for text in players:
        label, name = labelled(text)
        if any(label == other.label for other in entrants):
            example = shlex.join([f"A={name}", f"B={name}"])
            raise UsageError(f"two players are called {label!r}; give them different labels, as in {example}")
        entrants.append(Entrant(label, name, as_policy(name, rules), hash_of_files(name, rules)))
    return entrants


def labelled(text: str) -> tuple[str, str]:
    """Split `NAME` or `LABEL=NAME` into label and name; the label defaults to the name."""
    match = _LABEL.fullmatch(text)
    return (match[1], match[2]) if match else (text, text)


def hash_of_files(name: str, rules: Rules) -> str:
    """Return a hash of the files that a player's name refers to; it changes when an agent is retrained.

    A name can refer to an agent's files, a value net, the package's book or a custom player's code, which includes the
    files that it names. If it refers to no file, the hash is empty, and the package's version identifies the player.
    """
    content = [f"{module} {hashed}\n".encode() for module, hashed in code_hashes(custom_code(name), files=True).items()]
    if name.partition(":")[0] not in (player_kinds := kinds()):
        return short_hash(*content)
    parsed = parse(name, player_kinds)
    if parsed.agent:
        from agents.players.agent_files import agent_folder  # torch takes a second to import

        content += [path.read_bytes() for path in sorted(agent_folder(parsed.agent, rules).glob("agent.*"))]
    if parsed.net:
        content.append(net_path(parsed.net, rules).read_bytes())
    if parsed.fallback:
        content.append(hash_of_files(parsed.fallback, rules).encode())
        content += [path.read_bytes() for path in [certificate_path(rules)] if path.is_file()]
    return short_hash(*content) if any(content) else ""
