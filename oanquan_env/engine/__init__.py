"""The engine: rules as data, positions, moves, and their text forms."""
