"""Players that use networks, and games between players of mixed strength."""
