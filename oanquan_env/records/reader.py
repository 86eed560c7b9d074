"""Read the text of game records: escapes, and a reader that reports the line and column of errors."""

import re

from oanquan_env.engine.notation import NotationError

QUOTE, BRACE = '"', "}"
_ESCAPES = {"n": "\n", "r": "\r", "\\": "\\", QUOTE: QUOTE, BRACE: BRACE}
_BLANK = re.compile(r"[\s\ufeff]*")  # files that were joined may contain byte order marks


def escaped(text: str, closing: str) -> str:
    """Return a text escaped for use in quotes or in a comment; `closing` is the closing character."""
    text = text.replace("\\", "\\\\").replace(closing, f"\\{closing}").replace("\r", "\\r")
    return text.replace("\n", "\\n") if closing == QUOTE else text  # a comment may have several lines


class Reader:
    """A text, and the index of the next character to read. CRLF and CR are read as LF."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.place = 0

    def at_end(self) -> bool:
        """Skip whitespace and byte order marks; return whether the end of the text is reached."""
        match = _BLANK.match(self.text, self.place)
        self.place = match.end() if match else self.place
        return self.place == len(self.text)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Skip as in `at_end`; if `pattern` matches there, move past the match and return it, otherwise return None."""
        self.at_end()
        match = pattern.match(self.text, self.place)
        if match:
            self.place = match.end()
        return match

    def error(self, reason: str, place: int | None = None) -> NotationError:
        """Return an error at the index `place` of the text, by default at the current one."""
        place = self.place if place is None else place
        line, column = self.text.count("\n", 0, place) + 1, place - self.text.rfind("\n", 0, place)
        return NotationError(reason, line=line, column=column)

    def unescaped(self, text: str, place: int) -> str:
        """Return `text`, which begins at `place`, with its escapes resolved. Raise `NotationError` for unknown ones."""

        def meant(match: re.Match[str]) -> str:
            if match[1] not in _ESCAPES:
                raise self.error(f"unknown escape {match[0]!r}", place + match.start())
            return _ESCAPES[match[1]]

        return re.sub(r"\\(.)", meant, text, flags=re.DOTALL)
