"""Computes the share of rejects, above which landing a topic would only fill the dead letters. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

WINDOW = 10_000
"""Rows of a topic over which the share is computed; also the divisor while fewer have been seen."""


class Outcome(NamedTuple):
    """One batch: the number of its rows, and how many were rejected."""

    rows: int
    refused: int


def newest(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Return the newest whole batches that cover the last `WINDOW` rows; input and output are newest first."""
    kept: list[Outcome] = []
    rows = 0
    for outcome in outcomes:
        if rows >= WINDOW:
            break
        kept.append(outcome)
        rows += outcome.rows
    return tuple(kept)


def share(outcomes: Iterable[Outcome]) -> float:
    """Return the rejected share, 0 to 1, of the last `WINDOW` rows; `outcomes` are newest first."""
    last = newest(outcomes)
    return sum(outcome.refused for outcome in last) / max(WINDOW, sum(outcome.rows for outcome in last))
