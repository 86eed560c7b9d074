"""Matches as game records: one record per round, whose headers name sold and pawned fields (docs/RULES.md 6, 7).

    [Match "match_measure=lack fields_to_lose=3 max_rounds=50"]
    [Round "2"]
    [Sold "N1"]
    [Pawned "S1"]

A replay computes the first player, the owners and the scores of each round again and compares them with the record. The
records of rounds may have variations, which do not change the match.
"""

from collections.abc import Mapping, Sequence

from oanquan_env.board import Board, shared_core
from oanquan_env.engine.notation import Move, format_position, names, quoted
from oanquan_env.engine.positions import Termination
from oanquan_env.errors import UsageError
from oanquan_env.match.match import Match, Round
from oanquan_env.match.ownership import Ownership
from oanquan_env.records.games import OWNERSHIP_HEADERS, GameRecord
from oanquan_env.records.lines import UNFINISHED

MATCH, ROUND = "Match", "Round"
SOLD, PAWNED = OWNERSHIP_HEADERS
ROUND_HEADERS = (MATCH, ROUND, SOLD, PAWNED)
"""Headers that describe a round of a match."""


def _error(number: int, what: str) -> UsageError:
    return UsageError(f"round {number}: {what}")


def match_records(match: Match, headers: Mapping[str, str] | None = None) -> list[GameRecord]:
    """Return a record of each finished round; `headers`, such as `South` and `North`, are added to each record."""
    return [_record(match, played, dict(headers or {})) for played in match.rounds]


def _record(match: Match, played: Round, headers: dict[str, str]) -> GameRecord:
    headers |= _round_headers(match, played.number, played.ownership)
    return GameRecord(
        rules=match.rules,
        moves=tuple(Move.from_action(action) for action in played.actions),
        position=_start(match, played.starter),
        result=_result(played),
        termination=str(played.termination),
        headers=headers,
    )


def _result(played: Round) -> str:
    """Return the result for the record of a round: `*` if it was resigned, because its moves lead to no result."""
    return UNFINISHED if played.termination == Termination.RESIGNED else played.result


def _start(match: Match, starter: int) -> str | None:
    """Return the position string at the start of a round; None if South begins."""
    if starter == 0:
        return None
    start = match.core.start()
    start.mover[:] = starter
    return format_position(match.core, start)


def replay_match(records: Sequence[GameRecord]) -> Match:
    """Replay the rounds of a match, in order from the first round, and return the match.

    Raises `UsageError` if there are no records, a header contradicts the moves, a move is illegal, a round does not end
    with its last move or a resignation, or a round follows the end of the match.
    """
    match = _new_match(records)
    for number, record in enumerate(records, 1):
        if match.outcome is not None:
            raise _error(number, f"the match ended after round {number - 1}, so this round is one too many")
        _compare(number, _expected(match, records[0]), _written(record))
        _play(match, number, record)
    return match


def rounds_of_matches(records: Sequence[GameRecord]) -> dict[int, Round]:
    """Return the match rounds among the records, by record number from 1. A round with number 1 begins a match.

    Raises `UsageError` for a match in the same cases as `replay_match`.
    """
    matches: list[list[int]] = []
    for number, record in enumerate(records, 1):
        if MATCH in record.headers:
            if record.headers.get(ROUND) == "1" or not matches:
                matches.append([])
            matches[-1].append(number)
    rounds: dict[int, Round] = {}
    for numbers in matches:
        replayed = replay_match([records[number - 1] for number in numbers])
        rounds.update(zip(numbers, replayed.rounds, strict=True))
    return rounds


def resume_match(records: Sequence[GameRecord]) -> tuple[Match, Board]:
    """Return the match before the last round in `records`, and the board of that round.

    The last round may be unfinished. If it was resigned, its board shows a running game. Raises `UsageError`
    in the same cases as `replay_match`.
    """
    if records and (records[-1].result != UNFINISHED or is_resigned(records[-1])):
        replay_match(records)
    match = replay_match(records[:-1]) if len(records) > 1 else _new_match(records)
    if match.outcome is not None:
        raise _error(len(records), f"the match ended after round {len(records) - 1}, so this round is one too many")
    _compare(len(records), _expected(match, records[0]), _written(records[-1]))
    return match, records[-1].board()


def is_resigned(record: GameRecord) -> bool:
    """Return whether the player to move at the end of the record resigned."""
    return record.termination == str(Termination.RESIGNED)


def round_headers(match: Match) -> dict[str, str]:
    """Return the headers for the record of the current round."""
    return _round_headers(match, match.round_number, match.ownership)


def _round_headers(match: Match, number: int, ownership: Ownership) -> dict[str, str]:
    texts = {SOLD: ownership.sold_text(), PAWNED: ownership.pawned_text()}
    stated = {name: text for name, text in texts.items() if text}
    return {MATCH: str(match.match_rules), ROUND: str(number), **stated}


def _new_match(records: Sequence[GameRecord]) -> Match:
    if not records:
        raise UsageError("a match needs at least one round to replay")
    try:
        return Match(match_rules=records[0].headers.get(MATCH, ""), core=shared_core(records[0].rules))
    except ValueError as error:
        raise _error(1, str(error)) from None


def _expected(match: Match, first: GameRecord) -> dict[str, str]:
    return {
        "Rules": str(match.rules),
        "Position": str(_start(match, match.starter)),
        MATCH: first.headers.get(MATCH, ""),
        ROUND: str(match.round_number),
        SOLD: match.ownership.sold_text(),
        PAWNED: match.ownership.pawned_text(),
    }


def _written(record: GameRecord) -> dict[str, str]:
    headers = {name: record.headers.get(name, "") for name in ROUND_HEADERS}
    return {"Rules": str(record.rules), "Position": str(record.position), **headers}


def _compare(number: int, expected: Mapping[str, str], written: Mapping[str, str]) -> None:
    for name, value in expected.items():
        if written[name] != value:
            raise _error(number, f"{name} is {quoted(written[name])}, but should be {quoted(value)}")


def _play(match: Match, number: int, record: GameRecord) -> None:
    finished = None
    for ply, move in enumerate(record.moves, 1):
        if finished is not None:
            raise _error(number, f"ply {ply} comes after the end of the round")
        legal = [Move.from_action(action) for action in match.legal_mask().nonzero()[0].tolist()]
        if move not in legal:
            raise _error(number, f"ply {ply}: {move} is not legal; legal: {names(legal)}")
        finished = match.step(move.action)
    if finished is None and is_resigned(record):
        finished = match.resign()
    if finished is None:
        raise _error(number, "the moves do not finish the round")
    expected = {"Result": _result(finished), "Termination": str(finished.termination)}
    _compare(number, expected, {"Result": record.result, "Termination": record.termination})
