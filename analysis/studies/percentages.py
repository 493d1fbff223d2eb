"""Shares and differences, computed from unrounded values; None where a term is missing or a divisor is zero."""

from __future__ import annotations

import math

Number = float | None


def per(amount: Number, of: Number) -> Number:
    """Return `amount` per one of `of`: read / written, CIs per I/O, rows per transaction."""
    return None if amount is None or not of else amount / of


def total(*parts: Number) -> Number:
    """Return the sum; an unknown part makes the whole unknown."""
    return None if None in parts else math.fsum(part for part in parts if part is not None)


def share_pct(part: Number, whole: Number) -> Number:
    """Return `part` as percent of `whole`."""
    share = per(part, whole)
    return None if share is None else 100 * share


def change_pct(before: Number, after: Number) -> Number:
    """Return the growth in percent of `before`; negative where it fell."""
    grown = per(after, before)
    return None if grown is None else 100 * (grown - 1)


def reduction_pct(before: Number, after: Number) -> Number:
    """Return the fall in percent of `before`: the negative of change_pct."""
    grown = change_pct(before, after)
    return None if grown is None else -grown


def difference(before: Number, after: Number) -> Number:
    """Return after - before: percentage points, where both are percentages."""
    return None if before is None or after is None else after - before
