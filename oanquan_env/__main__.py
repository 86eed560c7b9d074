"""Run the command line: `python -m oanquan_env`; see `oanquan_env.cli` for its commands."""

import sys

from oanquan_env.cli import main

sys.exit(main())
