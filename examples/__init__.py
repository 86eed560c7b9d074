"""Ô Ăn Quan in other frameworks, one short example each: `python -m examples.NAME --help`."""
