"""Cost of a unit of work: an account, a transaction, a query. Rates are a second; None as in `percentages`."""

from __future__ import annotations

import math

from counterflow.analysis.studies.percentages import Number, per


def busy_cores(busy_pct: Number, cores: Number) -> Number:
    return None if busy_pct is None or cores is None else busy_pct / 100 * cores


def busy_pct(cores_busy: Number, cores: Number) -> Number:
    """Return the utilisation of `cores` processors of which `cores_busy` are busy: the inverse of `busy_cores`."""
    share = per(cores_busy, cores)
    return None if share is None else 100 * share


def ms_per_unit(cores_busy: Number, units_per_s: Number) -> Number:
    """Return processor time per unit of work, ms: a busy processor spends 1000 ms a second."""
    return None if cores_busy is None else per(1000 * cores_busy, units_per_s)


def cores_of_work(ms_a_unit: Number, units_per_s: Number) -> Number:
    """Return the busy processors at this rate of work: the inverse of `ms_per_unit`."""
    return None if ms_a_unit is None or units_per_s is None else ms_a_unit * units_per_s / 1000


def bytes_per_unit(mb_per_s: Number, units_per_s: Number) -> Number:
    """Return bytes per unit of work; MB are 10⁶ bytes."""
    return None if mb_per_s is None else per(mb_per_s * 1e6, units_per_s)


def mb_of_work(bytes_a_unit: Number, units_per_s: Number) -> Number:
    """Return MB/s at this rate of work: the inverse of `bytes_per_unit`."""
    return None if bytes_a_unit is None or units_per_s is None else bytes_a_unit * units_per_s / 1e6


def of_millions_per_hour(millions: Number) -> Number:
    """Return a rate of millions an hour as a rate a second."""
    return None if millions is None else millions * 1e6 / 3600


def elapsed(units: Number, rate: Number) -> Number:
    """Return the time for `units`, in the time unit of the rate: hours for a rate an hour."""
    return per(units, rate)


def rate(units: Number, time: Number) -> Number:
    """Return units per unit of that time."""
    return per(units, time)


def cores_needed(cores: float, rate_now: float, rate_wanted: float) -> int:
    """Return the whole processors for another rate, each with its current throughput."""
    return math.ceil(cores * rate_wanted / rate_now)
