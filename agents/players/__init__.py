"""Players made of networks and search."""
