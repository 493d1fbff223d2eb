"""Resident memory of the one-machine stack, all jobs idle."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.figure import Figure
from counterflow.stack import lifecycle
from counterflow.stack.install import install
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings


def main() -> None:
    """Start a new stack from installed parts, and measure its memory."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-stack-") as home:
        settings = free_settings(Path(home), parts)
        try:
            install(settings, print)
            lifecycle.up(settings)
            time.sleep(20)
            found = lifecycle.status(settings)
        finally:
            lifecycle.down(settings)
    print({part.name: part.rss_bytes >> 20 for part in found})
    gib = sum(part.rss_bytes for part in found) / 2**30
    method = "Resident set of all parts and their children, summed, 20 s after `up`, jobs running without input."
    Figure("resident memory of the idle stack", round(gib, 2), "GiB", "<= 2.6", method).emit()


if __name__ == "__main__":
    main()
