"""One report of a response: its system, interval, state, variables and rows.

Source: github.com/IBM/RMF, grafana/rmf-app (pkg/plugin/dds/response.go, frame/frame.go), and the responses of a DDS of
z/OS 3.2 that IBM keeps beside it (mock-dds/data). Every figure there is text, except those of `timeData`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from counterflow.collectors.records import Context, Reason, Unusable
from counterflow.collectors.text import stamps
from counterflow.collectors.text.trees import BEYOND_ANY, mapping, mappings

ACCEPTABLE = frozenset({"GPM0709I", *(f"GPM050{n}I" for n in range(1, 8))})
"""Messages with which a report is still read: data missing or partial, a policy or cycle changed, an IPL, a filter."""
NOTHING = frozenset({"", "-", "****", "*NODATA*", "DEACT", "N/A", "NAN"})
"""Texts that stand for a missing figure, in upper or lower case."""

NO_DATA = "*NoData*"
"""Name of a row that stands for the absence of rows."""
_STAMP = re.compile(r"\d{14}", re.ASCII)
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([Ee][-+]?\d{1,3})?", re.ASCII)
_TOO_LARGE = 2.0**63
_LONGEST_TEXT = 500


class Header(NamedTuple):
    """Report and system, the end of its interval (UTC), and the interval's length in seconds, where known.

    `defect` is what is wrong with the statement of its length; empty where nothing is.
    """

    name: str
    system: str
    end: datetime
    seconds: float | None
    defect: str

    @property
    def key(self) -> str:
        """Identity of the reports of one kind and system."""
        return f"{self.name} {self.system}"


class Message(NamedTuple):
    """State of a report, according to the DDS, and how much is kept of it: where `all`, it is read all the same."""

    text: str
    kept: Literal["all", "none"]


class Body(NamedTuple):
    """Variables of the caption by name, and rows by column; columns have a type, N (number) or T (text).

    `misfits` are rows that have more or fewer values than there are columns.
    """

    caption: dict[str, str]
    columns: list[tuple[str, str]]
    rows: list[dict[str, str]]
    misfits: list[list[str]]

    @property
    def is_empty(self) -> bool:
        return not self.caption and not self.rows and not self.misfits


class Newest(NamedTuple):
    """What distinguishes a response from the one before: the end of its interval, and its state where it is empty.

    `interval_s` is how often RMF gathers (MINTIME), None where it is unknown.
    """

    end: str
    interval_s: float | None


def header_of(report: Mapping[str, Any], context: Context, seen: Mapping[str, str]) -> Header:
    """Return the header of a report; `seen`, the end of the last one by key, resolves a repeated local hour.

    Raises
    ------
    Unusable : it names no report, no system or no time.
    """
    name = text(mapping(report.get("metric")).get("id"))
    if not name:
        raise Unusable(Reason.BAD_HEADER, "expected the name of the report in metric.id")
    label = [part.strip() for part in text(mapping(report.get("resource")).get("reslabel")).split(",")]
    kind = text(mapping(report.get("resource")).get("restype")) or (label[2] if len(label) == 3 else "")
    if len(label) != 3 or kind != "MVS_IMAGE" or not (context.system or label[1]):
        found = ",".join(label)
        raise Unusable(Reason.BAD_HEADER, f"expected resource.reslabel `,SYSTEM,MVS_IMAGE`, found `{found}` ({kind})")
    time = mapping(report.get("timeData"))
    clock = "utc" if text(time.get("utcEnd")) else "local"
    written = text(time.get(f"{clock}End"))
    if not written:
        raise Unusable(Reason.STAMP_MISSING, "expected timeData.utcEnd or timeData.localEnd")
    end = _instant(written)
    if end is None:
        raise Unusable(Reason.STAMP_INVALID, f"expected timeData.{clock}End as yyyymmddhhmmss, found `{written:.40}`")
    seconds, defect = _length(end, text(time.get(f"{clock}Start")), _seconds(time.get("dataRange")))
    header = Header(name, context.system or label[1], end.replace(tzinfo=UTC), seconds, defect)
    if clock == "utc":
        return header
    before = seen.get(header.key)
    return header._replace(end=stamps.to_utc(end, context.zone, datetime.fromisoformat(before) if before else None)[0])


def _length(end: datetime, written: str, range_s: float | None) -> tuple[float | None, str]:
    """Return the seconds of an interval by its start, else by its range, and what is wrong with their statement."""
    start = _instant(written)
    if start is not None and start < end:
        return (end - start).total_seconds(), ""
    found = f"a start {written:.40}, which is no yyyymmddhhmmss before the end" if written else "no start"
    if range_s is None:
        return None, f"expected the interval's start or range in timeData, found {found}, and no range in seconds"
    return range_s, f"expected the interval's start in timeData, found {found}: its range counts" if written else ""


def message_of(found: Any) -> Message | None:
    message = mapping(found)
    if not message:
        return None
    severity = text(message.get("severity"))
    id, description = text(message.get("id")), text(message.get("description"))[:_LONGEST_TEXT]
    kept: Literal["all", "none"] = "all" if id in ACCEPTABLE else "none"
    return Message(f"{id or 'no id'}, severity {severity or 'none'}: {description}", kept)


def body_of(report: Mapping[str, Any]) -> Body:
    """Return variables and rows; rows without data are left out, those that fit no columns are kept as misfits."""
    caption = {
        text(var.get("name")): text(var.get("value"))
        for var in mappings(mapping(report.get("caption")).get("var"))
        if text(var.get("name"))
    }
    headers = mappings(mapping(report.get("columnHeaders")).get("col"))
    columns = [(text(col.get("value")), text(col.get("type"))) for col in headers]
    rows, misfits = [], []
    for row in mappings(report.get("row")):
        cells = row.get("col")
        values = [text(cell) for cell in cells] if isinstance(cells, list) else []
        if NO_DATA in values[:1]:
            continue
        if len(values) != len(columns):
            misfits.append(values)
        else:
            rows.append({name: value for (name, _), value in zip(columns, values, strict=True)})
    return Body(caption, columns, rows, misfits)


def newest(content: bytes) -> Newest | None:
    """Return what distinguishes a response from the one before; None where nothing does."""
    try:
        reports = mappings(mapping(json.loads(content)).get("report"))
    except (ValueError, RecursionError):
        return None
    if len(reports) != 1:
        return None
    (report,) = reports
    time, message = mapping(report.get("timeData")), message_of(report.get("message"))
    end = text(time.get("utcEnd")) or text(time.get("localEnd"))
    if message is not None and (message.kept == "none" or body_of(report).is_empty):
        end = f"{end} {message.text}".strip()  # the same interval may be there a moment later
    return Newest(end, _seconds(time.get("gathererInterval"))) if end else None


def number(written: str) -> float | None:
    """Return a figure, None where the text stands for a missing one.

    Raises
    ------
    Unusable : the text is not a number, or the number is out of range.
    """
    if written.upper() in NOTHING:
        return None
    if not _NUMBER.fullmatch(written):
        raise Unusable(Reason.NOT_A_NUMBER, "expected a number")
    value = float(written)
    if not 0 <= value < _TOO_LARGE:
        raise Unusable(Reason.OUT_OF_RANGE, "expected 0 or more")
    return value + 0.0  # never -0.0


def text(value: Any) -> str:
    """Return a value as text, trimmed and Unicode; a list, an object or null is empty."""
    if value is None or isinstance(value, dict | list):
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "1e999"
    return str(value).strip().encode("utf-8", "backslashreplace").decode()


def _instant(written: str) -> datetime | None:
    if not _STAMP.fullmatch(written):
        return None
    try:
        found = datetime.strptime(written, "%Y%m%d%H%M%S")  # noqa: DTZ007 - its clock is known by its name
    except ValueError:
        return None
    return found if 2000 <= found.year < 2300 else None


def _seconds(length: Any) -> float | None:
    """Return a length that is given in seconds."""
    found = mapping(length)
    try:
        value = number(text(found.get("value")))
    except Unusable as error:
        value = BEYOND_ANY if error.reason is Reason.OUT_OF_RANGE else None
    return value if value and text(found.get("unit")).upper() == "SECONDS" else None
