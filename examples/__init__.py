"""Short examples that use Ô Ăn Quan with other frameworks: `python -m examples.NAME --help`.

| NAME | shows | extra |
|---|---|---|
| `cleanrl_ppo`, `pqn` | PPO and Q-learning in one file each, with a training loop of its own | train |
| `sb3_ppo` | stable-baselines3 on `OAnQuanVecEnv` | train |
| `alphazero` | search with a network, in a loop of its own | train |
| `league` | former selves as opponents, payoffs and a Nash mixture | train |
| `offline_learning` | behaviour cloning and return-conditioned policies | train |
| `torchrl_ppo`, `tianshou_ppo`, `rllib_ppo` | the loops of these libraries | torchrl, tianshou, rllib |
| `open_spiel_game` | the game for OpenSpiel's searches | openspiel |
| `llm_player` | a language model over HTTP, measured | none |
| `trl_grpo`, `verifiers_positions` | language models trained and evaluated | trl, verifiers |
| `compatibility` | tests with the installed versions of all of them | any |
"""
