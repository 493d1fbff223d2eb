"""Traffic of a link: bits, bytes and messages, related as in the job `link_load`."""

from __future__ import annotations

from counterflow.analysis.studies.percentages import Number, per, total


def bytes_of_gibits(gibits: Number) -> Number:
    """Return Gb of 2³⁰ bits, the unit of the Db2 Mirror document, as bytes."""
    return None if gibits is None else gibits * 2**30 / 8


def bytes_per_message(out_bytes: Number, in_bytes: Number, messages: Number) -> Number:
    """Return the mean size of a message, of both directions together."""
    return per(total(out_bytes, in_bytes), messages)
