"""Scrapes of exporters: the text format of Prometheus and OpenMetrics.

Every sample is a row of `counter`. What a known exporter measures fills the datasets of its figures, too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import BinaryIO

from counterflow.collectors.formats.openmetrics.exposition import END, Family, Metric, families, is_number
from counterflow.collectors.formats.openmetrics.filling import Scrape, filled, known
from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject
from counterflow.collectors.text.keys import Times, is_new
from counterflow.collectors.text.lines import Line, read_lines
from counterflow.collectors.text.periods import missing_between, remembered
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.stamps import iso, stated, unix_time

SOURCE = "openmetrics"
STAMP = re.compile(rb"#\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*)(?:\s+(\S{1,100}))?\s*$")
"""The comment that begins a scrape: its time and, where a system has several targets, the name of the target."""

_HOST = "node_uname_info"
_LONGEST_TEXT = 200

_MOST_BACK_S = 3.0
"""A processor's time may go back a little, as iowait does in the kernel. By this much node_exporter from 1.2.0 on
keeps it at what it was (`jumpBackSeconds` of its source); the versions before expose it as it is."""

MOST_LINES = 200_000
"""Lines of one scrape that are kept: samples and comments."""

_TYPE = re.compile(
    rb"^# TYPE [A-Za-z_:][\w:.]* (?:counter|gauge|histogram|summary|untyped|unknown|info|stateset)\b", re.MULTILINE
)


def recognises(head: bytes) -> bool:
    return _TYPE.search(head) is not None


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of each scrape; one ends at `# EOF`, before a comment with a time, or with the file."""
    start = position or Position(0, 0)
    targets = {section: ScrapedTarget(**state) for section, state in start.state.items()}
    lines: list[Line] = []
    beyond = 0
    last: Line | None = None
    for line in read_lines(stream, start.byte_offset, start.line):
        if line.fault is Reason.CUT_LINE and not context.complete:
            return
        if lines and (STAMP.match(line.data) or (last is not None and last.data.rstrip() == END)):
            yield from items(lines, beyond, context, targets)
            yield _reached(line.offset, line.number - 1, targets)
            lines, beyond = [], 0
        last = line
        if len(lines) < MOST_LINES:
            lines.append(line)
        else:
            beyond += 1
    if last is None:
        if start.byte_offset == 0 and context.complete:
            yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")
    elif context.complete or last.data.rstrip() == END:
        yield from items(lines, beyond, context, targets)
        yield _reached(last.end, last.number, targets)


def _reached(offset: int, line: int, targets: dict[str, ScrapedTarget]) -> Position:
    return Position(offset, line, {section: asdict(target) for section, target in targets.items()})


@dataclass
class ScrapedTarget:
    """What is kept of a target from one scrape to the next: JSON values.

    `about` has a digest of each family's description published last. `counts` are the running counts that fill columns,
    at `ts`; `apart_s` the distances of the scrapes before. `times` are those of scrapes, and of series that state their
    own. `noted` is the note that was reported last.
    """

    about: dict[str, str] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    ts: str | None = None
    apart_s: list[float] = field(default_factory=list)
    times: Times = field(default_factory=dict)
    noted: str | None = None


def items(lines: Sequence[Line], beyond: int, context: Context, targets: dict[str, ScrapedTarget]) -> Iterator[Item]:
    """Yield the records and rejects of one scrape; `targets` have their state by name, which is updated.

    `beyond` is the number of lines that were not kept.

    The comment that begins it states the time of its samples, unless they have times of their own, and the section of
    its rows: the name that tells the targets of one system apart.
    """
    stamp = STAMP.match(lines[0].data)
    at = stated(stamp[1].decode("ascii", "replace"), context.zone) if stamp else context.given_at
    section = stamp[2].decode("utf-8", "replace") if stamp and stamp[2] else SOURCE
    if beyond:
        yield Reject(
            Reason.OUT_OF_RANGE, f"{beyond} lines more than the {len(lines)} that are read", "none", section=section
        )
    found: list[Family] = []
    for item in families([_whole(line) for line in lines]):
        if isinstance(item, Reject):
            yield item
        else:
            found.append(item)
    metrics = [metric for family in found for metric in family.metrics]
    if not metrics:
        return
    system = context.system or next((m.labels.get("nodename") for m in metrics if m.name == _HOST), None)
    if not system:
        detail = "no metric names the system: set `system` of the source, or --system"
        yield Reject(Reason.BAD_HEADER, detail, "none", metrics[0].line, section=section)
        return
    target = targets.setdefault(section, ScrapedTarget())
    fault = None
    if at is None and any(metric.at_s is None for metric in metrics):
        detail = "expected a comment with a time before the scrape, # 2026-11-21T18:50:00Z, or --at"
        fault = Reject(Reason.STAMP_INVALID if stamp else Reason.STAMP_MISSING, detail, "none")
    elif at is not None and not is_new(target.times, "", iso(at)):
        fault = Reject(Reason.DUPLICATE_ROW, f"there is a scrape of {iso(at)} already", "none")
    if fault is not None:
        fault.line, fault.section, at = metrics[0].line, section, None
        yield fault
        metrics = [metric for metric in metrics if metric.at_s is not None]
    envelope: Fields = {"system": system, "source": SOURCE}
    yield from _counters(metrics, at, envelope, section, target)
    if at is not None:
        yield from _described(found, {**envelope, "ts": iso(at)}, section, target)
        yield from _figures([m for m in metrics if m.at_s is None and is_number(m)], at, envelope, section, target)


def _whole(line: Line) -> Line:
    """Return a line; the last one of a file needs no line end."""
    return line._replace(fault=None) if line.fault is Reason.CUT_LINE else line


def _counters(
    metrics: Sequence[Metric], at: datetime | None, envelope: Fields, section: str, target: ScrapedTarget
) -> Iterator[Record | Reject]:
    without = [metric for metric in metrics if not is_number(metric)]
    note = None
    if without:
        others = f" and {len(without) - 1} others" if len(without) > 1 else ""
        note = f"{without[0].series:.200}{others}: no value, or none below 2^63, left out"
    if note is not None and note != target.noted:
        yield Reject(Reason.NOT_A_NUMBER, note, "part", section=section, ts=iso(at) if at else None)
    target.noted = note
    seen: set[str] = set()
    for metric in metrics:
        if not is_number(metric):
            continue
        ts = at if metric.at_s is None else unix_time(metric.at_s)
        place = f"{metric.series:.200}"
        if ts is None:
            detail = f"{place}: expected a time, found {metric.at_s}"
            yield Reject(Reason.STAMP_INVALID, detail, "none", metric.line, section=section)
        elif (key := f"{metric.series} {iso(ts)}") in seen:
            yield Reject(Reason.DUPLICATE_ROW, f"{place} stands twice", "none", metric.line, section=section)
        elif metric.kind == "cumulative" and metric.value < 0:
            detail = f"{place}: expected a running count, found {metric.value:g}"
            yield Reject(Reason.OUT_OF_RANGE, detail, "none", metric.line, section=section)
        elif metric.at_s is None or is_new(target.times, metric.series, iso(ts)):  # the same sample is exposed again
            seen.add(key)
            fields = {
                **envelope,
                "ts": iso(ts),
                "section": section,
                "instance": metric.instance,
                "counter": metric.name,
            }
            known_of = {"unit": metric.unit, "kind": metric.kind}
            fields |= {name: value for name, value in known_of.items() if value is not None}
            yield Record("counter", {**fields, "value": metric.value}, metric.line)


def _described(found: Sequence[Family], envelope: Fields, section: str, target: ScrapedTarget) -> Iterator[Record]:
    """Yield type, unit and help of the families that differ from those published last."""
    for family in found:
        about = {name: words[:_LONGEST_TEXT] for name, words in family.about.items()}
        digest = hashlib.blake2s(json.dumps(about, sort_keys=True).encode(), digest_size=6).hexdigest()
        if target.about.get(family.name) != digest:
            target.about[family.name] = digest
            yield from changes({}, about, envelope, section, family.name)


def _figures(
    metrics: Sequence[Metric], at: datetime, envelope: Fields, section: str, target: ScrapedTarget
) -> Iterator[Record | Reject]:
    """Yield the rows that a known exporter fills; the running counts are kept for the next scrape."""
    exporter = known(metrics)
    if exporter is None:
        return
    ts, counts = iso(at), {m.series: m.value for m in metrics if m.name in exporter.counted}
    apart_s = (at - datetime.fromisoformat(target.ts)).total_seconds() if target.ts else None
    missing = missing_between(apart_s, target.apart_s) if apart_s is not None else None
    fallen = {series: target.counts[series] for series, n in counts.items() if n < target.counts.get(series, n)}
    times = {metric.series for metric in metrics if metric.name in exporter.divided}
    if all(series in times and before - counts[series] <= _MOST_BACK_S for series, before in fallen.items()):
        counts |= fallen
        fallen = {}
    fault = None
    if apart_s is not None and apart_s < 0:
        fault = Reject(Reason.LATE_ROW, f"the scrape before is of {target.ts}: no amounts", "part")
    elif fallen:
        first = next(iter(fallen))
        detail = f"{len(fallen)} running counts are less than at {target.ts}, first {first:.150}: no amounts"
        fault = Reject(Reason.RESTARTED, detail, "all")
    elif missing:
        fault = Reject(Reason.SAMPLE_MISSING, missing, "part")
    if fault is not None:
        fault.section, fault.ts = section, ts
        yield fault
    interval_s = apart_s if fault is None else None
    grown = {s: value - target.counts[s] for s, value in counts.items() if s in target.counts} if interval_s else {}
    rows: Counter[tuple[str, str]] = Counter()
    for dataset, fields in filled(exporter, Scrape(metrics, grown, interval_s)):
        row = {"ts": ts, **envelope, **fields}
        rows[row["system"], dataset] += 1
        yield Record(dataset, row | ({"interval_s": interval_s} if interval_s else {}))
    for (system, dataset), count in rows.items():
        yield Record("manifest", {"ts": ts, **envelope, "system": system, "counted": dataset, "row_count": count})
    target.counts, target.ts = counts, ts
    if apart_s is not None and apart_s > 0:
        target.apart_s = remembered(apart_s, target.apart_s)
