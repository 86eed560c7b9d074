"""Games and matches as text files.

In reading order:

1. `games`: the record of a game;
2. `lines`: its moves with comments and variations;
3. `match_records`: the records of a match, one for each round;
4. `reader`: what these need to read text and to report the line and column of errors.
"""
