"""Cold start and resident memory of the one-machine stack, all jobs idle."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from bench.figure import Figure
from counterflow.stack import lifecycle
from counterflow.stack.install import install
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings


def main() -> None:
    """Start a new stack from installed parts, let it rest, and look at its memory."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-stack-") as home:
        settings = free_settings(Path(home), parts)
        try:
            install(settings, print)
            begin = time.monotonic()
            phases = lifecycle.up(settings)
            seconds = time.monotonic() - begin
            time.sleep(20)
            found = lifecycle.status(settings)
        finally:
            lifecycle.down(settings)
    print({name: round(s, 1) for name, s in phases.items()}, {p.name: p.rss_bytes >> 20 for p in found})
    method = f"`up` of an empty home from installed parts to all jobs submitted, wall, {os.cpu_count()} cores."
    Figure("cold start of the stack", round(seconds, 1), "s", "<= 45", method).emit()
    gib = sum(part.rss_bytes for part in found) / 2**30
    method = "Resident set of all parts and their children, summed, 20 s after `up`, jobs running without input."
    Figure("resident memory of the idle stack", round(gib, 2), "GiB", "<= 2.8", method).emit()


if __name__ == "__main__":
    main()
