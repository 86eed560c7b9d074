"""A game in the terminal: persons type moves and commands, agents answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from oanquan_env import render
from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.core import RunawayGameError
from oanquan_env.notation import Move, NotationError, names, seat_name
from oanquan_env.play.files import GameFiles, load_game
from oanquan_env.play.hints import hint, strongest_player
from oanquan_env.play.screen import drawn, edit_lines, thinking
from oanquan_env.playing import choose_move
from oanquan_env.policies import Policy, make_policy
from oanquan_env.records import GameRecord
from oanquan_env.rules import Rules

PERSON = "human"
"""The name of a player who types."""

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
        players: a name for each seat: `PERSON`, or an agent's for `make_policy`.
        hints: the agent who answers `hint`; the strongest that is installed if left out.
        rng: of all random choices of the agents.

    Raises:
        ValueError: for a name that no agent has.
    """

    def __init__(self, board: Board, players: Sequence[str], hints: str | None, rng: np.random.Generator) -> None:
        self.players = players
        self._rng = rng
        self._hints = hints
        self._rules: Rules | None = None  # those that the agents and the adviser were made for
        self._agents: list[Policy | None] = []  # None: a person's seat
        self._adviser: tuple[str, Policy] | None = None
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

    def _begin(self, board: Board) -> None:
        """Go on with another game. Raises ValueError, with nothing changed, if an agent does not play its rules."""
        if self._rules != board.rules:
            agents = {name: make_policy(name, board.rules) for name in set(self.players) - {PERSON}}
            self._adviser = None if self._hints is None else (self._hints, make_policy(self._hints, board.rules))
            self._agents = [agents.get(name) for name in self.players]
            self._rules = board.rules
        self.board = board
        self._undone: list[list[Move]] = []
        self._files = GameFiles()
        self._kept = board.history  # what is in a file, or need not be
        self._resigned: int | None = None

    @property
    def _over(self) -> bool:
        return self.board.outcome is not None or self._resigned is not None

    def run(self) -> None:
        """Play until somebody types `quit` or the input ends."""
        edit_lines()
        print("Type a move such as 3A or 2C, or help; legend explains the board.")
        self._introduce()
        while True:
            try:
                agent = None if self._waiting or self._over else self._agents[self.board.mover]
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
        if self._over:
            return "The game is over (undo, story, new, save FILE, quit) > "
        name = seat_name(self.board.rules, self.board.mover)
        waits = self._agents[self.board.mover] is not None
        return f"{name} waits; Enter lets it go on > " if waits else f"{name} > "

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
        if self._resigned is not None:
            print("The game is over; undo takes the resignation back.")
        elif self.board.outcome is None and self._agents[self.board.mover] is not None:
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
            self.board.push(move)
        except (IllegalMoveError, RunawayGameError) as error:
            print(f"{error}.")
            return
        self._undone.clear()
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
        if self._over:
            print("The game is over.")
            return
        with thinking("The player who gives hints"):
            if self._adviser is None:
                self._adviser = strongest_player(self.board.rules)
            words = hint(*self._adviser, self.board, self._rng)
        print(words)

    def _undo(self, _: str) -> None:
        """Take back moves up to the last one that a person made, or a resignation."""
        if self._resigned is not None:
            self._resigned = None
            self._show()
            return
        history, seats = self.board.history, self.board.rules.players
        for back in range(1, len(history) + 1):
            if self._agents[(self.board.mover - back) % seats] is None:
                self._undone.append([self.board.pop() for _ in range(back)][::-1])
                self._show()
                return
        print("There is no move of yours to take back.")

    def _redo(self, _: str) -> None:
        if not self._undone:
            print("There is no move to play again.")
            return
        for move in self._undone.pop():
            self.board.push(move)
        self._show()
        self._tell_end()

    def _resign(self, _: str) -> None:
        if self._over:
            print("The game is over.")
            return
        self._resigned = seat = self.board.mover
        rules = self.board.rules
        wins = f": {seat_name(rules, 1 - seat)} wins" if rules.players == 2 else ""
        print(f"{seat_name(rules, seat)} resigns{wins}.")

    # ---- other games -----------------------------------------------------------------------------------------------

    def _new(self, _: str) -> None:
        if self._over or self._may_drop("new"):
            board = self.board.copy()
            while board.history:
                board.pop()
            self._begin(board)
            self._introduce()

    def _save(self, name: str) -> None:
        rules, comments = self.board.rules, {}
        headers = {seat_name(rules, seat): player for seat, player in enumerate(self.players)}
        if self._resigned is not None:
            comments[len(self.board.history)] = f"{seat_name(rules, self._resigned)} resigns"
        if self._files.save(name, GameRecord.from_board(self.board, headers, comments)):
            self._kept = self.board.history

    def _load(self, name: str) -> None:
        if not self._over and not self._may_drop(f"load {name}".strip()):
            return
        try:
            board = load_game(name)
            if board.rules.players != len(self.players):
                raise ValueError(f"it has {board.rules.players} players, this one {len(self.players)}")
            self._begin(board)
        except (OSError, ValueError, ImportError) as error:
            print(f"It cannot be loaded: {error}.")
        else:
            self._introduce()
