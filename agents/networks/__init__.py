"""Features, layers, networks, and agents as files."""
