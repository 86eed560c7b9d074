"""A game in the terminal: persons type moves and commands, agents answer."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oanquan_env import render
from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.engine.core import RunawayGameError
from oanquan_env.engine.notation import Move, NotationError, names, seat_name
from oanquan_env.errors import UsageError
from oanquan_env.files import write_atomically
from oanquan_env.play import vietnamese
from oanquan_env.play.game import Game
from oanquan_env.play.hints import hint
from oanquan_env.play.levels import LEVELS, first_playing
from oanquan_env.play.screen import drawn, edit_lines, thinking, wrapped
from oanquan_env.play.vietnamese_texts import HELP, Language, in_language
from oanquan_env.players import Policy, as_policy
from oanquan_env.playing import choose_move
from oanquan_env.records.games import OWNERSHIP_HEADERS, read_records


class _ToldError(UsageError):
    """An error in the language of the game."""


class TerminalGame:
    """One game from a board on, between persons and agents, over standard input and output.

    `players` has a name for each seat: `PERSON`, a level or an agent's. `hints` is the agent who answers `hint`, the
    strongest that is installed if left out; all chance of the agents comes from `rng`. Raises `ValueError` for a name
    that no agent has. The method `_do_WORD` carries out the command WORD.
    """

    def __init__(
        self, board: Board, players: Sequence[str], hints: str | None, rng: np.random.Generator, language: Language
    ) -> None:
        self.players, self._hints, self._rng = players, hints, rng
        self._language: Language = language
        self._begin(board)
        self._asked = ""  # a line that would drop the game, and is done if it is typed again
        self._waiting = False  # an agent was interrupted, and waits for the person's next line

    def _begin(self, board: Board, *, known: bool = False) -> None:
        """Go on with another game, with the same agents if they are `known` to play its rules.

        Raises ValueError or ImportError, with nothing changed, if an agent does not play them.
        """
        if board.rules.players != (here := len(self.players)):
            self._fail("it has {players} players, this one {here}", players=board.rules.players, here=here)
        self.game: Game = Game(board, self.players, self.game.seats if known else None)
        if not known:
            self._adviser = None if self._hints is None else as_policy(self._hints, board.rules)
        self._files: set[Path] = set()  # that the game was saved to
        self._kept = board.history  # what is in a file, or need not be

    @property
    def board(self) -> Board:
        """The board of the game."""
        return self.game.board

    def run(self) -> None:
        """Play until somebody types `quit` or the input ends."""
        edit_lines()
        self._say("Type a move such as 3A or 2C, or help; legend explains the board.")
        self._introduce()
        while True:
            try:
                agent = None if self._waiting else self.game.player
                if agent is not None:
                    self._answer(agent)
                    continue
                line = input(self._prompt()).strip()
                if line.lower() in ("quit", "exit"):
                    return
                self._waiting = False
                if line:
                    self._run_command(line)
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                self._waiting = True
                if self._may_drop("Ctrl-C", "\n"):
                    raise

    # ---- output ----------------------------------------------------------------------------------------------------

    def _words(self, text: str, **parts: object) -> str:
        return in_language(text, self._language, **parts)

    def _say(self, text: str, **parts: object) -> None:
        """Print a sentence in the language of the game, with its parts."""
        print(wrapped(self._words(text, **parts)))

    def _fail(self, text: str, **parts: object) -> None:
        raise _ToldError(self._words(text, **parts))

    def _reason(self, error: Exception) -> str:
        """The fault of a file or an agent, in words."""
        if self._language == "en" or isinstance(error, _ToldError):
            return str(error)
        if isinstance(error, NotationError):
            return f"biên bản sai ở dòng {error.line or 1}, cột {error.column}"
        return "không có tệp ấy" if isinstance(error, FileNotFoundError) else "không dùng được tệp hoặc máy này"

    def _seat(self, seat: int) -> str:
        return self._words(seat_name(self.board.rules, seat))

    def _introduce(self) -> None:
        """Say who plays which rules, and draw the board."""
        seats = ", ".join(f"{self._seat(seat)}: {self._words(name)}" for seat, name in enumerate(self.players))
        self._say("{seats}. Rules: {rules}.", seats=seats, rules=self.board.rules)
        self._do_board()

    def _do_board(self, _: str = "") -> None:
        print(f"\n{drawn(self.board, self._language)}\n")

    def _do_help(self, _: str) -> None:
        self._say(HELP)

    def _do_legend(self, _: str) -> None:
        self._say(render.LEGEND)

    def _do_moves(self, _: str) -> None:
        moves = self.board.legal_moves
        self._say("You can play {moves}." if moves else "You can play none.", moves=names(moves))

    def _do_story(self, _: str) -> None:
        trace = self.board.last_trace
        if trace is None:
            self._say("No move has been played yet.")
        else:
            print(wrapped("\n".join(trace.lines() if self._language == "en" else vietnamese.trace_lines(trace))))

    def _prompt(self) -> str:
        text = "{seat} waits; Enter lets it go on > " if self.game.player else "{seat} > "
        if self.game.over:
            text = "The game is over (undo, story, new, save FILE, quit) > "
        return self._words(text, seat=self._seat(self.board.mover))

    def _may_drop(self, line: str, begin: str = "") -> bool:
        """Whether the game can be dropped: it is in a file, or the person was warned and asks again."""
        if self.board.history in ([], self._kept) or self._asked == line:
            return True
        self._asked = line
        print(end=begin)
        self._say("This game is not saved: save FILE keeps it. {line} once more drops it.", line=line)
        return False

    # ---- moves -----------------------------------------------------------------------------------------------------

    def _run_command(self, line: str) -> None:
        word, *rest = line.split(maxsplit=1)
        word, detail = word.lower(), "".join(rest)
        if f"{word} {detail}".strip() != self._asked:
            self._asked = ""
        getattr(self, f"_do_{word}", lambda _: self._type_move(line))(detail)

    def _type_move(self, line: str) -> None:
        try:
            move = Move.parse(line)
        except NotationError:
            self._say("I do not know {line!r}: type a move such as 3A or 2C, or help.", line=line)
            return
        if self.game.resigned is not None:
            self._say("The game is over; undo takes the resignation back.")
        elif self.game.player is not None:
            self._say("It is {seat}'s turn.", seat=self._seat(self.board.mover))
        else:
            self._play(move)

    def _answer(self, agent: Policy) -> None:
        name = f"{self._seat(self.board.mover)} ({self._words(self.players[self.board.mover])})"
        with thinking(self._words("{name} is thinking…", name=name)):
            move = choose_move(agent, self.board, self._rng)
        self._play(move, self._words("{name} plays {move}.\n", name=name, move=move))

    def _play(self, move: Move, words: str = "") -> None:
        try:
            self.game.push(move)
        except (IllegalMoveError, RunawayGameError) as error:
            illegal = isinstance(error, IllegalMoveError)
            told = "{move} cannot be played; moves lists those that can." if illegal else "{move} would never end."
            self._say(told if self._language == "vi" else "{error}.", move=move, error=error)
        else:
            print(end=words)
            self._do_board()
            self._print_ending()

    def _print_ending(self) -> None:
        """Where the final points come from, if the last move ended the game."""
        trace = self.board.last_trace
        if trace is not None and trace.termination:
            lines = trace.ending() if self._language == "en" else vietnamese.ending(trace)
            print(wrapped("\n".join(lines)), end="\n\n")

    def _do_hint(self, _: str) -> None:
        if self.game.over:
            self._say("The game is over.")
            return
        with thinking(self._words("The player who gives hints is thinking…")):
            try:
                self._adviser = self._adviser or first_playing(LEVELS["perfect"].players, self.board.rules)[1]
                advice = hint(self._hints or "perfect", self._adviser, self.board, self._rng)
                told = advice.text(self.board, self._language)
            except ValueError as error:  # the file of a net is damaged
                told = self._words("There is no hint: {why}.", why=self._reason(error))
        print(wrapped(told))

    def _do_undo(self, _: str) -> None:
        if self.game.undo():
            self._do_board()
        else:
            self._say("There is no move of yours to take back.")

    def _do_redo(self, _: str) -> None:
        if self.game.redo():
            self._do_board()
            self._print_ending()
        else:
            self._say("There is no move to play again.")

    def _do_resign(self, _: str) -> None:
        if self.game.over:
            self._say("The game is over.")
            return
        loser = self.game.resign()
        text = "{seat} resigns: {other} wins." if self.board.rules.players == 2 else "{seat} resigns."
        self._say(text, seat=self._seat(loser), other=self._seat(1 - loser))

    # ---- other games -----------------------------------------------------------------------------------------------

    def _do_new(self, _: str) -> None:
        if self.game.over or self._may_drop("new"):
            self._begin(self.board.start(), known=True)
            self._introduce()

    def _do_save(self, name: str) -> None:
        """Write the game to a new file, or to one that it wrote before."""
        path, text = Path(name).expanduser(), str(self.game.record())
        if not name:
            self._say("Save it where? Type save and the name of a file.")
            return
        try:
            if path.resolve() in self._files:
                write_atomically(path, text.encode())
            else:
                with path.open("x", encoding="utf-8", newline="\n") as file:
                    file.write(text)
        except FileExistsError:
            self._say("{path} is there already: choose another name.", path=path)
        except (OSError, ValueError) as error:
            self._say("It cannot be saved: {why}.", why=self._reason(error))
        else:
            self._files.add(path.resolve())
            self._kept = self.board.history
            self._say("Saved to {path}.", path=path)

    def _do_load(self, name: str) -> None:
        if not self.game.over and not self._may_drop(f"load {name}".strip()):
            return
        try:
            board = self._read(name)
            self._begin(board, known=board.rules == self.board.rules)
        except (OSError, ValueError, ImportError) as error:
            self._say("It cannot be loaded: {why}.", why=self._reason(error))
        else:
            self._introduce()

    def _read(self, name: str) -> Board:
        """The game in a file; `FILE 2` names the second of several."""
        if not name:
            self._fail("type load and the name of a file")
        path, number = Path(name).expanduser(), None
        words = name.rsplit(maxsplit=1)
        if len(words) == 2 and words[1].isdecimal() and not path.exists():
            path, number = Path(words[0]).expanduser(), int(words[1])
        records = read_records(path)
        if number is None and len(records) != 1:
            self._fail("{path} holds {count} games: load {path} 1 takes the first", path=path, count=len(records))
        number = 1 if number is None else number
        if not 1 <= number <= len(records):
            self._fail("there is no game {number}: {path} holds {count}", number=number, path=path, count=len(records))
        record = records[number - 1]
        if any(header in record.headers for header in OWNERSHIP_HEADERS):
            self._fail("it is a round of a match, in which fields are sold")
        return record.board()
