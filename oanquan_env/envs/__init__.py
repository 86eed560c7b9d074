"""The game in the interfaces that learning libraries speak."""
