"""Listings that z/OS writes: their time and system, and where each begins and ends.

Most listings carry neither time nor system, so a line of our own may stand before them:
`SAMPLE_TIME=2026-11-21T18:50:00.250Z SYSTEM=SYS1 SUBSYSTEM=DBP1`. Lines of the hardcopy log (SYSLOG) carry both
themselves. Source of their layout: z/OS MVS System Messages, "Messages sent to hardcopy log in JES2 system".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple, cast

from counterflow.collectors.records import Context, Position, Reason, Unusable
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.lines import Line, read_lines
from counterflow.collectors.text.stamps import stated, to_utc

MAX_LINE_CHARACTERS = 1000
"""A print has 133 columns."""
MAX_LINES = 1000
"""Lines of one listing that are kept."""

_SAMPLE = re.compile(r"\s*SAMPLE_TIME=(\S.*?)((?:\s+(?:SYSTEM|SUBSYSTEM)=\S+)*)\s*")
_FIRST = re.compile(  # type, command, routing codes, system, date, time, identifier, flags, message
    r"[ 01]?[NMWOX][CRI ][0-9A-F]{7} (?P<system>\S[^ ]{0,7}) +(?P<date>\d{5}|\d{7}) (?P<time>\d\d:\d\d:\d\d\.\d\d)"
    r" .{8} .{8} {1,2}(?P<message>.*)"
)
_NEXT = re.compile(r"[ 01]?(?P<type>[DELS])[CRI ]? {20,}(?P<id>\d{3})?(?P<flags> [0-9A-F]{8}(?: {1,2}|$))?")

WAY_OUT = "expected a line SAMPLE_TIME=2026-11-21T18:50:00.250Z SYSTEM=SYS1 before it, or lines of the hardcopy log"


class Place(NamedTuple):
    """When and where a listing was written; `stamp` is the time as it stands there. JSON values.

    `message` is the first line of the message of the hardcopy log that was read last, if its lines may go on.
    """

    stamp: str | None = None
    local: bool = False
    system: str | None = None
    subsystem: str | None = None
    message: str | None = None


@dataclass
class Listing:
    """The lines of one listing without what the hardcopy log writes before them; `whole`: its end was seen."""

    first: Line
    place: Place
    rows: list[tuple[str, Line]] = field(default_factory=list)
    whole: bool = False

    @property
    def raw(self) -> bytes:
        """The lines as they stand in the file."""
        return b"\n".join(line.raw for _, line in self.rows)


class Found(NamedTuple):
    """A listing; reading goes on at offset `end`, behind `lines` lines, with `place` from the last sample line."""

    listing: Listing
    end: int
    lines: int
    place: Place


def sample_line(written: str) -> Place | None:
    """Return the place that a SAMPLE_TIME line names, None for any other line."""
    match = _SAMPLE.fullmatch(written)
    if match is None:
        return None
    named = dict(pair.split("=", 1) for pair in match[2].split())
    return Place(match[1], False, named.get("SYSTEM"), named.get("SUBSYSTEM"))


def located(place: Place, context: Context, after: str | None) -> tuple[str, datetime, bool]:
    """Return system and time of a listing, and whether the time is one of two between which nothing decides.

    `after` is the time of the listing before.

    Raises
    ------
    Unusable : the time or the system is not known.
    """
    if place.stamp is None and context.given_at is None:
        raise Unusable(Reason.STAMP_MISSING, f"no time: {WAY_OUT}, or --at")
    ambiguous = False
    if place.stamp is None:
        found = cast(datetime, context.given_at)
    elif place.local:
        local = datetime.fromisoformat(place.stamp)
        found, ambiguous = to_utc(local, context.zone, datetime.fromisoformat(after) if after else None)
        found = found.astimezone(UTC)
    else:
        parsed = stated(place.stamp, context.zone)
        if parsed is None:
            raise Unusable(Reason.STAMP_INVALID, f"{place.stamp!r:.60} is no time: {WAY_OUT}")
        found = parsed
    system = context.system or place.system
    if system is None:
        detail = "nothing names the system: SYSTEM= behind SAMPLE_TIME, `system` of the source, or --system"
        raise Unusable(Reason.BAD_HEADER, detail)
    return system, found, ambiguous


def listings(
    stream: BinaryIO,
    position: Position,
    sampled: Place,
    begins: re.Pattern[str],
    ends: re.Pattern[str],
    *,
    complete: bool,
) -> Iterator[Found]:
    """Yield every listing from `position` on; `sampled` is the last sample line before it.

    The last one is yielded only if its end was seen or the data is `complete`. In the hardcopy log a listing is the
    lines of one message, whatever stands between them. Other lines are skipped.
    """
    reading = _OpenListing(sampled)
    last: Line | None = None
    for line in read_lines(stream, position.byte_offset, position.line):
        if line.fault is Reason.CUT_LINE and not complete:
            return  # the rest of it is still to be written
        last = line
        written = text(line.data[: 4 * MAX_LINE_CHARACTERS])[:MAX_LINE_CHARACTERS].rstrip()
        place = sample_line(written)
        body = "" if place else reading.body(written)
        if place or (body is not None and begins.search(body)):
            if reading.opened is not None:
                yield reading.close(line.offset, line.number - 1)
            if place:
                reading.sampled, reading.message = place, None
            else:
                reading.open(line)
        if reading.opened is None or body is None or place or (reading.first and reading.opened.first is not line):
            continue
        reading.opened.rows.append((body, line))
        full = len(reading.opened.rows) >= MAX_LINES
        if ends.search(body) or reading.ended or full:
            reading.opened.whole = not full
            yield reading.close(line.end, line.number)
    if complete and reading.opened is not None and last is not None:
        yield reading.close(last.end, last.number)


class _OpenListing:
    """The listing that is open, and the message of the hardcopy log that its lines are part of.

    `first` means that the last line begins a message there, `ended` that it ends the message of the open listing.
    """

    def __init__(self, sampled: Place) -> None:
        self.sampled = sampled
        self.opened: Listing | None = None
        self.message = _FIRST.fullmatch(sampled.message) if sampled.message else None
        self.first = self.ended = False
        self._id: str | None = None

    def body(self, written: str) -> str | None:
        """Return the message in a line, None where the line is no part of the open message."""
        first = _FIRST.fullmatch(written)
        self.first = first is not None
        if first is not None:
            self.message = first
            return first["message"]
        if self.message is None:
            return written
        following = _NEXT.match(written)
        if following is None or following["type"] == "S":
            return None
        if self.opened is not None:
            self._id = self._id or following["id"]
            if following["id"] != self._id:
                return None
        self.ended = following["type"] == "E"
        begin = following.end() if following["flags"] else self.message.start("message")
        return written[begin:]

    def open(self, line: Line) -> None:
        place = self.sampled
        if self.message is not None:
            local = _hardcopy_time(self.message["date"], self.message["time"])
            stamp = local.isoformat() if local else f"{self.message['date']} {self.message['time']}"
            place = Place(stamp, local is not None, self.message["system"], self.sampled.subsystem)
        self.opened, self._id = Listing(line, place), None

    def close(self, end: int, lines: int) -> Found:
        assert self.opened is not None  # noqa: S101 - callers look
        listing, self.opened, self._id, self.ended = self.opened, None, None, False
        return Found(listing, end, lines, self.sampled._replace(message=self.message and self.message.string))


def _hardcopy_time(date: str, time: str) -> datetime | None:
    """Return the local time of a hardcopy line: yyddd or yyyyddd, day of the year, and hh:mm:ss.th."""
    written = date if len(date) == 7 else f"20{date}"
    try:
        found = datetime.strptime(f"{written} {time}", "%Y%j %H:%M:%S.%f")  # noqa: DTZ007 - local by design
    except ValueError:
        return None
    is_of_year = f"{found.year}" == written[:4]  # day 366 of a shorter year is of the next
    return found if is_of_year and 2000 <= found.year < 2300 else None
