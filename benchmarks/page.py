"""From the command to the first move on the page in the browser.

Processor time tells what the start costs wherever else the machine is busy; wall time only on an idle machine. The
browser is Chromium by Playwright, started before, as one that a person has open. Needs Linux, Chromium and Playwright.

    python -m benchmarks.page
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COMMAND = [sys.executable, "-m", "oanquan_env", "play", "--browser", "--opponent"]
OPPONENTS = ("easy", "medium")


@dataclass(frozen=True)
class Start:
    """One start; seconds."""

    listening: float  # wall time from the command until the server listens.
    playable: float  # until the first move can be made.
    answered: float  # from the first move, shown without motion, until the opponent has moved.
    command: float  # processor time of the command until the first move can be made.
    page: float  # processor time of the page's process in the browser until then.


def measure(browser: Browser, opponent: str) -> Start:
    """Start the command once, open its page, and move."""
    page = browser.new_page(reduced_motion="reduce")
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    begin = time.perf_counter()
    environment = {**os.environ, "BROWSER": "true"}  # a program that does nothing
    with subprocess.Popen([*COMMAND, opponent], stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1]
            listening = time.perf_counter() - begin
            page.goto(address, wait_until="commit")
            page.locator("#board .hit.legal").first.wait_for(state="attached")
            playable = time.perf_counter() - begin
            command = processor_seconds(process.pid)
            metrics = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
            moved = time.perf_counter()
            page.locator("#board .hit.legal").nth(2).click()
            page.locator("#board .way").first.click()
            page.locator("#moves li").nth(2).wait_for(state="attached")
            answered = time.perf_counter() - moved
        finally:
            process.kill()
    page.close()
    return Start(listening, playable, answered, command, metrics["ProcessTime"])


def processor_seconds(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Options(report.Options):
    """The command line."""

    starts: int = 5
    """starts with each opponent, after one that is not counted"""


def main() -> None:
    """Start several times against each opponent, and report the medians."""
    from playwright.sync_api import sync_playwright

    options = report.read_options(Options, __doc__, "page")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    results = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for opponent in OPPONENTS:
            starts = [asdict(measure(browser, opponent)) for _ in range(options.starts + 1)][1:]
            results[opponent] = {name: statistics.median(start[name] for start in starts) for name in starts[0]}
        browser.close()
    headings = ["seconds, opponent", *OPPONENTS]
    rows = [[name, *(f"{results[opponent][name]:.2f}" for opponent in OPPONENTS)] for name in Start.__annotations__]
    report.show("From the command to the first move on the page", headings, rows)
    report.write(options, "page", {"unit": "s", "starts": results})


if __name__ == "__main__":
    main()
