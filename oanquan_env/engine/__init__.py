"""The engine: rules as data, positions, moves, and the step of an environment.

In reading order: `rules` and `positions`; `tables`, which sowing looks up; `numpy_move`, the move in N games, and
`core`, the class that plays it; `move`, the same move of one game in integers; `scoring`, `observe` and `step`, which
build the step of an environment from it; `loops` and `compiled`, which run both over N games. Beside them stand
`notation` (text), `trace` (a move step by step) and `symmetry` (mirror images and keys).
"""
