"""Play the strategies of a certificate against every reply. This proves the position's value."""

import argparse
import time
from pathlib import Path

from oanquan_env.progress import ProgressLine
from oanquan_env.proofs.certificate_checking import verify
from oanquan_env.proofs.certificates import read_certificate

HELP = "check a certificate, a proof of a position's value"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the certificate")


def run(options: argparse.Namespace) -> None:
    """Check the certificate, and print what it proves."""
    begin = time.perf_counter()
    print(verify(read_certificate(options.file), ProgressLine()))
    print(f"({time.perf_counter() - begin:.1f} s)")
