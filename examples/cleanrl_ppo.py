"""PPO by self-play on the native vector environment, in one file to copy and change.

    python -m examples.cleanrl_ppo --minutes 10 --output curve.jsonl

Needs only oanquan_env and PyTorch. What differs from PPO for one player:

- A step is one ply of whoever is to move (opponent=None), so the next position is the other player's. What it is worth
  to that player counts against the mover: in the advantages every sign flips from ply to ply.
- Illegal actions are masked in the network's output, never punished.
- Games begin with some random plies, from which nothing is learned. Without them, play keeps to a few lines.
- Each count of seeds has a vector of its own (an embedding), as one seed more changes where a sowing ends.

Shapes: N games, T plies of each in a rollout, A actions, D numbers in an observation.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import oanquan_env

SQUARES, STONES = 12, 2  # two players: an observation begins with the seeds and then the stones
COUNTS = 16  # 0 .. 14 seeds have a vector each; 15 or more share one


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--steps", type=int, default=20_000_000, help="plies to train for (default: %(default)s)")
    add("--minutes", type=float, default=10.0, help="training stops after so many (default: %(default)s)")
    add("--every", type=int, default=250_000, help="plies between two evaluations (default: %(default)s)")
    add("--pairs", type=int, default=500, help="game pairs against each baseline (default: %(default)s)")
    add("--seed", type=int, default=0, help="of all chance (default: %(default)s)")
    add("--threads", type=int, default=1, help="PyTorch's; on a busy machine one is the fastest (default: %(default)s)")
    add("--output", type=Path, metavar="FILE", help="append the learning curve here, one JSON object a line")
    add("--result", type=Path, metavar="FILE", help="write command, versions and curve here as one JSON file")
    add("--rules", default="mancala-world", help="rules for two players with five fields (default: %(default)s)")
    add("--reward", default="margin", help="margin (points, at each ply), outcome or mixed (default: %(default)s)")
    add("--num-envs", type=int, default=512, help="games side by side (default: %(default)s)")
    add("--num-steps", type=int, default=32, help="plies of each game in a rollout (default: %(default)s)")
    add("--opening-plies", type=int, default=8, help="most random plies before a game (default: %(default)s)")
    add("--width", type=int, default=256, help="units of a hidden layer (default: %(default)s)")
    add("--epochs", type=int, default=4, help="passes over a rollout (default: %(default)s)")
    add("--minibatch", type=int, default=1024, help="plies in one gradient step (default: %(default)s)")
    add("--learning-rate", type=float, default=1e-3, help="falls linearly to a tenth (default: %(default)s)")
    add("--gamma", type=float, default=1.0, help="discount of a ply (default: %(default)s)")
    add("--gae-lambda", type=float, default=0.8, help="how far advantages look ahead (default: %(default)s)")
    add("--clip", type=float, default=0.2, help="largest rewarded change of a probability ratio (default: %(default)s)")
    add("--entropy", type=float, default=0.01, help="weight of the entropy, falls to a tenth (default: %(default)s)")
    add("--value", type=float, default=10.0, help="weight of the value loss (default: %(default)s)")
    add("--max-grad-norm", type=float, default=0.5, help="longer gradients are shortened (default: %(default)s)")
    return parser.parse_args(arguments)


class Agent(nn.Module):
    """Observations (N, D) and masks (N, A) -> masked logits (N, A) and values (N,), both for the player to move."""

    def __init__(self, actions: int, width: int, most_plies: int) -> None:
        super().__init__()
        self.most_plies = most_plies
        self.counts = nn.EmbeddingBag(SQUARES * COUNTS, width, mode="sum")
        nn.init.normal_(self.counts.weight, std=SQUARES**-0.5)
        self.numbers = nn.Linear(SQUARES + STONES + 1, width)
        self.trunk = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy, self.value = nn.Linear(width, actions), nn.Linear(width, 1)
        for head, size in ((self.policy, 0.01), (self.value, 0.1)):
            nn.init.orthogonal_(head.weight, size)
            nn.init.zeros_(head.bias)
        self.register_buffer("first", torch.arange(SQUARES) * COUNTS, persistent=False)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The scores so far are not used: points yet to come do not depend on them."""
        seeds, stones = observations[:, :SQUARES], observations[:, SQUARES : SQUARES + STONES]
        counts = self.counts(seeds.clamp(max=COUNTS - 1) + self.first)
        numbers = self.numbers(torch.cat([seeds / 10, stones, observations[:, -1:] / self.most_plies], dim=1))
        hidden = self.trunk(counts + numbers)
        return self.policy(hidden).masked_fill(~masks, -1e9), self.value(hidden).squeeze(1)


class Games:
    """N games of self-play as tensors, each beginning with random plies.

    SAME_STEP restarts a game in the step that ends it, so every step is a ply. The last observation is not needed: a
    game cut short by the ply limit has its score, as any other.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        n = options.num_envs
        self.env = gymnasium.make_vec(
            "OAnQuan-v0", n, opponent=None, rules=options.rules, reward=options.reward, autoreset_mode="SameStep"
        )
        if self.env.single_observation_space.shape != (SQUARES + 2 * STONES + 2,):
            raise SystemExit(f"{options.rules}: this file is for two players with five fields each")
        self.most_plies = int(self.env.single_observation_space.high[-1])
        self.actions = int(self.env.single_action_space.n)
        self.opening_plies = options.opening_plies
        self.rng = np.random.default_rng(options.seed)
        observations, info = self.env.reset(seed=options.seed)
        self.opening_left = self.rng.integers(self.opening_plies + 1, size=n)
        self._see(observations, info)

    def _see(self, observations: np.ndarray, info: dict) -> None:
        self.observations, self.masks = torch.as_tensor(observations), torch.as_tensor(info["action_mask"]).bool()

    def step(self, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Play (N,) actions, random ones in openings: the movers' rewards, games that ended, plies to learn from."""
        opening = self.opening_left > 0
        chosen = np.where(opening, random_actions(self.masks.numpy(), self.rng), actions.numpy())
        observations, rewards, terminated, truncated, info = self.env.step(chosen)
        done = terminated | truncated
        fresh = self.rng.integers(self.opening_plies + 1, size=len(done))
        self.opening_left = np.where(done, fresh, np.maximum(self.opening_left - 1, 0))
        self._see(observations, info)
        return torch.as_tensor(rewards).float(), torch.as_tensor(done), torch.as_tensor(~opening)


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(N,) a legal action of each row of (N, A) masks."""
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def advantages_of(
    rewards: torch.Tensor, dones: torch.Tensor, values: torch.Tensor, next_value: torch.Tensor, gamma: float, lam: float
) -> torch.Tensor:
    """Generalised advantages (T, N), each for the mover of its ply: what comes a ply later belongs to the other player.

    Args:
        rewards: (T, N) of the movers.
        dones: (T, N) bool, plies that ended a game.
        values: (T, N) of the positions before the plies, for their movers.
        next_value: (N,) of the positions after the last ply, for the players to move there.
        gamma: discount of a ply.
        lam: how far advantages look ahead.
    """
    advantages, advantage = torch.zeros_like(values), torch.zeros_like(next_value)
    for t in reversed(range(len(rewards))):
        goes_on = (~dones[t]).float()
        surprise = rewards[t] - gamma * goes_on * next_value - values[t]
        advantage = surprise - gamma * lam * goes_on * advantage
        advantages[t], next_value = advantage, values[t]
    return advantages


def collect(games: Games, agent: Agent, options: argparse.Namespace) -> dict[str, torch.Tensor]:
    """A rollout of T plies in each of N games, without the plies of openings, as one flat batch."""
    plies: dict[str, list[torch.Tensor]] = {}
    with torch.no_grad():
        for _ in range(options.num_steps):
            logits, values = agent(games.observations, games.masks)
            policy = Categorical(logits=logits, validate_args=False)
            actions = policy.sample()
            seen = {"observations": games.observations, "masks": games.masks, "values": values, "actions": actions}
            rewards, dones, learn = games.step(actions)
            ply = {**seen, "logprobs": policy.log_prob(actions), "rewards": rewards, "dones": dones, "learn": learn}
            for name, column in ply.items():
                plies.setdefault(name, []).append(column)
        _, next_value = agent(games.observations, games.masks)
    rollout = {name: torch.stack(columns) for name, columns in plies.items()}
    rollout["advantages"] = advantages_of(
        rollout["rewards"], rollout["dones"], rollout["values"], next_value, options.gamma, options.gae_lambda
    )
    return {name: column[rollout["learn"]] for name, column in rollout.items()}


def learn(
    agent: Agent, optimizer: torch.optim.Optimizer, rollout: dict[str, torch.Tensor], options: argparse.Namespace
) -> None:
    """Some epochs of clipped policy gradient. The entropy's weight falls with the learning rate."""
    returns = rollout["advantages"] + rollout["values"]
    entropy_weight = options.entropy * optimizer.param_groups[0]["lr"] / options.learning_rate
    for _ in range(options.epochs):
        for rows in torch.randperm(len(returns)).split(options.minibatch):
            logits, values = agent(rollout["observations"][rows], rollout["masks"][rows])
            policy = Categorical(logits=logits, validate_args=False)
            ratio = (policy.log_prob(rollout["actions"][rows]) - rollout["logprobs"][rows]).exp()
            advantages = rollout["advantages"][rows]
            advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
            clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
            policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            value_loss = 0.5 * (values - returns[rows]).square().mean()
            loss = policy_loss + options.value * value_loss - entropy_weight * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), options.max_grad_norm)
            optimizer.step()


def random_openings(rules: str, n: int, seed: int, plies: int = 4) -> oanquan_env.Positions:
    """`n` positions some random plies into a game."""
    env = gymnasium.make_vec("OAnQuan-v0", n, opponent=None, rules=rules, autoreset_mode="SameStep")
    rng = np.random.default_rng(seed)
    _, info = env.reset()
    for _ in range(plies):
        info = env.step(random_actions(info["action_mask"], rng))[-1]
    return env.positions


@torch.no_grad()
def evaluate(agent: Agent, opponent: str, rules: str, pairs: int, seed: int) -> dict[str, float]:
    """Score (win 1, draw 1/2) of the agent's most probable actions, with its 95 % interval.

    A random opening often decides the game, so each is played twice with the seats swapped; the two are one sample.
    """
    openings, scores = random_openings(rules, pairs, seed), np.full(pairs, 0.5)
    for seat in (0, 1):
        env = gymnasium.make_vec("OAnQuan-v0", pairs, opponent=opponent, seat=seat, rules=rules)
        observations, info = env.reset(seed=seed, options={"position": openings})
        playing = np.ones(pairs, dtype=np.bool_)
        while playing.any():
            logits, _ = agent(torch.as_tensor(observations), torch.as_tensor(info["action_mask"]).bool())
            observations, rewards, terminated, truncated, info = env.step(logits.argmax(dim=1).numpy())
            scores += rewards * playing / 4  # +1 or -1, paid when the game ends
            playing &= ~(terminated | truncated)
    mean, margin = scores.mean(), 1.96 * scores.std(ddof=1) / pairs**0.5
    return {name: round(float(x), 4) for name, x in (("score", mean), ("low", mean - margin), ("high", mean + margin))}


def main(arguments: list[str] | None = None) -> list[dict]:
    """Train, and evaluate from time to time; returns the learning curve."""
    options = parse_options(arguments)
    commit = described_commit() if options.result else None  # now: files may change while this runs
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    games = Games(options)
    agent = Agent(games.actions, options.width, games.most_plies)
    optimizer = torch.optim.Adam(agent.parameters(), lr=options.learning_rate, eps=1e-5)
    curve: list[dict] = []
    steps, due, seconds, cpu_seconds = 0, 0, 0.0, 0.0
    while True:
        progress = min(max(steps / options.steps, seconds / (60 * options.minutes)), 1.0)
        if steps >= due or progress == 1:
            players = ("random", "greedy")
            scores = {name: evaluate(agent, name, options.rules, options.pairs, options.seed) for name in players}
            clocks = {"seconds": round(seconds, 1), "cpu_seconds": round(cpu_seconds, 1)}
            curve.append({"steps": steps, **clocks, **scores})
            told = ", ".join(f"{name} {100 * found['score']:.1f} %" for name, found in scores.items())
            print(f"{steps:>11,} plies {seconds:>6.0f} s: score against {told}", flush=True)
            if options.output:
                with options.output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(curve[-1]) + "\n")
            due += options.every
        if progress == 1:
            break
        began, cpu_began = time.perf_counter(), time.process_time()
        optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - 0.9 * progress)
        learn(agent, optimizer, collect(games, agent, options), options)
        steps += options.num_envs * options.num_steps
        seconds += time.perf_counter() - began
        cpu_seconds += time.process_time() - cpu_began
    if options.result:
        write_result(options, commit, curve)
    return curve


def described_commit() -> str | None:
    """The commit of this file's folder, marked `-dirty` where files differ from it; None outside a clone."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.check_output(git, text=True, stderr=subprocess.DEVNULL).strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def write_result(options: argparse.Namespace, commit: str | None, curve: list[dict]) -> None:
    """The run as one JSON file, `--result`."""
    versions = {name: metadata.version(name) for name in ("numpy", "gymnasium", "pettingzoo", "torch")}
    settings = {name: value for name, value in vars(options).items() if name not in ("output", "result")}
    result = {
        "command": shlex.join(["python", *sys.orig_argv[1:]]),
        "commit": commit,
        "versions": {"python": sys.version.split()[0], **versions},
        "options": settings,
        "curve": curve,
    }
    options.result.parent.mkdir(parents=True, exist_ok=True)
    partial = options.result.with_suffix(".partial")
    partial.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    partial.replace(options.result)


if __name__ == "__main__":
    main()
