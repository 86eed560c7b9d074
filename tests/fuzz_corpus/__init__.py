"""Every input that ever made a reader fail in a way that it does not promise: `test_fuzz_corpus` runs them all.

One JSON file a kind, a list of texts. A text is a string, or a list of strings and how often each is repeated. Binary
files are in base64. When a fuzzer finds another, add it here, as short as it still fails.
"""

from pathlib import Path

from oanquan_env.files import read_json

FOLDER = Path(__file__).parent


def inputs(kind: str) -> list[str]:
    """The texts of one kind."""
    stored: list[str | list[tuple[str, int]]] = read_json(FOLDER / f"{kind}.json")
    return [text if isinstance(text, str) else "".join(piece * times for piece, times in text) for text in stored]
