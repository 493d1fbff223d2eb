"""When a sample was taken, how long its interval is, and whether it follows the sample before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple

from counterflow.collectors.records import Reason, Unusable
from counterflow.collectors.text.periods import gap, is_gap, missing_between, remembered
from counterflow.collectors.text.placing import Placed, in_one_second
from counterflow.collectors.text.stamps import iso, stated
from counterflow.collectors.text.trees import number

_FIRST_WAIT_S = 60


@dataclass
class Clock:
    """The times of the samples of one host: JSON values.

    `ts` is where the last sample was placed, `stamp` what it states, `loop` its number, `digest` that of its content
    where it has none. `placed` has the stamps so far, `apart_s` the distances of the last samples.
    """

    ts: str | None = None
    stamp: str | None = None
    loop: int | None = None
    digest: str | None = None
    placed: Placed = field(default_factory=Placed)
    apart_s: list[float] = field(default_factory=list)


def restored(kept: Mapping[str, Any]) -> Clock:
    """Return the clock that was kept as JSON values."""
    placed = kept.get("placed", {})
    return Clock(**{**kept, "placed": Placed(**{**placed, "stamps": [*placed.get("stamps", ())]})})


class Taken(NamedTuple):
    """The instant of a sample, and how many seconds its figures are of, None where that is not known.

    Behind a gap they differ: `counted_s` for differences of running counts, which cover it, `rate_s` for rates, which
    do so where the recorder states it, `mean_s` for means and states, which weigh one usual interval. `follows` is true
    where the sample before is the one that the recorder took before it. `notes` are reported.
    """

    instant: datetime
    counted_s: float | None
    rate_s: float | None
    mean_s: float | None
    follows: bool
    notes: list[tuple[Reason, str]]


def taken(tree: Mapping[str, Any], clock: Clock, zone: tzinfo, *, is_boot: bool) -> Taken:
    """Return when a sample was taken; `clock` is that of its host, and is updated.

    `is_boot` is true where the system was started again since the sample before.

    Raises
    ------
    Unusable : it has no time, or repeats the sample before.
    """
    stamp = tree["timestamp"]
    before = datetime.fromisoformat(clock.ts) if clock.ts else None
    stamp_before = before and clock.placed.of(before)
    written = _instant(stamp, zone, stamp_before)
    loop = number(stamp.get("snapshot_loop"))
    loop = int(loop) if loop is not None and isinstance(stamp["snapshot_loop"], int) else None
    elapsed, wait = _positive(stamp.get("elapsed")), _positive(stamp.get("snapshot_seconds"))
    digest = None if loop is not None else hashlib.blake2s(json.dumps(tree).encode(), digest_size=8).hexdigest()
    is_alike = loop is not None or wait is None or digest == clock.digest
    if clock.stamp == iso(written) and loop == clock.loop and is_alike:
        raise Unusable(Reason.DUPLICATE_ROW, f"the sample before has the same time, {clock.stamp}")
    follows = before is not None and loop == (None if clock.loop is None else clock.loop + 1)
    notes = [
        (Reason.OUT_OF_RANGE, f"{name} {stamp[name]} is no length of an interval")
        for name in ("elapsed", "snapshot_seconds")
        if (number(stamp.get(name)) or 0) < 0
    ]
    if is_boot:
        notes.append((Reason.RESTARTED, "the system was started again since the sample before"))
        follows = False
    elif loop is not None and clock.loop is not None and loop <= clock.loop:
        notes.append((Reason.RESTARTED, f"snapshot_loop {loop} after {clock.loop}: another recording begins"))
    placed = written
    if stamp_before is not None and (follows or (loop or 0) > (clock.loop or 0)):
        steps = 1 if loop is None or clock.loop is None else loop - clock.loop
        if (apart := in_one_second(stamp_before, written, steps, wait)) is not None:
            placed = apart
            notes.append((Reason.INFERRED, "two stamps in one second: the sample is placed an interval later"))
    since_s = usual_s = None
    if stamp_before is not None and placed <= stamp_before:
        notes.append((Reason.CLOCK_CHANGE, f"the sample before is of {iso(stamp_before)}"))
        follows = False
    elif stamp_before is not None:
        since_s = round((placed - stamp_before).total_seconds(), 3)
        usual_s = max(wait or 0, clock.apart_s[-1] if clock.apart_s else 0) or since_s
        missing = _missing(clock, loop, since_s, usual_s, follows)
        if missing is None or not missing.is_measured:
            usual_s = None
        if missing is not None:
            notes.append((Reason.SAMPLE_MISSING, missing.detail))
            follows = follows and missing.is_measured
        clock.apart_s = remembered(since_s, clock.apart_s)
    alone_s = min(wait, _FIRST_WAIT_S) if wait is not None and loop == 0 else wait
    counted_s = elapsed or (since_s if follows else alone_s)
    usual_s = usual_s if follows else None
    rate_s = elapsed or usual_s or counted_s
    mean_s = usual_s or rate_s
    instant = clock.placed.place(placed, stamp_before)
    clock.ts, clock.stamp, clock.loop, clock.digest = iso(instant), iso(written), loop, digest
    return Taken(instant, counted_s, rate_s, mean_s, follows, notes)


class _Missing(NamedTuple):
    """Why samples are missing between two; `is_measured` where the later one may still be compared with the first."""

    detail: str
    is_measured: bool


def _missing(clock: Clock, loop: int | None, since_s: float, usual_s: float, follows: bool) -> _Missing | None:
    """Return what is missing between the sample of `clock` and one `since_s` later, None where nothing is."""
    if follows and loop is None and (detail := missing_between(since_s, clock.apart_s)) is not None:
        return _Missing(detail, False)
    if loop is not None and clock.loop is not None and loop > clock.loop + 1:
        return _Missing(f"snapshot_loop {loop} after {clock.loop}: samples are missing", False)
    if is_gap(since_s, usual_s):
        return _Missing(f"since the sample before {gap(since_s, usual_s)}: means are taken as of {usual_s:g} s", True)
    return None


def _instant(stamp: Mapping[str, Any], zone: tzinfo, before: datetime | None) -> datetime:
    """Return the time of a sample; a local time that the clock shows twice is its first after the sample before."""
    ts = stated(stamp.get("UTC"), UTC) or stated(stamp.get("datetime"), zone, before)
    if ts is not None:
        return ts
    found = {name: stamp.get(name) for name in ("UTC", "datetime")}
    missing = not any(found.values())
    raise Unusable(
        Reason.STAMP_MISSING if missing else Reason.STAMP_INVALID,
        f"expected timestamp.UTC as YYYY-MM-DDThh:mm:ss, found {found}",
    )


def _positive(value: object) -> float | None:
    found = number(value)
    return found if found is not None and found > 0 else None
