"""The text of game records: its escapes, and a reader that says where an error is."""

import re

from oanquan_env.engine.notation import NotationError

QUOTE, BRACE = '"', "}"
_ESCAPES = {"n": "\n", "r": "\r", "\\": "\\", QUOTE: QUOTE, BRACE: BRACE}
_BLANK = re.compile(r"[\s\ufeff]*")  # joined files have a byte order mark within


def escaped(text: str, closing: str) -> str:
    """A text for quotes or for a comment, which `closing` would close."""
    text = text.replace("\\", "\\\\").replace(closing, f"\\{closing}").replace("\r", "\\r")
    return text.replace("\n", "\\n") if closing == QUOTE else text  # a comment may run over lines


class Reader:
    """A text and a place in it. CRLF and CR are read as LF."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.place = 0

    def at_end(self) -> bool:
        """Skip blanks; whether nothing follows."""
        match = _BLANK.match(self.text, self.place)
        self.place = match.end() if match else self.place
        return self.place == len(self.text)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The next match of `pattern`, blanks skipped; the reader goes behind it."""
        self.at_end()
        match = pattern.match(self.text, self.place)
        if match:
            self.place = match.end()
        return match

    def error(self, reason: str, place: int | None = None) -> NotationError:
        """An error at `place`, or where the reader is."""
        place = self.place if place is None else place
        line, column = self.text.count("\n", 0, place) + 1, place - self.text.rfind("\n", 0, place)
        return NotationError(reason, line=line, column=column)

    def unescaped(self, text: str, place: int) -> str:
        """`text`, which begins at `place`, with its backslashes resolved."""

        def meant(match: re.Match[str]) -> str:
            if match[1] not in _ESCAPES:
                raise self.error(f"unknown escape {match[0]!r}", place + match.start())
            return _ESCAPES[match[1]]

        return re.sub(r"\\(.)", meant, text, flags=re.DOTALL)
