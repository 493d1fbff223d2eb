"""Which interval a row belongs to, when the interval ended, and which ones were read before."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from counterflow.collectors.formats.ibmi_tables.expression import fields
from counterflow.collectors.formats.ibmi_tables.layout import Layout, Row
from counterflow.collectors.formats.ibmi_tables.paths import Paths
from counterflow.collectors.formats.ibmi_tables.times import Stamp, stamp
from counterflow.collectors.records import Context
from counterflow.collectors.text.stamps import iso

_MOST_INSTANTS = 100
"""Intervals that are remembered: a clock that goes back may meet them again."""


@dataclass
class OpenInterval:
    """The open interval: its number and end, and what its rows share.

    `seconds` is its length, `since_s` the time since the interval before, 0 where there is none. `stated` is the time
    of the sample as written, where it is placed behind another. `seen` are the instances of its rows, `counts` the
    rows of each dataset, `refused` what is refused once for all of its rows.
    """

    number: str | None
    instant: datetime
    seconds: float | None
    since_s: float
    stated: datetime | None
    seen: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    paths: Paths = field(default_factory=Paths)

    def __post_init__(self) -> None:
        self.ts = iso(self.instant)


class Intervals:
    """Places rows in time; `state` keeps the end and the number of the interval before, and the latest ends."""

    def __init__(
        self, layout: Layout, context: Context, state: dict[str, Any], sampled_at: datetime | None = None
    ) -> None:
        self._layout, self._state, self._zone = layout, state, context.zone
        self._sampled_at = sampled_at or (None if layout.time_names else context.given_at)
        self._order = context.date_order or state.get("order")
        self._stamps: dict[tuple[Any, ...], Stamp | None] = {}
        self.ends: dict[str, tuple[str, float | None]] = {}
        """The end and length of each interval that was read, by its number."""

    @property
    def before(self) -> str | None:
        """The end of the interval before."""
        before: str | None = self._state.get("ts", {}).get(self._layout.table.table)
        return before

    @property
    def _instants(self) -> dict[str, str]:
        """The numbers of the intervals before, or the digests of their rows, by their instants."""
        instants: dict[str, str] = self._state.setdefault("instants", {}).setdefault(self._layout.table.table, {})
        return instants

    def place(self, row: Row, *, strict: bool = False) -> tuple[str | None, Stamp | None, bool]:
        """Return interval number and time of a row, and whether the time is that of a job which ended.

        Raises
        ------
        ValueError, OverflowError : `strict`, and a column holds no time.
        """
        layout = self._layout
        values = layout.time(row)
        ended = layout.ended is not None and str(row[layout.ended]).strip()[:1] in ("2", "3")
        try:
            found = self._stamps[values]
        except KeyError:
            after = datetime.fromisoformat(self.before) if self.before else None
            try:
                found = stamp(dict(zip(layout.time_names, values, strict=True)), self._zone, after, self._order)
            except (ValueError, OverflowError):
                if strict:
                    raise
                return None, None, ended
            if found is None and self._sampled_at is not None:
                found = Stamp(self._sampled_at.astimezone(UTC))
            if found is None and (end := self._state.get("ends", {}).get(self._number(values))):
                found = Stamp(datetime.fromisoformat(end[0]), seconds=end[1])
            if found is not None and not ended:
                found = found._replace(instant=self.apart(self._number(values), found.instant))
            self._stamps[values] = found
        return self._number(values), found, ended

    def _number(self, values: tuple[Any, ...]) -> str | None:
        return str(values[0]).strip() if self._layout.time_names[:1] == ("INTNUM",) else None

    def apart(self, number: str | None, instant: datetime) -> datetime:
        """Return an instant that no other interval has: the clock went back where its number is another one.

        The digest of its rows stands for the number that it does not have.
        """
        while number is not None and self._instants.get(iso(instant), number) != number:
            instant += timedelta(milliseconds=1)
        return instant

    def was_read(self, instant: datetime) -> bool:
        """Return whether an interval of this instant is among the latest that were read."""
        return iso(instant) in self._instants

    def is_late(self, number: str | None, found: Stamp, *, ended: bool) -> bool:
        """Return whether a row belongs to the interval that was ended last; a job ends before its interval does."""
        if self.before is None:
            return False
        if ended:
            same = number == self._state.get("number", {}).get(self._layout.table.table)
            return bool(same) and found.instant <= datetime.fromisoformat(self.before)
        return iso(found.instant) == self.before

    def open(self, number: str | None, found: Stamp, stated: datetime | None = None) -> OpenInterval:
        """Return the interval that a row begins."""
        before = self.before
        since_s = (found.instant - datetime.fromisoformat(before)).total_seconds() if before else 0.0
        return OpenInterval(number, found.instant, found.seconds, since_s, stated)

    def close(self, interval: OpenInterval, digest: str) -> None:
        """Remember an interval that is complete; `digest` is that of its rows."""
        table = self._layout.table.table
        self._state.setdefault("ts", {})[table] = interval.ts
        if interval.number is not None:
            self._state.setdefault("number", {})[table] = interval.number
            self.ends[interval.number] = (interval.ts, interval.seconds)
        instants = self._instants
        instants[interval.ts] = interval.number or digest
        if len(instants) > _MOST_INSTANTS:
            del instants[next(iter(instants))]
        self.place_anew()

    def place_anew(self) -> None:
        """Forget the times of rows that were placed: those that follow are placed after another interval."""
        self._stamps = {}


class SampleRows:
    """The rows of a view's sample: without a number they alone tell it from another sample of the same time."""

    def __init__(self, layout: Layout) -> None:
        is_view = not layout.table.time and layout.table.fields
        named = {*fields(layout.instance)} if is_view else {}
        self._places = [place for place, column in enumerate(layout.columns) if column in named]
        self.of_view = bool(is_view)
        self._rows: dict[Any, int] = {}

    def add(self, row: Row) -> None:
        """Remember a row; the first of those with one name counts."""
        if self.of_view:
            self._rows.setdefault(self._name(row), _digest(row))

    def has_another(self, row: Row) -> bool:
        """Return whether the sample has the row already, with other values."""
        known = self._rows.get(self._name(row)) if self.of_view else None
        return known is not None and known != _digest(row)

    def clear(self) -> None:
        self._rows = {}

    @property
    def digest(self) -> str:
        return f"{zlib.crc32(repr([*self._rows.values()]).encode()):x}"

    def _name(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[place] for place in self._places)


def _digest(row: Row) -> int:
    return zlib.crc32(repr(row).encode("utf-8", "replace"))
