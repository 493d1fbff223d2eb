"""The headings of a report around the blocks: the subsystem, and the interval or moment.

Source: IBM OMEGAMON for Db2 Performance Expert 5.4 to 6.1, the headers of its reports, Statistics - Highlights, Record
Headers, DATEFORMAT, and "Output from OMEGAMON AI for Db2 reports".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from counterflow.collectors.records import Context, Reason, Unusable
from counterflow.collectors.text.dates import instant
from counterflow.collectors.text.zos_listings import Place, located, sample_line

DATE_ORDER = "mdy"
"""Dates are mm/dd/yy unless DATEFORMAT differs."""

_DATE = r"\d\d[/.-]\d\d[/.-]\d\d"
_TIME = r"\d\d:\d\d:\d\d\.\d{2,8}"
_NAMES = re.compile(r"\b(LOCATION|GROUP|MEMBER|SUBSYSTEM|PAGE DATE):\s+(\S+)")
_FROM = re.compile(rf"\bINTERVAL FROM:\s+({_DATE} {_TIME})")
_TO = re.compile(rf"(?<!\S)TO:\s+({_DATE} {_TIME})\s*$")
_HIGHLIGHT = re.compile(rf"\bINTERVAL (START|END)\s*:\s*({_DATE} {_TIME})")
_RECORD = re.compile(rf"(?<!\S)({_TIME})\s+\d+\s+\d+\s+(\d+)(?!\S)")
_NOT_SHOWN = ("N/A", "N/P", "'BLANK'")


class Moment(NamedTuple):
    """A time, whether a repeated hour leaves it ambiguous, and the length of the interval that it ends."""

    instant: datetime
    ambiguous: bool = False
    seconds: float | None = None


@dataclass
class Pages:
    """The last content of each heading: JSON values.

    `names` are LOCATION, MEMBER, SUBSYSTEM and PAGE DATE; `page` is the interval in the header of the page,
    `highlights` that of the block HIGHLIGHTS, which takes precedence; `record` is the time of the record of IFCID 1
    that a trace shows; `sample_line` is the content of a SAMPLE_TIME line.
    """

    names: dict[str, str] = field(default_factory=dict)
    page: dict[str, str] = field(default_factory=dict)
    highlights: dict[str, str] = field(default_factory=dict)
    record: str | None = None
    sample_line: list[Any] = field(default_factory=list)

    def read(self, written: str) -> None:
        if (place := sample_line(written)) is not None:
            self.sample_line, self.names, self.page, self.highlights, self.record = list(place), {}, {}, {}, None
            return
        for name, value in _NAMES.findall(written):
            if name == "LOCATION":
                self.page, self.record = {}, None
            if name == "SUBSYSTEM" and self.names.get(name) != value:
                self.highlights = {}
            self.names[name] = value
        if match := _FROM.search(written):
            self.page = {"START": match[1]}
        elif (match := _TO.search(written)) and "START" in self.page and "END" not in self.page:
            self.page["END"] = match[1]
        for name, value in _HIGHLIGHT.findall(written):
            self.highlights = {"START": value} if name == "START" else {**self.highlights, "END": value}
        if match := _RECORD.search(written):
            self.record = match[1] if int(match[2]) == 1 else None

    @property
    def member(self) -> str | None:
        """The member of a data sharing group, None without one."""
        name = self.names.get("MEMBER")
        return None if name in _NOT_SHOWN else name

    def subsystem(self) -> str:
        """Return the subsystem.

        Raises
        ------
        Unusable : nothing names one.
        """
        name = Place(*self.sample_line).subsystem or self.names.get("SUBSYSTEM")
        if name is None or name in _NOT_SHOWN:
            detail = "nothing names the subsystem: expected SUBSYSTEM: in the header, or SUBSYSTEM= behind SAMPLE_TIME"
            raise Unusable(Reason.BAD_HEADER, detail)
        return name

    def system(self, context: Context) -> str:
        """Return the system, which no report names.

        Raises
        ------
        Unusable : the context and the SAMPLE_TIME line do not name it either.
        """
        system = context.system or Place(*self.sample_line).system
        if system is None:
            detail = "no report names the system: set `system` of the source, --system, or SYSTEM= behind SAMPLE_TIME"
            raise Unusable(Reason.BAD_HEADER, detail)
        return system

    def interval(self, context: Context, after: datetime | None) -> Moment:
        """Return the interval that a statistics block covers; `after` is the end of the one before.

        Raises
        ------
        Unusable : the pages have no interval, or an impossible one.
        """
        found = self.highlights if len(self.highlights) == 2 else self.page
        if len(found) < 2:
            return self._from_sample_line(context, "INTERVAL START and END, or INTERVAL FROM and TO")
        begin = _instant(found["START"], context, after - timedelta(seconds=1) if after else None)
        end = _instant(found["END"], context, begin.instant)
        if end.instant <= begin.instant:
            detail = f"the interval ends at {found['END']} and begins at {found['START']}"
            raise Unusable(Reason.STAMP_INVALID, detail)
        seconds = round((end.instant - begin.instant).total_seconds(), 3)
        return Moment(end.instant, begin.ambiguous, seconds)

    def moment(self, context: Context, after: datetime | None) -> Moment:
        """Return the time of the record that a trace shows: its time on the date of the page.

        Raises
        ------
        Unusable : the trace has no time, or an impossible one.
        """
        if self.record is None or "PAGE DATE" not in self.names:
            return self._from_sample_line(context, "the RECORD TIME of IFCID 1 and a PAGE DATE")
        return _instant(f"{self.names['PAGE DATE']} {self.record}", context, after)

    def _from_sample_line(self, context: Context, expected: str) -> Moment:
        """Return the time of the SAMPLE_TIME line instead of what was `expected`."""
        if not self.sample_line and context.given_at is not None:
            return Moment(context.given_at)
        if not self.sample_line:
            line = "a line SAMPLE_TIME=2026-11-21T18:50:00Z before"
            detail = f"no time: expected {expected} in the headings, {line}, or --at"
            raise Unusable(Reason.STAMP_MISSING, detail)
        return Moment(located(Place(*self.sample_line), context, None)[1])


def _instant(written: str, context: Context, after: datetime | None) -> Moment:
    """Return the instant of a date and time, to the millisecond."""
    order = context.date_order or DATE_ORDER
    try:
        return Moment(*instant(written, context.zone, after, order))
    except (ValueError, OverflowError):
        detail = f"`{written}` is no date and time in the order {order}: name the order (`date_order`, --date-order)"
        raise Unusable(Reason.STAMP_INVALID, detail) from None
