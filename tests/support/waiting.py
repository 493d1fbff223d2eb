"""How long tests wait for what must come: a guard against hanging, never a measure of speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_S = 120
"""Seconds after which a test gives up, also on a machine that does much else."""


def until(
    condition: Callable[[], Any], what: str | Path = "", *, within_s: float = PATIENCE_S, every_s: float = 0.1
) -> Any:
    """Return what the condition returns once it holds; fail with `what` was awaited, or with the log of that name."""
    end = time.monotonic() + within_s
    while not (result := condition()):
        assert time.monotonic() < end, (
            what.read_text() if isinstance(what, Path) else f"not within {within_s} s: {what}"
        )
        time.sleep(every_s)
    return result
