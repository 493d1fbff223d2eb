"""How long tests wait for what must come: a guard against hanging, never a measure of speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_S = 300
"""Seconds after which a test gives up, also on a machine that does much else."""


def until(
    condition: Callable[[], Any], what: str | Path = "", *, within_s: float = PATIENCE_S, every_s: float | None = None
) -> Any:
    """Return what the condition returns once it holds; fail with `what` was awaited, or with the log of that name.

    It is looked at each `every_s`; by default after a tenth of the time waited, since a look may cost as much as the
    work that is awaited.
    """
    begin = time.monotonic()
    while not (result := condition()):
        waited_s = time.monotonic() - begin
        assert waited_s < within_s, what.read_text() if isinstance(what, Path) else f"not within {within_s} s: {what}"
        time.sleep(every_s or min(1.0, max(0.05, waited_s / 10)))
    return result
