"""Speed, measured: each module prints a table and writes its JSON into benchmarks/results/."""

from agents.support.extras import say_what_commands_need

say_what_commands_need()
