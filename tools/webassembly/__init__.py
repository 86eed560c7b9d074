"""Build engine.wasm, the page's engine and search, from functions compiled by Numba; see `__main__`."""
