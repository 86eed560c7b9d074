"""Value nets by TD(lambda) self-play: configuration, games and their targets, gradient steps, the run."""
