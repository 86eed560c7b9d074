"""Short examples that use Ô Ăn Quan with other frameworks: `python -m examples.NAME --help`."""
