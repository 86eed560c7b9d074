"""Certificates for tests: the ones shipped in the package, and new ones."""

from oanquan_env import Core, Positions, Rules
from oanquan_env.proofs.certificate_checking import Proved, verify
from oanquan_env.proofs.certificate_making import certify
from oanquan_env.proofs.certificates import Certificate, certificate_path, read_certificate
from oanquan_env.proofs.solver import Solver

SMALL = "mancala-world fields=3 seeds=2"
SHIPPED = {"mancala-world": (12, 12), "tonkin": (5, 5), "ludii": (13, 13), "app": (10, 10), "vietnamese": (12, 14)}
"""Presets with certificates and opening values in the package, and proved bounds of the initial position's value."""


def shipped(rules: str) -> Certificate:
    return read_certificate(certificate_path(Rules.parse(rules)))


def solved(rules: str, start: Positions | None = None) -> Solver:
    core = Core(rules)
    solver = Solver(core, core.start() if start is None else start, megabytes=16)
    for _ in solver.rounds():
        pass
    return solver


def made(rules: str, start: Positions | None = None) -> Certificate:
    return certify(solved(rules, start))


def proved(certificate: Certificate) -> tuple[Proved, Proved]:
    """Verify a certificate that claims both bounds; return the proved lower and upper bound."""
    found = verify(certificate)
    return found.lower, found.upper


def bounds(certificate: Certificate) -> tuple[int, int]:
    lower, upper = proved(certificate)
    return lower.bound, upper.bound
