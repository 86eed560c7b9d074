"""Games in files: the terminal overwrites none that another game wrote, and leaves none half written."""

from collections.abc import Callable
from pathlib import Path

from oanquan_env.board import Board
from oanquan_env.files import write_atomically
from oanquan_env.play.vietnamese_texts import Language, SpokenError, reason
from oanquan_env.records.games import OWNERSHIP_HEADERS, GameRecord, read_records


def save_game(name: str, record: GameRecord, own: set[Path], say: Callable[..., None], language: Language) -> bool:
    """Write a record to a new file, or to one of the game's `own`, those that it wrote before; says how that went."""
    path = Path(name).expanduser()
    try:
        if path.resolve() in own:
            write_atomically(path, str(record).encode())
        else:
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(str(record))
    except FileExistsError:
        say("{path} is there already: choose another name.", path=path)
        return False
    except (OSError, ValueError) as error:
        say("It cannot be saved: {why}.", why=reason(error, language))
        return False
    own.add(path.resolve())
    say("Saved to {path}.", path=path)
    return True


def load_game(name: str) -> Board:
    """The game in a file; `FILE 2` names the second of several.

    Raises `OSError` if the file cannot be read; `ValueError` if it is no record of a game that is played alone, or
    holds several games, of which none or one too many is asked for.
    """
    if not name:
        raise SpokenError("type load and the name of a file")
    path, number = Path(name).expanduser(), None
    words = name.rsplit(maxsplit=1)
    if len(words) == 2 and words[1].isdecimal() and not path.exists():
        path, number = Path(words[0]).expanduser(), int(words[1])
    records = read_records(path)
    if number is None and len(records) != 1:
        raise SpokenError("{path} holds {count} games: load {path} 1 takes the first", path=path, count=len(records))
    if number is not None and not 1 <= number <= len(records):
        raise SpokenError(
            "there is no game {number}: {path} holds {count}", number=number, path=path, count=len(records)
        )
    return board_of_single(records[0 if number is None else number - 1])


def board_of_single(record: GameRecord) -> Board:
    """The board of a game that is no round of a match with sold fields; of such a round, raises ValueError."""
    if any(header in record.headers for header in OWNERSHIP_HEADERS):
        raise SpokenError("it is a round of a match, in which fields are sold")
    return record.board()
