"""Self-play: configuration, games, rollouts, PPO, the teacher, checkpoints, sweeps."""
