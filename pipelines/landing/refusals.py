"""Computes the share of rejects, above which landing a topic would only fill the dead letters. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

WINDOW = 10_000
"""Messages of a topic over which the share is computed; also the divisor while fewer have been seen."""


class Outcome(NamedTuple):
    """One batch: the number of its messages, and how many were rejected."""

    messages: int
    refused: int


def newest(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Return the newest whole batches that cover the last `WINDOW` messages; input and output are newest first."""
    kept: list[Outcome] = []
    messages = 0
    for outcome in outcomes:
        if messages >= WINDOW:
            break
        kept.append(outcome)
        messages += outcome.messages
    return tuple(kept)


def share(outcomes: Iterable[Outcome]) -> float:
    """Return the rejected share, 0 to 1, of the last `WINDOW` messages; `outcomes` are newest first."""
    last = newest(outcomes)
    return sum(outcome.refused for outcome in last) / max(WINDOW, sum(outcome.messages for outcome in last))
