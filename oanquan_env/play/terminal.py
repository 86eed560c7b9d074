"""A game in the terminal: persons type moves and commands, agents answer."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from numpy.random import Generator

from oanquan_env import render
from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.engine.notation import Move, NotationError, names, seat_name
from oanquan_env.errors import UsageError
from oanquan_env.files import write_atomically
from oanquan_env.play import vietnamese
from oanquan_env.play.hints import hint
from oanquan_env.play.levels import LEVELS, PERSON, first_playing, player_of
from oanquan_env.play.screen import drawn, edit_lines, thinking, wrapped
from oanquan_env.players import Policy, as_policy
from oanquan_env.playing import choose_move
from oanquan_env.records.continued import continued
from oanquan_env.records.games import OWNERSHIP_HEADERS, GameRecord, read_records


class _ToldError(UsageError):
    """An error in the language of the game."""


class TerminalGame:
    """One game from a board on, between persons and agents, over standard input and output.

    `players` has a name for each seat: `PERSON`, a level or an agent's. `hints` is the agent who answers `hint`, the
    strongest that is installed if left out; all chance of the agents comes from `rng`. Raises `ValueError` for a name
    that no agent has. The method `_do_WORD` carries out the command WORD.
    """

    def __init__(
        self, board: Board, players: Sequence[str], hints: str | None, rng: Generator, language: vietnamese.Language
    ) -> None:
        self.players, self._hints, self._rng, self._language = players, hints, rng, language
        self._begin(board)
        self._asked = ""  # a line that would drop the game, and is done if it is typed again
        self._waiting = False  # an agent was interrupted, and waits for the person's next line

    def _begin(self, board: Board, *, known: bool = False) -> None:
        """Go on with another game, its agents `known`; raises, with nothing changed, if one does not play its rules."""
        if board.rules.players != (here := len(self.players)):
            self._fail("it has {players} players, this one {here}", players=board.rules.players, here=here)
        if not known:
            agents = {name: player_of(name, board.rules) for name in dict.fromkeys(self.players)}
            self._adviser = None if self._hints is None else as_policy(self._hints, board.rules)
            self._seats = [agents[name] for name in self.players]  # None for a person
        self.board = board
        self._resigned: int | None = None
        self._opened: GameRecord | None = None  # the record that the game was read from
        self._undone: list[list[Move]] = []
        self._files: set[Path] = set()  # that the game was saved to
        self._kept = board.history  # what is in a file, or need not be

    @property
    def _over(self) -> bool:
        return self.board.outcome is not None or self._resigned is not None

    @property
    def _agent(self) -> Policy | None:
        return None if self._over else self._seats[self.board.mover]  # None for a person, too

    def run(self) -> None:
        """Play until somebody types `quit` or the input ends."""
        edit_lines()
        self._say("Type a move such as 3A, or help; legend explains the board.")
        self._introduce()
        while True:
            try:
                if self._agent is not None and not self._waiting:
                    self._answer(self._agent)
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

    def _words(self, text: str, **parts: object) -> str:
        return vietnamese.in_language(text, self._language, **parts)

    def _tell(self, lines: Iterable[str]) -> None:
        print(wrapped("\n".join(lines)))

    def _say(self, text: str, **parts: object) -> None:
        self._tell([self._words(text, **parts)])

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
        seats = ", ".join(f"{self._seat(seat)}: {self._words(name)}" for seat, name in enumerate(self.players))
        self._say("{seats}. Rules: {rules}.", seats=seats, rules=self.board.rules)
        self._do_board()

    def _prompt(self) -> str:
        text = "{seat} waits; Enter lets it go on > " if self._agent else "{seat} > "
        if self._over:
            text = "The game is over (undo, story, new, save FILE, quit) > "
        return self._words(text, seat=self._seat(self.board.mover))

    def _may_drop(self, line: str, begin: str = "") -> bool:
        """Whether the game is in a file, or the person was warned and asks again."""
        if self.board.history in ([], self._kept) or self._asked == line:
            return True
        self._asked = line
        print(end=begin)
        self._say("This game is not saved (save FILE). {line} once more drops it.", line=line)
        return False

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
            self._say("I do not know {line!r}: type a move such as 3A, or help.", line=line)
            return
        if self._resigned is not None:
            self._say("The game is over; undo takes the resignation back.")
        elif self._agent is not None:
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
            self.board.push(move)
        except IllegalMoveError as error:
            told = "{move} cannot be played; moves lists those that can."
            self._say(told if self._language == "vi" else "{error}.", move=move, error=error)
            return
        self._undone.clear()
        print(end=words)
        self._show()

    def _show(self) -> None:
        """The board, and where the final points come from, if the last move ended the game."""
        self._do_board()
        trace = self.board.last_trace
        if trace is not None and trace.termination:
            self._tell(trace.ending() if self._language == "en" else vietnamese.ending(trace))
            print()

    def _do_board(self, _: str = "") -> None:
        print(f"\n{drawn(self.board, self._language)}\n")

    def _do_help(self, _: str) -> None:
        self._tell([vietnamese.help_text(self._language)])

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
            self._tell(trace.lines() if self._language == "en" else vietnamese.trace_lines(trace))

    def _do_hint(self, _: str) -> None:
        if self._over:
            self._say("The game is over.")
            return
        with thinking(self._words("The player who gives hints is thinking…")):
            try:
                self._adviser = self._adviser or first_playing(LEVELS["perfect"].players, self.board.rules)[1]
                told = hint(self._hints or "perfect", self._adviser, self.board, self._rng, self._language)
            except ValueError as error:  # the file of a net is damaged
                told = self._words("There is no hint: {why}.", why=self._reason(error))
        self._tell([told])

    def _do_undo(self, _: str) -> None:
        history, seats = self.board.history, self._seats
        back = (back for back in range(1, len(history) + 1) if seats[(self.board.mover - back) % len(seats)] is None)
        count = 0 if self._resigned is not None else next(back, None)
        if count is None:
            self._say("There is no move of yours to take back.")
            return
        self._resigned = None
        if count:
            self._undone.append([self.board.pop() for _ in range(count)][::-1])
        self._do_board()

    def _do_redo(self, _: str) -> None:
        if self._resigned is not None or not self._undone:
            self._say("There is no move to play again.")
            return
        for move in self._undone.pop():
            self.board.push(move)
        self._show()

    def _do_resign(self, _: str) -> None:
        if self._over:
            self._say("The game is over.")
            return
        loser = self._resigned = self.board.mover
        text = "{seat} resigns: {other} wins." if self.board.rules.players == 2 else "{seat} resigns."
        self._say(text, seat=self._seat(loser), other=self._seat(1 - loser))

    def _do_new(self, _: str) -> None:
        if self._over or self._may_drop("new"):
            self._begin(self.board.start(), known=True)
            self._introduce()

    def _do_save(self, name: str) -> None:
        if not name:
            self._say("Save it where? Type save and the name of a file.")
            return
        path, record = (
            Path(name).expanduser(),
            continued(self._opened, self.board, self.players, PERSON, self._resigned),
        )
        text = str(record)
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
        if not self._over and not self._may_drop(f"load {name}".strip()):
            return
        try:
            record = self._read(name)
            self._begin(record.board(), known=record.rules == self.board.rules)
            self._opened = record
        except (OSError, ValueError, ImportError) as error:
            self._say("It cannot be loaded: {why}.", why=self._reason(error))
        else:
            self._introduce()

    def _read(self, name: str) -> GameRecord:
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
        if number is not None and not 1 <= number <= len(records):
            self._fail("there is no game {number}: {path} holds {count}", number=number, path=path, count=len(records))
        record = records[(number or 1) - 1]
        if any(header in record.headers for header in OWNERSHIP_HEADERS):
            self._fail("it is a round of a match, in which fields are sold")
        return record
