"""JSON Lines of OMEGAMON Data Provider: one flat object per line, a row of one monitor's attribute group.

Every number goes to `counter`, every text that names nothing to `config`. RMF's figures fill `system_cpu`, and fields
fill other datasets where they are mapped to a column. See README.md.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, BinaryIO

import orjson

from counterflow.collectors.formats.omegamon_jsonl import known
from counterflow.collectors.formats.omegamon_jsonl.mapping import Filling, Value, fillings, records, written
from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject
from counterflow.collectors.text.codepages import decode
from counterflow.collectors.text.keys import Times, is_new
from counterflow.collectors.text.lines import BOM, Line, read_items
from counterflow.collectors.text.running_counts import Sample
from counterflow.collectors.text.stamps import iso, stated

SOURCE = "omegamon_jsonl"

MAX_TEXTS = 1000
"""Texts whose last value is remembered; a forgotten one is published again."""
NAME_CHARS = 64
"""In a table that is not known, a longer text is a message and identifies no row."""

_NOT_UTF_8 = "not UTF-8: this line and all such after it are read in code page 1252"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
_NODE = re.compile(r"[^:]+:([^:]+):MVSSYS")


@dataclass
class OmegamonState:
    """State carried over from earlier lines: JSON values.

    `texts` are those published last, `samples` those of running counts, `reported` the mistakes that were reported,
    `times` those of the rows of each table.
    """

    texts: dict[str, str] = field(default_factory=dict)
    samples: dict[str, Sample] = field(default_factory=dict)
    reported: list[str] = field(default_factory=list)
    times: Times = field(default_factory=dict)


def recognises(head: bytes) -> bool:
    """Return whether the first line of `head` is an object that names its table and the time it was written."""
    first = head.removeprefix(BOM).lstrip().split(b"\n", 1)[0]
    if not first.startswith(b"{"):
        return False
    try:
        line = orjson.loads(decode(first))
    except orjson.JSONDecodeError:
        return False
    return all(isinstance(line.get(name), str) for name in (known.TABLE, known.WRITTEN))


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every line; a last line without a line end is read only where the data is complete."""
    filled_by: defaultdict[str, list[Filling]] = defaultdict(list)
    for item in fillings({**known.COLUMNS, **context.columns}):
        if isinstance(item, Filling):
            filled_by[item.table].append(item)
        elif position is None:
            yield item
    yield from read_items(stream, position, context, OmegamonState, partial(_items, filled_by))


def _items(
    filled_by: Mapping[str, list[Filling]], line: Line, state: OmegamonState, context: Context
) -> Iterator[Item]:
    """Yield the items of a line; `filled_by` has the columns that each table fills."""
    if not line.data.strip():
        return
    if line.fault is Reason.LINE_TOO_LONG:
        yield Reject(Reason.LINE_TOO_LONG, "the line is longer than any of OMEGAMON Data Provider", "none")
        return
    try:
        found, is_utf_8 = _loaded(line.data)
    except orjson.JSONDecodeError as error:
        reason = line.fault or Reason.UNKNOWN_LINE
        yield Reject(reason, f"expected a JSON object a line: {error.msg}", "none")
        return
    if not is_utf_8 and _NOT_UTF_8 not in state.reported:
        state.reported.append(_NOT_UTF_8)
        yield Reject(Reason.WRONG_ENCODING, _NOT_UTF_8, "all")
    if not isinstance(found, dict) or not isinstance(table := found.get(known.TABLE), str) or not table.strip():
        yield Reject(Reason.UNKNOWN_LINE, f"expected an object with `{known.TABLE}`", "none")
        return
    product = found.get(known.PRODUCT)
    section = f"{product.strip()}.{table.strip()}" if isinstance(product, str) else table.strip()
    stamp = found.get(known.WRITTEN)
    instant = _instant(stamp)
    if instant is None:
        reason = Reason.STAMP_MISSING if stamp is None else Reason.STAMP_INVALID
        detail = f"{known.WRITTEN}: expected a time such as 2021-06-23T00:18:28.999-04:00, found {stamp!r:.60}"
        yield Reject(reason, detail, "none", section=section)
        return
    values: dict[str, Value] = {}
    for name, value in found.items():
        if isinstance(read := _value(section, name, value), Reject):
            yield read
        elif read is not None and name not in known.INTRODUCED:
            values[name] = read
    system = context.system or _system(values)
    if system is None:
        names = ", ".join(f"`{name}`" for name in (*known.SYSTEM, known.NODE))
        yield Reject(Reason.BAD_HEADER, f"expected {names}, or `system` of the source", "none", section=section)
        return
    envelope: Fields = {"ts": iso(instant), "system": system, "source": SOURCE}
    if isinstance(length_s := found.get(known.INTERVAL_S), int | float) and length_s > 0:
        envelope["interval_s"] = float(length_s)
    instance = _instance(section, values)
    if not is_new(state.times, f"{system} {section} {instance}", envelope["ts"]):
        detail = f"there is a row of {instance or 'the table'} at {envelope['ts']} already"
        yield Reject(Reason.DUPLICATE_ROW, detail, "none", section=section, system=system, ts=envelope["ts"])
        return
    yield from _rows(section, instance, values, envelope, state.texts)
    mapped = [filling for name in dict.fromkeys((section, table.strip())) for filling in filled_by.get(name, ())]
    for item in records(section, mapped, values, envelope, instant, state.samples):
        if isinstance(item, Reject):
            if item.reason is Reason.INVALID_ENTRY:  # every line of the table repeats it
                if item.detail in state.reported:
                    continue
                state.reported.append(item.detail)
            item.section, item.system, item.ts = section, system, envelope["ts"]
            if item.kept == "none":
                item.kept = "part"  # its numbers are counters all the same
        yield item


def _rows(
    section: str, instance: str, values: dict[str, Value], envelope: Fields, texts: dict[str, str]
) -> Iterator[Record]:
    """Yield a counter per number; a text that is neither time nor name is a setting, published when it changes."""
    names = _naming(section, values)
    of = {**envelope, "section": section}
    for name, value in values.items():
        if name in names or name in known.PLACE:
            continue
        if isinstance(value, float):
            yield Record("counter", {**of, "instance": instance, "counter": name, "value": value})
        elif instant := _instant(value):
            seconds = {"value": instant.timestamp(), "unit": "s since 1970", "kind": "gauge"}
            yield Record("counter", {**of, "instance": instance, "counter": name, **seconds})
        else:
            of_subsystem = name in known.OF_SUBSYSTEM and known.SUBSYSTEM in values
            item = written(values[known.SUBSYSTEM]) if of_subsystem else instance
            if _differs(texts, f"{envelope['system']} {section} {item} {name}", value):
                yield Record("config", {**of, "item": item, "name": name, "value": value})


def _differs(texts: dict[str, str], key: str, value: str) -> bool:
    before = texts.pop(key, None)
    texts[key] = value
    if len(texts) > MAX_TEXTS:
        del texts[next(iter(texts))]
    return before != value


def _loaded(data: bytes) -> tuple[Any, bool]:
    """Return the value of a line in JSON, and whether it is UTF-8.

    Raises
    ------
    orjson.JSONDecodeError : it is not JSON.
    """
    try:
        return orjson.loads(data), True
    except orjson.JSONDecodeError:
        if (written := decode(data)).encode() == data:
            raise
        return orjson.loads(written), False


def _value(section: str, name: str, value: Any) -> Value | Reject | None:
    """Return a number as float and a text without blanks around it; None where there is neither."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case int() | float():
            if not math.isfinite(number := float(value)):
                return Reject(Reason.NOT_A_NUMBER, f"{name}: expected a finite number", "part", section=section)
            return None if known.is_unavailable(name, number) else number
        case str():
            text = value.strip()
            if section in known.LONG and name in known.LONG_NUMBERS:
                return None if text in known.NO_NUMBER else _number(name, text)
            return text or None
        case _:
            detail = f"{name}: expected a number or a text, found {type(value).__name__}"
            return Reject(Reason.NOT_A_NUMBER, detail, "part", section=section)


def _number(name: str, text: str) -> float | Reject:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number
    return Reject(Reason.NOT_A_NUMBER, f"{name}: expected a number, found `{text:.60}`", "part")


def _naming(section: str, values: dict[str, Value]) -> tuple[str, ...]:
    """Return the names of the values that identify a row of a table."""
    names = known.INSTANCE.get(section)
    if names is not None:
        return names
    return tuple(sorted(name for name, value in values.items() if _is_identifying(name, value)))


def _instance(section: str, values: dict[str, Value]) -> str:
    names = _naming(section, values)
    return "/".join(written(values[name]) if name in values else "" for name in names)


def _is_identifying(name: str, value: Value) -> bool:
    is_text = isinstance(value, str) and len(value) <= NAME_CHARS and not _TIME.fullmatch(value)
    return is_text and name not in (*known.PLACE, *known.OF_SUBSYSTEM)


def _system(values: dict[str, Value]) -> str | None:
    for name in known.SYSTEM:
        if isinstance(value := values.get(name), str):
            return value
    node = _NODE.fullmatch(str(values.get(known.NODE, "")))
    return node[1] if node else None


def _instant(written: Any) -> datetime | None:
    """Return the UTC time, cut to the millisecond; None where the value is not a time."""
    found = stated(written, UTC) if isinstance(written, str) and _TIME.fullmatch(written) else None
    return found and found.replace(microsecond=found.microsecond // 1000 * 1000)
