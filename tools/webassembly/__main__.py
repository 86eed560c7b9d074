"""Build `engine.wasm`, `moves.wasm` and `engine.json` (offsets of record fields) for `oanquan_env/play/web`.

    python -m tools.webassembly
    python -m tools.webassembly --check

The command needs `pip install -e ".[wasm]"`. With `--check` it builds again and compares every byte if Python, Numba,
llvmlite and ziglang have the versions in engine.json; otherwise it compares only engine.json.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WEB = Path(__file__).parents[2] / "oanquan_env" / "play" / "web"
ENVIRONMENT = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "PYTHONHASHSEED": "0"}
"""Environment of the compiling process, so that every machine produces the same code every time."""


def main() -> int:
    """Build and write the files, or with `--check` compare them with the existing ones; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.webassembly", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args().check
    if not ENVIRONMENT.items() <= os.environ.items():
        with tempfile.TemporaryDirectory() as folder:
            again = [sys.executable, "-m", "tools.webassembly", *sys.argv[1:]]
            environment = {**os.environ, **ENVIRONMENT, "NUMBA_CACHE_DIR": folder}
            return subprocess.run(again, env=environment, check=False).returncode

    from tools.webassembly import instructions

    instructions.use()
    from tools.webassembly import build, layout

    files = {WEB / name: build.build(exports) for name, exports in build.MODULES.items()}
    files[WEB / "engine.json"] = layout.describe()
    if check:
        return layout.compare(files)
    for path, content in files.items():
        path.write_bytes(content)
        print(f"{path}: {len(content):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
