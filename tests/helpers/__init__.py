"""What several tests use: players, boards and agents, slow programs to compare with, and a browser.

`referee` plays the rules one seed at a time, from the specification; `plain_search` searches without any pruning;
`strategies` draws rules and positions for Hypothesis. `node` and `browsers` run the page's scripts.
"""

import pytest

Patch, Capture = pytest.MonkeyPatch, pytest.CaptureFixture[str]  # the types of the fixtures `monkeypatch` and `capsys`
