"""Build engine.wasm, the page's engine and search, from functions compiled by Numba.

In reading order: `__main__`, the command; `entries`, the page's functions; `searches`, the searches among them;
`layout`, the content of engine.json; `build`, which compiles and links; `instructions`, an instruction for leaf sums.
"""
