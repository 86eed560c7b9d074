"""How a move is played: the rules as data, positions, sowing, and their text forms."""
