"""WRKDSKSTS: the print of Work with Disk Status and text copied from its display, in any language.

Rates are averages since the statistics were reset, so a print without a reset also covers the time of the one before:
the amounts between two such prints are r2·t2 - r1·t1.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, Literal, NamedTuple, TypedDict

from counterflow.collectors.formats.wrkdsksts import rows
from counterflow.collectors.formats.wrkdsksts.captures import Capture, captures, is_wrkdsksts, stray
from counterflow.collectors.formats.wrkdsksts.rows import DiskUnit
from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text import stamps
from counterflow.collectors.text.dates import ORDERS, inferred, readings
from counterflow.collectors.text.settings import changes

TOLERANCE_S = 5
"""How far the start of two prints may differ and still be one reset: the header's time is not that of the figures."""
BUSY_ERROR_POINTS = 5.0
"""A share of busy time with a larger rounding error is left out."""

_TENTH = 0.05
_KEPT = ("io", "size_kb", "reads", "writes", "read_kb", "written_kb", "busy")


def recognises(head: bytes) -> bool:
    """Return whether a print or a display with at least one disk unit begins in `head`."""
    return is_wrkdsksts(head)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every whole print or display; what cannot be read becomes a reject."""
    state = WrkdskstsState(**position.state) if position else WrkdskstsState()
    offset, line = (position.byte_offset, position.line) if position else (0, 0)
    if context.complete and context.date_order is None and state.order is None:
        every = captures(stream, offset, line, complete=True)
        state.order = only_order(found.item for found in every if isinstance(found.item, Capture))
        if state.order is not None:
            yield inferred(state.order)
    for found in captures(stream, offset, line, complete=context.complete):
        if isinstance(found.item, Reject):
            yield found.item
        else:
            yield from items(found.item, state, context)
        offset = found.end
        yield Position(found.end, found.lines, asdict(state))
    if context.complete and offset == 0:
        yield Reject(Reason.EMPTY_FILE, "the file holds no print and no display of WRKDSKSTS", "none")


class Amount(NamedTuple):
    """An amount since the reset and how far rounding in the print may have moved it."""

    value: float
    error: float

    def since(self, before: Amount) -> Amount | None:
        """Return the amount after `before`; None where it is negative by more than rounding explains."""
        value, error = self.value - before.value, self.error + before.error
        return Amount(max(value, 0.0), error) if value >= -error else None


class Preceding(TypedDict):
    """The last sample of a system: its time, the elapsed seconds, and by disk the numbers of `_KEPT`."""

    ts: str
    elapsed_s: int
    disks: dict[str, list[float]]


@dataclass
class WrkdskstsState:
    """State carried over from earlier captures: JSON values, written with every commit.

    `order` is the order of day, month and year that an earlier date of the file proved; `columns` are the ends of its
    columns. `preceding` holds the last sample by system, `config` the settings published last for each disk.
    """

    order: str | None = None
    columns: list[int] | None = None
    instant: str | None = None
    preceding: dict[str, Preceding] = field(default_factory=dict)
    config: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class Disk:
    """The rows of one disk: of the first view, of the second, or of both."""

    unit: DiskUnit
    device_type: str = "disk"
    leaf: bool = True


def items(capture: Capture, state: WrkdskstsState, context: Context) -> Iterator[Item]:
    """Yield the records and rejects of a capture; `state` comes from the capture before and is updated."""
    system = context.system or capture.system
    ts: str | None = None
    try:
        if system is None:
            detail = "expected the name of the system behind the elapsed time or the title"
            raise Unusable(Reason.BAD_HEADER, detail)
        instant = _instant(capture, state, context)
        ts = stamps.iso(instant)
        if capture.elapsed_s is None:
            raise Unusable(Reason.BAD_HEADER, "expected an elapsed time, `: hh:mm:ss` behind a label")
        if capture.elapsed_s == 0:
            detail = "the elapsed time is 00:00:00: nothing was measured since the reset"
            raise Unusable(Reason.EMPTY_SNAPSHOT, detail)
        before = state.preceding.get(system)
        follows = before is not None and _follows(before, instant, capture.elapsed_s)
        state.instant = ts
        found = list(_sample(capture, capture.elapsed_s, state, system, instant, before if follows else None))
    except Unusable as error:
        first = capture.first
        raw = b"\n".join(capture.written)
        yield Reject(error.reason, str(error), "none", first.number, first.offset, system=system, ts=ts, raw=raw)
        found = []
    for item in itertools.chain(capture.strays, found):
        if isinstance(item, Reject):
            item.system, item.ts = system, ts
        yield item


def _sample(
    capture: Capture, elapsed_s: int, state: WrkdskstsState, system: str, instant: datetime, before: Preceding | None
) -> Iterator[Item]:
    seconds = float(elapsed_s - before["elapsed_s"] if before else elapsed_s)
    envelope: Fields = {"ts": stamps.iso(instant), "system": system, "source": "wrkdsksts"}
    measured = {**envelope, "interval_s": seconds}
    disks: dict[str, Disk] = {}
    yield from _disks(capture, state, disks)
    if capture.printed and not capture.whole:
        yield _note(capture, Reason.CUT_FILE, "the print ends without its trailer: units may be missing", "all")

    backwards: list[str] = []
    for name, disk in disks.items():
        spent = _amounts(disk.unit.measures, elapsed_s)
        if before:
            spent, negative = _between(before, name, spent)
            backwards += [f"{name}.{column}" for column in negative]
        whose = measured if disk.unit.measures else envelope
        yield Record("disk", {**whose, **_columns(name, disk, spent, seconds, direct=before is None)})
        entries = {"type": disk.unit.type, "compression": disk.unit.compression}
        settings = {key: value for key, value in entries.items() if value is not None}
        yield from changes(state.config.setdefault(f"{system} {name}", {}), settings, envelope, "WRKDSKSTS", name)
    yield Record("manifest", {**measured, "counted": "disk", "row_count": len(disks)})
    if backwards:
        shown = ", ".join(backwards[:20])
        detail = f"{len(backwards)} amounts since the reset are less than in the print before: {shown}"
        yield _note(capture, Reason.NEGATIVE_DELTA, detail, "part")
    kept = {name: disk.unit.measures for name, disk in disks.items() if disk.unit.measures}
    if kept:
        state.preceding[system] = {
            "ts": stamps.iso(instant),
            "elapsed_s": elapsed_s,
            "disks": {name: [measures[column] for column in _KEPT] for name, measures in kept.items()},
        }


def _between(before: Preceding, name: str, spent: dict[str, Amount]) -> tuple[dict[str, Amount], list[str]]:
    """Return the amounts after the sample before, and the names of those that went back."""
    if name not in before["disks"]:
        return {}, []
    measures = dict(zip(_KEPT, before["disks"][name], strict=True))
    earlier = _amounts(measures, before["elapsed_s"])
    both = {column: spent[column].since(earlier[column]) for column in spent}
    return {c: left for c, left in both.items() if left is not None}, [c for c, left in both.items() if left is None]


def _note(capture: Capture, reason: Reason, detail: str, kept: Literal["all", "part"]) -> Reject:
    return Reject(reason, detail, kept, capture.first.number, capture.first.offset)


def _follows(before: Preceding, instant: datetime, elapsed_s: int) -> bool:
    """Return whether the sample counts from the same reset as the one before.

    Raises
    ------
    Unusable : it covers time that the one before covers, and does not count from the same reset.
    """
    ts, seconds = datetime.fromisoformat(before["ts"]), before["elapsed_s"]
    reset, preceding_reset = instant - timedelta(seconds=elapsed_s), ts - timedelta(seconds=seconds)
    tolerance = timedelta(seconds=TOLERANCE_S)
    if abs(reset - preceding_reset) <= tolerance and elapsed_s > seconds:
        return True
    if reset >= ts - tolerance:
        return False
    if elapsed_s == seconds and abs(instant - ts) <= tolerance:
        raise Unusable(Reason.DUPLICATE_ROW, f"the capture before is of the same time, {before['ts']}")
    detail = f"its {elapsed_s} s overlap the capture of {before['ts']}, and they do not count from the same reset"
    raise Unusable(Reason.REPEATED_BLOCK, f"{detail}: print from one job, or with RESET(*YES)")


# the time


def _instant(capture: Capture, state: WrkdskstsState, context: Context) -> datetime:
    """Return when the capture was taken.

    Raises
    ------
    Unusable : it has no time, or its date can be read in more than one way.
    """
    if capture.date is None or capture.time is None:
        if context.given_at is not None:
            return context.given_at
        detail = "expected a date and a time before the elapsed time, or --at"
        raise Unusable(Reason.STAMP_MISSING, detail)
    h, m, s = (int(part) for part in re.split(r"\D", capture.time))
    dates = _dates(capture, context.date_order or state.order)
    if not dates or h > 23 or m > 59 or s > 59:
        stamp = f"{capture.date} {capture.time}"
        raise Unusable(Reason.STAMP_INVALID, f"expected a date and a time of day, found `{stamp}`")
    if len(set(dates.values())) > 1:
        either = " or ".join(f"{date:%Y-%m-%d} ({order})" for order, date in dates.items())
        way_out = "name the order (`date_order`, --date-order), or print with CHGJOB DATFMT(*JUL)"
        detail = f"`{capture.date}` is {either}: {way_out}"
        raise Unusable(Reason.STAMP_INVALID, detail)
    if len(dates) == 1 and len(re.split(r"\D", capture.date)) == 3:
        state.order = next(iter(dates))
    local = next(iter(dates.values())).replace(hour=h, minute=m, second=s)
    after = datetime.fromisoformat(state.instant) if state.instant else None
    return stamps.to_utc(local, context.zone, after)[0].astimezone(UTC)


def _dates(capture: Capture, order: str | None = None) -> dict[str, datetime]:
    """Return midnight of the date of a capture in each order that it allows; `order` is the only one, where given."""
    if capture.date is None:
        return {}
    parts = re.split(r"\D", capture.date)
    dates = _of_the_year(*parts) if len(parts) == 2 else _midnights(parts)
    if len(parts[0]) == 4 and "ymd" in dates:  # it is the year, whatever the order of other dates
        dates = dict.fromkeys(ORDERS, dates["ymd"])
    if order is not None:
        dates = {order: dates[order]} if order in dates else {}
    if capture.built is not None:
        built = _midnights([capture.built[:2], capture.built[2:4], capture.built[4:]]).get("ymd")
        # no print is older than its release
        dates = {order: date for order, date in dates.items() if built is None or date >= built}
    return dates


def only_order(captures: Iterable[Capture]) -> str | None:
    """Return the only order that the dates of all captures allow.

    It is None where several do, or the first date needs none.
    """
    left = set(ORDERS)
    for number, capture in enumerate(captures):
        dates = _dates(capture)
        several = len(set(dates.values())) > 1
        if not number and not several:
            return None
        left &= dates.keys() if several or len(dates) == 1 else left
        if len(left) == 1:
            return left.pop()
    return None


def _midnights(parts: Sequence[str]) -> dict[str, datetime]:
    return readings(f"{'/'.join(parts)} 00:00")


def _of_the_year(year: str, day: str) -> dict[str, datetime]:
    """Return midnight of a day of the year (*JUL), which is the same in every order."""
    first = datetime(int(year) % 100 + 2000, 1, 1)  # noqa: DTZ001 - local by design
    date = first + timedelta(days=int(day) - 1)
    return dict.fromkeys(ORDERS, date) if len(day) == 3 and date.year == first.year else {}


# the units


def _disks(capture: Capture, state: WrkdskstsState, disks: dict[str, Disk]) -> Iterator[Reject]:
    """Read the rows into `disks` by name; the second view of a display completes the rows of the first."""
    columns = rows.layout((row.written for row in capture.rows), state.columns)
    state.columns = list(columns) if columns else None
    seen: Counter[tuple[bool, str]] = Counter()
    paths: set[str] = set()
    for row in capture.rows:
        try:
            unit = rows.read(row.written, columns)
        except Unusable as error:
            yield stray(row.line, error.reason, str(error))
            continue
        if row.line.fault is Reason.CUT_LINE and unit.measures and rows.ends(row.written) != columns:
            yield stray(row.line, Reason.CUT_LINE, "the data ends within this line")
            continue
        view = (bool(unit.measures), unit.unit)
        seen[view] += 1
        name = unit.unit if seen[view] == 1 else f"{unit.unit}#{seen[view]}"
        if name in disks:
            disks[name].unit = _joined(disks[name].unit, unit)
        elif seen[view] == 1 or unit.unit == "0":  # 0 are units that are not configured
            disks[name] = Disk(unit)
        else:
            first = disks[unit.unit].unit
            disks[name] = Disk(unit, "path", leaf=unit.measures != first.measures)
            paths.add(unit.unit)
    if paths:
        shown = ", ".join(sorted(paths)[:20])
        rule = "one that repeats the first is not counted again (unverified)"
        detail = f"{len(paths)} units have several rows, {shown}: {rule}"
        yield _note(capture, Reason.DUPLICATE_ROW, detail, "all")


def _joined(one: DiskUnit, other: DiskUnit) -> DiskUnit:
    pairs = zip(one, other, strict=True)
    return DiskUnit(*(mine if mine not in (None, {}) else theirs for mine, theirs in pairs))  # type: ignore[arg-type]


def _amounts(m: Mapping[str, float], seconds: float) -> dict[str, Amount]:
    """Return the amounts in `seconds` by rates and means: requests, KB, seconds busy."""
    if not m:
        return {}

    def requests(column: str) -> Amount:
        return Amount(m[column] * seconds, _TENTH * seconds)

    def kb(count: str, mean: str) -> Amount:
        value = m[count] * seconds * m[mean]
        return Amount(value, (_TENTH * m[mean] + _TENTH * m[count]) * seconds)

    return {
        "transfers": requests("io"),
        "transferred_kb": kb("io", "size_kb"),
        "reads": requests("reads"),
        "read_kb": kb("reads", "read_kb"),
        "writes": requests("writes"),
        "written_kb": kb("writes", "written_kb"),
        "busy_s": Amount(m["busy"] / 100 * seconds, 0.005 * seconds),
    }


def _columns(name: str, disk: Disk, spent: dict[str, Amount], seconds: float, *, direct: bool) -> Fields:
    """Return the columns of a disk; `direct` means that the print's own means cover the interval."""
    unit = disk.unit
    fields: Fields = {"disk": name, "device_type": disk.device_type, "leaf": disk.leaf}
    if (busy := spent.get("busy_s")) is not None and (direct or 100 * busy.error / seconds <= BUSY_ERROR_POINTS):
        fields["busy_pct"] = round(min(100 * busy.value / seconds, 100.0), 3)
    for column in ("reads", "writes", "transfers", "read_kb", "written_kb"):
        if column in spent:
            fields[column] = round(spent[column].value, 3)
    for column, kb, count, mean in (
        ("kb_per_transfer", "transferred_kb", "transfers", "size_kb"),
        ("kb_per_read", "read_kb", "reads", "read_kb"),
        ("kb_per_write", "written_kb", "writes", "written_kb"),
    ):
        if kb not in spent or count not in spent or spent[count].value <= (0 if direct else spent[count].error):
            continue
        fields[column] = unit.measures[mean] if direct else round(spent[kb].value / spent[count].value, 3)
    known = {
        "unit": unit.unit,
        "asp": unit.asp,
        "state": unit.state,
        "protection": unit.protection,
        "capacity_mb": unit.measures.get("size"),
        "used_pct": unit.measures.get("used"),
    }
    return fields | {column: value for column, value in known.items() if value is not None}
