"""A game in the terminal: persons type moves and commands, agents answer."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from oanquan_env import render
from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.engine.core import RunawayGameError
from oanquan_env.engine.notation import Move, NotationError, names, seat_name
from oanquan_env.play import vietnamese
from oanquan_env.play.files import load_game, save_game
from oanquan_env.play.game import Game
from oanquan_env.play.hints import hint
from oanquan_env.play.levels import LEVELS, first_playing
from oanquan_env.play.screen import drawn, edit_lines, thinking, wrapped
from oanquan_env.play.vietnamese_texts import HELP, Language, SpokenError, in_language, reason
from oanquan_env.players import Policy
from oanquan_env.players import as_policy as make_policy
from oanquan_env.playing import choose_move


class TerminalGame:
    """One game from a board on, between persons and agents, over standard input and output.

    `players` has a name for each seat: `PERSON`, a level or an agent's. `hints` is the agent who answers `hint`, the
    strongest that is installed if left out; all chance of the agents comes from `rng`. Raises `ValueError` for a name
    that no agent has.
    """

    def __init__(
        self,
        board: Board,
        players: Sequence[str],
        hints: str | None,
        rng: np.random.Generator,
        language: Language = "en",
    ) -> None:
        self.players = players
        self._language: Language = language
        self._rng = rng
        self._hints = hints
        self._begin(board)
        self._asked = ""  # a line that would drop the game, and is done if it is typed again
        self._waiting = False  # an agent was interrupted, and waits for the person's next line
        self._commands: dict[str, Callable[[str], None]] = {
            "moves": self._moves,
            "story": self._story,
            "hint": self._hint,
            "undo": self._undo,
            "redo": self._redo,
            "resign": self._resign,
            "new": self._new,
            "board": self._show,
            "save": self._save,
            "load": self._load,
            "legend": lambda _: self._say(render.LEGEND),
            "help": lambda _: self._say(HELP),
        }

    def _begin(self, board: Board, *, known: bool = False) -> None:
        """Go on with another game, with the same agents if they are `known` to play its rules.

        Raises ValueError or ImportError, with nothing changed, if an agent does not play them.
        """
        if board.rules.players != len(self.players):
            raise SpokenError(
                "it has {players} players, this one {here}", players=board.rules.players, here=len(self.players)
            )
        self.game: Game = Game(board, self.players, self.game.seats if known else None)
        if not known:
            self._adviser = None if self._hints is None else make_policy(self._hints, board.rules)
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
                if not self._may_drop("Ctrl-C", "\n"):
                    continue
                raise

    # ---- output ----------------------------------------------------------------------------------------------------

    def _words(self, text: str, **parts: object) -> str:
        return in_language(text, self._language, **parts)

    def _say(self, text: str, **parts: object) -> None:
        """Print a sentence in the language of the game, with its parts."""
        print(wrapped(self._words(text, **parts)))

    def _seat(self, seat: int) -> str:
        return self._words(seat_name(self.board.rules, seat))

    def _introduce(self) -> None:
        """Say who plays which rules, and draw the board."""
        seats = ", ".join(f"{self._seat(seat)}: {self._words(name)}" for seat, name in enumerate(self.players))
        self._say("{seats}. Rules: {rules}.", seats=seats, rules=self.board.rules)
        self._show()

    def _show(self, _: str = "") -> None:
        print(f"\n{drawn(self.board, self._language)}\n")

    def _moves(self, _: str) -> None:
        moves = self.board.legal_moves
        self._say("You can play {moves}." if moves else "You can play none.", moves=names(moves))

    def _story(self, _: str) -> None:
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
        command = self._commands.get(word)
        if command is not None:
            command(detail)
        else:
            self._type_move(line)

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
        self._play(move, self._words("{name} plays {move}.", name=name, move=move))

    def _play(self, move: Move, words: str = "") -> None:
        try:
            self.game.push(move)
        except (IllegalMoveError, RunawayGameError) as error:
            if self._language == "en":
                print(wrapped(f"{error}."))
            elif isinstance(error, IllegalMoveError):
                self._say("{move} cannot be played; moves lists those that can.", move=move)
            else:
                self._say("{move} would never end.", move=move)
            return
        if words:
            print(words)
        self._show()
        self._print_ending()

    def _print_ending(self) -> None:
        """Where the final points come from, if the last move ended the game."""
        trace = self.board.last_trace
        if trace is not None and trace.termination:
            lines = trace.ending() if self._language == "en" else vietnamese.ending(trace)
            print(wrapped("\n".join(lines)), end="\n\n")

    def _hint(self, _: str) -> None:
        if self.game.over:
            self._say("The game is over.")
            return
        with thinking(self._words("The player who gives hints is thinking…")):
            try:
                if self._adviser is None:
                    self._adviser = first_playing(LEVELS["perfect"].players, self.board.rules)[1]
                advice = hint(self._hints or "perfect", self._adviser, self.board, self._rng)
            except ValueError as error:  # the file of a net is damaged
                self._say("There is no hint: {why}.", why=reason(error, self._language))
                return
        print(wrapped(advice.text(self.board, self._language)))

    def _undo(self, _: str) -> None:
        if self.game.undo():
            self._show()
        else:
            self._say("There is no move of yours to take back.")

    def _redo(self, _: str) -> None:
        if self.game.redo():
            self._show()
            self._print_ending()
        else:
            self._say("There is no move to play again.")

    def _resign(self, _: str) -> None:
        if self.game.over:
            self._say("The game is over.")
            return
        seat = self._seat(loser := self.game.resign())
        if self.board.rules.players == 2:
            self._say("{seat} resigns: {other} wins.", seat=seat, other=self._seat(1 - loser))
        else:
            self._say("{seat} resigns.", seat=seat)

    # ---- other games -----------------------------------------------------------------------------------------------

    def _new(self, _: str) -> None:
        if self.game.over or self._may_drop("new"):
            self._begin(self.board.start(), known=True)
            self._introduce()

    def _save(self, name: str) -> None:
        if not name:
            self._say("Save it where? Type save and the name of a file.")
        elif save_game(name, self.game.record(), self._files, self._say, self._language):
            self._kept = self.board.history

    def _load(self, name: str) -> None:
        if not self.game.over and not self._may_drop(f"load {name}".strip()):
            return
        try:
            board = load_game(name)
            self._begin(board, known=board.rules == self.board.rules)
        except (OSError, ValueError, ImportError) as error:
            self._say("It cannot be loaded: {why}.", why=reason(error, self._language))
        else:
            self._introduce()
