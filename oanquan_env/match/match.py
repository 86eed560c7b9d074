"""Match play: several rounds of a game, between which fields are sold (docs/RULES.md 6).

    match = Match("mancala-world")
    while match.outcome is None:
        finished = match.step(action)  # the round that this move ended, or None

`play_matches` plays many matches at once. A round's position is stored as a batch of one for `Core`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from oanquan_env.array_types import Mask
from oanquan_env.engine.core import Core, advance
from oanquan_env.engine.positions import Positions, Termination
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.errors import as_whole
from oanquan_env.match.ownership import Ownership, match_standings
from oanquan_env.match.rules import MatchRules, as_match_rules
from oanquan_env.match.settling import FIELDS_SOLD, GOES_ON, NOBODY, match_end, next_starter, round_winner
from oanquan_env.players import as_policy
from oanquan_env.rollouts import seated


class MatchEnd(StrEnum):
    """The reason why a match is over."""

    FIELDS_SOLD = "fields_sold"
    MAX_ROUNDS = "max_rounds"


@dataclass(frozen=True)
class MatchOutcome:
    """How a match ended.

    Attributes:
        winner: the player that bought enough fields of the other player; None for a match drawn by `max_rounds`.
        reason: why the match is over.
    """

    winner: int | None
    reason: MatchEnd


@dataclass(frozen=True)
class Round:
    """One finished round.

    Attributes:
        number: number of the round, from 1.
        starter: the player that began the round.
        ownership: owners of the fields during the round.
        actions: the actions played, in order.
        scores: final points, with leftovers divided by `ownership`.
        termination: why the round ended.
        positions: the final position, a batch of one.
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
        """The points in the form of game records, such as `42-28`."""
        return "-".join(map(str, self.scores))

    @property
    def winner(self) -> int | None:
        """The player with more points; None for a tie or a truncated round."""
        winner = round_winner(*self.scores, self.termination)
        return None if winner == NOBODY else winner


class Match:
    """One match of two players.

    Raises `RulesError` if no match can be played under the rules.

    Args:
        rules: rules of the rounds: a `Rules` for two players, or its text.
        match_rules: a `MatchRules`, or its text such as `"fields_to_lose=4"`.
        core: a core to use instead of a new one; `rules` is then ignored.

    Attributes:
        positions: the position in the current round, or the last position of a finished match; a batch of one.
        ownership: owners of the fields in the current round.
        starter: the player that began the current round.
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
        """The number, from 1, of the current round, or of the last round of a finished match."""
        return len(self.rounds) + (self.outcome is None)

    @property
    def mover(self) -> int:
        """The player to move."""
        return int(self.positions.mover[0])

    def legal_mask(self) -> Mask:
        """Return (A,) bool, the mover's legal actions; all False once the match is over."""
        return self.core.legal_mask(self.positions).ravel()

    def step(self, action: int) -> Round | None:
        """Play one action; return the finished round if the action ended a round, otherwise None.

        Raises `IllegalActionError` for an illegal action. After a round, the next one begins unless the match is over.
        """
        self.core.play(self.positions, np.array([action]))
        self._actions.append(int(action))
        return self.close_round(self.positions, self._actions) if self.positions.over[0] else None

    def resign(self) -> Round:
        """Resign the round for the player to move, and return the finished round.

        The next round begins unless the match is over. The player that resigns keeps its score, up to one point below
        half of all points; the other player gets the rest. Raises `ValueError` if the match was already over.
        """
        return self.close_round(resigned(self.positions), self._actions)

    def close_round(self, final: Positions, actions: Sequence[int] = ()) -> Round:
        """Score a finished round, buy and sell fields, and begin the next round unless the match is over.

        `step` calls this method; it is public for callers that play the rounds of many matches in one batch. `final` is
        a batch of one with the finished game of this round, and `actions` are its moves. Raises `ValueError` if the
        game is not over, or if the match is over.
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
    """Return a copy of `positions`, a batch of one, in which the player to move has resigned."""
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
    """Play `n` whole matches between two players, all at once; return the finished matches.

    Players are in any form that `oanquan_env.players.as_policy` accepts. The first player is South and begins the first
    round. All randomness comes from `rng`. Raises `ValueError` unless there are two players, and `RulesError` if no
    match can be played under the rules.
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
