"""Players that use networks, and the files of agents.

In reading order: `network_player`, the player; `agent_files`, its files; `kind`, its kind, `ppo:FOLDER`.
"""
