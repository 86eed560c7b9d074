"""Self-play TD(lambda) for value nets: configuration, games and targets, learner, run.

The nets are in `agents.networks.value_nets`.

Shapes: T plies, N games, A actions, P players, M = T * N positions of a rollout. Values are future margins in points.
"""

import math
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import torch
from pydantic import AfterValidator, Field, model_validator
from torch import Tensor, nn

from agents.checkpoint import RUN_NAME
from agents.config import Count, CountOrZero, Positive, Share, Strict, read_yaml
from agents.evaluation.training_evaluation import EvaluationSchedule
from agents.networks.value_nets import SCALE, AnyRulesModule, ValueModule
from agents.rule_set_games import RuleSetGames, training_rule_sets
from agents.run import KIND, Run, RunConfig, between
from agents.self_play import MOST_PLIES, SelfPlayGames
from agents.workers import own_seed
from oanquan_env import Positions, Rules
from oanquan_env.array_types import Floats, Ints, Mask
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.statistics import as_record
from oanquan_env.benchmark.suites import rule_set_suites
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.errors import UsageError
from oanquan_env.files import write_atomically
from oanquan_env.players.search_player import SearchPlayer, search_player
from oanquan_env.rule_sets import TRAIN
from oanquan_env.search.any_rules_net import ANY, ANY_RULES_NAME
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import MaxnSearch
from oanquan_env.search.move_values import MoveValues, search_for
from oanquan_env.search.value_net import VALUE_NET_NAME

DEPTHS = 2, 1
"""Default search depths in plies, for two players and for more."""
LAST_RATE = 0.05
"""Final step size as a share of the initial step size."""
BEAM_NODES = 200  # node limit of the player against which the beam search looks for lines
MOST_DEPTH = 6
"""Maximum depth to which every move is searched at each ply; one more ply of depth takes about seven times as long."""

# ---- configuration ---------------------------------------------------------------------------------------------------


class TDSettings(Strict):
    """Settings of self-play, of its targets, and of the gradient steps."""

    depth: Annotated[CountOrZero, Field(le=MOST_DEPTH)] = Field(
        0,
        description=f"depth of the search that values moves; 0: {DEPTHS[0]}, or {DEPTHS[1]} for three or four players",
    )
    games: Count = Field(512, description="number of games played side by side")
    steps: Count = Field(8, description="plies of each game in one rollout")
    lam: Share = Field(0.4, description="lambda of the targets: 0 uses only the position's search, 1 later ones")
    trace_cut: Positive = Field(1.0, description="regret in points from which a move cuts the lambda-return (Watkins)")
    temperature: Positive = Field(1.0, description="temperature of the moves played, in points; falls to a third")
    random_moves: Share = Field(0.05, description="share of the moves drawn uniformly from all legal moves")
    learning_rate: Positive = Field(4e-3, description="Adam's initial learning rate; falls to a twentieth by a cosine")
    batch_size: Annotated[Count, Field(le=MOST_PLIES)] = Field(1024, description="positions per minibatch")
    uses: Count = Field(8, description="number of gradient steps that use a position, on average")
    replay: Count = Field(16, description="size of the replay buffer, in rollouts")
    rule_sets: Count = Field(32, description="rules=any: number of rule sets played side by side")
    training_rule_sets: Annotated[Count, Field(le=TRAIN)] = Field(
        TRAIN, description="rules=any: number of rule sets to train on, drawn by the seed from the split `train`"
    )
    reads_rules: bool = Field(True, description="rules=any: whether the net reads the rules, or plays all rules alike")

    @model_validator(mode="after")
    def _fits_into_memory(self) -> Self:
        for name in ("replay", "uses"):
            if (plies := self.games * self.steps * getattr(self, name)) > MOST_PLIES:
                raise ValueError(f"games * steps * {name} must be {MOST_PLIES:,} or less; got {plies:,}")
        return self


def _rules_or_any(text: str) -> str:
    if text == ANY:
        return text
    rules = Rules.parse(text)
    if rules.refill == "forfeit":
        raise ValueError("value nets need refill=borrow")
    return str(rules)


class TDEvaluation(EvaluationSchedule):
    """Periodic measurements of the regret of searches with the net."""

    every_plies: Count = Field(3_000_000, description="plies between evaluations (one takes seconds)")
    nodes: list[Count] = Field([2_000, 20_000], description="node limits of the searches that are evaluated")


class TDConfig(RunConfig):
    """All settings of a TD run."""

    kind: Annotated[Literal["td"], KIND] = Field("td", description="kind of run: td trains a value net, ppo an agent")
    rules: Annotated[str, AfterValidator(_rules_or_any)] = Field(
        DEFAULT_PRESET, description="rules by name, such as 'vietnamese quan_non=5', or any"
    )
    total_plies: Count = Field(3_000_000, description="plies to train for")
    td: TDSettings = Field(TDSettings(), description="TD(lambda)")
    evaluation: TDEvaluation = Field(TDEvaluation(), description="evaluation during training")

    @model_validator(mode="after")
    def _fits_any_rules(self) -> Self:
        if self.rules == ANY and self.starts.beam_share:
            raise ValueError("starts.beam_share: lines that beat the network need one set of rules, not any")
        if self.rules == ANY and self.td.games < self.td.rule_sets * self.workers:
            raise ValueError("td.games must be at least td.rule_sets for each worker, one game for each rule set")
        return self

    @property
    def core_rules(self) -> str:
        """The rules of `Run.core`."""
        return DEFAULT_PRESET if self.rules == ANY else self.rules

    @property
    def depth(self) -> int:
        """Plies searched for each move value."""
        return self.td.depth or DEPTHS[Rules.parse(self.core_rules).players > 2]


# ---- games and targets -----------------------------------------------------------------------------------------------


def lambda_returns(best: Floats, won: Floats, over: Mask, followed: Mask, lam: float) -> Floats:
    """Return (T, N, P) targets, the positions' lambda returns for all players.

    G[t] = (1 - lam) * best[t] + lam * (won[t] + G[t + 1]), with G[t + 1] = 0 if the game is over. At the last ply, and
    if the move was not `followed`, G[t] = best[t]. Targets use the best move's value instead of the played move's, and
    they end at a move that is much worse (Watkins 1989), so random moves do not distort them.

    Args:
        best: (T, N, P) value of the mover's best move for each player, by seat.
        won: (T, N, P) margin that each player won at once by the move played, by seat.
        over: (T, N) flags, True if the move ended the game.
        followed: (T, N) flags, True if the move was about as good as the best move.
        lam: lambda, 0 to 1.
    """
    returns = best.copy()
    for ply in reversed(range(len(best) - 1)):
        later = won[ply] + np.where(over[ply, :, None], 0.0, returns[ply + 1])
        returns[ply] += np.where(followed[ply, :, None], lam * (later - best[ply]), 0.0)
    return returns


def rollout(
    games: SelfPlayGames, search: MoveValues, settings: TDSettings, temperature: float, rng: np.random.Generator
) -> tuple[Positions, Floats]:
    """Play `settings.steps` plies of each game; return M positions and their (M, P) targets, by seat."""
    core, rows = games.core, np.arange(len(games.positions))
    visited, best, won, over, followed = [], [], [], [], []
    for _ in range(settings.steps):
        positions = games.positions
        values = search.values(positions)
        movers = values[rows, :, positions.mover]
        actions = choose(movers, temperature, settings.random_moves, rng)
        visited.append(positions.copy())
        best.append(values[rows, movers.argmax(axis=1)])
        followed.append(movers[rows, actions] > movers.max(axis=1) - settings.trace_cut)
        before = core.standings(positions)
        core.play(positions, actions)
        won.append(relative_points(core.standings(positions) - before))
        over.append(positions.over.copy())
        games.restart(over[-1].nonzero()[0])
    targets = lambda_returns(np.stack(best), np.stack(won), np.stack(over), np.stack(followed), settings.lam)
    return Positions.concatenate(visited), targets.reshape(-1, targets.shape[2])


def choose(values: Floats, temperature: float, random_moves: float, rng: np.random.Generator) -> Ints:
    """Draw (N,) actions from the softmax of `values / temperature` (N, A); draw a share `random_moves` uniformly."""
    likely = values / temperature + rng.gumbel(size=values.shape)  # its argmax is a draw from the softmax
    legal = np.where(np.isfinite(values), rng.random(values.shape), -np.inf)
    at_random = rng.random(len(values)) < random_moves
    actions: Ints = np.where(at_random[:, None], legal, likely).argmax(axis=1)
    return actions


# ---- learner ---------------------------------------------------------------------------------------------------------


class Learner:
    """A net with its optimiser and a replay buffer of the newest rollouts.

    Attributes:
        module: the net as a torch module.
        replay: for each rollout, the tensors of `module.examples`: the net's inputs, such as (M, P * (F + 1)) int16
            `embedding_rows`, and last the float32 targets: (M,) for the mover of two players; (M, P) in turn order from
            the mover for more players.
    """

    def __init__(self, module: ValueModule | AnyRulesModule, settings: TDSettings) -> None:
        self.module, self.settings = module, settings
        nn.init.zeros_(self.module.output.weight)  # initially, a move's value is its gain
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=settings.learning_rate, fused=True)
        self.replay: deque[tuple[Tensor, ...]] = deque(maxlen=settings.replay)

    def learn(self, examples: tuple[Tensor, ...], done: float, rng: np.random.Generator) -> float:
        """Add a rollout to the replay buffer and take gradient steps; return their root mean squared error in points.

        `examples` are as in `replay`; `done`, the finished share of the run, sets the step size. Each minibatch's error
        is measured before its own step.
        """
        settings = self.settings
        for group in self.optimizer.param_groups:
            falling = (1 + math.cos(math.pi * min(done, 1.0))) / 2
            group["lr"] = settings.learning_rate * (LAST_RATE + (1 - LAST_RATE) * falling)
        self.replay.append(examples)
        columns = [torch.cat(column) for column in zip(*self.replay, strict=True)]
        steps = max(1, settings.uses * len(examples[-1]) // settings.batch_size)
        drawn = torch.from_numpy(rng.integers(0, len(columns[-1]), (steps, settings.batch_size)))
        losses = [self._step(*(column.index_select(0, rows) for column in columns)) for rows in drawn]
        return SCALE * math.sqrt(np.mean(losses))

    def _step(self, *columns: Tensor) -> float:
        *inputs, targets = columns
        loss = ((self.module(*inputs) - targets) / SCALE).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())

    def state_dict(self) -> dict[str, Any]:
        """Return the replay buffer; module and optimiser are stored separately."""
        return {"replay": list(self.replay)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the replay buffer. Raises `ValueError` if an input or a target is impossible."""
        for *inputs, targets in state["replay"]:
            if not (self.module.are_possible(*inputs) and torch.isfinite(targets).all()):
                raise ValueError("its replay buffer holds impossible positions or targets")
            self.replay.append((*inputs, targets))


# ---- run -------------------------------------------------------------------------------------------------------------


class TDRun(Run[TDConfig]):
    """A TD run: a `OneRulesRun`, or with `rules=any` an `AnyRulesRun`. Its folder holds the net, `net_name`.

    A subclass sets `network`, `learner`, `parts` and `usage`, and implements `play` and `measure`.
    """

    config_type = TDConfig
    net_name: ClassVar[str]
    network: ValueModule | AnyRulesModule
    learner: Learner

    @classmethod
    def _make(cls, folder: Path, config: TDConfig, report: Callable[[str], None]) -> Self:
        if cls is TDRun:
            run: Any = (AnyRulesRun if config.rules == ANY else OneRulesRun)._make(folder, config, report)
            return run  # type: ignore[no-any-return]
        return super()._make(folder, config, report)

    def __init__(self, folder: Path, config: TDConfig, report: Callable[[str], None]) -> None:
        super().__init__(folder, config, report)
        self.iteration = config.td.games * config.td.steps
        self.settings = self.of_worker(config.td, "games")

    def parts_with(self, games: SelfPlayGames | RuleSetGames) -> dict[str, Any]:
        """Return `parts`, of which only the games differ between the kinds of TD runs."""
        optimizer = self.learner.optimizer
        return {"network": self.network, "optimizer": optimizer, "games": games, "learner": self.learner}

    @abstractmethod
    def play(self, temperature: float, rng: np.random.Generator) -> tuple[Tensor, ...]:
        """Play a rollout with the current net; return its examples for `Learner.learn`."""

    def iterate(self) -> None:
        """Play a rollout and learn from it."""
        done, settings = self.plies / self.config.total_plies, self.settings
        rng = np.random.default_rng([own_seed(self.config.seed), self.plies // self.iteration])
        examples = self.play(between(settings.temperature, settings.temperature / 3, done), rng)
        self.log("train/error", self.learner.learn(examples, done, rng))

    def export(self) -> None:
        """Write the net into the run's folder, with its origin: plies, configuration, and the record of the run."""
        record = read_yaml(self.folder / RUN_NAME)
        origin = {"plies": self.plies, "config": self.config.model_dump(), **record}
        write_atomically(self.folder / self.net_name, self.network.export(origin).to_bytes())


class OneRulesRun(TDRun):
    """A TD run under one set of rules; it trains a `ValueModule`."""

    net_name = VALUE_NET_NAME
    network: ValueModule

    def __init__(self, folder: Path, config: TDConfig, report: Callable[[str], None]) -> None:
        super().__init__(folder, config, report)
        self.games = SelfPlayGames(self.core, self.settings.games, config.starts, config.seed)
        self.network = ValueModule(self.core.rules)
        self.learner = Learner(self.network, self.settings)
        self.parts = self.parts_with(self.games)
        self.search = MoveValues(self.core, config.depth, self.network.export({}), config.threads)
        self.name = "minimax" if self.core.rules.players == 2 else "maxn"
        limited = f"{self.name}:nodes=2000"
        self.usage = f"the net is in {folder}; {self.try_out(f'{limited},net={folder}', limited)}"

    def play(self, temperature: float, rng: np.random.Generator) -> tuple[Tensor, ...]:
        """Play a rollout with the current net; return its examples."""
        self.search.use(self.network.export({}))
        return self.network.examples(*rollout(self.games, self.search, self.settings, temperature, rng))

    def player(self) -> SearchPlayer:
        """Return a player that uses the current net in searches of up to `BEAM_NODES` nodes."""
        return SearchPlayer(self._search(), Limits(nodes=BEAM_NODES))

    def _search(self) -> Search | MaxnSearch:
        return search_for(self.core, net=self.network.export({}), threads=self.config.threads)

    def measure(self) -> tuple[dict[str, Any], str]:
        """Measure regret on the suite's development part, with one search per node limit; see `Run.measure`."""
        texts, row = list[str](), {"results": {}, "regrets": dict[str, Any]()}
        if self.suite is None:
            return row, "no regret suite for these rules"
        search = self._search()
        for nodes in self.config.evaluation.nodes:
            result = self.regret_of(SearchPlayer(search, Limits(nodes=nodes)), f"regret_{nodes}")
            assert result
            row["regrets"][f"{self.name}:nodes={nodes}"] = as_record(result)
            row.setdefault("regret", as_record(result))
            texts.append(f"{result.mean:.2f} at {nodes:,} nodes")
        return row, f"regret {', '.join(texts)}"


class AnyRulesRun(TDRun):
    """A TD run with `rules=any`; it trains an `AnyRulesModule`, the net for any rules."""

    net_name = ANY_RULES_NAME
    network: AnyRulesModule

    def __init__(self, folder: Path, config: TDConfig, report: Callable[[str], None]) -> None:
        super().__init__(folder, config, report)
        if config.evaluation.regret_suite:
            raise UsageError(
                "evaluation.regret_suite: a run with rules=any uses the suites of the development rule sets"
            )
        settings = self.settings
        rule_sets = training_rule_sets(settings.training_rule_sets, config.seed)
        self.rule_set_games = RuleSetGames(
            rule_sets, settings.rule_sets, settings.games, config.starts, config.seed, config.depth
        )
        self.network = AnyRulesModule(rule_sets, reads_rules=settings.reads_rules)
        self.learner = Learner(self.network, settings)
        self.parts = self.parts_with(self.rule_set_games)
        self.usage = f"the net for any rules is {folder / ANY_RULES_NAME}"

    def play(self, temperature: float, rng: np.random.Generator) -> tuple[Tensor, ...]:
        """Play a rollout of every rule set that is being played; return the examples of all of them."""
        net, examples = self.network.export({}), list[tuple[Tensor, ...]]()
        for number, games, search in self.rule_set_games.played:
            search.use(net.for_rules(games.core.rules))
            examples.append(self.network.examples(number, *rollout(games, search, self.settings, temperature, rng)))
        self.rule_set_games.renew()
        return tuple(torch.cat(column) for column in zip(*examples, strict=True))

    def measure(self) -> tuple[dict[str, Any], str]:
        """Measure regret on the suites of the development rule sets, all with equal weight; see `Run.measure`."""
        texts, row, net = list[str](), {"results": {}, "regrets": dict[str, Any]()}, self.network.export({})
        rng = np.random.default_rng(self.config.seed)
        for nodes in self.config.evaluation.nodes:
            means = []
            for suite in rule_set_suites("development"):
                rules = suite.core.rules
                player = search_player(rules, nodes, net.for_rules(rules), threads=self.config.threads)
                means.append(regret(player, suite, rng, by_phase=False).mean)
            if means:
                row["regrets"][f"minimax:nodes={nodes}"] = {"mean": float(np.mean(means)), "rule_sets": means}
                self.log(f"evaluation/regret_{nodes}", float(np.mean(means)))
                texts.append(f"{np.mean(means):.2f} at {nodes:,} nodes")
        return row, f"mean regret under the development rule sets {', '.join(texts)}" if texts else "no suites"
