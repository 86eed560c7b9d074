"""Errors and the words of the terminal in Vietnamese: words for the templates of `errors.Text`.

Texts without an entry stay English, such as messages of a library or of somebody else's player.
"""

import os
from typing import Literal, TypeAlias

from oanquan_env.errors import Text
from oanquan_env.render.terminal import CAPTURED, LAST, LEGEND, MOVER, ORIGIN, STONE

Language: TypeAlias = Literal["en", "vi"]

HELP = """\
A move is a field's number, counted from the mover's own left, and a direction: 3A sows field 3 anticlockwise,
3C clockwise.
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
    # places
    "line {line}, column {column}: {what}": "dòng {line}, cột {column}: {what}",
    "column {column}: {what}": "cột {column}: {what}",
    "round {number}: {what}": "ván {number}: {what}",
    "ply {number}: {what}": "nước {number}: {what}",
    # rules
    "{name} must be one of {choices}; got {value!r}": "{name} phải là một trong: {choices}; không phải {value!r}",
    "{name} must be a whole number from {low} to {high}; got {value!r}": (
        "{name} phải là số nguyên từ {low} đến {high}, không phải {value!r}"
    ),
    "{name} must be a whole number; got {value!r}": "{name} phải là số nguyên, không phải {value!r}",
    "{name} must be a whole number; got {value}": "{name} phải là số nguyên, không phải {value}",
    "{name} must be True or False; got {value!r}": "{name} phải là True hoặc False, không phải {value!r}",
    "rules are written in at most {most:,} characters; got {count:,}": "luật dài nhất {most} ký tự, không phải {count}",
    "unknown {kind} {name!r} (did you mean {close}?); known: {known}": (
        "không có {kind} {name!r} (có phải {close} không?); có: {known}"
    ),
    "unknown {kind} {name!r}; known: {known}": "không có {kind} {name!r}; có: {known}",
    "preset": "luật",
    "rules field": "mục luật",
    "cannot read {word!r} in rules {text!r}: expected field=value": (
        "không đọc được {word!r} trong luật {text!r}: cần mục=giá trị"
    ),
    "{field} is given twice in rules {text!r}": "{field} được nêu hai lần trong luật {text!r}",
    "mandarin_ahead=take_one needs players=2, not {players}: with more, relays can be endless": (
        "lấy một dân ở ô quan rồi đi tiếp chỉ dành cho hai người, không phải {players}: "
        "đông hơn thì có thể rải mãi không dừng"
    ),
    "stones=False needs end=squares_empty: with end=stones_captured the game is over after one move": (
        "không có quan thì phải chơi đến khi mọi ô quan trống: nếu không, ván hết ngay sau một nước"
    ),
    "stones=False needs mandarin_seeds_capturable=True: nothing on a mandarin square could be captured": (
        "không có quan thì phải được ăn dân trong ô quan: nếu không, ô quan không có gì để ăn"
    ),
    "mandarin_seeds_capturable=False needs end=stones_captured: with squares_empty, games hardly end": (
        "không được ăn dân trong ô quan thì ván phải hết khi mọi quan bị ăn : nếu không, ván hầu như không bao giờ hết"
    ),
    "players * (fields * seeds + mandarin_seeds) is {count} seeds; at most {most}": (
        "cả bàn có {count} dân; nhiều nhất là {most}"
    ),
    "stones=False needs mandarin_seeds >= 1: nothing would lie on the mandarin squares": (
        "không có quan thì ô quan phải có dân"
    ),
    "match play needs players=2, not {players}": "trận đấu chỉ dành cho hai người, không phải {players}",
    "fields_to_lose must be at most fields={fields}; got {value}": (
        "fields_to_lose nhiều nhất là số ô mỗi bên, {fields}, không phải {value}"
    ),
    "cannot read {word} in match rules; known: {known}": "không đọc được {word} trong luật trận đấu; có: {known}",
    "{field} is given twice in match rules {text}": "{field} được nêu hai lần trong luật trận đấu {text}",
    # moves and positions
    "a move is a field's number from the mover's left and A (anticlockwise) or C (clockwise), such as 5A; got {text}": (
        "một nước là số của ô, đếm từ bên trái người đi, rồi A (ngược chiều kim đồng hồ) hoặc C (theo chiều kim đồng "
        "hồ), như 5A; không phải {text}"
    ),
    "{seat} cannot play {move}; {why}": "{seat} không đi được {move}; {why}",
    "legal: {moves}": "đi được: {moves}",
    "the game is over ({why})": "ván đã hết ({why})",
    "a position has 4 words (squares, scores, mover, ply), not {count}": (
        "một thế cờ gồm bốn phần (các ô, điểm, người đi, số nước đã đi), không phải {count}"
    ),
    "expected {count} {what} with {separator!r} between, got {got}": (
        "cần {count} {what} cách nhau bằng {separator!r}, không phải {got}"
    ),
    "sides": "bên",
    "scores": "điểm",
    "mover": "người đi",
    "ply": "số nước đã đi",
    "squares on side {side}": "ô ở bên thứ {side}",
    "{name} must be a count of seeds, with * for a stone; got {value}": (
        "{name} phải là số dân, thêm * nếu có quan; không phải {value}"
    ),
    "{name} must be whole points; got {value}": "{name} phải là số nguyên, không phải {value}",
    "{what} must be {low} to {high}, got {values}": "{what} phải từ {low} đến {high}, không phải {values}",
    "the seeds": "số dân",
    "the stones": "số quan",
    "the scores": "điểm",
    "field {field} of {seat}": "ô {field} của {seat}",
    "the mandarin square after {seat}": "ô quan cạnh ô cuối của {seat}",
    "the mover": "người đi",
    "the ply": "số nước đã đi",
    "score {number}": "điểm thứ {number}",
    "South": "Nam",
    "East": "Đông",
    "North": "Bắc",
    "West": "Tây",
    "{count} seeds are more than {most}": "{count} dân là quá nhiều: nhiều nhất {most}",
    "seeds, stones and scores make {points} points, not the {total} of the rules": (
        "dân, quan và điểm cộng lại được {points}, không phải {total} như luật"
    ),
    "the row of the mover, player {player}, is empty: not ready to move": (
        "hàng của người đi (số {player}) không có dân nên chưa đi được"
    ),
    # records
    "the file is empty": "tệp trống",
    "there is no game {number}": "không có ván {number}",
    "there is no game {number}: {path} holds {count}": "không có ván {number}: {path} có {count} ván",
    "{path} holds {count} games: load {path} 1 takes the first": "{path} có {count} ván: load {path} 1 mở ván đầu",
    "type load and the name of a file": "hãy gõ load và tên tệp",
    "it holds {count} games": "tệp có {count} ván",
    "it is a round of a match, in which fields are sold": "đây là một ván trong trận đấu có bán ruộng",
    "the file is not UTF-8 text: byte {number} cannot be read": (
        "tệp không phải văn bản UTF-8: không đọc được byte {number}"
    ),
    "unknown escape {text!r}": "không hiểu {text!r} sau dấu gạch chéo ngược",
    "a record must have the header [{name} …]": "biên bản phải có dòng [{name} …] ở đầu",
    'a header is [Name "value"]': 'một dòng đầu có dạng [Tên "giá trị"]',
    "the header {name} comes twice": "dòng đầu {name} có hai lần",
    "the record ends without its result ({sign} for an unfinished game)": (
        "biên bản thiếu kết quả ở cuối ({sign} nếu ván chưa xong)"
    ),
    "expected the number {number}. here, or the result": "ở đây cần số {number}. hoặc kết quả",
    "expected a move here": "ở đây cần một nước đi",
    "the moves end with another result than the header's {result}": (
        "kết quả sau các nước đi khác với kết quả {result} ở đầu"
    ),
    "Result is {result}, but the moves lead to {right}": "Result là {result}, nhưng các nước đi dẫn đến {right}",
    "the moves lead to the termination {right}, which the headers do not say": (
        "các nước đi dẫn đến cách hết ván {right}, nhưng các dòng đầu không ghi như vậy"
    ),
    "no rounds to replay": "không có ván nào",
    "the match was over after round {number}": "trận đấu đã xong sau ván {number}",
    "{name} is {value}, but should be {right}": "{name} là {value}, nhưng phải là {right}",
    "move {number} comes after the end of the round": "nước {number} đi sau khi ván đã hết",
    "move {number}, {move}, is not legal; {why}": "nước {number}, {move}, không đi được; {why}",
    "move {number}, {move}: {what}": "nước {number}, {move}: {what}",
    "the moves do not finish the round": "các nước đi chưa kết thúc ván",
    # requests
    "it is not your turn": "chưa đến lượt bạn",
    "the game is over": "ván đã hết",
    "there is no move of yours to take back": "bạn không có nước nào để đi lại",
    "there is no move to play again": "không có nước nào để làm lại",
    "there is no move {number!r}": "không có nước {number!r}",
    "there is no puzzle {level!r} {number!r}": "không có câu đố {level!r} {number!r}",
    "there is no picture {kind!r}": "không có phim {kind!r}",
    "there is no next round": "không có ván tiếp theo",
    "starter must be 0 to {high}; got {value!r}": "người đi trước phải từ 0 đến {high}, không phải {value!r}",
    "unknown request {name!r}": "không có yêu cầu {name!r}",
    "this game is not kept any more": "ván này không còn được giữ",
    # players
    "unknown player {name} (did you mean {close}?); players are:\n{known}": (
        "không có máy {name} (có phải {close} không?)"
    ),
    "unknown player {name}; players are:\n{known}": "không có máy {name}",
    "unknown player {name!r}: without `agents` of the project's clone only {names} exist ({why})": (
        "không có máy {name!r}; ở đây chỉ có {names}"
    ),
    "it has {count} players, this one {got}": "ván này cần {count} người, không phải {got}",
    "search is made for two players, not {players}": "máy này chỉ chơi hai người, không phải {players}",
    # the terminal
    "human": "người",
    "You can play {moves}.": "Bạn đi được {moves}.",
    "No move has been played yet.": "Chưa có nước nào.",
    "Type a move such as 3A or 2C, or help; legend explains the board.": (
        "Gõ một nước như 3A hoặc 2C, hoặc help; legend giải thích bàn cờ."
    ),
    "{seats}. Rules: {rules}.": "{seats}. Luật: {rules}.",
    "{seat} > ": "{seat} > ",
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
    "{name} plays {move}.": "{name} đi {move}.",
    "The game is over.": "Ván đã hết.",
    "The player who gives hints is thinking…": "Đang tìm nước hay nhất…",
    "There is no hint: {why}.": "Không có gợi ý: {why}.",
    "There is no move of yours to take back.": "Bạn không có nước nào để đi lại.",
    "There is no move to play again.": "Không có nước nào để làm lại.",
    "{seat} resigns: {other} wins.": "{seat} xin thua: {other} thắng.",
    "{seat} resigns.": "{seat} xin thua.",
    "It cannot be loaded: {why}.": "Không mở được: {why}.",
    "It cannot be saved: {why}.": "Không lưu được: {why}.",
    "Save it where? Type save and the name of a file.": "Lưu vào đâu? Hãy gõ save và tên tệp.",
    "{path} is there already: choose another name.": "Đã có {path}: hãy chọn tên khác.",
    "Saved to {path}.": "Đã lưu vào {path}.",
    "{player}: try {best}.\nPoints that each move wins at once, answers not counted:\n{moves}": (
        "{player}: thử {best}.\nĐiểm mỗi nước ăn được ngay, chưa tính nước đáp:\n{moves}"
    ),
    "{player}: try {best}.\nFinal margin of {seat} with each move, if all play their best ({how}):\n{moves}": (
        "{player}: thử {best}.\nSố điểm {seat} hơn ở cuối ván với mỗi nước, nếu cùng đi tốt nhất ({how}):\n{moves}"
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
Ô được đánh số từ bên trái của mỗi người. A rải ngược chiều kim đồng hồ, C theo chiều kim đồng hồ.""",
    HELP: """\
Một nước là số của ô, đếm từ bên trái người đi, và một chiều: 3A rải ô 3 ngược chiều kim đồng hồ,
3C theo chiều kim đồng hồ.
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
"""Template, or word that is a part of one -> Vietnamese."""


def in_vietnamese(text: object) -> object:
    """A sentence of an error, or a part of one, in Vietnamese; what has no entry stays as it is."""
    if isinstance(text, Text):
        words = MESSAGES.get(text.template, text.template)
        return words.format(**{name: in_vietnamese(part) for name, part in text.parts.items()})
    return MESSAGES.get(text, text) if isinstance(text, str) else text


def in_language(text: str, language: Language) -> str:
    """The text in that language."""
    return str(in_vietnamese(text)) if language == "vi" else text


def language_of_system() -> Language:
    """Vietnamese where the environment asks for it, as by LANG=vi_VN.UTF-8; else English."""
    asked = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "vi" if next(filter(None, asked), "").startswith("vi") else "en"
