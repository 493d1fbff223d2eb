"""Running counts beside those of the sample before, so that a job needs no state: `prev_ts`, `prev_<count>`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, TypedDict

from counterflow.collectors.records import Fields, Reason, Unusable
from counterflow.collectors.text.periods import remembered
from counterflow.collectors.text.stamps import iso

GAP = 2.0
"""Samples that are further apart than this many usual intervals have one missing between them."""


class Sample(TypedDict):
    """The sample before: JSON values. `apart_s` are its distances from the samples before it, newest last."""

    ts: str
    counts: dict[str, float]
    apart_s: list[float]


class Beside(NamedTuple):
    """A sample beside the one before.

    `fields` holds `interval_s`, `prev_ts` and the counts before; nothing for a first sample. `apart_s` is the time
    between the two samples: where samples are missing, `interval_s` is the usual interval. `reason` and `detail` give
    the cause where a difference is no amount, or no amount of one interval.
    """

    fields: Fields
    sample: Sample
    apart_s: float | None = None
    reason: Reason | None = None
    detail: str | None = None


def beside(before: Sample | None, instant: datetime, counts: Mapping[str, float]) -> Beside:
    """Set the counts of a sample beside those before; the usual interval is the shorter of the last two.

    A count that is less than before means that the counts began anew: the sample before is stated, so that the restart
    is seen. Over a gap the counts go on, and so their differences are its amounts. They are no rate of one interval:
    who divides sees that the time since `prev_ts` is more than twice `interval_s`. A restart within the gap stays
    unseen where the counts have since passed those before.

    Raises
    ------
    Unusable : the sample is of the same time as the one before, or earlier.
    """
    instant = instant.replace(microsecond=instant.microsecond // 1000 * 1000)  # as `ts` carries it
    ts = iso(instant)
    if before is None:
        return Beside({}, Sample(ts=ts, counts=dict(counts), apart_s=[]))
    apart_s = round((instant - datetime.fromisoformat(before["ts"])).total_seconds(), 3)
    if apart_s == 0:
        raise Unusable(Reason.DUPLICATE_ROW, f"there is a sample of {ts} already")
    if apart_s < 0:
        raise Unusable(Reason.LATE_ROW, f"the sample before is of {before['ts']}: sort by time")
    usual_s = min(before["apart_s"], default=apart_s)
    sample = Sample(ts=ts, counts=dict(counts), apart_s=remembered(apart_s, before["apart_s"]))
    previous = {f"prev_{name}": value for name, value in before["counts"].items() if name in counts}
    fields: Fields = {"interval_s": apart_s, "prev_ts": before["ts"], **previous}
    fallen = [name for name, value in counts.items() if value < before["counts"].get(name, value)]
    if fallen:
        detail = f"{', '.join(fallen)} less than at {before['ts']}: the counts began anew, there are no amounts"
        return Beside(fields, sample, apart_s, Reason.RESTARTED, detail)
    if apart_s > GAP * usual_s:
        detail = f"{apart_s:g} s since the sample before, usually {usual_s:g} s: amounts are of the gap, no rates"
        return Beside({**fields, "interval_s": usual_s}, sample, apart_s, Reason.SAMPLE_MISSING, detail)
    return Beside(fields, sample, apart_s)
