"""Proved values: proof-number search, the solver, certificates and their verification."""
