"""Reports on training: the README.md pages of agents, and learning curves."""
