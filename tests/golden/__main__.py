"""`python -m tests.golden`: write all golden playthroughs anew."""

from tests.golden import write_all

write_all()
