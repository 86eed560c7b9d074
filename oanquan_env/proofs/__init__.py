"""Proved values: how they are found, stored and checked.

In reading order:

1. `bounds`: what is proved of a value, at least and at most;
2. `proof_search`, with the compiled `proof_tables`: prove one bound by proof-number search;
3. `solver`: prove the value, and find a line, by many proof searches;
4. `certificates`: an answer to every reply, as a file that anyone can follow;
5. `certificate_making`, from a solver's proofs, and `certificate_checking`, without any part of a search;
6. `opening_values`: a file with the bounds of all positions of the first plies.
"""
