"""A match of several rounds for PettingZoo; a thin layer over `oanquan_env.match`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from oanquan_env.engine.positions import SOLD, Positions
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, RulesError
from oanquan_env.envs.aec_game import GameEnv
from oanquan_env.envs.rendering import Owners
from oanquan_env.match.match import Match
from oanquan_env.match.rules import MatchRules, as_match_rules
from oanquan_env.observation import Encoder, Observation


class MatchEnv(GameEnv):
    """A match of several rounds, between which fields are sold and pawned (docs/RULES.md 6).

    The observation of `GameEnv` is followed by 2F + 2 numbers: the codes of the fields in the viewer's row and then
    in the other row (0 own, 1 pawned, 2 sold), 1 if the other player began this round and 0 otherwise, and the number
    of rounds left, including this one. The loser of a round begins the next, so an agent may make two moves in
    succession. The winner of the match gets +1 and the loser -1; if `max_rounds` ends the match, both get 0. At the
    end, `infos[agent]` holds `termination` (the reason) and `rounds` (the points of both players in each round).

    Args:
        rules: rules of the rounds, for two players.
        match: True, a `MatchRules` or its text, as for `raw_env`.
        render_mode: as for `GameEnv`.
    """

    metadata: dict[str, Any] = {**GameEnv.metadata, "name": "oanquan_match_v0"}  # noqa: RUF012

    def __init__(
        self,
        rules: Rules | str = DEFAULT_PRESET,
        *,
        match: MatchRules | str | bool = True,
        render_mode: str | None = None,
    ) -> None:
        AECEnv.__init__(self)  # without the games of `GameEnv`
        self.match = Match(rules, _given_match_rules(match))
        self._prepare(Encoder(self.match.core), "outcome", render_mode)

    @property
    def positions(self) -> Positions:
        """A copy of the current position of the round as a batch of one."""
        return self.match.positions.copy()

    def _begin(self, seed: int | None, options: Mapping[str, Any]) -> None:
        for name in ("position", "rules"):
            if options.get(name) is not None:
                raise ValueError(f"a match begins at the set-up and takes no option {name!r}")
        self.match = Match(match_rules=self.match.match_rules, core=self.core)
        self._owners = self.match.ownership.owners().tolist()
        self._round_over = False  # whether the last move ended a round
        self._look()

    def _look(self) -> None:
        self._mover, self._mask = self.match.mover, self.match.legal_mask().view(np.int8)

    def _observation_box(self) -> spaces.Box:
        low = np.append(self.encoder.low, [0] * (2 * self.core.rules.fields + 2)).astype(np.int32)
        most = [SOLD] * (2 * self.core.rules.fields) + [1, self.match.match_rules.max_rounds]
        return spaces.Box(low, np.append(self.encoder.high, most).astype(np.int32), dtype=np.int32)

    def _seen_by(self, seat: int) -> Observation:
        owners = np.roll(self.match.ownership.owners(), -seat, axis=0).reshape(-1)
        rounds_left = self.match.match_rules.max_rounds - self.match.round_number + 1
        more = np.append(owners, [self.match.starter ^ seat, rounds_left])
        return np.concatenate([self.encoder.encode(self.positions, seat)[0], more.astype(np.int32)])

    def _play(self, action: int) -> bool:
        owners: Owners = self.match.ownership.owners().tolist()
        before = self.positions
        finished = self.match.step(action) is not None
        if self._round_over:
            self._replay.begin(before)
        self._round_over, self._owners = finished, owners
        self._replay.add([int(action)])
        self._look()
        return self.match.outcome is not None

    def _pay(self) -> list[float]:
        outcome = self.match.outcome
        if outcome is None or outcome.winner is None:
            return [0.0, 0.0]
        return [1.0, -1.0] if outcome.winner == 0 else [-1.0, 1.0]

    def _finish(self) -> None:
        assert self.match.outcome is not None
        self.terminations = dict.fromkeys(self.agents, True)
        rounds = [list(finished.scores) for finished in self.match.rounds]
        self.infos = {agent: {"termination": str(self.match.outcome.reason), "rounds": rounds} for agent in self.agents}


def _given_match_rules(match: MatchRules | str | bool) -> MatchRules:
    if match is True:
        return MatchRules()
    if isinstance(match, str) and not match.strip():
        raise RulesError("match must not be an empty string; use match=True for the default match rules")
    if not isinstance(match, MatchRules | str):
        raise TypeError(f"match must be True, False, a MatchRules or its string; got {match!r}")
    return as_match_rules(match)
