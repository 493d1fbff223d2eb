"""`D SMS,DSNAME(data set),STATS(ZHLWRITE)` of z/OS: which share of the writes through zHyperLink was synchronous.

Source of the layout: IBM MQ 10.0 for z/OS, "Troubleshooting zHyperLink"; see README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple, TypedDict

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.stamps import AMBIGUOUS, iso
from counterflow.collectors.text.zos_listings import Found, Listing, Place, listings, located

SECTION = "ZHLWRITE"
ROUNDING_POINTS = 1.0
"""A share with a larger rounding error is left out: the percentages have two decimals."""

_ROUNDING_PCT = 0.005
_REQUESTS, _SYNC = "TOTAL WRITE REQUESTS", "%SYNC WRITES"
_REASONS = ("SKIP", "LNKBSY", "EST", "MISC", "DISABL", "MISS", "DELAY", "DUAL")
_LEADING = {
    ("WRITE", "REQUESTS", "WRITES"): (_REQUESTS, _SYNC),
    ("SSID", "DEVNO", "WRITES", "WRITES"): ("SSID", "DEVNO", "TOTAL WRITES", _SYNC),
    (): (),
}

_BEGINS = re.compile(r"STATS\(ZHLWRITE\) Start of Report")
_ENDS = re.compile(r"STATS\(ZHLWRITE\) End of Report")
_DATA_SET = re.compile(r"\s*DATA SET (\S+)")
_SINCE = re.compile(r"\s*STATISTICS Since (\S.*)", re.IGNORECASE)
_RULED = re.compile(r"\s*(?:TOTAL\s+%SYNC\s+)?-+%ASYNC-+|\s*SUMMARY|\s*DEVICE STATISTICS")
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")


class Total(TypedDict):
    """The figures of a data set in a listing, for the comparison with the next: JSON values."""

    ts: str
    since: str | None
    requests: float
    sync_pct: float


@dataclass
class ZhlState:
    """State carried over from earlier listings: JSON values.

    `sample_line` is the content of the last SAMPLE_TIME line, `after` the last time; `totals` is by data set.
    """

    sample_line: list[Any] = field(default_factory=list)
    after: str | None = None
    totals: dict[str, Total] = field(default_factory=dict)


@dataclass
class WriteListing:
    """One listing: the data set, the begin of its counts, its figures, and those of each device."""

    data_set: str | None = None
    since: str | None = None
    figures: dict[str, float] = field(default_factory=dict)
    devices: dict[str, dict[str, float]] = field(default_factory=dict)


class Writes(NamedTuple):
    """Writes, the synchronous ones among them, and the rounding error of these; `since` is their begin, if known."""

    requests: float
    sync: float
    error: float
    since: str | None = None


def recognises(head: bytes) -> bool:
    return _BEGINS.search(text(head)) is not None


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of the reports; those of one time are one sample, complete when the next begins."""
    position = position or Position(0, 0)
    state = ZhlState(**position.state)
    sample: list[Found] = []
    for found in listings(stream, position, Place(*state.sample_line), _BEGINS, _ENDS, complete=context.complete):
        if sample and sample[-1].listing.place != found.listing.place:
            yield from _sample(sample, state, context)
            sample = []
        sample.append(found)
    if not context.complete:
        return
    if sample:
        yield from _sample(sample, state, context)
    elif position.byte_offset == 0:
        yield Reject(Reason.EMPTY_FILE, "the file holds no report of zHyperLink writes", "none")


def _sample(sample: list[Found], state: ZhlState, context: Context) -> Iterator[Item]:
    """Yield the records of the reports of one time, and the position behind them."""
    place, first = sample[0].listing.place, sample[0].listing.first
    try:
        system, instant, ambiguous = located(place, context, state.after)
    except Unusable as error:
        for found in sample:
            line = found.listing.first
            raw = found.listing.raw
            yield Reject(error.reason, str(error), "none", line.number, line.offset, SECTION, raw=raw)
    else:
        ts = state.after = iso(instant)
        if ambiguous:
            yield Reject(Reason.CLOCK_CHANGE, AMBIGUOUS, "all", first.number, first.offset, SECTION, None, system, ts)
        for item in _reports(sample, state, system, ts):
            if isinstance(item, Reject):
                item.section, item.system, item.ts = SECTION, system, ts
            yield item
    state.sample_line = list(sample[-1].place)
    yield Position(sample[-1].end, sample[-1].lines, asdict(state))


def _reports(sample: list[Found], state: ZhlState, system: str, ts: str) -> Iterator[Item]:
    envelope: Fields = {"ts": ts, "system": system, "source": "zhl_write_stats"}
    spent: list[Writes] = []
    for listing in (found.listing for found in sample):
        report = WriteListing()
        yield from _read(listing, report)
        first = listing.first
        if report.data_set is None or not report.figures:
            detail = "expected DATA SET and a summary in the report"
            yield Reject(Reason.EMPTY_SNAPSHOT, detail, "none", first.number, first.offset, raw=listing.raw)
            continue
        if not listing.whole:
            detail = "the report ends without `End of Report`: devices may be missing"
            yield Reject(Reason.CUT_FILE, detail, "all", first.number, first.offset)
        known = f"{system} {report.data_set}"
        before = state.totals.get(known)
        if before is not None and before["ts"] >= ts:
            reason = Reason.DUPLICATE_ROW if before["ts"] == ts else Reason.LATE_ROW
            detail = f"there is a report of {report.data_set} of {before['ts']} already"
            yield Reject(reason, detail, "none", first.number, first.offset, raw=listing.raw)
            continue
        yield from _counters(report, envelope)
        if _REQUESTS in report.figures and _SYNC in report.figures:
            requests, sync_pct = report.figures[_REQUESTS], report.figures[_SYNC]
            total = Total(ts=ts, since=report.since, requests=requests, sync_pct=sync_pct)
            if before is not None and before["since"] == total["since"] and before["requests"] > requests:
                detail = f"{_REQUESTS} of {report.data_set} is less than at {before['ts']}: counted from the beginning"
                yield Reject(Reason.NEGATIVE_DELTA, detail, "all", first.number, first.offset)
            state.totals[known] = total
            spent.append(_between(before, total))
    subsystem = sample[0].listing.place.subsystem
    if subsystem is None or not spent:
        return
    beginnings = {writes.since for writes in spent}
    if len(beginnings) == 1 and (since := beginnings.pop()) is not None:
        envelope["interval_s"] = (datetime.fromisoformat(ts) - datetime.fromisoformat(since)).total_seconds()
    requests = sum(writes.requests for writes in spent)
    if requests and 100 * sum(writes.error for writes in spent) / requests <= ROUNDING_POINTS:
        share = 100 * sum(writes.sync for writes in spent) / requests
        share = round(min(max(share, 0.0), 100.0), 3)
        yield Record("db_log", {**envelope, "subsystem": subsystem, "zhl_sync_pct": share})
        counted = {"counted": "db_log", "row_count": 1, "source": f"zhl_write_stats.{subsystem}"}
        yield Record("manifest", {**envelope, **counted})


def _between(before: Total | None, total: Total) -> Writes:
    """Return the writes since the preceding report where both count from the same begin, else all of this report."""
    requests, error = total["requests"], total["requests"] * _ROUNDING_PCT / 100
    sync = requests * total["sync_pct"] / 100
    if before is None or before["since"] != total["since"] or not before["requests"] <= requests:
        return Writes(requests, sync, error)
    earlier = before["requests"]
    error += earlier * _ROUNDING_PCT / 100
    return Writes(requests - earlier, sync - earlier * before["sync_pct"] / 100, error, before["ts"])


def _counters(report: WriteListing, envelope: Fields) -> Iterator[Record]:
    instances = {str(report.data_set): report.figures}
    instances |= {f"{report.data_set} {device}": figures for device, figures in report.devices.items()}
    for instance, figures in instances.items():
        for name, value in figures.items():
            percent = name.startswith("%")
            facts = {"unit": "%", "kind": "percent"} if percent else {"unit": "writes", "kind": "cumulative"}
            counted = {"section": SECTION, "instance": instance, "counter": name, "value": value}
            yield Record("counter", {**envelope, **counted, **facts})


def _read(listing: Listing, report: WriteListing) -> Iterator[Reject]:
    """Read a listing into `report`; yield a reject for whatever cannot be read."""
    columns: tuple[str, ...] | None = None
    for body, line in listing.rows[1:]:
        words = body.split()
        if line.fault is Reason.CUT_LINE:
            yield Reject(line.fault, "the file ends within this line", "none", line.number, line.offset, raw=line.raw)
        elif not words or _RULED.fullmatch(body) or _ENDS.search(body):
            continue
        elif match := _DATA_SET.fullmatch(body):
            report.data_set = match[1]
        elif match := _SINCE.fullmatch(body):
            report.since = match[1].strip()
        elif (named := _columns(words)) is not None:
            columns = named
        elif columns is None:
            detail = "expected DATA SET, STATISTICS Since, or columns and their figures"
            yield Reject(Reason.UNKNOWN_LINE, detail, "none", line.number, line.offset, raw=line.raw)
        elif len(words) != len(columns):
            detail = f"{len(words)} figures for {len(columns)} columns"
            yield Reject(Reason.FIELD_COUNT, detail, "none", line.number, line.offset, raw=line.raw)
        else:
            found = dict(zip(columns, words, strict=True))
            device = " ".join(found.pop(name) for name in ("SSID", "DEVNO") if name in found)
            figures = {name: float(word) for name, word in found.items() if _NUMBER.fullmatch(word)}
            into = report.devices.setdefault(device, {}) if device else report.figures
            wide = [name for name, value in figures.items() if name.startswith("%") and value > 100]
            into |= {name: value for name, value in figures.items() if name not in wide}
            if missed := [f"{name} `{word:.20}`" for name, word in found.items() if name not in figures]:
                detail = f"no number: {', '.join(missed)}"
                yield Reject(Reason.NOT_A_NUMBER, detail, "part", line.number, line.offset)
            if wide:
                detail = f"more than 100 percent: {', '.join(wide)}"
                yield Reject(Reason.OUT_OF_RANGE, detail, "part", line.number, line.offset)


def _columns(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names of columns where the line holds them; the summary writes a not sign before EST."""
    plain = [re.sub(r"[^A-Z]", "", word) for word in words]
    at = next((n for n, word in enumerate(plain) if word in _REASONS), None)
    if at is None or not set(plain[at:]) <= set(_REASONS) or tuple(words[:at]) not in _LEADING:
        return None
    return *_LEADING[tuple(words[:at])], *(f"%ASYNC {word}" for word in plain[at:])
