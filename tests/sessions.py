"""What the tests of `Session` share."""

from typing import Any

import pytest

from oanquan_env.play.refusal import SessionError
from oanquan_env.play.session import Session


def refused(played: Session, name: str, **arguments: Any) -> SessionError:
    """The error of a request; it has changed nothing."""
    before = played.state()
    with pytest.raises(SessionError) as raised:
        played.request(name, arguments)
    assert played.state() == before
    return raised.value


def play(played: Session, *moves: str) -> None:
    for move in moves:
        played.request("move", {"move": move, "ply": played.game.board.ply})


def opened(text: str) -> Session:
    played = Session()
    played.request("load", {"text": text})
    return played
