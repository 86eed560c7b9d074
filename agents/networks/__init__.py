"""What learns: features, layers, networks, and agents as files."""
