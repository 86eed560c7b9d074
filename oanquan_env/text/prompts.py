"""Prompts for language models, and the reading and grading of their answers."""

import json
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from oanquan_env.array_types import Floats
from oanquan_env.board import Board
from oanquan_env.engine.notation import WORDS, Language, Move, capital, names
from oanquan_env.engine.rules import check_choice
from oanquan_env.text.words import TEXTS, check_language, counted, example_move, numbered, rules_in_words

AnswerForm: TypeAlias = Literal["plain", "json", "tool"]
AnswerOutcome: TypeAlias = Literal["legal", "illegal", "unparsable", "truncated"]

_MOVE = re.compile(r"(?<!\w)[1-9][AaCc](?!\w)")
_FENCED = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)


def prompt(
    board: Board,
    *,
    language: Language = "en",
    rules: bool = True,
    legal_moves: bool = False,
    history: bool = False,
    answer: AnswerForm = "plain",
) -> str:
    """Return a prompt that asks a language model for a move.

    The prompt consists of the rules in words, the position, the mover, the aim (the largest possible margin), and the
    form of the answer. docs/language-models.md shows the default prompt in full.

    Args:
        board: the board of a running game.
        language: language of the prompt.
        rules: whether the prompt states the rules.
        legal_moves: whether it lists the legal moves.
        history: whether it lists the moves in `board.history`, if there are any.
        answer: whether the move must be the last line of the answer (`plain`), in a JSON object (`json`), or the
            argument of a call of the tool `play` (`tool`).

    Raises ValueError if the game is over, and `RulesError` if `language` or `answer` is invalid.
    """
    check_language(language)
    check_choice("answer", answer, get_args(AnswerForm))
    if board.outcome is not None:
        raise ValueError(f"the game is over ({board.outcome.termination}); there is no move to ask for")
    words, seats = TEXTS["prompt"][language], WORDS[language]["seats"][str(board.rules.players)]
    task = [words["mover"].format(name=seats[board.mover])]
    if history and board.history:
        first = board.start().mover
        played = [f"{seats[(first + ply) % len(seats)]} {move}" for ply, move in enumerate(board.history)]
        task.insert(0, words["history"].format(moves=", ".join(played)))
    if legal_moves:
        task.append(words["legal"].format(moves=names(board.legal_moves)))
    task += [words["aim"][len(seats) > 2], words[answer].format(example=example_move(board.rules))]
    parts = [rules_in_words(board.rules, language)] * rules
    return "\n\n".join([*parts, _position(board, language), " ".join(task)])


def _position(board: Board, language: Language) -> str:
    """Return a line with the number of moves, and a line for each side in ring order."""
    words, seats, fields = (
        TEXTS["prompt"][language],
        WORDS[language]["seats"][str(board.rules.players)],
        board.rules.fields,
    )
    lines = [words["position"].format(moves=counted(language, "moves", board.ply), name=seats[0])]
    for player, name in enumerate(seats):
        *counts, on_mandarin = board.seeds[player * (fields + 1) : (player + 1) * (fields + 1)]
        held = [words["stone"]] * board.stones[player] + [counted(language, "seeds", on_mandarin)] * bool(on_mandarin)
        lines.append(
            words["side"].format(
                name=capital(name),
                points=counted(language, "points", board.scores[player]),
                squares=numbered(language, "squares", fields),
                counts=", ".join(map(str, counts)),
                mandarin=WORDS[language]["and"].join(held) or words["nothing"],
            )
        )
    return "\n".join(lines)


# ---- answers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What a language model answered.

    Attributes:
        outcome: `legal`; `illegal` for a move that cannot be played; `unparsable` if no move or several are named;
            `truncated` if the answer was cut off, whatever it says.
        move: the legal move, or None.
        named: the move that the answer names, legal or not, or None.
    """

    outcome: AnswerOutcome
    move: Move | None = None
    named: Move | None = None


def read_answer(text: str, board: Board, finish_reason: str | None = None) -> Answer:
    """Read a language model's answer to `prompt(board)`.

    If the text is a JSON object, perhaps fenced as code, its entry `move` must be a move such as `5A` or `5a`. In any
    other text, the last line that names a move must name only one: `**5A**` and "I play 5A." are accepted. An answer
    with the `finish_reason` `"length"`, with which endpoints mark a reply that reached its limit, is truncated.
    """
    if finish_reason == "length":
        return Answer("truncated")
    named = _move_in(text)
    if named is None:
        return Answer("unparsable")
    return Answer("legal", named, named) if named in board.legal_moves else Answer("illegal", named=named)


def _move_in(text: str) -> Move | None:
    fenced = _FENCED.fullmatch(text)
    try:
        parsed = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        lines = [str(parsed.get("move"))]
        moves = [{line.upper()} for line in lines if _MOVE.fullmatch(line)]
    else:
        by_line = [{move.upper() for move in _MOVE.findall(line)} for line in reversed(text.splitlines())]
        moves = list(filter(None, by_line))
    return Move.parse(moves[0].pop()) if moves and len(moves[0]) == 1 else None


@dataclass(frozen=True)
class ValuedBoard:
    """A board with the value of each of its A actions, like a position of a regret suite.

    Attributes:
        board: the board of a running game.
        values: (A,) float64, future margin of each move in points, from the mover's view; NaN for illegal moves.
        lower, upper: (A,) float64, proved bounds of the values; infinite if there is none, NaN for illegal moves.
    """

    board: Board
    values: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class Grade:
    """The quality of an answer.

    Attributes:
        outcome: the outcome of the answer.
        best: whether the move is as good as the best move.
        regret: points that the move loses against the best move; None without a legal move, as for the bounds.
        least, most: bounds of the regret from the proved bounds of the values; `most` may be infinite.
    """

    outcome: AnswerOutcome
    best: bool
    regret: float | None = None
    least: float | None = None
    most: float | None = None


def grade(position: ValuedBoard, answer: Answer) -> Grade:
    """Grade an answer by the values of the moves. Raises ValueError if its move is illegal in the position."""
    if answer.move is None:
        return Grade(answer.outcome, best=False)
    legal = position.board.legal_moves
    if answer.move not in legal:
        raise ValueError(f"{answer.move} is illegal in {position.board.text()}; legal: {names(legal)}")
    chosen, others = answer.move.action, [move.action for move in legal if move != answer.move]
    regret = float(max(position.values[move.action] for move in legal) - position.values[chosen])
    least = max([0.0, *(float(position.lower[other] - position.upper[chosen]) for other in others)])
    most = max([0.0, *(float(position.upper[other] - position.lower[chosen]) for other in others)])
    return Grade(answer.outcome, regret == 0, regret, least, most)
