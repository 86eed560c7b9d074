"""Matches of several rounds: match rules, and the owners of the fields.

In reading order:

1. `rules`: the settings of a match;
2. `match`: `Match`, the rounds of a match;
3. `ownership`: who owns each field, and what that changes in a round;
4. `settling`: the points of a round and the fields that change hands, also compiled for the page.
"""
