"""`lslparutil -r lpar` of an HMC: processor cycles of partitions, as lists of name=value or as CSV with a header.

The counts are cumulative, and the newest sample stands first. Between two samples of a partition, its capped and
uncapped cycles divided by the cycles of time are the processors that it consumed. The later sample carries them,
whichever of the two stands first. Lists may be appended to one another: what one holds already counts once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Any, BinaryIO

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject
from counterflow.collectors.text.attributes import Attributes, are_names, attributes, cells, those_set
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.configured_name import kept_apart, name_of
from counterflow.collectors.text.dates import local_time
from counterflow.collectors.text.keys import Times, is_new
from counterflow.collectors.text.lines import Line, read_items
from counterflow.collectors.text.periods import gap, is_gap
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.spans import Spans, joined
from counterflow.collectors.text.stamps import iso, to_utc

SOURCE = "hmc_lslparutil"

SYSTEM, ID, TIME, MODE, PROCESSORS = "lpar_name", "lpar_id", "time", "curr_proc_mode", "curr_procs"
OF_TIME = "time_cycles"
TIME_CYCLES_PER_S = 512_000_000
"""The time base of POWER. It decides only between two readings of a time; the figures do not depend on it."""
CYCLES = ("entitled_cycles", "capped_cycles", "uncapped_cycles")

_CYCLES = re.compile(r"[0-9]{1,18}")
_NEEDED = {TIME, SYSTEM, OF_TIME, *CYCLES}
_NOT_SETTINGS = re.compile(
    r"time|sys_time|time_bin|event_type|resource_type|uptime|lpar_name|lpar_id|\w+_cycles\w*|total_\w+"
)


@dataclass
class LparutilState:
    """State carried over from earlier lines: the header, and by partition what was read. JSON values.

    `named` is the partition that the configured name stands for. `samples` has the last sample of each, `read` the
    times between which its samples were read, `config` its settings, `ends` the ends of its intervals.
    """

    header: list[str] = field(default_factory=list)
    named: str | None = None
    samples: dict[str, dict[str, Any]] = field(default_factory=dict)
    read: dict[str, Spans] = field(default_factory=dict)
    config: dict[str, Attributes] = field(default_factory=dict)
    ends: Times = field(default_factory=dict)


_MOST_ENDS = 1000
LONGEST_S = 400 * 86_400.0
"""Monthly samples (-s m) of running counts, with some missing."""


def recognises(head: bytes) -> bool:
    """Return whether a line of `head` names or holds the cycles of a partition."""
    for data in head.split(b"\n")[:100]:
        if b"uncapped_cycles" in data and {cell.partition("=")[0] for cell in cells(text(data))} >= _NEEDED:
            return True
    return False


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every line; a last line without a line end is read only where the data is complete."""
    return read_items(stream, position, context, LparutilState, _items)


def _items(line: Line, state: LparutilState, context: Context) -> Iterator[Item]:
    written = text(line.data)
    row = cells(written)
    if not written.strip():
        return
    if line.fault is Reason.LINE_TOO_LONG:
        yield Reject(line.fault, "the line is longer than any of a list", "none")
    elif are_names(row) and set(row) >= _NEEDED:
        state.header = row
    elif isinstance(named := attributes(row, state.header), Reject):
        yield named
    else:
        yield from _row(those_set(named), state, context)


def _row(found: Attributes, state: LparutilState, context: Context) -> Iterator[Item]:
    """Yield the settings of a line, and the records that follow from its cycles."""
    system = partition = found.get(SYSTEM)
    if context.system is not None:
        partition = partition or found.get(ID) or state.named
        state.named = state.named or partition
        system = name_of(partition, state.named, context.system)
    if system is None:
        yield Reject(Reason.BAD_HEADER, f"expected {SYSTEM}, or --system", "none")
        return
    try:
        local = local_time(found[TIME], context.date_order or "mdy")
    except (KeyError, ValueError) as error:
        detail = f"expected {TIME} as MM/DD/YYYY HH:MM:SS" if TIME not in found else str(error)
        yield Reject(Reason.STAMP_INVALID if TIME in found else Reason.STAMP_MISSING, detail, "none")
        return
    key, counts = partition or "", _counts(found)
    instant = _instant(local, context.zone, counts, state.samples.get(key))
    if key not in state.config and (note := kept_apart(partition, state.named, context.system)):
        yield note
    envelope: Fields = {"ts": iso(instant), "system": system, "source": SOURCE}
    settings = {name: value for name, value in found.items() if not _NOT_SETTINGS.fullmatch(name)}
    yield from changes(state.config.setdefault(key, {}), settings, envelope, "partition", "")
    if isinstance(counts, Reject):
        yield counts
    elif counts is not None:
        sample = {"ts": envelope["ts"], "counts": counts, **{n: found[n] for n in (PROCESSORS, MODE) if n in found}}
        yield from _sample(key, sample, envelope, state)


def _counts(found: Attributes) -> dict[str, int] | Reject | None:
    """Return the cycles of a line; None for a change of state or of the configuration, which has none."""
    counts = {}
    for name in (OF_TIME, *CYCLES):
        if (written := found.get(name)) is None:
            return None
        if not _CYCLES.fullmatch(written):
            return Reject(Reason.NOT_A_NUMBER, f"{name}: expected a number of cycles, found `{written:.40}`", "part")
        counts[name] = int(written)
    return counts


def _instant(
    local: datetime, zone: tzinfo, counts: dict[str, int] | Reject | None, before: Mapping[str, Any] | None
) -> datetime:
    """Return the instant of a local time; of two that the clock shows so, the one that fits the cycles since `before`.

    Without cycles it is the first.
    """
    first, ambiguous = to_utc(local, zone, None)
    if not ambiguous or not isinstance(counts, dict) or before is None:
        return first
    base = datetime.fromisoformat(before["ts"])
    seconds = (counts[OF_TIME] - before["counts"][OF_TIME]) / TIME_CYCLES_PER_S
    second, _ = to_utc(local, zone, first)
    return min(first, second, key=lambda instant: abs((instant - base).total_seconds() - seconds))


def _sample(partition: str, sample: dict[str, Any], envelope: Fields, state: LparutilState) -> Iterator[Item]:
    """Yield the records of the cycles between a sample and the partition's sample before it in the file."""
    system, other = envelope["system"], state.samples.get(partition)
    state.samples[partition] = sample
    if other is None:
        return
    by_cycles = sorted((other, sample), key=lambda each: each["counts"][OF_TIME])
    earlier, later = sorted(by_cycles, key=lambda each: each["ts"])
    begin, end = earlier["ts"], later["ts"]
    past = {name: later["counts"][name] - earlier["counts"][name] for name in earlier["counts"]}
    seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
    read = state.read.get(partition, [])
    has_restarted = past[OF_TIME] < 0 and later["counts"][OF_TIME] < 2 * seconds * TIME_CYCLES_PER_S
    if any(past.values()) and (not seconds or (past[OF_TIME] < 0 and not has_restarted)):
        state.read.pop(partition, None)  # the times since then may be among those read
        between = " to ".join(each["ts"] for each in by_cycles)
        yield Reject(Reason.CLOCK_CHANGE, f"{system}: cycles passed, and no time from {between}", "all")
    elif not any(past.values()) or any(first <= begin and end <= last for first, last in read):
        yield Reject(Reason.DUPLICATE_ROW, f"the list has the sample of {system} already", "all")
    elif any(begin < instant < end for span in read for instant in span):
        return  # another list begins: of the samples beside this one, the file has some before, or later
    else:
        state.read[partition] = joined(read, begin, end)
        usual_s, sample["apart_s"] = other.get("apart_s"), seconds
        if usual_s is not None and is_gap(seconds, usual_s):
            yield Reject(Reason.SAMPLE_MISSING, f"{system}: between {begin} and {end} {gap(seconds, usual_s)}", "all")
        if min(past.values()) < 0 or past[OF_TIME] == 0:
            yield Reject(Reason.RESTARTED, f"{system}: cycles counted anew between {begin} and {end}", "all")
            return
        while not is_new(state.ends, partition, end, _MOST_ENDS):
            yield Reject(Reason.CLOCK_CHANGE, f"{system}: the clock met {end} again: placed behind it", "all")
            end = iso(datetime.fromisoformat(end) + timedelta(milliseconds=1))
        fields = {**envelope, "ts": end, "interval_s": seconds}
        yield Record("system_cpu", {**fields, "engine_type": "core", "engine": "all", **_columns(past, later)})
        yield Record("manifest", {**fields, "counted": "system_cpu", "row_count": 1})


def _columns(past: Mapping[str, int], later: Mapping[str, Any]) -> Fields:
    consumed = (past["capped_cycles"] + past["uncapped_cycles"]) / past[OF_TIME]
    columns: Fields = {"physical_consumed_cores": round(consumed, 6)}
    if later.get(MODE) != "ded":
        columns["entitled_cores"] = round(past["entitled_cycles"] / past[OF_TIME], 6)
    if str(later.get(PROCESSORS, "")).isdecimal():
        columns["virtual_engines"] = float(later[PROCESSORS])
    return columns
