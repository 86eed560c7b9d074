"""Proved values: how they are found, stored and checked.

    >>> from oanquan_env import Board
    >>> from oanquan_env.proofs.certificate_checking import verify
    >>> from oanquan_env.proofs.certificate_making import certify
    >>> from oanquan_env.proofs.solver import Solver
    >>> board = Board.parse("0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0")
    >>> solver = Solver(board.core, board.positions)
    >>> list(solver.rounds())[-1].lower
    7
    >>> verify(certify(solver)).bounds.meet
    True

In reading order:

1. `bounds`: what is proved of a value, at least and at most;
2. `proof_search`, with the compiled `proof_tables`: prove one bound by proof-number search;
3. `solver`: prove the value, and find a line, by many proof searches;
4. `certificates`: an answer to every reply, as a file that anyone can follow;
5. `certificate_making`, from a solver's proofs, and `certificate_checking`, without any part of a search;
6. `opening_values`: a file with the bounds of all positions of the first plies.
"""
