"""The engine: rules as data, positions, moves, and the step of an environment.

In reading order:

1. `rules` and `positions`: rules as data, and N positions as arrays;
2. `tables`, which sowing looks up; `numpy_move`: the move in N games; `core`: the class that plays it;
3. `move`: the same move of one game in integers;
4. `scoring`, `observe` and `step`, which build the step of an environment from it;
5. `loops` and `compiled`, which run moves and steps over N games;
6. `notation`: text; `trace`: a move step by step; `symmetry`: mirror images and keys.
"""
