"""LOG ACTIVITY of OMEGAMON for Db2: statistics reports and traces, and the record trace of IFCID 1, as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from counterflow.collectors.formats.omegamon_log_activity.blocks import (
    COUNTS,
    DELTAS,
    Block,
    Columnar,
    Dotted,
    begins,
    is_log,
    stray,
)
from counterflow.collectors.formats.omegamon_log_activity.pages import Pages
from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.lines import Line, read_lines
from counterflow.collectors.text.running_counts import Sample, beside
from counterflow.collectors.text.stamps import AMBIGUOUS, iso

SOURCE = "omegamon_log_activity"
SECTION = "LOG ACTIVITY"
MAX_LINE_CHARACTERS = 1000
"""A print has 133 columns."""


@dataclass
class LogActivityState:
    """State carried over from the report so far: JSON values.

    `pages` holds the headings around the blocks, `samples` the last record of each subsystem, `seen` the end of its
    last interval.
    """

    pages: dict[str, Any] = field(default_factory=dict)
    samples: dict[str, Sample] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)


def recognises(head: bytes) -> bool:
    return is_log(text(head))


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every block of the log; the rest of the report is skipped."""
    position = position or Position(0, 0)
    state = LogActivityState(**position.state)
    pages = Pages(**state.pages)
    opened: Columnar | Dotted | None = None
    in_log = position.byte_offset > 0  # there is no position before the first block of the log
    last: Line | None = None
    strays: list[Reject] = []  # held until a position follows them, so that a resumed parse repeats none
    for line in read_lines(stream, position.byte_offset, position.line):
        if line.fault is Reason.CUT_LINE and not context.complete:
            return  # the rest of it is still to be written
        last = line
        written = text(line.data[: 4 * MAX_LINE_CHARACTERS])[:MAX_LINE_CHARACTERS].rstrip()
        if opened is not None and opened.accept(written, line):
            continue
        if opened is not None:
            in_log = in_log or opened.is_log
            if in_log:
                yield from strays
                strays.clear()
            yield from _items(opened, pages, state, context)
            if in_log:
                yield Position(line.offset, line.number - 1, {**asdict(state), "pages": asdict(pages)})
        opened = begins(written, line)
        if isinstance(opened, Dotted):
            opened.accept(written, line)
        elif opened is None:
            pages.read(written)
            if (lost := stray(written, line)) is not None:
                strays.append(lost)
    if not context.complete:
        return
    yield from strays
    if opened is not None and last is not None:
        in_log = in_log or opened.is_log
        yield from _items(opened, pages, state, context)
        if in_log:
            yield Position(last.end, last.number, {**asdict(state), "pages": asdict(pages)})
    if not in_log:
        yield Reject(Reason.EMPTY_FILE, "the file holds no figures of the log", "none")


def _items(opened: Columnar | Dotted, pages: Pages, state: LogActivityState, context: Context) -> Iterator[Item]:
    if not opened.is_log:
        return
    block = opened.block
    figures, rate = block.figures()
    system = subsystem = ts = None
    try:
        system, subsystem = pages.system(context), pages.subsystem()
        known = f"{system} {subsystem}"
        sample = state.samples.get(known)
        before = (sample and sample["ts"]) if block.cumulative else state.seen.get(known)
        after = datetime.fromisoformat(before) if before else None
        moment = (pages.moment if block.cumulative else pages.interval)(context, after)
        ts = iso(moment.instant)
        envelope: Fields = {"ts": ts, "system": system, "source": SOURCE}
        if moment.seconds is not None:
            envelope["interval_s"] = moment.seconds
        fields: Fields = {}
        if block.cumulative:
            counts = {COUNTS[name]: value for name, value in figures.items() if name in COUNTS}
            found = beside(sample, moment.instant, counts)
            state.samples[known] = found.sample
            fields = {**counts, **found.fields}
            if found.reason is not None:
                block.rejects.append(_noted(block, found.reason, f"{subsystem}: {found.detail}"))
        else:
            if before == ts:
                raise Unusable(Reason.DUPLICATE_ROW, f"there is a block of the interval until {ts} already")
            state.seen[known] = ts
            fields = {DELTAS[name]: value for name, value in figures.items() if name in DELTAS}
            if rate is not None:
                fields["log_rate_mb_s"] = rate
    except Unusable as error:
        refused = _noted(block, error.reason, str(error))
        refused.kept, refused.raw = "none", b"\n".join(block.raw)
        items: list[Item] = [refused]
    else:
        if moment.ambiguous:
            block.rejects.append(_noted(block, Reason.CLOCK_CHANGE, AMBIGUOUS))
        items = [*block.rejects, *_records(block, fields, figures, subsystem, pages.member, envelope)]
    for item in items:
        if isinstance(item, Reject):
            item.section, item.system, item.ts = SECTION, system, ts
        yield item


def _records(
    block: Block, fields: Fields, figures: dict[str, float], subsystem: str, member: str | None, envelope: Fields
) -> Iterator[Item]:
    if not fields:
        yield _noted(block, Reason.EMPTY_SNAPSHOT, "the block shows none of the figures that db_log has")
    else:
        named = {"subsystem": subsystem, **({"member": member} if member else {})}
        yield Record("db_log", {**envelope, **named, **fields})
        counted = {"counted": "db_log", "row_count": 1}
        yield Record("manifest", {**envelope, "source": f"{SOURCE}.{subsystem}", **counted})
    for name, value in figures.items():
        if name not in DELTAS and name not in COUNTS:
            percent = name.endswith("(%)")
            kind = "percent" if percent else "cumulative" if block.cumulative else "delta"
            facts = {"kind": kind, **({"unit": "%"} if percent else {})}
            counter = {"section": SECTION, "instance": subsystem, "counter": name, "value": value}
            yield Record("counter", {**envelope, **counter, **facts})


def _noted(block: Block, reason: Reason, detail: str) -> Reject:
    return Reject(reason, detail, "all", block.first.number, block.first.offset)
