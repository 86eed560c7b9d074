"""Agents by self-play PPO: configuration, games, rollouts, stable-baselines3's learner, the run."""
