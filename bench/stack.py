"""Cold start, resident memory and processor time of the one-machine stack, all jobs idle."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from bench import cpu
from bench.figure import Figure
from counterflow.stack import lifecycle
from counterflow.stack.install import install
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

REST_S = 60
WARM_S = 180
"""JVMs compile what they run, in the first minutes: a stack that has just started is not idle yet."""


def main() -> None:
    """Start a new stack from installed parts, let it rest, and measure its memory and processor time."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-stack-") as home:
        settings = free_settings(Path(home), parts)
        try:
            install(settings, print)
            begin = time.monotonic()
            phases = lifecycle.up(settings)
            seconds = time.monotonic() - begin
            started = time.monotonic()
            time.sleep(20)
            found = lifecycle.status(settings)
            first = processors(settings)
            time.sleep(WARM_S - (time.monotonic() - started))
            used = processors(settings)
        finally:
            lifecycle.down(settings)
    print({name: round(s, 1) for name, s in phases.items()}, {p.name: p.rss_bytes >> 20 for p in found})
    print({name: round(share, 4) for name, share in used.items()})
    method = f"`up` of an empty home from installed parts to all jobs submitted, wall, {os.cpu_count()} cores."
    Figure("cold start of the stack", round(seconds, 1), "s", "<= 90", method).emit()
    gib = sum(part.rss_bytes for part in found) / 2**30
    method = "Resident set of all parts and their children, summed, 20 s after `up`, jobs running without input."
    Figure("resident memory of the idle stack", round(gib, 2), "GiB", "<= 2.6", method).emit()
    method = (
        f"CPU time of all parts and their children over {REST_S} s, from {WARM_S} s after `up`, jobs without input; "
        f"{sum(first.values()):.3f} from 20 s after `up`, while the JVMs still compile."
    )
    Figure("idle stack, processors", round(sum(used.values()), 3), "processors", "<= 0.30", method).emit()


def processors(settings: StackSettings) -> dict[str, float]:
    """Return how many processors each part and its children take, over `REST_S`."""
    before, began = cpu.of_parts(settings), time.monotonic()
    time.sleep(REST_S)
    used, rested = cpu.of_parts(settings) - before, time.monotonic() - began
    return {name: seconds / rested for name, seconds in used.items()}


if __name__ == "__main__":
    main()
