"""The player kind `ppo:FOLDER`, a trained network, registered as an entry point of the group `oanquan.players`."""

from oanquan_env import Rules
from oanquan_env.errors import needing_extra
from oanquan_env.players import Kind, PlayerName, Policy


def _make(name: PlayerName, rules: Rules) -> Policy:
    with needing_extra("train"):
        from agents.players.agent_files import agent_folder  # torch takes a second to import
        from agents.players.network_player import PPOPlayer
    assert name.agent
    return PPOPlayer(agent_folder(name.agent, rules), rules, **name.options)


PPO = Kind(
    {
        "ppo:FOLDER[,temperature=T]": "a trained agent: a run's folder or `pretrained`; with T > 0, it samples moves",
        "ppo:...,mirror_average=no": "does not average over the mirror image",
        "ppo:...,network=MODULE:NAME": "with your own network class",
    },
    _make,
    {"temperature": float, "mirror_average": bool, "network": str},
    "agent",
    "ppo needs the folder of a trained agent, as in ppo:runs/quick, or ppo:pretrained",
)
