"""Games and positions as tasks for language models: a stateful game for training, and a single-turn data set.

A row is a mapping of texts, numbers and lists that names a task, such as an entry of `Suite.rows()`; `TextGame.reset`
describes its columns.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from oanquan_env.board import Board
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.notation import Language
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.errors import UsageError, as_whole
from oanquan_env.players import as_policy
from oanquan_env.rollouts import choose_move
from oanquan_env.text.prompts import prompt, read_answer

Row: TypeAlias = Mapping[str, Any]


def share_of_best(values: Sequence[float | None], action: int) -> float:
    """Return a move's value as a share of the way from the worst move (0) to the best (1); 1 if all moves are equal.

    `values` holds the value of each action, and None for illegal actions. Raises `ValueError` if the action is illegal.
    """
    legal, chosen = [value for value in values if value is not None], values[action]
    if chosen is None:
        raise ValueError(f"the action {action} is illegal: it has no value")
    worst, best = min(legal), max(legal)
    return float((chosen - worst) / (best - worst)) if best > worst else 1.0


class TextGame:
    """A game, or a position with known values, that a language model plays by calling `play`.

    TRL's `environment_factory` can be this class: the constructor needs no arguments, `reset` takes the columns of a
    data set's row, and `play` is the only other public method, which becomes a tool.

    The reward of a position with values is `share_of_best` of the move. The reward of a game is 1/2 + m / (2 T), cut to
    the range from 0 to 1, where m is the final margin over the mean of the other players, and T are all points of the
    game. Until the task is done, the reward is 0. An illegal move raises an error and changes nothing.

    Args:
        rules: rules of rows that name none.
        opponent: the other players in games: a name, or anything else that `oanquan_env.players.as_policy` takes.
        seed: seed of the opponent's random choices. Games from equal rows with equal moves are equal.
        language: language of all texts.

    Attributes:
        board: the board.
        reward: the reward, 0 to 1.
        done: whether the task is done.
    """

    def __init__(
        self, rules: Rules | str = DEFAULT_PRESET, opponent: object = "greedy", seed: int = 0, language: Language = "en"
    ) -> None:
        self._rules, self._opponent, self._language = rules, opponent, language
        self._seed = as_whole("seed", seed, 0)
        self.reset()

    def reset(
        self,
        rules: str | None = None,
        position: str | None = None,
        values: Sequence[float | None] | None = None,
        seat: int | None = None,
        opponent: str | None = None,
        **_: object,
    ) -> str:
        """Begin a task and return its prompt (see `oanquan_env.text.prompt`).

        Other columns, such as TRL's `prompt`, are ignored. Raises `ValueError` if a column is invalid or the game is
        over.

        Args:
            rules: rules as text; defaults to the rules of the constructor.
            position: position as text (docs/RULES.md 7); defaults to the set-up.
            values: the value of each of the A actions, None for illegal actions. The task is then a single move;
                without values, it is the game from this position on.
            seat: the model's seat in a game, 0 for South; defaults to the player to move.
            opponent: name of the opponent; defaults to the opponent of the constructor.
        """
        board = Board(self._rules if rules is None else rules)
        self.board = board if position is None else Board.parse(position, board.rules)
        legal = [move.action for move in self.board.legal_moves]
        if values is not None and [number for number, value in enumerate(values) if value is not None] != legal:
            raise UsageError(f"values must hold a number for each legal action, {legal}, and None for others")
        self._values, self.reward, self.done = values, 0.0, False
        players = self.board.rules.players
        self._seat = self.board.mover if seat is None or values else as_whole("seat", seat, 0, players - 1)
        self._policy = None if values else as_policy(self._opponent if opponent is None else opponent, self.board.core)
        self._rng = np.random.default_rng(self._seed)
        return "\n".join([*self._replies(), self._prompt()])

    def play(self, move: str) -> str:
        """Play a move and return what happens next: the replies and the new position, or the end of the game.

        Args:
            move: The move: the number of a square and a direction, such as 5A.

        Returns:
            A description of the moves played and of the new position.
        """
        if self.done:
            raise ValueError("the task is done; there is no move to play")
        self.board.push(move.strip())
        if self._values is not None:
            self.reward, self.done = share_of_best(self._values, self.board.history[-1].action), True
            return self._narrated()
        lines = [self._narrated(), *self._replies()]
        if not self.done:
            lines += ["", self._prompt(rules=False)]
        return "\n".join(lines)

    def _prompt(self, *, rules: bool = True) -> str:
        return prompt(self.board, language=self._language, rules=rules, answer="tool")

    def _replies(self) -> list[str]:
        """Play until the model is to move or the game is over; return a line for each move, and the end."""
        lines = []
        while self.board.outcome is None and self.board.mover != self._seat:
            self.board.push(choose_move(self._policy, self.board, self._rng))
            lines.append(self._narrated())
        if (outcome := self.board.outcome) is not None:
            margin = relative_points(np.array([outcome.scores]))[0, self._seat]
            self.reward, self.done = float(np.clip(0.5 + margin / (2 * self.board.rules.total), 0, 1)), True
            if trace := self.board.last_trace:
                lines += trace.ending(self._language)
        return lines

    def _narrated(self) -> str:
        trace = self.board.last_trace
        assert trace is not None
        return next(trace.lines(self._language))


class TextDataset:
    """Positions with known values as a single-turn data set, in the form of the data sets of reasoning-gym.

    Args:
        rows: rows with `rules`, `position` and `values`.
        options: options of `oanquan_env.text.prompt`.
    """

    def __init__(self, rows: Sequence[Row], **options: Any) -> None:
        self.rows, self.options = rows, options

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return `question` (the prompt), `answer` (a best move) and `metadata` (the row, its source and its index)."""
        row = self.rows[index]
        board = Board.parse(row["position"], row["rules"])
        best = max(board.legal_moves, key=lambda move: row["values"][move.action])
        metadata = {"source_dataset": "oanquan", "source_index": index, **row}
        return {"question": prompt(board, **self.options), "answer": str(best), "metadata": metadata}

    def score_answer(self, answer: str | None, entry: Row) -> float:
        """Return `share_of_best` of the move in an answer, and 0 without a legal move; `entry` is one of this set."""
        row = entry["metadata"]
        move = read_answer(answer or "", Board.parse(row["position"], row["rules"])).move
        return share_of_best(row["values"], move.action) if move else 0.0
