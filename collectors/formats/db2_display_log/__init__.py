"""`-DISPLAY LOG` of Db2 for z/OS: message DSNJ370I and what follows, as console text or from the hardcopy log.

Source of the lines: Db2 13 for z/OS, messages DSNJ370I and DSNJ371I; see README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.stamps import AMBIGUOUS, iso
from counterflow.collectors.text.zos_listings import Listing, Place, listings, located

SECTION = "DISPLAY LOG"

_BEGINS = re.compile(r"\bDSNJ370I\s+(?:(?P<prefix>\S+)\s+)??DSNJ\w{4}\s+LOG DISPLAY\b")
_ENDS = re.compile(r"\bDSN9022I\b|\bEND OF DISPLAY LOG\b")
_LINE_ID = re.compile(r"\bLOG DISPLAY\b.* (\d{1,4})$")
"""The identifier of a message of several lines in a message log of JES: behind its first line, before the others."""
_ID = re.compile(r"DSNJ37\dI\s+(?:[^\sA-Z0-9]\S*\s+)?(?:-\s+)?(?:DSNJ\w{4}\s+)?")
_SUBSYSTEM = re.compile(r"[^A-Z0-9]?([A-Z#@$][A-Z0-9#@$]{0,3})")

_COPY = re.compile(r"CURRENT (COPY\d) LOG\s*=\s*(\S+)(?:\s+IS\s+(\d+)\s*% FULL)?")
_OFFLOAD = re.compile(r"FULL LOGS TO OFFLOAD\s*=\s*(\d+) OF (\d+)")
_LAST_WRITE = re.compile(r"(LAST LOG WRITE FOR COPY\d) (USED ZHYPERLINK|DID NOT USE ZHYPERLINK)")
_FACT = re.compile(
    r"(DB2 RESTARTED|RESTART RBA|CHECKPOINT FREQUENCY|LAST SYSTEM CHECKPOINT TAKEN)\s+(\S.*)"
    r"|([A-Z][A-Z0-9/ ]*?)(?:\s*=\s*|\s+IS\s+)(\S.*)"
)
_INACTIVE = "INACTIVE"


@dataclass
class DisplayLogState:
    """State carried over from earlier listings: JSON values.

    `sample_line` is the content of the last SAMPLE_TIME line, `after` the time of the listing before it; `seen` holds
    the time of each subsystem's last listing, `config` its published settings.
    """

    sample_line: list[Any] = field(default_factory=list)
    after: str | None = None
    seen: dict[str, str] = field(default_factory=dict)
    config: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass
class Log:
    """The content of one listing; `facts` are settings and states by name."""

    full_pct: dict[str, float] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    copies: int = 0
    offload: tuple[float, float] | None = None

    @property
    def log_path(self) -> str | None:
        """`zhl` where zHyperLink is enabled and every copy used it, else None: the listing names no other path."""
        used = [value for name, value in self.facts.items() if name.startswith("LAST LOG WRITE FOR ")]
        stated = self.facts.get("ZHYPERLINK WRITE") == "ENABLED" and 0 < self.copies <= len(used)
        return "zhl" if stated and set(used) == {"USED ZHYPERLINK"} else None


def recognises(head: bytes) -> bool:
    return any(_BEGINS.search(text(line)) for line in head.split(b"\n") if b"DSNJ370I" in line)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every listing; a listing is whole at its end, or when another begins."""
    position = position or Position(0, 0)
    state = DisplayLogState(**position.state)
    found = None
    for found in listings(stream, position, Place(*state.sample_line), _BEGINS, _ENDS, complete=context.complete):
        yield from _items(found.listing, state, context)
        state.sample_line = list(found.place)
        yield Position(found.end, found.lines, asdict(state))
    if context.complete and found is None and position.byte_offset == 0:
        yield Reject(Reason.EMPTY_FILE, "the file holds no answer to -DISPLAY LOG", "none")


def _items(listing: Listing, state: DisplayLogState, context: Context) -> Iterator[Item]:
    first = listing.first
    try:
        system, instant, ambiguous = located(listing.place, context, state.after)
        subsystem = _subsystem(listing)
    except Unusable as error:
        yield Reject(error.reason, str(error), "none", first.number, first.offset, SECTION, raw=listing.raw)
        return
    ts = state.after = iso(instant)

    def note(reason: Reason, detail: str, kept: Any, line: Any = first, raw: bytes = b"") -> Reject:
        return Reject(reason, detail, kept, line.number, line.offset, SECTION, None, system, ts, raw)

    known = f"{system} {subsystem}"
    if state.seen.get(known) == ts:
        yield note(Reason.DUPLICATE_ROW, f"there is a listing of {subsystem} of {ts} already", "none", raw=listing.raw)
        return
    state.seen[known] = ts
    if ambiguous:
        yield note(Reason.CLOCK_CHANGE, AMBIGUOUS, "all")
    log = Log()
    line_id = _LINE_ID.search(listing.rows[0][0].rstrip())
    for body, line in listing.rows[1:]:
        if line_id is not None:
            body = re.sub(rf"^\s*{line_id[1]}(?!\S)", "", body, count=1)
        if line.fault is Reason.CUT_LINE:
            yield note(line.fault, "the file ends within this line", "none", line, line.raw)
        elif not _ENDS.search(body) and not _read(body.strip(), log):
            detail = "expected a line of DSNJ370I or DSNJ371I"
            yield note(Reason.UNKNOWN_LINE, detail, "none", line, line.raw)
    envelope: Fields = {"ts": ts, "system": system, "source": "db2_display_log"}
    if not log.facts and log.offload is None:
        yield note(Reason.EMPTY_SNAPSHOT, "the listing holds nothing about the log", "none", first, listing.raw)
        return
    columns = {"log_path": log.log_path, "copies": float(log.copies) or None}
    stated = {name: value for name, value in columns.items() if value is not None}
    yield Record("db_log", {**envelope, "subsystem": subsystem, **stated})
    yield from _counters(log, subsystem, envelope)
    yield from changes(state.config.setdefault(known, {}), log.facts, envelope, SECTION, subsystem)
    counted = {"counted": "db_log", "row_count": 1}
    yield Record("manifest", {**envelope, "source": f"db2_display_log.{subsystem}", **counted})


def _counters(log: Log, subsystem: str, envelope: Fields) -> Iterator[Record]:
    common = {**envelope, "section": SECTION}
    for copy, value in log.full_pct.items():
        counted = {"counter": "% FULL", "value": value, "unit": "%", "kind": "percent"}
        yield Record("counter", {**common, "instance": f"{subsystem} {copy}", **counted})
    if log.offload is not None:
        for name, value in zip(("FULL LOGS TO OFFLOAD", "FULL LOGS TO OFFLOAD OF"), log.offload, strict=True):
            counted = {"counter": name, "value": value, "unit": "data sets", "kind": "gauge"}
            yield Record("counter", {**common, "instance": subsystem, **counted})


def _subsystem(listing: Listing) -> str:
    """Return the subsystem that the SAMPLE_TIME line names, else that of the command prefix in the message.

    Raises
    ------
    Unusable : neither names one.
    """
    if listing.place.subsystem is not None:
        return listing.place.subsystem
    begin = _BEGINS.search(listing.rows[0][0])
    named = _SUBSYSTEM.fullmatch((begin and begin["prefix"]) or "")
    if named is None:
        detail = "nothing names the subsystem: expected -DBP1 behind DSNJ370I, or SUBSYSTEM= behind SAMPLE_TIME"
        raise Unusable(Reason.BAD_HEADER, detail)
    return named[1]


def _read(body: str, log: Log) -> bool:
    """Read one line into `log`; return False where it is not recognised."""
    body = _ID.sub("", body, count=1) if _ID.match(body) else body
    if not body:
        return True
    if match := _COPY.fullmatch(body):
        copy, name, full = match.groups()
        log.facts[f"CURRENT {copy} LOG"] = name
        log.copies += name != _INACTIVE
        if full is not None:
            log.full_pct[copy] = float(full)
        return True
    if match := _OFFLOAD.fullmatch(body):
        log.offload = float(match[1]), float(match[2])
        return True
    if match := _LAST_WRITE.fullmatch(body):
        log.facts[match[1]] = match[2]
        return True
    if match := _FACT.fullmatch(body):
        name, value = match[1] or match[3], match[2] or match[4]
        log.facts[f"{_label(log)} {name}" if name == "KEY LABEL" else name] = value.strip("()")
        return True
    return False


def _label(log: Log) -> str:
    """Return the copy that was named last: a key label stands below its data set."""
    named = [name for name in log.facts if name.startswith("CURRENT COPY")]
    return named[-1].split()[1] if named else "COPY"
