"""Features and networks."""
