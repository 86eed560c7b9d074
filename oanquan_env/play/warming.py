"""Players that take long to load: another one plays until they are ready."""

import threading
from functools import lru_cache

import numpy as np

from oanquan_env.arrays import Ints
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.play.hints import REVIEWERS
from oanquan_env.play.levels import Seat, first_playing, make_seat
from oanquan_env.players import Policy
from oanquan_env.players import make as make_policy
from oanquan_env.playing import advance_randomly


class Warming:
    """The first of several players that is installed and plays the rules, made in a thread; the last plays until then.

    A search that is compiled takes a second to load, and half a minute when it is used for the first time. `names` are
    those of the players, the best first; the last must be installed, and quick to make.

    Attributes:
        ready: set when the player is found, or failed.
    """

    def __init__(self, names: tuple[str, ...], rules: Rules) -> None:
        self._player = names[-1], make_policy(names[-1], rules)
        self._error: Exception | None = None
        self.ready = threading.Event()
        threading.Thread(target=self._load, args=(names, rules), daemon=True).start()

    def _load(self, names: tuple[str, ...], rules: Rules) -> None:
        try:
            name, player = first_playing(names, rules)
            player.choose(_near_the_end(rules), np.random.default_rng(0))  # compiles what is left, and takes no time
            self._player = name, player
        except Exception as error:  # it is told to those who ask for the player
            self._error = error
        finally:
            self.ready.set()

    @property
    def current(self) -> tuple[str, Policy]:
        """Name and player of the one who plays now. Raises what making the player raised, such as `FileError`."""
        if self._error is not None:
            raise self._error
        return self._player

    @property
    def playing(self) -> Policy:
        """The player of `current`, or the last one where making a better one failed."""
        return self._player[1]

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        return self.current[1].choose(positions, rng)


def _playing_at_once(names: tuple[str, ...], rules: Rules) -> tuple[str, Policy]:
    """As `first_playing`, but the first of several is loaded in a thread."""
    return (names[0], Warming(names, rules)) if len(names) > 1 else first_playing(names, rules)


def _near_the_end(rules: Rules) -> Positions:
    """A running position before the last move of a game."""
    core = Core(rules)
    positions = core.start()
    before = positions.copy()
    for _ in advance_randomly(core, positions, None, np.random.default_rng(0)):
        if not positions.over[0]:
            before = positions.copy()
    return before


@lru_cache(maxsize=8)
def shared_seat(name: str, rules: Rules) -> tuple[Seat, threading.Lock]:
    """The player of that name, and a lock to hold while it plays: all games share it, as its memory may be large."""
    return make_seat(name, rules, _playing_at_once), threading.Lock()


@lru_cache(maxsize=4)
def shared_reviewer(rules: Rules) -> tuple[Warming, threading.Lock]:
    """The player who evaluates the positions of a game, and its lock."""
    return Warming(REVIEWERS, rules), threading.Lock()


def shared_adviser(rules: Rules) -> tuple[Warming, threading.Lock]:
    """The player who gives hints, and its lock: the strongest level's."""
    seat, lock = shared_seat("perfect", rules)
    assert isinstance(seat.policy, Warming)
    return seat.policy, lock
