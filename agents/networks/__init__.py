"""What the networks see, and the networks."""
