"""Games and matches as text files."""
