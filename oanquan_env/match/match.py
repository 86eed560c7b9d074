"""Match play: rounds of a game, and the selling of fields between them (docs/RULES.md 6).

    match = Match("mancala-world")
    while match.outcome is None:
        finished = match.step(action)  # the round that this move ended, or None

`play_matches` plays many at once. A round is a batch of one position over `Core`, which alone knows a game's rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from oanquan_env.arrays import Mask
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions, Termination
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.errors import as_whole
from oanquan_env.match.ownership import Ownership, match_standings
from oanquan_env.match.rules import MatchRules, as_match_rules
from oanquan_env.match.settling import FIELDS_SOLD, GOES_ON, NOBODY, match_end, next_starter, round_winner
from oanquan_env.players import as_policy
from oanquan_env.playing import advance, seated


class MatchEnd(StrEnum):
    """Why a match is over."""

    FIELDS_SOLD = "fields_sold"
    MAX_ROUNDS = "max_rounds"


@dataclass(frozen=True)
class MatchOutcome:
    """How a match ended.

    Attributes:
        winner: the player who bought enough of the other's fields; None for a match drawn by `max_rounds`.
        reason: why it is over.
    """

    winner: int | None
    reason: MatchEnd


@dataclass(frozen=True)
class Round:
    """One finished round.

    Attributes:
        number: from 1.
        starter: the player who began it.
        ownership: owners of the fields during the round.
        actions: the moves, as actions.
        scores: final points, leftovers shared out by `ownership`.
        termination: why it ended.
        positions: a batch of one, the final position.
    """

    number: int
    starter: int
    ownership: Ownership
    actions: tuple[int, ...]
    scores: tuple[int, int]
    termination: Termination
    positions: Positions = field(compare=False, repr=False)

    @property
    def result(self) -> str:
        """The points as a record has them, such as `42-28`."""
        return "-".join(map(str, self.scores))

    @property
    def winner(self) -> int | None:
        """The player with more points; None for a tie, and for a truncated round, which nobody wins."""
        winner = round_winner(*self.scores, self.termination)
        return None if winner == NOBODY else winner


class Match:
    """One match of two players.

    Raises `RulesError` for rules that allow no match.

    Args:
        rules: of the rounds: a `Rules` for two players, or its text.
        match_rules: a `MatchRules`, or its text such as `"fields_to_lose=4"`.
        core: a core of the same rules to share.

    Attributes:
        positions: a batch of one: the round being played, or the last position of a match that is over.
        ownership: owners of the fields in it.
        starter: the player who began it.
        rounds: the finished rounds.
        outcome: a `MatchOutcome` once the match is over.
    """

    def __init__(
        self, rules: Rules | str = DEFAULT_PRESET, match_rules: MatchRules | str = "", *, core: Core | None = None
    ) -> None:
        self.core = core or Core(rules)
        self.match_rules = as_match_rules(match_rules)
        self.match_rules.check(self.rules)
        self.ownership = Ownership(self.rules.fields)
        self.rounds: list[Round] = []
        self.outcome: MatchOutcome | None = None
        self._begin(0)

    @property
    def rules(self) -> Rules:
        """The rules of the rounds."""
        return self.core.rules

    @property
    def round_number(self) -> int:
        """The number, from 1, of the round being played; of the last one once the match is over."""
        return len(self.rounds) + (self.outcome is None)

    @property
    def mover(self) -> int:
        """The player to move."""
        return int(self.positions.mover[0])

    def legal_mask(self) -> Mask:
        """(A,) bool, the mover's legal actions; all false once the match is over."""
        return self.core.legal_mask(self.positions).ravel()

    def step(self, action: int) -> Round | None:
        """Play one action. Returns the round that it ended, if it did; `positions` then is the next round's start.

        Raises `IllegalActionError` as `Core.play`; nothing has changed.
        """
        self.core.play(self.positions, np.array([action]))
        self._actions.append(int(action))
        return self.close_round(self.positions, self._actions) if self.positions.over[0] else None

    def resign(self) -> Round:
        """Let the player to move give up the round; returns it. `positions` then is the next round's start.

        The player keeps its captures, but less than half of all points; the rest goes to the other one. Raises
        `ValueError` for a match that is over.
        """
        return self.close_round(resigned(self.positions), self._actions)

    def close_round(self, final: Positions, actions: Sequence[int] = ()) -> Round:
        """Score a finished round that was played elsewhere, settle the fields, and begin the next round, if any.

        `step` does this by itself; it is public for those who play the rounds of many matches in one batch. `final` is
        a batch of one, the finished game that this round became, and `actions` are its moves. Raises `ValueError` for a
        game that is not over, or a match that is.
        """
        if not final.over[0] or self.outcome is not None:
            raise ValueError("the round is not over" if self.outcome is None else "the match is over")
        finished = Round(
            number=self.round_number,
            starter=self.starter,
            ownership=self.ownership,
            actions=tuple(int(action) for action in actions),
            scores=match_standings(self.core, final, self.ownership),
            termination=Termination(final.ended[0]),
            positions=final.copy(),
        )
        self.rounds.append(finished)
        if finished.winner is not None:
            self.ownership = self.ownership.after_round(finished.scores, self.rules, self.match_rules)
        self.outcome = self._judge()
        if self.outcome is None:
            self._begin(next_starter(self.starter, NOBODY if finished.winner is None else finished.winner))
        else:
            self.positions = final.copy()
        return finished

    def _judge(self) -> MatchOutcome | None:
        settings = self.match_rules
        end, winner = match_end(
            self.rules.fields, settings.fields_to_lose, settings.max_rounds, len(self.rounds), self.ownership.marks()
        )
        if end == GOES_ON:
            return None
        reason = MatchEnd.FIELDS_SOLD if end == FIELDS_SOLD else MatchEnd.MAX_ROUNDS
        return MatchOutcome(None if winner == NOBODY else winner, reason)

    def _begin(self, starter: int) -> None:
        self.starter = starter
        self.positions = self.core.start()
        self.positions.mover[:] = starter
        self._actions: list[int] = []


def resigned(positions: Positions) -> Positions:
    """A batch of one, the position at which the player to move gives up its game."""
    final = positions.copy()
    final.ended[~final.over] = Termination.RESIGNED
    return final


def play_matches(
    players: Sequence[object],
    n: int,
    rng: np.random.Generator,
    *,
    rules: Rules | str = DEFAULT_PRESET,
    match_rules: MatchRules | str = "",
) -> list[Match]:
    """`n` whole matches between two players, all rounds at once; returns them finished.

    Players are anything that `oanquan_env.players.as_policy` takes. The first one is South, who begins the first round.
    All chance comes from `rng`. Raises `ValueError` for another number of players than two, and `RulesError` for rules
    that allow no match.
    """
    if isinstance(players, str) or len(players) != 2:
        raise ValueError(f"a match has two players; got {players if isinstance(players, str) else len(players)}")
    core, n = Core(rules), as_whole("n", n, 0)
    policies = [as_policy(player, core) for player in players]
    matches = [Match(match_rules=match_rules, core=core) for _ in range(n)]
    positions, moves = core.start(n), [list[int]() for _ in matches]
    for rows, actions in advance(core, positions, seated(policies, np.tile([0, 1], (n, 1)), rng)):
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            moves[row].append(action)
        for row in rows[positions.over[rows]].tolist():
            matches[row].close_round(positions[row : row + 1], moves[row])
            positions[row : row + 1], moves[row] = matches[row].positions, []
    return matches
