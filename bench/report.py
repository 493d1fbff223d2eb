"""Times of a report, until a browser shows it, and of the check of all dashboards."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from bench import generate_fleet as fleet
from bench.figure import Figure
from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings
from tests.support.browser import browser

INTERVAL_S = 300
REPORTED = "sys032"
"""A system whose report has 30 charts."""
DRAWN = "document.readyState === 'complete' && document.documentElement.dataset.drawn !== undefined"


def main() -> None:
    """Generate a day of the fleet; report its last six hours, open the page, and check the dashboards."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-report-") as name:
        folder = Path(name)
        settings = free_settings(folder / "home", parts)
        try:
            lifecycle.start(settings, "clickhouse")
            with ClickHouse(settings.clickhouse_url, "admin", settings.clickhouse_password("admin")) as admin:
                migrate(admin)
                rows = sum(fleet.fill(admin, 1, INTERVAL_S).values())
            of = (
                f"start-up included; {fleet.SYSTEMS} generated systems, a day at {INTERVAL_S} s, {rows:,} rows,"
                f" {os.cpu_count()} cores, wall."
            )
            check_s = _seconds(settings, "dev", "dashboards", "check")
            method = f"`counterflow dev dashboards check`, every query for each range and choice, {of}"
            Figure("dashboards check", round(check_s, 1), "s", "<= 60", method).emit()
            options = (*_six_hours(), "--system", REPORTED)
            report_s = _seconds(settings, "report", *options, "--out", str(folder / "report"))
            charts, shown_s = _shown(folder / "report/report.html", folder / "chromium")
            method = f"`counterflow report` of six hours of a system, {charts} charts and their pictures, {of}"
            Figure("a report", round(report_s, 1), "s", "<= 10", method).emit()
            method = f"its page with {charts} charts, opened in a Chromium without a window until they are drawn."
            Figure("a report, until it is shown", round(shown_s, 2), "s", "<= 2", method).emit()
        finally:
            lifecycle.down(settings)


def _six_hours() -> list[str]:
    """Return the options that select the last six hours of the generated day."""
    end = fleet.midnight()
    return ["--from", f"{end - timedelta(hours=6):%FT%T}", "--to", f"{end:%FT%T}"]


def _seconds(settings: StackSettings, *arguments: str) -> float:
    """Run a command as users do, print the end of its output, and return its seconds."""
    command = [sys.executable, "-m", "counterflow", *arguments]
    begin = time.monotonic()
    done = subprocess.run(command, env={**os.environ, **settings.environment}, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    print("\n".join((done.stdout + done.stderr).splitlines()[-3:]))
    done.check_returncode()
    return seconds


def _shown(page: Path, profile: Path) -> tuple[int, float]:
    """Return the number of charts on a page, and the seconds until Chromium, with a new profile, has drawn it."""
    profile.mkdir()
    with browser(profile) as chromium:
        begin = time.monotonic()
        chromium.open(page, DRAWN)
        seconds = time.monotonic() - begin
        return int(chromium.evaluate("document.querySelectorAll('figure').length")), seconds


if __name__ == "__main__":
    main()
