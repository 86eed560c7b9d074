"""Proved values: how they are found, stored and checked.

In reading order: `bounds`; `proof` and its compiled `proof_tables` (proof-number search for one bound); `solver` (the
value and a line, by many bounds); `certify` (makes a certificate, which holds an answer to every reply), `certificates`
(its file, and play by it) and `verification` (follows it against every reply); `opening_values` (tables of first
moves).
"""
