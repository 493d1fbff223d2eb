"""Shares and differences. Each is computed from unrounded values; None where a term is missing or divides by zero."""

from __future__ import annotations

import math

Number = float | None


def per(amount: Number, of: Number) -> Number:
    """Return `amount` for one of `of`: read / written, CIs an I/O, rows a transaction."""
    return None if amount is None or not of else amount / of


def total(*parts: Number) -> Number:
    """Return the sum; a part that is not known leaves the whole unknown."""
    return None if None in parts else math.fsum(part for part in parts if part is not None)


def share_pct(part: Number, whole: Number) -> Number:
    """Return `part` as percent of `whole`."""
    share = per(part, whole)
    return None if share is None else 100 * share


def change_pct(before: Number, after: Number) -> Number:
    """Return by how many percent of `before` it grew; negative where it fell."""
    grown = per(after, before)
    return None if grown is None else 100 * (grown - 1)


def reduction_pct(before: Number, after: Number) -> Number:
    """Return by how many percent of `before` it fell: change_pct the other way round."""
    grown = change_pct(before, after)
    return None if grown is None else -grown


def difference(before: Number, after: Number) -> Number:
    """Return how much more it is after: percentage points, where both are percentages."""
    return None if before is None or after is None else after - before
