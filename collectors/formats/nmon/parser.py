"""The lines of a recording, as the recorder wrote them, turned into records, rejects and positions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Any

from counterflow.collectors.formats.nmon.account import SECTION, Account
from counterflow.collectors.formats.nmon.clock import LINUX_FIRST_S, Clock
from counterflow.collectors.formats.nmon.headers import Facts, Headers, local_time, pack, unpack
from counterflow.collectors.formats.nmon.reader import SnapshotReader, is_numeric, names, pair
from counterflow.collectors.formats.nmon.rows import Plans
from counterflow.collectors.formats.nmon.snapshot import ConfigItem, Snapshot
from counterflow.collectors.formats.nmon.snapshot import items as items_of
from counterflow.collectors.records import Context, Item, Position, Reason, Reject
from counterflow.collectors.text import stamps
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.configured_name import kept_apart, name_of
from counterflow.collectors.text.lines import Line
from counterflow.collectors.text.periods import gap

TAG = re.compile(rb"T\d{4,16}")
_STAMP_TAIL = re.compile(rb".*\d\d:\d\d:\d\d(?: ?[AaPp][Mm])?,\d{1,2}-[^\s\d,;-]{3,8}-\d{2,4}\s*")
_TRAILERS = (b"AVM-IN-MB", b"NO-PBUF-COUNT", b"NO-PSBUF-COUNT", b"NO-JFS2-FSBUF-COUNT")
_AAA_TABLES = ("x86", "ARM", "POWER")
_OF_A_HEADER = ("command", "version", "build", "AIX", "VIOS", "OS", "host", "user", "runname", "interval", "snapshots")
"""Keys that a recorder writes once, before its first snapshot: a later one is of another recording."""
_PLACEHOLDER = re.compile(r"<[^<>]*>|\(none\)|\(null\)|hostname|localhost(?:\.localdomain)?", re.IGNORECASE)
"""Texts that replace the name of a system that was taken out, or never given."""

_HALF_A_DAY = timedelta(hours=12)
_HELD_CONFIG = 2000
"""Configuration lines that are held before the first snapshot; beyond this they are yielded."""
_HELD_SNAPSHOTS = 3
"""Snapshots without a stamp that wait for the next stamp; older ones are refused."""


@dataclass(slots=True)
class Unstamped:
    """A snapshot without a stamp: its lines wait for the next stamp, which may give its time."""

    number: int
    tag: bytes
    lines: list[Line] = field(default_factory=list)


class Parser:
    """State of one parse: `feed` takes lines, `finish` ends the last snapshot, `pop` returns the items found."""

    def __init__(self, context: Context, state: dict[str, Any] | None = None) -> None:
        """Begin a recording, or go on from the state of a position."""
        self._context = context
        self._account = Account()
        self.items = self._account.items
        """Items that were not popped yet."""
        self._account.system = context.system
        self._plans = Plans()
        self._facts = Facts()
        self._reader = SnapshotReader(Headers(self._facts), self._account)
        self._in_aaa = True
        self._refused = False
        self._run_id: str | None = None
        self._first_host: str | None = None
        self._clock = Clock(self._account)
        self._tag: bytes | None = None  # of the open snapshot
        self._opened_by: Line | None = None
        self._repeating: bytes | None = None
        self._unstamped: list[Unstamped] = []
        self._packed = ""
        self._packed_version: tuple[Headers, int, int] | None = None
        self._show(Snapshot(0, "", None, None))
        self._handlers: dict[bytes, Callable[[Line, bytes], None]] = {
            b"AAA": self._aaa,
            b"ZZZZ": self._zzzz,
            b"TOP": self._top,
            b"UARG": self._uarg,
            b"ERROR": self._error,
            b"SUMMARY": self._summary,
        }
        if state is not None:
            self._restore(state)

    def _show(self, snapshot: Snapshot) -> None:
        """Make `snapshot` the one that rows and rejects belong to."""
        self._snapshot = self._reader.snapshot = self._account.snapshot = snapshot

    # lines

    def feed(self, line: Line) -> None:
        if self._refused:
            return
        parts = line.data.split(b",", 2)
        if len(parts) == 3 and parts[1] == self._tag and line.fault is None:
            layout = self._reader.layouts.get(parts[0])
            if layout is not None:
                self._reader.numeric(line, parts[0], layout, parts[2])  # nearly every line
                return
        data = line.data
        section, _, rest = data.partition(b",")
        tag, _, fields = rest.partition(b",")
        if line.fault is not None:
            self._account.fault(line)
        elif not data.strip():
            self._account.reject(line, Reason.UNKNOWN_LINE, "blank line", "all")
        elif b"," not in data:
            self._account.reject(line, Reason.UNKNOWN_LINE, "no fields", section=None)
        elif (handler := self._handlers.get(section)) is not None:
            handler(line, rest)
        elif section.startswith(b"BBB") and section.isalpha():
            self._bbb(line, section, rest)
        elif section in _TRAILERS and TAG.fullmatch(tag) is None:
            self._config(text(section), "", *pair(rest))
        elif TAG.fullmatch(tag):
            if self._belongs(line, tag):
                self._reader.row(line, section, fields)
        else:
            self._header(line, section, tag, fields)

    def refuse(self, line: Line, reason: Reason, detail: str, number: int) -> None:
        self._account.reject(line, reason, detail, snapshot=b"T%04d" % number)

    def pop(self) -> list[Item]:
        items = self.items.copy()
        self.items.clear()
        return items

    def settle(self) -> bool:
        """End the open snapshot, to which no line belongs any more; return False while another waits for a stamp."""
        if self._unstamped:
            return False
        self._end(0, 0)
        return True

    def finish(self, end: int, number: int) -> None:
        """End the data at `end`, after line `number`: the last snapshot is whole, and no other will come."""
        place = Line(number, end, b"", end)
        recorded, planned = 0 if self._in_aaa else max(self._snapshot.number, self._clock.number), self._facts.snapshots
        if recorded == 0:
            self._no_data(place)
        elif planned is not None and recorded < planned and "cut" not in self._account.noted:
            self._account.noted.add("cut")
            detail = f"{recorded} of {planned} snapshots planned (AAA,snapshots): the recorder was stopped or killed"
            self._account.reject(place, Reason.CUT_FILE, detail, "all", section="AAA")
        self._end(end, number)

    def _no_data(self, place: Line) -> None:
        """Report a recording that ends at `place` and has only a header."""
        if self._facts.values and not self._refused and not self._account.noted & {"cut", "rows"}:
            self._account.noted.add("cut")
            planned = f" of {self._facts.snapshots} planned" if self._facts.snapshots is not None else ""
            detail = f"a header without data: the recorder wrote no snapshot{planned}"
            self._account.reject(place, Reason.CUT_FILE, detail, "all", section="AAA")

    def _end(self, end: int, number: int) -> None:
        self._refuse_unstamped()
        if self._snapshot.number == 0 and self._snapshot.config and self._in_aaa:
            self._begin()
        self._close(end, number)

    # configuration

    def _aaa(self, line: Line, rest: bytes) -> None:
        if rest.startswith(b"progname") and self._facts.values and (self._reader.headers.table or not self._in_aaa):
            self._restart(line)
        key, value = pair(rest)
        if not self._in_aaa and key in _OF_A_HEADER and key in self._facts.values:
            self._restart(line)  # joined without the line of the program
        if self._in_aaa:
            is_host = key == "host" and "host" not in self._facts.values
            self._facts.values.setdefault(key, value)
            if key == "interval" and self._facts.seconds is None:
                detail = f"expected seconds, above 0 and up to 1e6, found {value:.40}"
                self._account.reject(line, Reason.OUT_OF_RANGE, detail, "all", section="AAA")
            if is_host:
                self._host(line, value)
            self._account.system = self._system
        if key in _AAA_TABLES and "," in value:
            item, (key, _, value) = key, value.partition(",")
            self._config("AAA", item, key, value)
        else:
            self._config("AAA", "", key, value)
        self._account.encoding(line)
        if self._system is not None:
            self._account.padding(line)

    def _host(self, line: Line, name: str) -> None:
        configured = self._context.system
        self._first_host = self._first_host or name
        self._account.system = self._system
        if configured is None and _PLACEHOLDER.fullmatch(name):
            detail = (
                f"`{name}` is no name of one system: others may have it too; set `system` of the source, or --system"
            )
            self._account.reject(line, Reason.BAD_HEADER, detail, "all", section="AAA")
        if note := kept_apart(name, self._first_host, configured):
            self._account.reject(line, note.reason, note.detail, "all", section="AAA")

    def _bbb(self, line: Line, section: bytes, rest: bytes) -> None:
        item, setting = pair(rest)
        name, _, value = setting.partition(",")
        if re.fullmatch(r"T\d{4,16}", name) and value:  # BBBR: a reconfiguration at a snapshot
            name, _, value = value.partition(",")
        self._config(text(section), item, name.strip(), value)
        self._account.encoding(line)
        if len(self._snapshot.config) >= _HELD_CONFIG and self._snapshot.number == 0 and self._facts.start():
            self._begin()
            self._close(line.end, line.number)

    def _config(self, section: str, item: str, name: str, value: str) -> None:
        self._snapshot.config.append(ConfigItem(section, item, name, value))

    def _error(self, line: Line, rest: bytes) -> None:
        self._account.reject(line, Reason.RECORDER_MESSAGE, text(rest), "all")

    # runs

    def _begin(self) -> None:
        if not self._in_aaa or self._refused:
            return
        self._in_aaa = False
        if self._system is None:
            self._refused = True
            self.items.append(
                Reject(
                    Reason.BAD_HEADER,
                    "no AAA,host line names the system: set `system` of the source, or --system",
                    "none",
                )
            )
            return
        self._reader.use(Headers(self._facts, self._reader.headers.table))
        run_id = self._facts.boot_id()
        if run_id is None or run_id != self._run_id:  # else it is the same recording again, whose snapshots are known
            self._clock.begin(self._system)
        self._run_id = run_id
        if (start := self._facts.start()) is not None and self._clock.instant is None:
            self._snapshot.instant, _ = stamps.to_utc(start, self._zone, None)

    def _restart(self, line: Line) -> None:
        self._refuse_unstamped()
        if self._in_aaa or (self._snapshot.number or self._clock.number) == 0:
            self._no_data(line._replace(data=b""))
        if self._in_aaa and self._snapshot.config and self._system is not None:
            self._begin()
        self._close(line.offset, line.number - 1)
        self._account.reject(line, Reason.RESTARTED, "a second recording begins in this file", "all")
        self._facts = Facts()
        self._reader.use(Headers(self._facts))
        self._in_aaa = True
        self._reader.shifted = False
        self._account.noted.clear()

    def _join(self, line: Line) -> None:
        """Begin the run of a recording that was joined to this one without its header.

        Linux nmon writes the header of VM once, into its first snapshot.
        """
        snapshot = self._snapshot
        if self._facts.os == "Linux" and snapshot.instant is not None:
            snapshot.seconds, snapshot.gap_s = LINUX_FIRST_S, None
            self._run_id = f"{self._system}-{snapshot.instant.astimezone(self._zone):%Y%m%dT%H%M%S}"
            detail = f"VM begins again: {snapshot.tag} is the first of another recording, and {LINUX_FIRST_S:g} s long"
            self._account.reject(line, Reason.RESTARTED, detail, "all")

    @property
    def _zone(self) -> tzinfo:
        return self._facts.zone(self._context.zone)

    @property
    def _system(self) -> str | None:
        host = self._facts.values.get("host")
        return name_of(host, self._first_host, self._context.system) or self._facts.system

    # stamps

    def _zzzz(self, line: Line, rest: bytes) -> None:
        tag, _, when = rest.partition(b",")
        if TAG.fullmatch(tag) is None:
            self._account.reject(line, Reason.STAMP_INVALID, "a ZZZZ line without a snapshot number", section="ZZZZ")
            return
        time, date = [*text(when).split(",", 2), ""][:2]
        local = local_time(time, date) if date else self._undated(line, time)
        if local is None:
            self._account.reject(line, Reason.STAMP_INVALID, f"`{text(when)[:60]}` is no time and date", section="ZZZZ")
            return
        if tag == self._tag and stamps.to_utc(local, self._zone, None)[0] == self._snapshot.instant:
            self._account.reject(line, Reason.DUPLICATE_ROW, "the stamp is repeated", section="ZZZZ")
            return
        self._open(line, tag, local)

    def _undated(self, line: Line, time: str) -> datetime | None:
        """Return the local time of a stamp without a date: the day of the stamp before it, or the day after."""
        before = None if self._in_aaa else self._snapshot.instant or self._clock.instant
        last = before.astimezone(self._zone).replace(tzinfo=None) if before else self._facts.start()
        if last is None:
            return local_time(time, self._facts.values.get("date", ""))
        if (found := local_time(time, "01-JAN-2000")) is None:
            return None
        detail = "no date: this stamp, and each such after it, is of the day of the one before it, or the next"
        self._account.once("undated", line, Reason.INFERRED, detail)
        local = datetime.combine(last, found.time())
        return local + timedelta(days=1) if last - local > _HALF_A_DAY else local

    def _open(self, line: Line, tag: bytes, local: datetime) -> None:
        self._begin()
        if self._refused:
            return
        number = int(tag[1:])
        before = self._snapshot.instant or self._clock.instant
        instant, ambiguous = stamps.to_utc(local, self._zone, before)
        if before is None:
            self._snapshot.instant = instant  # the configuration before it has no time of its own
        if not self._unstamped:
            self._close(line.offset, line.number - 1, lent=before is None)
        if ambiguous:
            self._account.once("fold", line, Reason.CLOCK_CHANGE, f"{local}: {stamps.AMBIGUOUS}")
        self._place_lost(line, number, instant, lent=before is None)
        if number <= self._clock.number:
            if self._clock.instant is not None and instant <= self._clock.instant:
                self._repeating = tag
                self._account.reject(line, Reason.REPEATED_BLOCK, "this snapshot was read before", snapshot=tag)
                return
            self._clock.begin(self._system)
            self._run_id = f"{self._system}-{local:%Y%m%dT%H%M%S}"
            self._account.reject(line, Reason.RESTARTED, "snapshot numbers begin again without a new header", "all")
        self._start(line, tag, instant)

    def _start(self, line: Line, tag: bytes, stamp: datetime) -> None:
        number = int(tag[1:])
        taken = self._clock.apart(line, number, stamp, self._facts)
        self._show(Snapshot(number, tag.decode(), taken, None))
        self._tag, self._opened_by, self._repeating = tag, line, None
        self._snapshot.seconds, self._snapshot.gap_s = self._clock.lengths_s(line, number, taken, self._facts)
        self._snapshot.instant = self._clock.place(taken)

    def _close(self, end: int, number: int, *, lent: bool = False) -> None:
        """End the open snapshot; the data goes on at `end`, after line `number`, of which its time may be `lent`."""
        self._end_snapshot()
        if lent:  # else the line would follow itself when it is read again from here
            self._snapshot.instant = None
        self.items.append(Position(end, number, self.state()))

    def _end_snapshot(self) -> None:
        snapshot, items = self._snapshot, self.items
        self._reader.finish()
        if snapshot.gap_s is not None:
            self._note_gap(snapshot, snapshot.gap_s)
        if snapshot.number and snapshot.empty and self._opened_by is not None:
            self._account.reject(self._opened_by, Reason.EMPTY_SNAPSHOT, "a stamp without rows: nothing was measured")
        if snapshot.config and snapshot.instant is None and not self._refused:
            detail = f"{len(snapshot.config)} lines of configuration of an unknown time: no AAA,time and no snapshot"
            items.append(Reject(Reason.STAMP_MISSING, detail, "none", system=self._system))
        if not snapshot.empty and not self._refused:
            items += items_of(snapshot, self._reader.headers, self._plans, self._system or "", self._run_id)
        if snapshot.number:
            self._clock.number, self._clock.instant = snapshot.number, snapshot.instant
        self._show(Snapshot(0, "", self._clock.instant or snapshot.instant, None))
        self._tag, self._opened_by, self._repeating = None, None, None

    def _note_gap(self, snapshot: Snapshot, gap_s: float) -> None:
        """Report the gap before a snapshot; on Linux one without processes is the first of another recording.

        Recordings of several days are joined without the later headers, and their snapshots numbered on.
        """
        if snapshot.seconds is None or self._opened_by is None or snapshot.instant is None:
            return
        missing = f"since the snapshot before {gap(gap_s, snapshot.seconds)}"
        taken = ""
        if self._facts.os == "Linux" and not snapshot.processes and snapshot.seconds > LINUX_FIRST_S:
            snapshot.seconds, taken = LINUX_FIRST_S, ", as the first of another recording"
            if "TOP" in self._reader.headers:
                self._run_id = f"{self._system}-{snapshot.instant.astimezone(self._zone):%Y%m%dT%H%M%S}"
        detail = f"{missing}: {snapshot.tag} is taken as {snapshot.seconds:g} s long{taken}"
        self._account.reject(self._opened_by, Reason.SAMPLE_MISSING, detail, "all")

    # snapshots without a stamp

    def _belongs(self, line: Line, tag: bytes) -> bool:
        """Return whether a row belongs to the open snapshot; otherwise hold it for another or reject it."""
        if tag == self._tag:
            return True
        self._account.noted.add("rows")
        number = int(tag[1:])
        if self._unstamped and self._unstamped[-1].tag == tag:
            self._unstamped[-1].lines.append(line)
        elif number > max(
            self._snapshot.number, self._clock.number, self._unstamped[-1].number if self._unstamped else 0
        ):
            self._begin()
            if self._refused:
                return False
            if not self._unstamped:
                self._close(line.offset, line.number - 1)
            self._unstamped.append(Unstamped(number, tag, [line]))
            if len(self._unstamped) > _HELD_SNAPSHOTS:
                self._refuse_unstamped(self._unstamped.pop(0))
        elif tag == self._repeating:
            self._account.reject(line, Reason.REPEATED_BLOCK, "this snapshot was read before", snapshot=tag)
        elif number <= self._clock.number:
            self._account.reject(line, Reason.LATE_ROW, f"{tag.decode()} was complete before this row", snapshot=tag)
        else:
            self._account.reject(line, Reason.LATE_ROW, f"{tag.decode()} is not the open snapshot", snapshot=tag)
        return False

    def _place_lost(self, line: Line, number: int, instant: datetime, *, lent: bool) -> None:
        """Give the waiting snapshots stamps between those of their neighbours, or refuse them."""
        lost, self._unstamped = self._unstamped, []
        before, first = self._clock.instant, self._clock.number
        for one in lost:
            steps = number - first
            found = None
            if before is not None and number > one.number:
                found = stamps.between(before, instant, one.number - first, steps, self._facts.seconds)
            if found is None:
                self._refuse_unstamped(one)
                continue
            opener = one.lines[0]
            self._end_snapshot()
            self._start(opener, one.tag, found)
            detail = f"{one.tag.decode()} has no ZZZZ line; {stamps.iso(found)} lies evenly between its neighbours"
            self._account.reject(opener, Reason.STAMP_MISSING, detail, "all")
            for row in one.lines:
                self.feed(row)
        if lost:  # lines after theirs were read already, so only the place behind them all can be resumed at
            self._close(line.offset, line.number - 1, lent=lent)

    def _refuse_unstamped(self, *which: Unstamped) -> None:
        if not which:
            which, self._unstamped = tuple(self._unstamped), []
        for one in which:
            for line in one.lines:
                detail = f"{one.tag.decode()} has no ZZZZ line, and none follows from its neighbours"
                self._account.reject(line, Reason.STAMP_MISSING, detail, snapshot=one.tag)

    # headers

    def _header(self, line: Line, section: bytes, title: bytes, rest: bytes) -> None:
        data = line.data
        if _STAMP_TAIL.fullmatch(data):
            self._account.reject(line, Reason.LOST_TAG, "a stamp without its snapshot")
            return
        if is_numeric(data):
            self._account.reject(line, Reason.LOST_TAG, "numbers without section and snapshot", section=None)
            return
        if SECTION.fullmatch(section) is None:
            self._account.reject(line, Reason.UNKNOWN_LINE, "not a line of an nmon recording", section=None)
            return
        if is_numeric(title) or (rest and is_numeric(rest)):
            self._account.reject(line, Reason.LOST_TAG, "a row without its snapshot")
            return
        self._account.encoding(line)
        if section == b"VM" and "VM" in self._reader.headers and self._snapshot.number > 1:
            self._join(line)
        self._reader.set_header(text(section), text(title), names(rest))

    # rows that name their snapshot in their own ways

    def _top(self, line: Line, rest: bytes) -> None:
        pid, _, more = rest.partition(b",")
        tag, _, fields = more.partition(b",")
        if pid.strip() == b"+PID":
            self._reader.set_header("TOP", "+PID", names(fields))
        elif TAG.fullmatch(tag):
            if self._belongs(line, tag):
                self._reader.process(line, pid, fields)
        elif not pid.startswith(b"%"):  # TOP,%CPU Utilisation is a title
            self._account.reject(line, Reason.LOST_TAG, "a process without its snapshot")

    def _uarg(self, line: Line, rest: bytes) -> None:
        tag, _, fields = rest.partition(b",")
        if tag.strip() == b"+Time":
            self._reader.set_header("UARG", "+Time", names(fields))
        elif TAG.fullmatch(tag) is None:
            self._account.reject(line, Reason.LOST_TAG, "arguments without their snapshot")
        elif self._belongs(line, tag):
            self._reader.arguments(line, fields)

    def _summary(self, line: Line, rest: bytes) -> None:
        tag, _, fields = rest.partition(b",")
        if TAG.fullmatch(tag) is None:
            self._reader.set_header("SUMMARY", text(tag), names(fields))
        elif self._belongs(line, tag):
            self._reader.summary(line, fields)

    # state of a position

    def state(self) -> dict[str, Any]:
        """Return the state from which `__init__` goes on after everything that was finished."""
        headers = self._reader.headers
        version = headers, headers.changes, len(self._facts.values)
        if version != self._packed_version:
            self._packed, self._packed_version = pack(self._facts, headers), version
        instant = self._snapshot.instant
        return {
            "recording": self._packed,
            "clock": self._clock.state(),
            "config_instant": stamps.iso(instant) if instant else None,
            "run": self._run_id,
            "in_aaa": self._in_aaa,
            "shifted": self._reader.shifted,
            "refused": self._refused,
            "noted": sorted(self._account.noted),
            "first_host": self._first_host,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self._facts, headers = unpack(state["recording"])
        self._reader.use(headers)
        self._clock.restore(state["clock"])
        self._snapshot.instant = datetime.fromisoformat(state["config_instant"]) if state["config_instant"] else None
        self._run_id = state["run"]
        self._in_aaa = state["in_aaa"]
        self._reader.shifted = state["shifted"]
        self._refused = state["refused"]
        self._account.noted = set(state["noted"])
        self._first_host = state["first_host"]
        self._account.system = self._system
