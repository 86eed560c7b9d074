"""What is wrong with rules, positions, records and requests, in Vietnamese.

The English text of an error is looked up here, with `{…}` for the parts that vary; those are translated in turn. What
is not found stays English: a message of a library, or of a player that somebody else wrote.
"""

from __future__ import annotations

import re
from functools import cache

MESSAGES = {
    # places
    "line {line}, column {column}: {what}": "dòng {line}, cột {column}: {what}",
    "column {column}: {what}": "cột {column}: {what}",
    "round {number}: {what}": "ván {number}: {what}",
    "ply {number}: {what}": "nước {number}: {what}",
    # rules
    "{name} must be one of {choices}; got {value}": "{name} phải là một trong: {choices}; không phải {value}",
    "{name} must be a whole number from {low} to {high}; got {value}": (
        "{name} phải là số nguyên từ {low} đến {high}, không phải {value}"
    ),
    "{name} must be a whole number; got {value}": "{name} phải là số nguyên, không phải {value}",
    "{name} must be True or False; got {value}": "{name} phải là True hoặc False, không phải {value}",
    "rules are written in at most {most} characters; got {count}": "luật dài nhất {most} ký tự, không phải {count}",
    "unknown {kind} {name} (did you mean {close}?); known: {known}": (
        "không có {kind} {name} (có phải {close} không?); có: {known}"
    ),
    "unknown {kind} {name}; known: {known}": "không có {kind} {name}; có: {known}",
    "preset": "luật",
    "rules field": "mục luật",
    "cannot read {word} in rules {text}: expected field=value": (
        "không đọc được {word} trong luật {text}: cần mục=giá trị"
    ),
    "{field} is given twice in rules {text}": "{field} được nêu hai lần trong luật {text}",
    "mandarin_ahead=take_one needs players=2, not {players}: with more, relays can be endless": (
        "lấy một dân ở ô quan rồi đi tiếp (mandarin_ahead=take_one) chỉ dành cho hai người, không phải {players}: "
        "đông hơn thì có thể rải mãi không dừng"
    ),
    "stones=False needs end=squares_empty: with end=stones_captured the game is over after one move": (
        "không có quan (stones=False) thì phải chơi đến khi mọi ô quan trống (end=squares_empty): nếu không, ván hết "
        "ngay sau một nước"
    ),
    "stones=False needs mandarin_seeds_capturable=True: nothing on a mandarin square could be captured": (
        "không có quan (stones=False) thì phải được ăn dân trong ô quan (mandarin_seeds_capturable=True): nếu không, "
        "ô quan không có gì để ăn"
    ),
    "mandarin_seeds_capturable=False needs end=stones_captured: with squares_empty games hardly ever end": (
        "không được ăn dân trong ô quan (mandarin_seeds_capturable=False) thì ván phải hết khi mọi quan bị ăn "
        "(end=stones_captured): nếu không, ván hầu như không bao giờ hết"
    ),
    "players * (fields * seeds + mandarin_seeds) is {count} seeds; at most {most}": (
        "cả bàn có {count} dân; nhiều nhất là {most}"
    ),
    "stones=False needs mandarin_seeds >= 1: nothing would lie on the mandarin squares": (
        "không có quan (stones=False) thì ô quan phải có dân (mandarin_seeds >= 1)"
    ),
    "match play needs players=2, not {players}": "trận đấu chỉ dành cho hai người, không phải {players}",
    "fields_to_lose must be at most fields={fields}; got {value}": (
        "fields_to_lose nhiều nhất là số ô mỗi bên, {fields}, không phải {value}"
    ),
    "cannot read {word} in match rules; known: {known}": "không đọc được {word} trong luật trận đấu; có: {known}",
    "{name} is given twice in match rules {text}": "{name} được nêu hai lần trong luật trận đấu {text}",
    # moves and positions
    "a move is a field's number from the mover's left and A (anticlockwise) or C (clockwise), such as 5A; got {text}": (
        "một nước là số của ô, đếm từ bên trái người đi, rồi A (ngược chiều kim đồng hồ) hoặc C (theo chiều kim đồng "
        "hồ), như 5A; không phải {text}"
    ),
    "{seat} cannot play {move}; {why}": "{seat} không đi được {move}; {why}",
    "legal: {moves}": "đi được: {moves}",
    "the game is over ({why})": "ván đã hết ({why})",
    "a position has {count} words ({names}), not {got}": "một thế gồm {count} phần ({names}), không phải {got}",
    "squares, scores, mover, ply": "các ô, điểm, người đi, số nước đã đi",
    "expected {count} {what} with {sign} between, got {got}": (
        "cần {count} {what} cách nhau bằng {sign}, không phải {got}"
    ),
    "sides": "bên",
    "scores": "điểm",
    "mover": "người đi",
    "ply": "số nước đã đi",
    "squares on side {side}": "ô ở bên thứ {side}",
    "{name} must be a count of seeds, with * for a stone; got {text}": (
        "{name} phải là số dân, thêm * nếu có quan; không phải {text}"
    ),
    "{name} must be whole points; got {text}": "{name} phải là số nguyên, không phải {text}",
    "seeds must be {low} to {high}, got {values}": "số dân phải từ {low} đến {high}, không phải {values}",
    "stones must be {low} to {high}, got {values}": "số quan phải từ {low} đến {high}, không phải {values}",
    "{name} must be {low} to {high}, got {values}": "{name} phải từ {low} đến {high}, không phải {values}",
    "field {field} of {seat}": "ô {field} của {seat}",
    "the mandarin square after {seat}": "ô quan bên phải {seat}",
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
    "it holds {count} games": "tệp có {count} ván",
    "it is a round of a match, in which fields are sold": "đây là một ván trong trận đấu có bán ruộng",
    "the file is not UTF-8 text: byte {number} cannot be read": (
        "tệp không phải văn bản UTF-8: không đọc được byte {number}"
    ),
    "unknown escape {text}": "không hiểu {text} sau dấu gạch chéo ngược",
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
    "there is no move {number}": "không có nước {number}",
    "there is no puzzle {name}": "không có câu đố {name}",
    "there is no picture {name}": "không có phim {name}",
    "there is no next round": "không có ván tiếp theo",
    "starter must be {low} to {high}; got {value}": "người đi trước phải từ {low} đến {high}, không phải {value}",
    "unknown request {name}": "không có yêu cầu {name}",
    "this game is not kept any more": "ván này không còn được giữ",
    # players
    "unknown player {name} (did you mean {close}?); players are:{usage}": (
        "không có máy {name} (có phải {close} không?)"
    ),
    "unknown player {name}; players are:{usage}": "không có máy {name}",
    "unknown player {name}: without {what} only {names} exist ({why})": "không có máy {name}; ở đây chỉ có {names}",
    "it has {count} players, this one {got}": "ván này cần {count} người, không phải {got}",
    "this needs {package}: {command}": "cần cài {package}: {command}",
    "search is made for two players, not {players}": "máy này chỉ chơi hai người, không phải {players}",
}
"""English text -> Vietnamese text. Of several that fit, the first is taken."""

_PART = re.compile(r"\{(\w+)\}")


def in_vietnamese(text: str) -> str:
    """The Vietnamese text of an error, or `text` itself where none is known."""
    for english, vietnamese in MESSAGES.items():
        found = _pattern(english).fullmatch(text)
        if found:
            return vietnamese.format(**{name: in_vietnamese(part) for name, part in found.groupdict().items()})
    return text


def in_both(text: str) -> dict[str, str]:
    """The text of an error in the languages of the page."""
    return {"en": text, "vi": in_vietnamese(text)}


@cache
def _pattern(english: str) -> re.Pattern[str]:
    pieces = _PART.split(english)
    parts = [f"(?P<{piece}>.+?)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces)]
    return re.compile("".join(parts), re.DOTALL)
