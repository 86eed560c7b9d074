"""Search: compiled alpha-beta and its memory, proofs, the solver, Monte-Carlo tree search."""
