"""The words of the terminal in Vietnamese."""

import os
from typing import Literal, TypeAlias

from oanquan_env.render.terminal import CAPTURED, LAST, LEGEND, MOVER, ORIGIN, STONE

Language: TypeAlias = Literal["en", "vi"]

HELP = """\
A move is a field's number, counted from the mover's own left, and a direction:
3A sows field 3 anticlockwise, 3C clockwise.
  moves      list the moves you can play
  hint       ask a strong player for a move, and what each move is worth
  story      tell the last move step by step
  board      draw the board again
  legend     explain the signs on the board
  undo       take back your last move and the answers to it
  redo       play again what undo took back
  resign     give up
  new        begin again
  save FILE  write the game down as a record
  load FILE  go on with a game of a record (load FILE 2: the second game in it)
  help       show this
  quit       leave (Ctrl-D does, too)"""

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
    "You can play {moves}.": "Bạn đi được {moves}.",
    "You can play none.": "Bạn không đi được nước nào.",
    "{move} cannot be played; moves lists those that can.": "Không đi được {move}; gõ moves để xem các nước đi được.",
    "{move} would never end.": "Không đi được {move}: nước ấy không bao giờ dừng.",
    "No move has been played yet.": "Chưa có nước nào.",
    "Type a move such as 3A or 2C, or help; legend explains the board.": (
        "Gõ một nước như 3A hoặc 2C, hoặc help; legend giải thích bàn cờ."
    ),
    "{seats}. Rules: {rules}.": "{seats}. Luật: {rules}.",
    "The game is over (undo, story, new, save FILE, quit) > ": "Ván đã hết (undo, story, new, save TỆP, quit) > ",
    "{seat} waits; Enter lets it go on > ": "{seat} đang chờ; Enter để chơi tiếp > ",
    "This game is not saved: save FILE keeps it. {line} once more drops it.": (
        "Ván này chưa lưu: save TỆP để lưu. Gõ {line} lần nữa để bỏ."
    ),
    "I do not know {line!r}: type a move such as 3A or 2C, or help.": (
        "Không hiểu {line!r}: hãy gõ một nước như 3A hoặc 2C, hoặc help."
    ),
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
    "Final margin of {seat} with each move, if all play their best ({how}):": (
        "Số điểm {seat} hơn ở cuối ván với mỗi nước, nếu ai cũng đi tốt nhất ({how}):"
    ),
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
    HELP: """\
Một nước là số của ô, đếm từ bên trái người đi, và một chiều: 3A rải ô 3 ngược
chiều kim đồng hồ, 3C theo chiều kim đồng hồ.
  moves      các nước bạn đi được
  hint       hỏi máy mạnh nên đi nước nào, và mỗi nước được bao nhiêu
  story      kể lại từng bước của nước vừa đi
  board      vẽ lại bàn cờ
  legend     giải thích các ký hiệu trên bàn
  undo       đi lại nước vừa rồi của bạn và các nước đáp
  redo       làm lại nước đã bỏ
  resign     xin thua
  new        ván mới
  save TỆP   lưu ván thành biên bản
  load TỆP   chơi tiếp ván trong biên bản (load TỆP 2: ván thứ hai trong tệp)
  help       hiện trang này
  quit       thoát (hoặc Ctrl-D)""",
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
