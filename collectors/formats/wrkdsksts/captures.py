"""Where a capture begins and ends: one print with all its pages, or the screens of one display.

Headings are translated, so structure is found by shape alone: the page header by its product id, a screen by a line of
date and time, the elapsed time by `: hh:mm:ss` behind a label, the trailer by its asterisks.
Sources: the record order that IBM's JTOpenLite reads (ListDiskStatusesImpl), and page headers of printed IBM i output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Literal, NamedTuple

from counterflow.collectors.formats.wrkdsksts.rows import begins_with_a_unit, ends
from counterflow.collectors.records import Reason, Reject
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.lines import Line, read_lines

MAX_LINE_BYTES = 1000
"""A print has 132 columns, a display at most 132."""
MAX_LINES = 200_000
"""Lines of one capture that are kept; the largest systems have some thousands of disk units."""

_DATE = r"(?P<date>\d{1,4}[/.,-]\d{1,3}(?:[/.,-]\d{1,4})?)"
_TIME = r"(?P<time>\d{1,2}[:.,]\d\d[:.,]\d\d)"
_PAGE = re.compile(
    r"(?P<control>1)?\s*57\d\d\w{3}\s+V\d+R\d+M\d+\s+(?P<built>\d{6})\s"
    rf".*\s{_DATE}\s+{_TIME}\s+\S.*?(?P<page>\d+)\s*$"
)
_SCREEN = re.compile(rf"\s*{_DATE}\s+{_TIME}\s*$")
_TITLED = re.compile(r".*\S\s{2,}(?P<system>[A-Z#@$][A-Z0-9#@$_.]{0,7})\s*$")
_ELAPSED = re.compile(r"\s*[^\s\d:*][^\d:]*:\s*(?P<h>\d{1,5})[:.](?P<m>\d\d)[:.](?P<s>\d\d)(?P<rest>\s.*)?$")
_NAMED = re.compile(r".*:\s*(?P<system>[^\s:]{1,8})\s*$")
_SYSTEM = re.compile(r"\s*[^\W\d][^:\d]*:\s*(?P<system>[A-Z#@$][A-Z0-9#@$_.]{0,7})\s*$")
_TRAILER = re.compile(r"\s*(?:\* ){3}.*(?: \*){3}\s*$")

Kind = Literal["page", "screen", "elapsed", "trailer", "row", "text", "too_long"]


class Mark(NamedTuple):
    """A line that is not blank and its kind; `written` is its text without carriage control.

    `begin` is the line where it begins: that of its title for a screen.
    """

    kind: Kind
    line: Line
    begin: Line
    written: str
    found: dict[str, str | None]


@dataclass
class Capture:
    """One print or display: its rows, and its headings.

    `date` and `time` are as written, `built` is the date of the release (yymmdd) in the page header. `whole` means that
    a print has its trailer; a display has no such mark. `strays` are the rejects of lines that it does not keep.
    """

    first: Line
    printed: bool
    date: str | None = None
    time: str | None = None
    built: str | None = None
    system: str | None = None
    elapsed_s: int | None = None
    whole: bool = False
    rows: list[Mark] = field(default_factory=list)
    strays: list[Reject] = field(default_factory=list)
    written: list[bytes] = field(default_factory=list)

    def add(self, mark: Mark) -> None:
        if len(self.written) >= MAX_LINES:
            self.strays.append(stray(mark.line, Reason.LINE_TOO_LONG, f"the capture has more than {MAX_LINES} lines"))
            return
        self.written.append(mark.line.raw)
        if mark.kind == "row":
            self.rows.append(mark)
        elif mark.kind == "too_long":
            self.strays.append(stray(mark.line, Reason.LINE_TOO_LONG, "the line is longer than any of a print"))


class Found(NamedTuple):
    """A capture, or a line outside of any; the next item begins at offset `end`, behind `lines` lines."""

    item: Capture | Reject
    end: int
    lines: int


def is_wrkdsksts(head: bytes) -> bool:
    """Return whether `head` holds an elapsed time and, behind it, the row of a disk unit."""
    elapsed = False
    for data in head.split(b"\n"):
        written = text(data.rstrip(b"\r")) if len(data) <= MAX_LINE_BYTES else ""
        elapsed = elapsed or _ELAPSED.match(written) is not None
        if elapsed and (ends(written) or ends(written[1:])):
            return True
    return False


def captures(stream: BinaryIO, offset: int, number: int, *, complete: bool) -> Iterator[Found]:
    """Yield every capture from `offset` on; `number` lines lie before it.

    The last one is yielded only if it is known to be whole or the data is `complete`.
    """
    opened: Capture | None = None
    screen: Mark | None = None
    last: Line | None = None
    for mark in _marks(read_lines(stream, offset, number), complete=complete):
        last = mark.line
        new: Capture | None = None
        if mark.kind == "page":
            stamp = (mark.found["date"], mark.found["time"])
            if opened is None or mark.found["page"] in ("1", None) or (opened.date, opened.time) != stamp:
                new = Capture(mark.begin, True, *stamp, mark.found["built"])
            screen = None
        elif mark.kind == "screen":
            screen = mark
            continue
        elif mark.kind == "elapsed" and (screen or opened is None or not opened.printed):
            new, screen = _display(mark, screen, opened), None
        named = _SYSTEM.match(mark.written) if mark.kind == "text" else None
        if named is not None and screen is not None:
            screen = screen._replace(found={**screen.found, "system": screen.found["system"] or named["system"]})
            continue
        screen = None  # its elapsed time would follow at once: a reading from here on must find the same
        if new is not None:
            if opened is not None:
                yield Found(opened, new.first.offset, new.first.number - 1)
            opened = new
        if opened is None:
            detail = "expected a page header or a screen of WRKDSKSTS before this line"
            yield Found(stray(mark.line, Reason.UNKNOWN_LINE, detail), mark.line.end, mark.line.number)
            continue
        opened.add(mark)
        if named is not None:
            opened.system = opened.system or named["system"]
        if mark.kind == "elapsed" and opened.elapsed_s is None:
            opened.elapsed_s = _seconds(mark)
            beside = _NAMED.match(mark.found["rest"] or "")
            opened.system = beside["system"] if beside else opened.system
        elif mark.kind == "trailer" and opened.printed:
            opened.whole = True
            yield Found(opened, mark.line.end, mark.line.number)
            opened = None
    if complete and opened is not None and last is not None:
        yield Found(opened, last.end, last.number)


def _display(elapsed: Mark, screen: Mark | None, opened: Capture | None) -> Capture | None:
    """Return the display that begins with this screen, or None where the open one goes on: the same elapsed time.

    F11 and the page keys show another part of the same sample.
    """
    system = screen.found["system"] if screen else None
    same = opened is not None and not opened.printed and opened.elapsed_s == _seconds(elapsed)
    if same and opened is not None and system in (None, opened.system):
        return None
    if screen is None:
        return Capture(elapsed.begin, False)
    return Capture(screen.begin, False, screen.found["date"], screen.found["time"], None, system)


def _seconds(mark: Mark) -> int:
    h, m, s = (int(mark.found[name] or 0) for name in "hms")
    return h * 3600 + m * 60 + s


def _marks(lines: Iterator[Line], *, complete: bool) -> Iterator[Mark]:
    """Yield the mark of every line that is not blank; a line is held until it is clear that it is no screen's title."""
    control = False
    held: Mark | None = None
    for line in lines:
        if line.fault is Reason.CUT_LINE and not complete:
            return  # the rest of it is still to be written
        if line.fault is Reason.LINE_TOO_LONG or len(line.data) > MAX_LINE_BYTES:
            line = line._replace(fault=Reason.LINE_TOO_LONG)
        written = text(line.data[:MAX_LINE_BYTES]).replace("\x0c", "")
        if page := _PAGE.match(written):
            control = page["control"] is not None
        elif control:
            written = "" if written[:1] == "+" else written[1:]  # `+` prints over the line before, to make it bold
        if not written.strip():
            continue
        mark = _mark(line, written, page)
        if mark.kind == "screen" and held is not None and held.kind == "text":
            titled = _TITLED.match(held.written)
            found = {**mark.found, "system": titled["system"] if titled else None}
            held = mark._replace(begin=held.line, found=found)
        else:
            if held is not None:
                yield held
            held = mark
        if held.kind not in ("text", "screen"):
            yield held
            held = None
    if held is not None and complete:
        yield held


def _mark(line: Line, written: str, page: re.Match[str] | None) -> Mark:
    def mark(kind: Kind, match: re.Match[str] | None = None) -> Mark:
        return Mark(kind, line, line, written, {"system": None, **(match.groupdict() if match else {})})

    if line.fault is Reason.LINE_TOO_LONG:
        return mark("too_long")
    if page:
        found = mark("page", page)
        return found._replace(found={**found.found, "page": page["page"].lstrip("0") or None})
    if match := _SCREEN.match(written):
        return mark("screen", match)
    if match := _ELAPSED.match(written):
        return mark("elapsed", match)
    if _TRAILER.match(written):
        return mark("trailer")
    return mark("row" if begins_with_a_unit(written) else "text")


def stray(line: Line, reason: Reason, detail: str) -> Reject:
    return Reject(reason, detail, "none", line.number, line.offset, raw=line.raw)
