"""A game in the terminal: persons type moves and commands, agents answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.core import RunawayGameError
from oanquan_env.notation import Move, NotationError, names, seat_name
from oanquan_env.policies import Policy, make_policy
from oanquan_env.records import GameRecord

PERSON = "human"
"""The name of a player who types."""

HELP = """\
A move is a field's number, counted from the mover's own left, and a direction: 3A sows field 3 anticlockwise,
3C clockwise.
  moves      list the moves you can play
  story      tell the last move step by step
  hint       ask for a good move
  undo       take back your last move and the answers to it
  save FILE  write the game down as a record
  board      draw the board again
  help       show this
  quit       leave (Ctrl-D does, too)"""


class TerminalGame:
    """One game between persons and agents over standard input and output.

    Args:
        board: where the game begins.
        players: a name for each seat: `PERSON`, or an agent's for `make_policy`.
        hints: the agent who answers `hint`.
        rng: of all random choices of the agents.

    Raises:
        ValueError: for a name that no agent has.
    """

    def __init__(self, board: Board, players: Sequence[str], hints: str, rng: np.random.Generator) -> None:
        self.board = board
        self.players = players
        self._rng = rng
        self._hints = make_policy(hints, board.rules)
        agents = {name: make_policy(name, board.rules) for name in set(players) - {PERSON}}
        self._agents = [agents.get(name) for name in players]
        self._saved: set[Path] = set()
        self._commands: dict[str, Callable[[], None]] = {
            "moves": lambda: print(f"You can play {names(self.board.legal_moves)}."),
            "story": lambda: print(self.board.last_trace or "No move has been played yet."),
            "hint": self._hint,
            "undo": self._undo,
            "board": self._show,
            "help": lambda: print(HELP),
        }

    def run(self) -> None:
        """Play until somebody types `quit` or the input ends."""
        print("Type a move such as 3A or 2C, or help.")
        self._show()
        while True:
            agent = self._agents[self.board.mover]
            if agent is not None and self.board.outcome is None:
                self._play(self._chosen_by(agent))
                continue
            try:
                line = input(self._prompt()).strip()
            except EOFError:
                print()
                return
            if line.lower() in ("quit", "exit"):
                return
            if line:
                self._obey(line)

    def _prompt(self) -> str:
        if self.board.outcome is not None:
            return "The game is over (undo, story, save FILE, quit) > "
        return f"{seat_name(self.board.rules, self.board.mover)} > "

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        command = self._commands.get(word.lower())
        if word.lower() == "save":
            self._save(rest.strip())
        elif command is not None:
            command()
        else:
            try:
                self._play(Move.parse(line))
            except NotationError:
                print(f"I do not know {line!r}: type a move such as 3A or 2C, or help.")
            except (IllegalMoveError, RunawayGameError) as error:
                print(f"{error}.")

    def _play(self, move: Move) -> None:
        mover = self.board.mover
        self.board.push(move)
        if self._agents[mover] is not None:
            print(f"{seat_name(self.board.rules, mover)} ({self.players[mover]}) plays {move}.")
        self._show()

    def _show(self) -> None:
        print(f"\n{self.board}\n")

    def _chosen_by(self, agent: Policy) -> Move:
        return Move.from_action(int(agent.choose(self.board.positions, self._rng)[0]))

    def _hint(self) -> None:
        if self.board.outcome is not None:
            print("The game is over.")
        else:
            print(f"Try {self._chosen_by(self._hints)}.")

    def _undo(self) -> None:
        """Take back moves up to the last one that a person made."""
        history, seats = self.board.history, self.board.rules.players
        for back in range(1, len(history) + 1):
            if self._agents[(self.board.mover - back) % seats] is None:
                for _ in range(back):
                    self.board.pop()
                self._show()
                return
        print("There is no move of yours to take back.")

    def _save(self, name: str) -> None:
        """Write the record to a new file, or to one that this game wrote before; never over another's."""
        if not name:
            print("Save it where? Type save and the name of a file.")
            return
        path = Path(name).expanduser()
        seats = range(self.board.rules.players)
        headers = {seat_name(self.board.rules, seat): self.players[seat] for seat in seats}
        try:
            with path.open("w" if path.resolve() in self._saved else "x", encoding="utf-8", newline="\n") as file:
                file.write(str(GameRecord.from_board(self.board, headers)))
        except FileExistsError:
            print(f"{path} is there already: choose another name.")
        except (OSError, ValueError) as error:
            print(f"It cannot be saved: {error}.")
        else:
            self._saved.add(path.resolve())
            print(f"Saved to {path}.")
