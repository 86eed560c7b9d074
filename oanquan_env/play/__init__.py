"""Games for people: in the terminal."""
