"""The formulas of studies, computed from unrounded values; None where a term is missing or a divisor is zero.

Rates are a second, and MB are 10⁶ bytes, unless a name or a docstring has another unit. The checks in `published/` use
every public function by its name.
"""

from __future__ import annotations

import math

Number = float | None

CI_BYTES = 4096
"""A control interval of Db2's active log."""
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


def reduction_pct(before: Number, after: Number) -> Number:
    """Return the fall in percent of `before`: the negative of change_pct."""
    grown = change_pct(before, after)
    return None if grown is None else -grown


def difference(before: Number, after: Number) -> Number:
    """Return after - before: percentage points, where both are percentages."""
    return None if before is None or after is None else after - before


# -- what a unit of work costs: an account, a transaction, a query


def busy_cores(busy_pct: Number, cores: Number) -> Number:
    return None if busy_pct is None or cores is None else busy_pct / 100 * cores


def ms_per_unit(cores_busy: Number, units_per_s: Number) -> Number:
    """Return processor time per unit of work, ms: a busy processor spends 1000 ms a second."""
    return None if cores_busy is None else per(1000 * cores_busy, units_per_s)


def cores_of_work(ms_a_unit: Number, units_per_s: Number) -> Number:
    """Return the busy processors at this rate of work: the inverse of `ms_per_unit`."""
    return None if ms_a_unit is None or units_per_s is None else ms_a_unit * units_per_s / 1000


def bytes_per_unit(mb_per_s: Number, units_per_s: Number) -> Number:
    return None if mb_per_s is None else per(mb_per_s * 1e6, units_per_s)


def mb_of_work(bytes_a_unit: Number, units_per_s: Number) -> Number:
    """Return MB/s at this rate of work: the inverse of `bytes_per_unit`."""
    return None if bytes_a_unit is None or units_per_s is None else bytes_a_unit * units_per_s / 1e6


def of_millions_per_hour(millions: Number) -> Number:
    """Return a rate of millions an hour as a rate a second."""
    return None if millions is None else millions * 1e6 / 3600


def cores_needed(cores: float, rate_now: float, rate_wanted: float) -> int:
    """Return the whole processors for another rate, each with its current throughput."""
    return math.ceil(cores * rate_wanted / rate_now)


# -- price


def price_performance_pct(cost_ratio: Number, throughput_ratio: Number) -> Number:
    """Return the saving per unit of work, %; both ratios are new / old."""
    ratio = per(cost_ratio, throughput_ratio)
    return None if ratio is None else 100 * (1 - ratio)


def performance_per_price_gain_pct(throughput_ratio: float, price_ratio: float) -> float:
    """Return the gain in performance for the same money, %: the other usual definition; `price_ratio` is old / new.

    It has no upper bound, while the saving ends at 100 %; the studies here do not print it.
    """
    return 100 * (throughput_ratio * price_ratio - 1)


# -- logs, drives, buses and links


def log_bytes_per_s(cis_per_s: Number, copies: Number) -> Number:
    """Return the bytes a second of one log copy from the CIs written to all copies (QJSTCIWR)."""
    each = per(cis_per_s, copies)
    return None if each is None else each * CI_BYTES


def raid10_bytes(drives: int, drive_bytes: float) -> float:
    """Return the capacity of mirrored pairs: half of that of the drives."""
    return drives / 2 * drive_bytes


def pcie_gb_per_s(gigatransfers_per_s: float, lanes: int) -> float:
    """Return GB/s each way of a PCIe link of generation 3 or later: 128 bits in 130 carry data."""
    return gigatransfers_per_s * lanes * 128 / 130 / 8


def bytes_of_gibits(gibits: Number) -> Number:
    """Return Gb of 2³⁰ bits, the unit of the Db2 Mirror document, as bytes."""
    return None if gibits is None else gibits * 2**30 / 8


def bytes_per_message(out_bytes: Number, in_bytes: Number, messages: Number) -> Number:
    """Return the mean size of a message, of both directions together."""
    return per(total(out_bytes, in_bytes), messages)
