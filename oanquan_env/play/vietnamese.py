"""The words of a move's trace in Vietnamese; those in English are `MoveTrace.lines`."""

from collections.abc import Iterator

from oanquan_env.board import Board
from oanquan_env.engine.move_trace import MoveTrace, TurnEnd
from oanquan_env.engine.positions import Termination
from oanquan_env.engine.rules import Rules
from oanquan_env.render.terminal import Captions

SEAT_NAMES = {2: ("Nam", "Bắc"), 3: ("Nam", "Đông", "Tây"), 4: ("Nam", "Đông", "Bắc", "Tây")}
"""As `notation.SEAT_NAMES`."""

TURN_ENDS = {
    TurnEnd.MANDARIN_AHEAD: "phía trước là ô quan còn quân",
    TurnEnd.EMPTY_MANDARIN_AHEAD: "phía trước là ô quan trống, không tính là khoảng trống",
    TurnEnd.NOTHING_BEHIND: "sau ô trống lại là ô trống",
    TurnEnd.NO_FURTHER_GAP: "sau ô vừa ăn là ô còn quân",
    TurnEnd.UNRIPE_MANDARIN: "quan sau ô trống còn non",
    TurnEnd.SEEDS_STAY: "không được ăn dân trong ô quan sau ô trống",
    TurnEnd.ONE_CAPTURE: "mỗi lượt chỉ ăn một lần",
}
TERMINATIONS = {
    Termination.STONES_CAPTURED: "các quan đã bị ăn hết",
    Termination.SQUARES_EMPTY: "các ô quan đã trống",
    Termination.FORFEIT: "một người không còn quân để rải",
    Termination.MAX_PLIES: "đã đủ số nước đi",
}


def square_name(rules: Rules, index: int, mover: int | None = None) -> str:
    """A square of the ring in words: `ô 3 của Nam`, of the mover's own row `ô 3`, `ô quan cạnh ô 5 của Nam`."""
    player, field = divmod(index, rules.fields + 1)
    owner = "" if player == mover else f" của {SEAT_NAMES[rules.players][player]}"
    return f"ô quan cạnh ô {field}{owner}" if field == rules.fields else f"ô {field + 1}{owner}"


def trace_lines(trace: MoveTrace, move: str = "") -> Iterator[str]:
    """The trace of a move, one sentence for each step, as `MoveTrace.lines`; `move` is how the move is written."""
    rules, names = trace.rules, SEAT_NAMES[trace.rules.players]

    def name(square: int) -> str:
        return square_name(rules, square, trace.player)

    yield f"{names[trace.player]} đi {move or trace.move}."
    for lap in trace.laps:
        what = "một dân" if lap.one_lifted else f"{lap.seeds} dân"
        yield f"Bốc {what} ở {name(lap.square)}; dân cuối rơi vào {name(lap.last)}."
    for taking in trace.takings:
        parts = [f"{taking.seeds} dân"] * bool(taking.seeds) + ["quan"] * taking.stones
        yield f"Cách {name(taking.gap)} trống, ăn {' và '.join(parts)} ở {name(taking.square)}: {taking.points} điểm."
    yield f"Hết lượt: {TURN_ENDS[trace.turn_end]}."
    for refilling in trace.refillings:
        loan = f", trong đó vay {refilling.borrowed}" if refilling.borrowed else ""
        yield f"{names[refilling.player]} rải {refilling.seeds} dân vào hàng trống của mình{loan}."
    if trace.termination:
        yield from ending(trace)


def ending(trace: MoveTrace) -> Iterator[str]:
    """As `MoveTrace.ending`."""
    names, last = SEAT_NAMES[trace.rules.players], trace.frames()[-1]
    yield f"Hết ván: {TERMINATIONS[trace.termination]}."
    for name, points in zip(names, trace.leftovers, strict=True):
        if points:
            yield f"{name} thu dân còn trên bàn: {points} điểm."
    nobody = sum(last.seeds) - sum(trace.leftovers)
    parts = [f"{nobody} dân"] * bool(nobody) + [f"{sum(last.stones)} quan"] * bool(sum(last.stones))
    if parts:
        yield f"Không thuộc về ai: {' và '.join(parts)}."
    finals = ", ".join(f"{name} {final}" for name, final in zip(names, trace.standings, strict=True))
    yield f"Điểm cuối cùng: {finals}."


def board_words(board: Board) -> Captions:
    """The text on and under a board in the terminal."""
    names, last, outcome = SEAT_NAMES[board.rules.players], board.last_trace, board.outcome
    notes = [f"đến lượt {names[board.mover]}"]
    if outcome is not None:
        winners = [name for name, score in zip(names, outcome.scores, strict=True) if score == max(outcome.scores)]
        notes = ["hòa" if len(winners) == len(names) else f"{' và '.join(winners)} thắng"]
        notes.append(TERMINATIONS[outcome.termination])
    notes.append(f"{board.ply} nước")
    if last is not None:
        notes.append(f"{names[last.player]} vừa đi {last.move}")
    return Captions(names, notes)
