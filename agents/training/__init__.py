"""Training by self-play: runs, checkpoints, sweeps; `ppo` trains agents, `td` value nets; data sets."""
