"""Run the command line, as `python -m oanquan_env`. The module `oanquan_env.cli` defines the commands."""

import sys

from oanquan_env.cli import main

sys.exit(main())
