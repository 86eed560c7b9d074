"""Players that use networks or searches."""
