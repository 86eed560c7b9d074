"""Play a game in the terminal: people type moves and commands, and players reply."""

import contextlib
import json
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.random import Generator

from oanquan_env import render
from oanquan_env.board import Board
from oanquan_env.engine import notation
from oanquan_env.engine.notation import Language, Move, NotationError, capital
from oanquan_env.engine.rules import Rules
from oanquan_env.play.levels import LEVELS, PERSON, first_playing, player_of
from oanquan_env.players import Policy
from oanquan_env.players.book import UNKNOWN, BookPolicy
from oanquan_env.render.drawable import last_line, status_line
from oanquan_env.rollouts import choose_move
from oanquan_env.text import rules_in_words

if TYPE_CHECKING:
    from oanquan_env.players.search_player import Analysis  # imports Numba

PREFERENCE = 3.0
"""The hint is the book's proved move unless the search values another move higher by more than this many points."""
NAMES = dict(zip(LEVELS, ("Bống", "Tí", "Mai", "Lan", "Trạng"), strict=True))
"""Vietnamese names of the levels."""
WORDS = json.loads(Path(__file__).with_suffix(".json").read_bytes())
"""The sentences of the game by language; `notation.WORDS` has the sentences about moves."""


class TerminalGame:
    """A game on standard input and output that begins at `board`. People and programs may take any seat.

    `players` has a name for each seat: `PERSON`, a level, or the name of a player. All randomness comes from `rng`.
    Raises `ValueError` for an unknown name.
    """

    def __init__(self, board: Board, players: Sequence[str], rng: Generator, language: Language) -> None:
        self.board, self._rng, self._language = board, rng, language
        policies = {name: player_of(name, board.rules) for name in dict.fromkeys(players)}
        self._players = [policies[name] for name in players]  # None for a person
        self._seats = seat_names(players, language)
        self._plates = self._seats if len(players) == 2 else short_names(players, language)  # more leave no room
        self._introduced = ", ".join(map(self._introduce, self._seats, players))
        self._commands: dict[str, Callable[[], None]] = {
            "help": lambda: self._say("help"),
            "rules": self._tell_rules,
            "hint": self._hint,
            "moves": lambda: self._say("moves", moves=notation.names(self.board.legal_moves)),
            "story": self._tell,
            "undo": self._undo,
        }

    def run(self) -> None:
        """Play games from the first position until a person wants no other one, types `quit`, or the input ends."""
        edit_lines()
        self._say("begin")
        self._say("players", players=self._introduced, rules=rules_title(self.board.rules, self._language))
        start = self.board.copy()
        while self._play_game() and plain(self._answered("again")).startswith(self._words("yes")):
            self.board = start.copy()

    def _play_game(self) -> bool:
        """Play to the end of the game; return False if a person leaves it."""
        self._draw()
        while self.board.outcome is None:
            player = self._players[self.board.mover]
            move = self._ask() if player is None else self._answer(player)
            if move is None:
                return False
            self.board.push(move)
            self._draw()
        if trace := self.board.last_trace:
            show("\n".join(trace.ending(self._language, self._seats)))
        return True

    def _introduce(self, seat: str, player: str) -> str:
        strength = WORDS[self._language]["levels"].get(player, player)
        return capital(seat) if player == PERSON else f"{capital(seat)} · {strength}"

    def _answered(self, key: str) -> str:
        """Ask a question; return the answer, or an empty text if the input ends."""
        try:
            return input(self._words(key)).strip()
        except EOFError:
            print()
            return ""

    def _words(self, key: str, **parts: object) -> str:
        words = WORDS[self._language][key]
        return ("\n".join(words) if key == "help" else str(words)).format(**parts)

    def _tell_rules(self) -> None:
        names = notation.WORDS[self._language]["seats"][str(len(self._seats))]  # the rules speak of South and North
        pairs = zip(names, self._seats, strict=True)
        if others := [f"{capital(name)}: {seat}." for name, seat in pairs if not seat.endswith(name)]:
            show(" ".join(others) + "\n")
        show(rules_in_words(self.board.rules, self._language))

    def _say(self, key: str, **parts: object) -> None:
        show(capital(self._words(key, **parts)))

    @property
    def _mover(self) -> str:
        return self._seats[self.board.mover]

    def _draw(self) -> None:
        last, trace = self.board.last_mark, self.board.last_trace
        played = last_line(self.board, last, self._language, self._seats)
        if trace and trace.captured:
            played += f" (+{trace.captured})"
        notes = (played, status_line(self.board, self._language, self._seats))
        picture = render.text(
            self.board,
            last=last,
            columns=width(),
            language=self._language,
            seats=self._plates,
            note=" ".join(f"{capital(note)}." for note in notes if note),
        )
        print(f"\n{render.coloured(picture) if has_colour() else picture}\n")

    def _ask(self) -> Move | None:
        """Carry out the commands that a person types; return the first legal move, or None to end the game."""
        while True:
            try:
                line = input(f"{capital(self._mover)} > ").strip()
            except EOFError:
                print()
                return None
            typed = plain(line).replace(" ", "")
            word = WORDS[self._language]["commands"].get(typed, typed)
            if word == "quit":
                return None
            if word in self._commands:
                self._commands[word]()
            elif line and (move := self._read(line)):
                return move

    def _read(self, line: str) -> Move | None:
        """Return the legal move that a person typed; otherwise say what would be one, and return None."""
        legal = self.board.legal_moves
        typed = "".join(line.split()).upper()
        try:
            move = Move.parse(typed[::-1] if typed[:1].isalpha() else typed)
        except NotationError:
            ways = [move for move in legal if str(move)[0] == typed]
            if ways:
                self._say("which_way", moves=self._words("or").join(map(str, ways)))
            else:
                self._say("unknown", line=line, moves=notation.names(legal))
            return None
        if move in legal:
            return move
        self._say("illegal", name=self._mover, move=move, moves=notation.names(legal))
        return None

    def _tell(self) -> None:
        trace = self.board.last_trace
        show("\n".join(trace.lines(self._language, self._seats)) if trace else self._words("none"))

    def _undo(self) -> None:
        """Take back all moves since a person last moved, including that move."""
        board = self.board.copy()
        while board.history:
            board.pop()
            if self._players[board.mover] is None:
                self.board = board
                self._draw()
                return
        self._say("none")

    def _answer(self, player: Policy) -> Move:
        print(capital(self._words("thinking", name=self._mover)), end="", flush=True)
        move = choose_move(player, self.board, self._rng)
        print(move)
        return move

    def _hint(self) -> None:
        """Show the best move and, for each legal move, the mover's final margin that the strongest search expects."""
        self._say("looking")
        (best, analysis), scores = advise(self.board), self.board.scores
        mine = scores.pop(self.board.mover)
        lead = mine - sum(scores) / len(scores)
        how = self._words(
            "proved" if analysis.proved else "seen_any_rules" if analysis.any_rules else "seen", depth=analysis.depth
        )
        over = self._words("over") if len(scores) > 1 else ""
        self._say("hint", best=best, name=self._mover, how=how, over=over)
        leads = {move: round(lead + value) for move, value in analysis.values.items()}
        show("  ".join(f"{move}\N{NO-BREAK SPACE}{ahead:+d}".replace("+0", "0") for move, ahead in leads.items()))


def advise(board: Board) -> "tuple[Move, Analysis]":
    """Return the best move of a running game, see `best_move`, and the strongest search's analysis of the board."""
    player = first_playing(LEVELS["perfect"].players, board.rules)[1]
    search: Any = player.fallback if isinstance(player, BookPolicy) else player  # all players of this level search
    analysis: Analysis = search.analyse(board)
    return best_move(player, analysis), analysis


def best_move(player: Policy, analysis: "Analysis") -> Move:
    """Return the book's move if the search rates it within `PREFERENCE` points of the best, else the best move."""
    action = player.known(analysis.board.positions)[0] if isinstance(player, BookPolicy) else UNKNOWN
    move = analysis.best if action == UNKNOWN else Move.from_action(action)
    return move if analysis.values[move] >= analysis.value - PREFERENCE else analysis.best


def seat_names(players: Sequence[str], language: Language) -> list[str]:
    """Return the names in sentences: the seats' names or, if one person plays, `you` or `bạn` and opponents' names."""
    names = short_names(players, language)
    if players.count(PERSON) != 1 or (len(players) > 2 and language == "en"):
        return names
    opponents = [NAMES.get(name, WORDS[language]["opponent"]) for name in players]
    if len(players) > 2:
        opponents = [f"{opponent} {seat}" for opponent, seat in zip(opponents, names, strict=True)]
    return [own if player == PERSON else name for player, own, name in zip(players, names, opponents, strict=True)]


def short_names(players: Sequence[str], language: Language) -> list[str]:
    """Return the seats' names, but `you` or `bạn` for the only person."""
    seats: list[str] = notation.WORDS[language]["seats"][str(len(players))]
    you = notation.YOU if language == "en" else "bạn"
    alone = players.count(PERSON) == 1
    return [you if alone and name == PERSON else seat for name, seat in zip(players, seats, strict=True)]


def rules_title(rules: Rules, language: Language) -> str:
    """Return the rules with the preset's name as the page shows it, such as `Short game seeds=4`."""
    preset, *changes = str(rules).split(" ")
    return " ".join([WORDS[language]["presets"][preset], *changes])


def plain(text: str) -> str:
    """Return the text in small letters and without Vietnamese accents, which not every keyboard has."""
    letters = unicodedata.normalize("NFD", text.lower().replace("đ", "d"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def language_of_system() -> Language:
    """Return `vi` if the locale is Vietnamese, for example with LANG=vi_VN.UTF-8; otherwise `en`."""
    locales = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "vi" if next(filter(None, locales), "").startswith("vi") else "en"


# ---- what the terminal can do ----------------------------------------------------------------------------------------


def edit_lines() -> None:
    """Let people edit their lines and recall earlier lines, if Python has readline."""
    if sys.stdin.isatty() and sys.stdout.isatty():  # otherwise readline may print control codes
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401


def width() -> int | None:
    """Return the number of columns of the terminal, or None if the output is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def has_colour() -> bool:
    """Return whether the terminal shows ANSI colours and the user wants them (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return False
    return "WT_SESSION" in os.environ if os.name == "nt" else os.environ.get("TERM", "dumb") != "dumb"


def show(text: str) -> None:
    """Print `text`, wrapped between words to the width of the terminal, with spaces instead of no-break spaces."""
    columns = width()
    for line in text.split("\n"):
        parts = textwrap.wrap(line, columns, break_long_words=False, break_on_hyphens=False) if columns else [line]
        print("\n".join(parts).replace("\N{NO-BREAK SPACE}", " "))
