"""What changes of the application saved in the client cases of the study: journal cache, opens, blocks of copies."""

from __future__ import annotations

from counterflow.analysis.studies.sizing import Estimate

SLOWDOWN_PCT, TUNED_SLOWDOWN_PCT = 62.0, 25.0
"""Longer run of a batch: as it was, and with best practices of the application and the journal cache (7.6.4)."""

COPY_SPEEDUP = (3.0, 4.0)
"""Copied rows a second with blocks of 256 KB / with blocks of 8 KB, without mirroring, by record length (7.6.5)."""

COPY_LEAST, COPY_MOST, COPY_CHANGED = 0.9, 1.1, 0.1
"""A copy inserts about what it reads, and updates or deletes little; as in question mirror_copy_blocking."""


def tuned(wait: Estimate) -> Estimate:
    """Return a wait of mirroring after the changes of 7.6.4; where they are made already, none of it goes."""
    return Estimate(
        wait.value * TUNED_SLOWDOWN_PCT / SLOWDOWN_PCT, wait.low * TUNED_SLOWDOWN_PCT / SLOWDOWN_PCT, wait.high
    )


def is_copy(reads: float, inserts: float, updates: float) -> bool:
    """Return whether these operations on rows look like a copy; no counter names the command."""
    is_like = COPY_LEAST * reads <= inserts <= COPY_MOST * reads
    return inserts > 0 and is_like and updates <= COPY_CHANGED * inserts


def copy_time_pct() -> Estimate:
    """Return the time of a copy with large blocks, as a percentage of that with small ones."""
    slow, fast = COPY_SPEEDUP
    return Estimate(100 / ((slow + fast) / 2), 100 / fast, 100 / slow)
