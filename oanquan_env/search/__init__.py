"""Game-tree search: compiled alpha-beta and max^n, proof-number search, the solver, and Monte-Carlo tree search."""
