"""`python -m oanquan_env`: play, count, show, replay."""

import sys

from oanquan_env.cli import main

sys.exit(main())
