"""Players that use networks, and the files of agents."""
