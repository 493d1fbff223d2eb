"""The formulas of studies, computed from unrounded values; None where a term is missing or a divisor is zero.

Rates are a second, and MB are 10⁶ bytes, unless a name or a docstring has another unit.
"""

from __future__ import annotations

import math

Number = float | None

PRICE_PERFORMANCE = "price-performance advantage = 1 - (cost / baseline cost) / (throughput / baseline throughput)"


# -- shares and differences


def per(amount: Number, of: Number) -> Number:
    """Return `amount` per one of `of`: read / written, rows per transaction, the time for `amount` at the rate `of`."""
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


def difference(before: Number, after: Number) -> Number:
    """Return after - before: percentage points, where both are percentages."""
    return None if before is None or after is None else after - before


# -- what a unit of work costs: an account, a transaction, a query


def busy_cores(busy_pct: Number, cores: Number) -> Number:
    return None if busy_pct is None or cores is None else busy_pct / 100 * cores


def ms_per_unit(cores_busy: Number, units_per_s: Number) -> Number:
    """Return processor time per unit of work, ms: a busy processor spends 1000 ms a second."""
    return None if cores_busy is None else per(1000 * cores_busy, units_per_s)


def bytes_per_unit(mb_per_s: Number, units_per_s: Number) -> Number:
    return None if mb_per_s is None else per(mb_per_s * 1e6, units_per_s)


# -- price


def price_performance_pct(cost_ratio: Number, throughput_ratio: Number) -> Number:
    """Return the saving per unit of work, %; both ratios are new / old."""
    ratio = per(cost_ratio, throughput_ratio)
    return None if ratio is None else 100 * (1 - ratio)
