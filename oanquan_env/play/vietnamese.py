"""The terminal in Vietnamese: its sentences, the trace of a move, and the words on a board."""

import os
from collections.abc import Iterator
from typing import Literal, TypeAlias

from oanquan_env.board import Board
from oanquan_env.engine.move_trace import MoveTrace, TurnEnd
from oanquan_env.engine.positions import Termination
from oanquan_env.engine.rules import Rules
from oanquan_env.render.terminal import CAPTURED, LAST, LEGEND, MOVER, ORIGIN, STONE, Captions

Language: TypeAlias = Literal["en", "vi"]

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
    TurnEnd.NOT_COMPLETED: "nước này không thể đi trọn",
}
TERMINATIONS = {
    Termination.STONES_CAPTURED: "các quan đã bị ăn hết",
    Termination.SQUARES_EMPTY: "các ô quan đã trống",
    Termination.FORFEIT: "một người không còn quân để rải",
    Termination.MAX_PLIES: "đã đủ số nước đi",
    Termination.ENDLESS_RELAY: "lượt rải sẽ không bao giờ dừng",
    Termination.TOO_MANY_SEEDS: "vay thêm thì trên bàn có quá 255 dân",
}
MOVES = """\
A move is a field's number, counted from the mover's own left, and a direction:
3A sows field 3 anticlockwise, 3C clockwise."""
HELP = {
    "moves": ("list the moves you can play", "các nước bạn đi được"),
    "hint": ("ask a strong player what each move is worth", "hỏi máy mạnh mỗi nước được bao nhiêu"),
    "story": ("tell the last move step by step", "kể lại từng bước của nước vừa đi"),
    "board": ("draw the board again", "vẽ lại bàn cờ"),
    "legend": ("explain the signs on the board", "giải thích các ký hiệu trên bàn"),
    "undo": ("take back your last move and the answers to it", "đi lại nước vừa rồi của bạn và các nước đáp"),
    "redo": ("play again what undo took back", "làm lại nước đã bỏ"),
    "resign": ("give up", "xin thua"),
    "new": ("begin again", "ván mới"),
    "save FILE": ("write the game down as a record", "lưu ván thành biên bản"),
    "load FILE": ("go on with its game (load FILE 2: the second)", "chơi tiếp ván ấy (load FILE 2: ván thứ hai)"),
    "help": ("show this", "hiện trang này"),
    "quit": ("leave (Ctrl-D does, too)", "thoát (hoặc Ctrl-D)"),
}
"""The use of each command, in English and in Vietnamese."""

MESSAGES = {
    "South": "Nam",
    "East": "Đông",
    "North": "Bắc",
    "West": "Tây",
    "human": "người",
    "beginner": "mức mới chơi",
    "easy": "mức dễ",
    "medium": "mức vừa",
    "hard": "mức khó",
    "perfect": "mức hoàn hảo",
    MOVES: """\
Một nước là số của ô, đếm từ bên trái người đi, và một chiều: 3A rải ô 3 ngược
chiều kim đồng hồ, 3C theo chiều kim đồng hồ.""",
    "You can play {moves}.": "Bạn đi được {moves}.",
    "You can play none.": "Bạn không đi được nước nào.",
    "{move} cannot be played; moves lists those that can.": "Không đi được {move}; gõ moves để xem các nước đi được.",
    "No move has been played yet.": "Chưa có nước nào.",
    "Type a move such as 3A, or help; legend explains the board.": "Gõ một nước như 3A, hoặc help hay legend.",
    "{seats}. Rules: {rules}.": "{seats}. Luật: {rules}.",
    "The game is over (undo, story, new, save FILE, quit) > ": "Ván đã hết (undo, story, new, save TỆP, quit) > ",
    "{seat} waits; Enter lets it go on > ": "{seat} đang chờ; Enter để chơi tiếp > ",
    "This game is not saved (save FILE). {line} once more drops it.": "Ván này chưa lưu (save TỆP). Lại {line} để bỏ.",
    "I do not know {line!r}: type a move such as 3A, or help.": "Không hiểu {line!r}: gõ một nước như 3A, hoặc help.",
    "The game is over; undo takes the resignation back.": "Ván đã hết; undo để thôi xin thua.",
    "It is {seat}'s turn.": "Đang là lượt {seat}.",
    "{name} is thinking…": "{name} đang nghĩ…",
    "{name} plays {move}.\n": "{name} đi {move}.\n",
    "The game is over.": "Ván đã hết.",
    "The player who gives hints is thinking…": "Đang tìm nước hay nhất…",
    "There is no hint: {why}.": "Không có gợi ý: {why}.",
    "There is no move of yours to take back.": "Bạn không có nước nào để đi lại.",
    "There is no move to play again.": "Không có nước nào để làm lại.",
    "{seat} resigns: {other} wins.": "{seat} xin thua: {other} thắng.",
    "{seat} resigns.": "{seat} xin thua.",
    "It cannot be loaded: {why}.": "Không mở được: {why}.",
    "It cannot be saved: {why}.": "Không lưu được: {why}.",
    "type load and the name of a file": "hãy gõ load và tên tệp",
    "{path} holds {count} games: load {path} 1 takes the first": "{path} có {count} ván: load {path} 1 mở ván đầu",
    "there is no game {number}: {path} holds {count}": "không có ván {number}: {path} có {count} ván",
    "it is a round of a match, in which fields are sold": "đó là một ván trong trận có bán ruộng",
    "it has {players} players, this one {here}": "ván ấy có {players} người, ván này {here}",
    "Save it where? Type save and the name of a file.": "Lưu vào đâu? Hãy gõ save và tên tệp.",
    "{path} is there already: choose another name.": "Đã có {path}: hãy chọn tên khác.",
    "Saved to {path}.": "Đã lưu vào {path}.",
    "{player}: try {best}.": "{player}: thử {best}.",
    "Points that each move wins at once, answers not counted:": "Điểm mỗi nước ăn được ngay, chưa tính nước đáp:",
    "Final margin of {seat} if all play their best ({how}):": "{seat} hơn ở cuối ván, nếu ai cũng đi tốt nhất ({how}):",
    "proved": "đã chứng minh",
    "seen {depth} moves deep": "nhìn trước {depth} nước",
    LEGEND: f"""\
  {MOVER}    người đang đi
  {STONE}    quan
  {ORIGIN}    ô vừa đi
  {LAST}    ô của dân cuối
  {CAPTURED}    ô vừa bị ăn
  (5)  dân còn lại khi hết ván: đã được tính, hoặc không thuộc về ai
Ô được đánh số từ bên trái của mỗi người. A rải ngược chiều kim đồng hồ,
C theo chiều kim đồng hồ.""",
}
"""Sentence with `{name}` for its parts, or word -> Vietnamese."""


def in_language(text: str, language: Language, **parts: object) -> str:
    """A sentence in that language, with its parts in their places; what has no entry stays English."""
    words = MESSAGES.get(text, text) if language == "vi" else text
    return words.format(**parts) if parts else words


def language_of_system() -> Language:
    """Vietnamese where the environment asks for it, as by LANG=vi_VN.UTF-8; else English."""
    asked = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "vi" if next(filter(None, asked), "").startswith("vi") else "en"


def help_text(language: Language) -> str:
    """How moves are written, and all commands."""
    file = "TỆP" if language == "vi" else "FILE"
    rows = ((command.replace("FILE", file), told[language == "vi"]) for command, told in HELP.items())
    commands = [f"  {command:9}  {told.replace('FILE', file)}" for command, told in rows]
    return "\n".join([in_language(MOVES, language), *commands])


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
