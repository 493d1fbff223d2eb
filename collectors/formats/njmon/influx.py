"""What nimon writes: the sections of njmon as lines of InfluxDB, gathered to samples.

A section is a measurement (`cpu_total,host=a user=1.5`). Each object within a section has a line of its own, with its
name in a tag (`disks,host=a,disk_name=sda busy=2.1`; the measurement without its `s`, and `_name`).
A sample ends where one of its series repeats, or where a line is of another host. Its time is that of its section
`timestamp`, else the one at the end of a line (ns since 1970), else the one that the caller gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, NamedTuple

from counterflow.collectors.records import Reason
from counterflow.collectors.text.lines import Line, read_lines

MAX_SAMPLE = 16 * 2**20
"""Longest accepted sample in bytes; a system with thousands of processes and disks needs 3 MB."""

_HEAD = re.compile(
    rb"\s{0,64}(?:timestamp|identity|cpu_total|cpu_util|stat_counters|os_release|proc_meminfo),(?:[^\s\"]+,)?host(?:name)?="
)
_KEY = r"(?:\\.|[^\s,=\\])+"
_VALUE = r'(?:"(?:\\.|[^"\\])*"|[^"\s,]+)'
_LINE = re.compile(
    rf"(?P<series>(?P<measurement>(?:\\.|[^\s,\\])+)(?P<tags>(?:,{_KEY}={_KEY})*)) +"
    rf"(?P<fields>{_KEY}={_VALUE}(?:,{_KEY}={_VALUE})*)\s*(?P<ns>\d{{19}})?\s*"
)
_TAG = re.compile(rf",({_KEY})=({_KEY})")
_FIELD = re.compile(rf"({_KEY})=({_VALUE})")
_ESCAPED = re.compile(r"\\(.)")
_BOOLEANS = {"t": True, "true": True, "f": False, "false": False}


class WrittenSample(NamedTuple):
    """The lines of one sample as one object, as njmon writes it, and the lines that cannot be read."""

    tree: dict[str, Any]
    first: Line
    last: Line
    refused: list[tuple[Line, Reason]]
    is_last: bool


def is_nimon(head: bytes) -> bool:
    """Return whether the first line of `head` is a section of njmon with the name of a host."""
    return _HEAD.match(head) is not None


def samples(stream: BinaryIO, offset: int, line: int, given: datetime | None) -> Iterator[WrittenSample]:
    """Yield each sample from `offset`, which stands in line `line`; `given` is the time of a sample without one."""
    tree: dict[str, Any] = {}
    seen: set[str] = set()
    refused: list[tuple[Line, Reason]] = []
    first = last = host = None
    for read in read_lines(stream, offset, line - 1):
        found = _LINE.fullmatch(read.data.decode(errors="replace")) if read.data.strip() else None
        series, of = (found["series"], _host(_tags(found)) or host) if found else ("", host)
        is_another = series in seen or host not in (None, of)
        if first and last and (is_another or read.end - first.offset > MAX_SAMPLE):
            yield WrittenSample(_timed(tree, given), first, last, refused, False)
            tree, refused, first = {}, [], None
            seen.clear()
        first, last, host = first or read, read, of
        if found:
            seen.add(series)
        if read.data.strip() and not (found and _add(tree, found)):
            fault = read.fault if read.fault is Reason.LINE_TOO_LONG else Reason.UNKNOWN_LINE
            refused.append((read, fault or Reason.UNKNOWN_LINE))
    if first and last:
        yield WrittenSample(_timed(tree, given), first, last, refused, True)


def _add(tree: dict[str, Any], line: re.Match[str]) -> bool:
    """Add a line to the tree; return False where a value is not one of InfluxDB's, or a name stands for two things."""
    fields = {_plain(name): _value(value) for name, value in _FIELD.findall(line["fields"])}
    if None in fields.values():
        return False
    tags = _tags(line)
    if host := _host(tags):
        tree.setdefault("identity", {}).setdefault("hostname", host)
    if line["ns"]:
        at = datetime.fromtimestamp(int(line["ns"]) // 10**9, UTC)
        tree.setdefault("timestamp", {}).setdefault("UTC", at.isoformat())
    measurement = _plain(line["measurement"])
    section = tree.setdefault(measurement, {})
    named = tags.get(f"{measurement.removesuffix('s')}_name") or tags.get(f"{measurement}_name")
    place = section if named is None else section.setdefault(named, {})
    if not isinstance(place, dict) or any(isinstance(place.get(name), dict) for name in fields):
        return False  # a field has the name of an object
    place.update(fields)
    return True


def _tags(line: re.Match[str]) -> dict[str, str]:
    return {_plain(name): _plain(value) for name, value in _TAG.findall(line["tags"])}


def _host(tags: dict[str, str]) -> str | None:
    return tags.get("host") or tags.get("hostname")


def _timed(tree: dict[str, Any], given: datetime | None) -> dict[str, Any]:
    stamp = tree.setdefault("timestamp", {})
    if given and not stamp.get("UTC") and not stamp.get("datetime"):
        stamp["UTC"] = given.isoformat()
    return tree


def _value(text: str) -> Any:
    """Return the value of a field, None where the text is not one."""
    if text.startswith('"'):
        return _plain(text[1:-1])
    if text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    try:
        return int(text[:-1]) if text[-1] in "iu" else float(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
