"""Builds engine.wasm, the engine and the search for the page, from functions that Numba compiles; see `__main__`."""
