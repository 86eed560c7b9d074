"""A game in the terminal: persons type moves and commands, agents answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from oanquan_env import render
from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.engine.core import RunawayGameError
from oanquan_env.engine.notation import Move, NotationError, names, seat_name
from oanquan_env.play.files import GameFiles, load_game
from oanquan_env.play.game import Game
from oanquan_env.play.hints import hint, strongest_player
from oanquan_env.play.screen import drawn, edit_lines, thinking
from oanquan_env.players import Policy
from oanquan_env.players import make as make_policy
from oanquan_env.playing import choose_move

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


class TerminalGame:
    """One game between persons and agents over standard input and output.

    Args:
        board: where the game begins.
        players: a name for each seat: `PERSON`, a level or an agent's.
        hints: the agent who answers `hint`; the strongest that is installed if left out.
        rng: of all random choices of the agents.

    Raises:
        ValueError: for a name that no agent has.
    """

    def __init__(self, board: Board, players: Sequence[str], hints: str | None, rng: np.random.Generator) -> None:
        self.players = players
        self._rng = rng
        self._hints = hints
        self._begin(board)
        self._asked = ""  # a line that would drop the game, and is done if it is typed again
        self._waiting = False  # an agent was interrupted, and waits for the person's next line
        self._commands: dict[str, Callable[[str], None]] = {
            "moves": lambda _: print(f"You can play {names(self.board.legal_moves)}."),
            "story": lambda _: print(self.board.last_trace or "No move has been played yet."),
            "hint": self._hint,
            "undo": self._undo,
            "redo": self._redo,
            "resign": self._resign,
            "new": self._new,
            "board": self._show,
            "save": self._save,
            "load": self._load,
            "legend": lambda _: print(render.LEGEND),
            "help": lambda _: print(HELP),
        }

    def _begin(self, board: Board, *, known: bool = False) -> None:
        """Go on with another game, with the same agents if they are `known` to play its rules.

        Raises ValueError or ImportError, with nothing changed, if an agent does not play them.
        """
        self.game: Game = Game(board, self.players, self.game.seats if known else None)
        if not known:
            self._adviser = None if self._hints is None else (self._hints, make_policy(self._hints, board.rules))
        self._files = GameFiles()
        self._kept = board.history  # what is in a file, or need not be

    @property
    def board(self) -> Board:
        """The board of the game."""
        return self.game.board

    def run(self) -> None:
        """Play until somebody types `quit` or the input ends."""
        edit_lines()
        print("Type a move such as 3A or 2C, or help; legend explains the board.")
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
                    self._obey(line)
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                self._waiting = True
                if not self._may_drop("Ctrl-C", "\n"):
                    continue
                raise

    # ---- what is said ----------------------------------------------------------------------------------------------

    def _introduce(self) -> None:
        """Say who plays which rules, and draw the board."""
        seats = ", ".join(f"{seat_name(self.board.rules, seat)}: {name}" for seat, name in enumerate(self.players))
        print(f"{seats}. Rules: {self.board.rules}.")
        self._show()

    def _show(self, _: str = "") -> None:
        print(f"\n{drawn(self.board)}\n")

    def _prompt(self) -> str:
        if self.game.over:
            return "The game is over (undo, story, new, save FILE, quit) > "
        name = seat_name(self.board.rules, self.board.mover)
        return f"{name} waits; Enter lets it go on > " if self.game.player else f"{name} > "

    def _may_drop(self, line: str, begin: str = "") -> bool:
        """Whether the game can be dropped: it is in a file, or the person was warned and asks again."""
        if self.board.history in ([], self._kept) or self._asked == line:
            return True
        self._asked = line
        print(f"{begin}This game is not saved: save FILE keeps it. {line} once more drops it.")
        return False

    # ---- moves -----------------------------------------------------------------------------------------------------

    def _obey(self, line: str) -> None:
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
            print(f"I do not know {line!r}: type a move such as 3A or 2C, or help.")
            return
        if self.game.resigned is not None:
            print("The game is over; undo takes the resignation back.")
        elif self.game.player is not None:
            print(f"It is {seat_name(self.board.rules, self.board.mover)}'s turn.")
        else:
            self._play(move)

    def _answer(self, agent: Policy) -> None:
        """Let an agent play."""
        seat = self.board.mover
        name = f"{seat_name(self.board.rules, seat)} ({self.players[seat]})"
        with thinking(name):
            move = choose_move(agent, self.board, self._rng)
        self._play(move, f"{name} plays {move}.")

    def _play(self, move: Move, words: str = "") -> None:
        try:
            self.game.push(move)
        except (IllegalMoveError, RunawayGameError) as error:
            print(f"{error}.")
            return
        if words:
            print(words)
        self._show()
        self._tell_end()

    def _tell_end(self) -> None:
        """Where the final points come from, if the last move ended the game."""
        trace = self.board.last_trace
        if trace is not None and trace.termination:
            print("\n".join(trace.ending()), end="\n\n")

    def _hint(self, _: str) -> None:
        if self.game.over:
            print("The game is over.")
            return
        with thinking("The player who gives hints"):
            try:
                if self._adviser is None:
                    self._adviser = strongest_player(self.board.rules)
                advice: object = hint(*self._adviser, self.board, self._rng)
            except ValueError as error:  # the file of a net is damaged
                advice = f"There is no hint: {error}."
        print(advice)

    def _undo(self, _: str) -> None:
        if self.game.undo():
            self._show()
        else:
            print("There is no move of yours to take back.")

    def _redo(self, _: str) -> None:
        if self.game.redo():
            self._show()
            self._tell_end()
        else:
            print("There is no move to play again.")

    def _resign(self, _: str) -> None:
        if self.game.over:
            print("The game is over.")
            return
        seat, rules = self.game.resign(), self.board.rules
        wins = f": {seat_name(rules, 1 - seat)} wins" if rules.players == 2 else ""
        print(f"{seat_name(rules, seat)} resigns{wins}.")

    # ---- other games -----------------------------------------------------------------------------------------------

    def _new(self, _: str) -> None:
        if self.game.over or self._may_drop("new"):
            self._begin(self.game.begin(), known=True)
            self._introduce()

    def _save(self, name: str) -> None:
        if self._files.save(name, self.game.record()):
            self._kept = self.board.history

    def _load(self, name: str) -> None:
        if not self.game.over and not self._may_drop(f"load {name}".strip()):
            return
        try:
            board = load_game(name)
            self._begin(board, known=board.rules == self.board.rules)
        except (OSError, ValueError, ImportError) as error:
            print(f"It cannot be loaded: {error}.")
        else:
            self._introduce()
