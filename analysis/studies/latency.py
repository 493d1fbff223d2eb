"""Splits the latency of Q Replication into its parts; any unit of time, the same for all."""

from __future__ import annotations

from counterflow.analysis.studies.percentages import Number, total


def capture(end_to_end: Number, queue: Number, apply: Number) -> Number:
    """Return Capture's part, for which there is no column: END2END_LATENCY - QLATENCY - APPLY_LATENCY."""
    if end_to_end is None or queue is None or apply is None:
        return None
    return end_to_end - queue - apply


def end_to_end(capture: Number, queue: Number, apply: Number) -> Number:
    """Return the time from the commit at the source to that at the target: the sum of the parts."""
    return total(capture, queue, apply)
