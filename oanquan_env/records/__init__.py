"""Games and matches as text files.

In reading order:

1. `games`: the record of a game;
2. `match_records`: the records of a match, one for each round;
3. `reader`: what both need to read text and to report the line and column of errors.
"""
