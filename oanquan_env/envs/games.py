"""N games as records, and the loops that step them; all environments but those of matches use this module.

Shapes: N games, P players, A actions, D numbers in an observation. See `engine.step` for the step itself.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded

from oanquan_env.array_types import Floats, Ints, Mask
from oanquan_env.board import shared_core
from oanquan_env.engine.core import Core, IllegalActionError, check_whole
from oanquan_env.engine.loops import StepLoops, step_loops
from oanquan_env.engine.observe import row_type
from oanquan_env.engine.positions import RUNNING, Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.step import (
    MAX_BEGINNINGS,
    NOBODY,
    OTHERS,
    SETTINGS,
    game_type,
    generator_key,
    set_up_word,
)
from oanquan_env.envs.arguments import MAX_SEED, RuleSets, Seat, as_rule_sets, check_seat, check_seeds
from oanquan_env.envs.opponents import Opponent, Opponents
from oanquan_env.envs.rule_lists import choose, rules_array
from oanquan_env.errors import as_whole
from oanquan_env.observation import Encoder, Observation
from oanquan_env.rewards import REWARDS, check_reward

MAX_GAMES = 10_000_000
"""Maximum number of games in one batch."""
INT64 = np.dtype(np.int64)
FEWEST_SHARED = 1024
"""With fewer games than this, one thread plays all of them, because waking other threads takes longer."""


class Games:
    """N games and the agent's seat in each. `begin` starts games, and `step` continues them.

    There are `n` games, 1 to `MAX_GAMES`, divided among `threads` threads. If `logged`, `log` records the actions of
    the last call (see `engine.step.act`). The other arguments are as in `oanquan_env.envs.single.OAnQuanEnv`.

    Attributes:
        rule_sets: the R rule sets from which games draw theirs.
        many: whether they were given as a list, so that observations end with the rules.
        core, encoder: the core and the encoder for the rules, in a list for the first; see `core_of`, `encoder_of`.
        observation: (N, D), the agent's observations. Each call of `begin` and `step` makes a new array.
        mask: (N, A) int8, the agent's legal actions; all 0 if the game is over. Each call overwrites it.
        records: (N,) records of `engine.step.game_type`. `rewards` to `opponents` are views of them.
        rewards, terminated, truncated: (N,) float64, bool and bool, results of the last step.
        seats: (N,) int64, the agent's seats; in the self-play view the seats that moved last.
        opponents: (N,) int32, index of each game's opponent in the list of opponents; None in the self-play view.
        kind: the kind of opponent, see `engine.step`.
        log: (N, K) int64, the actions of the last call, see `engine.step.act`; K is 0 unless `logged`.
        ready: whether the last call of `begin` or `step` was completed, so that the games can be stepped.

    Raises `ValueError` for an opponent that is not a player, for an unknown seat, reward or observation, and if `n`,
    `threads` or `opening_plies` is not an integer or is out of range; see also `as_rule_sets`.
    """

    observation: Observation
    mask: npt.NDArray[np.int8]
    rewards: Floats
    terminated: Mask
    truncated: Mask
    seats: Ints
    opponents: npt.NDArray[np.int32] | None

    def __init__(
        self,
        n: int,
        rules: RuleSets,
        *,
        opponent: Opponent,
        seat: Seat = "random",
        reward: str = "outcome",
        opening_plies: int = 0,
        threads: int = 1,
        logged: bool = False,
        observation: str = "counts",
        rules_visible: bool = True,
    ) -> None:
        n = as_whole("num_envs", n, 1, MAX_GAMES)
        self.rule_sets, self.many = as_rule_sets(rules), not isinstance(rules, Rules | str)
        self.core = shared_core(self.rule_sets[0])
        rules, listed = self.core.rules, self.rule_sets if self.many else ()
        self.encoder = Encoder(self.core, observation, listed, rules_visible=rules_visible)
        most = min(rule_set.max_plies for rule_set in self.rule_sets)
        opening_plies = as_whole("opening_plies", opening_plies, 0, most)
        self._opponents = Opponents(opponent, self.core, self.encoder if self.many else None)
        self._settings = np.zeros(1, SETTINGS)
        seat, paid = check_seat(seat, rules, opponent), REWARDS.index(check_reward(reward))
        self._settings[0] = seat, paid, opening_plies, 0, 0, len(self.rule_sets), 0
        self._set_up = np.zeros(len(self.rule_sets), game_type(rules))
        self._set_up["sides"] = np.array([set_up_word(rule_set) for rule_set in self.rule_sets])[:, None]
        self._threads = as_whole("threads", threads, 1, MAX_GAMES)
        self.ready = False
        counts = Encoder(self.core, "counts", listed)
        self._observations: npt.NDArray[Any] = np.zeros(n, counts.row_type)
        self._planes: npt.NDArray[Any] | None = None
        if observation != "counts":
            self._planes = np.zeros(n, self.encoder.row_type)
        self._masks = np.zeros(n, row_type(np.int8, rules.actions))
        self.records = np.zeros(n, game_type(rules))
        self.log = np.zeros((n, logged * (3 + opening_plies + 2 * rules.players)), np.int64)
        self._prepare()

    def _prepare(self) -> None:
        """Make the views of the records, and get the loops."""
        records = self.records
        self.mask = self._masks["row"]
        self.observation = (self._observations if self._planes is None else self._planes)["row"]
        self.terminated, self.truncated = records["terminated"].view(np.bool_), records["truncated"].view(np.bool_)
        self.rewards, self.seats = records["reward"], records["seat"]
        self.opponents = None if self._opponents.kind == NOBODY else records["opponent_in_list"]
        self._rows = np.arange(len(records))
        self._executors: dict[int, ThreadPoolExecutor] = {}  # by process, because fork does not copy threads
        self._rules_array = rules_array(self.core, self.rule_sets, self.encoder.vectors if self.many else None)
        self._take_opponents()

    def _renew(self) -> None:
        """Allocate a new array for the observations that callers receive."""
        if self._planes is None:
            self._observations = np.empty(len(self._rows), self._observations.dtype)
            self.observation = self._observations["row"]
        else:
            self._planes = np.empty(len(self._rows), self._planes.dtype)
            self.observation = self._planes["row"]

    def _take_opponents(self) -> None:
        self.kind = self._opponents.kind
        self._settings["first_in_pool"] = self._opponents.first
        self._settings["draw_range"] = self._opponents.draw_range
        self._loops: StepLoops = step_loops(self.core.rules.players, self.kind, self.many, self.core.compiled)

    def __getstate__(self) -> dict[str, Any]:
        views = "observation", "mask", "terminated", "truncated", "rewards", "seats", "opponents"
        derived = *views, "_rows", "_executors", "_loops", "_rules_array"  # `_prepare` makes them anew
        return {name: value for name, value in vars(self).items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()

    # ---- rules -----------------------------------------------------------------------------------------------------

    @property
    def rules(self) -> Ints:
        """(N,) int64, the index of each game's rules in the list of rule sets."""
        return self.records["rules"].astype(np.int64)

    def core_of(self, row: int) -> Core:
        """Return the core for the rules of one game."""
        return shared_core(self.rule_sets[self.records["rules"][row]]) if self.many else self.core

    def encoder_of(self, row: int) -> Encoder:
        """Return the encoder for the rules of one game, with the bounds for all rules."""
        return self.encoder.under(self.core_of(row), int(self.records["rules"][row]))

    # ---- games -----------------------------------------------------------------------------------------------------

    @property
    def positions(self) -> Positions:
        """A copy of the N positions."""
        return self._positions(self._rows)

    @property
    def constants(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The start position and the settings, in the form that the loops take."""
        return self._set_up, self._settings

    @property
    def over(self) -> Mask:
        """(N,) bool, whether each game is terminated or truncated."""
        return self.terminated | self.truncated

    def _positions(self, rows: Ints) -> Positions:
        games = self.records[rows]
        squares, mover = np.ascontiguousarray(games["sides"]).view(np.uint8), games["mover"].astype(np.intp)
        return Positions(squares, games["scores"].copy(), mover, games["ply"].copy(), games["ended"].copy())

    def _starts(self, positions: Positions) -> npt.NDArray[Any]:
        starts = np.zeros(len(positions), game_type(self.core.rules))
        starts["sides"], starts["scores"] = positions.words, positions.scores
        starts["mover"], starts["ply"] = positions.mover, positions.ply
        return starts

    def set_opponent(self, opponent: Opponent) -> None:
        """Set the opponent of new games; raise `ValueError` if it is invalid or None, or in the self-play view."""
        if self.kind == NOBODY or opponent is None:
            raise ValueError("the opponent cannot be set to None or from None: make another environment")
        self._opponents.exchange(opponent, self.records["opponent_in_pool"], ~self.over)
        self._forget()

    def set_opponent_weights(self, weights: npt.ArrayLike) -> None:
        """Set the weights with which new games draw their opponents; see `OAnQuanEnv`."""
        self._opponents.set_weights(weights)
        self._take_opponents()

    def _forget(self) -> None:
        self._opponents.drop_unused(self.records["opponent_in_pool"])
        self._take_opponents()

    def seed(self, seed: int | Sequence[int] | None, rows: Ints, rng: np.random.Generator) -> None:
        """Seed the generators of the games in `rows`: with `seed` + row, or with one seed each if `seed` has N entries.

        If `seed` is None, games keep their generators, and games without a generator get a seed from `rng`.

        Raises `ValueError` in the same cases as `check_seeds`.
        """
        n = len(self.records)
        seed = check_seeds(seed, n)
        if seed is None:
            rows = rows[self.records["key"][rows] == 0]
            if not rows.size:
                return
            seeds = rng.integers(0, MAX_SEED, n, np.uint64, endpoint=True)
        elif isinstance(seed, list):
            seeds = np.array(seed, np.uint64)
        else:
            seeds = np.uint64(seed) + np.arange(n, dtype=np.uint64)  # modulo 2^64
        self.records["key"][rows] = generator_key(seeds).view(np.int64)[rows]
        self.records["draws"][rows] = 0

    def begin(
        self,
        rows: Ints,
        rng: np.random.Generator,
        start: Positions | None = None,
        rules: Ints | None = None,
        *,
        within_step: bool = False,
    ) -> None:
        """Begin new games in `rows` from `start` (one position or N); if it is None, from the set-up with an opening.

        `rules` (N,) holds the indices of the rules in a list; if it is None, each game draws its own.
        If `within_step` is True, the arrays of the last step are reused, because no caller has received them.

        The opponent plays until the agent is to move. If it ends a game before that, seat, opponent and opening are
        drawn again; `MAX_BEGINNINGS` such games in succession raise `ValueError`.
        """
        self.records["terminated"][rows] = 1
        if self._opponents.first:
            self.records["opponent_in_pool"][rows] = self._opponents.first
            self._forget()
        settings, starts = self._settings.copy(), self._set_up
        if rules is not None:
            self.records["rules"][rows] = rules[rows]
            settings["rule_sets"] = 0
        if start is not None:
            starts = self._starts(start)
            settings["opening_plies"], settings["positions"] = 0, len(start)
        self.ready = False
        if not within_step:
            self._renew()
            if len(rows) < len(self.records):
                self._observe(self._rows, self.encoder, self._observations if self._planes is None else self._planes)
        self._step(rows, np.zeros(len(self.records), np.int64), starts, settings, rng)

    def step(self, actions: npt.ArrayLike, rng: np.random.Generator) -> int:
        """Play the agent's actions (N,) and the opponent's replies. Return how many games are over.

        A reward covers all plies since the agent's last reward or since the game began, so the first reward includes a
        first move of the opponent. An illegal action ends the game with `ILLEGAL_REWARD`. Games that were already over
        restart with reward 0; their actions are ignored. Only opponents other than `random` and `greedy` use `rng`.

        Raises:
            IllegalActionError: for actions of the wrong shape or type or outside 0 .. A-1, before anything is played;
                and for an illegal action of the opponent.
            ResetNeeded: before the first `begin`, or after an interrupted call; `ValueError` as in `begin`.
        """
        if not self.ready:
            raise ResetNeeded("the games have not begun, or the last step was interrupted: call reset() first")
        n, actions = len(self._rows), np.asarray(actions)
        # Numba would compile the loops again for other types or layouts. Comparing types by `!=` is slower than a step
        if actions.dtype is not INT64 or actions.shape != (n,) or not actions.flags.carray:
            check_whole(actions, n)
            actions = actions.astype(np.int64)
        if self._threads > 1:
            outside = (actions < 0) | (actions >= self.core.rules.actions)
            if outside.any():
                raise self._refusal(actions, int(outside.argmax()))
        if self._opponents.first:
            self._forget()
        self._renew()
        return self._step(self._rows, actions, self._set_up, self._settings, rng)

    def _refusal(self, actions: npt.NDArray[Any], row: int) -> IllegalActionError:
        last = self.core.rules.actions - 1
        return IllegalActionError(f"action {actions[row]} in row {row} is outside 0 .. {last}")

    def _step(
        self, rows: Ints, actions: npt.NDArray[np.int64], starts: Any, settings: Any, rng: np.random.Generator
    ) -> int:
        ready, self.ready = self.ready, False
        outputs = self._observations, self._masks
        over, count = self._in_threads(rows, self._loops.step, actions, starts, settings, *outputs, self.log)
        if over < 0:  # `count` is then the row of an action out of range
            self.ready = ready
            raise self._refusal(actions, count)
        if self.kind == OTHERS:
            self._play_opponents(rows, count, starts, settings, rng)
            over, count = self._in_threads(rows, self._loops.finish, settings, *outputs)
        if count:
            raise ValueError(
                f"the opponent ended {MAX_BEGINNINGS} of {MAX_BEGINNINGS} games of '{self._stuck(rows)}' before the "
                "agent's first move: choose another seat, another position or a larger max_plies"
            )
        if self._planes is not None:
            self._observe(rows, self.encoder, self._planes)
        self.ready = True
        return over

    def _stuck(self, rows: Ints) -> Rules:
        """Return the rules of the first new game that is already over."""
        games = self.records[rows]
        over = (games["begun"] != 0) & (games["ended"] != RUNNING)
        return self.rule_sets[int(games["rules"][over][0])]

    def _observe(self, rows: Ints, encoder: Encoder, observations: Any, *, movers: bool = False) -> None:
        """Write the observations of the agents, or of the movers, in the layout of `encoder`."""
        moves = None if encoder.observation == "counts" else encoder.observation == "moves"
        self._in_threads(rows, self._loops.observe, movers or self.kind == NOBODY, moves, observations)

    def _in_threads(self, rows: Ints, loop: Callable[..., tuple[int, int]], *others: Any) -> tuple[int, int]:
        """Run a loop over the rows, divided among the threads. Return the sums of its two results."""
        if self._threads == 1 or len(rows) < FEWEST_SHARED:
            return loop(self._rules_array, self.records, rows, *others)
        if os.getpid() not in self._executors:
            self._executors = {os.getpid(): ThreadPoolExecutor(self._threads - 1)}  # this thread plays the first part
        executor = self._executors[os.getpid()]
        first, *rest = np.array_split(rows, self._threads)
        waiting = [executor.submit(loop, self._rules_array, self.records, part, *others) for part in rest]
        results = [loop(self._rules_array, self.records, first, *others), *(part.result() for part in waiting)]
        return sum(over for over, _ in results), sum(count for _, count in results)

    def _play_opponents(self, rows: Ints, waiting: int, starts: Any, settings: Any, rng: np.random.Generator) -> None:
        """Play the opponents' replies, in all games at once, until the agent is to move in every unfinished game."""
        records, none = self.records, np.zeros(len(self.records), np.int64)
        begun = rows[records["begun"][rows] != 0]
        observe, draw = partial(self._observe, movers=True), partial(self._loops.choose, self._rules_array)
        for beginning in range(1, MAX_BEGINNINGS + 1):
            self._opponents.draw(records, begun)
            while waiting:
                games = records[rows]
                queue = rows[(games["ended"] == RUNNING) & (games["mover"] != games["seat"]) & (games["illegal"] == 0)]
                if self.many:
                    masks = np.zeros((len(queue), self.core.rules.actions), np.bool_)
                    self._loops.legal(self._rules_array, records, queue, masks)
                    actions = choose(self._opponents, records, queue, masks, observe, draw, rng)
                else:
                    actions = self._opponents.choose(records["opponent_in_pool"][queue], self._positions(queue), rng)
                waiting = self._loops.reply(self._rules_array, records, queue, actions, self.log)
            games = records[rows]
            begun = again = rows[(games["begun"] != 0) & (games["ended"] != RUNNING)]
            if not again.size or beginning == MAX_BEGINNINGS:
                return
            records["terminated"][again] = 1
            settings = settings.copy()
            settings["rule_sets"] = 0  # the games keep their rules
            outputs = self._observations, self._masks
            _, waiting = self._loops.step(self._rules_array, records, again, none, starts, settings, *outputs, self.log)
